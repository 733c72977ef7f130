/*
 * The AArch64 parts of structures the rest of the kernel embeds. Their members are private to this
 * folder. entry.S knows the offset of emergency_top; cpu_init.c checks it at compile time.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/pt.h"

#define ARCH_ELF_MACHINE 183 /* EM_AARCH64: what programs must be made for */

struct arch_cpu {
    uint64_t emergency_top;       /* the stack for saying that a stack has overflowed */
    struct arch_context *context; /* the running thread's */
};

/* Q0 to Q31, FPSR and FPCR, as fpu.S stores them. */
#define FPU_AREA_SIZE 528

struct arch_context {
    uint64_t sp;        /* while switched out: its stack, callee-saved registers on top */
    uint64_t stack_top; /* where its entries from user mode start */
    uint64_t tls;       /* TPIDR_EL0 */
    bool user;          /* has been in user mode: FP and TLS are worth keeping */
    uint8_t fpu[FPU_AREA_SIZE] ALIGNED(16);
};

struct arch_space {
    struct pt pt;
    uint64_t tag; /* kernel/arch/asid.h: its identifier; atomic */
};
