/*
 * The AArch64 parts of structures that the rest of the kernel embeds. Their members are private to
 * this folder. entry.S knows the offset of emergency_top; cpu_init.c checks it at compile time.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/pt.h"
#include "frame.h"

#define ARCH_MARKS_FAULT 1   /* the first access to a page without a mark faults */
#define ARCH_ELF_MACHINE 183 /* EM_AARCH64: the machine of programs */
/* The bits of a return address that are the address: those above can be a signature (Arm ARM DDI
 * 0487, D8.9.1). */
#define ARCH_USER_CODE ((1ull << 47) - 1)

struct arch_cpu {
    uint64_t emergency_top;       /* the stack for reporting a stack overflow */
    struct arch_context *context; /* of the running thread */
};

/* Q0 to Q31, FPSR and FPCR, as fpu.S stores them. */
#define FPU_AREA_SIZE 528

struct arch_context {
    uint64_t sp;        /* while switched out: its stack, with callee-saved registers on top */
    uint64_t stack_top; /* the stack of its entries from user mode */
    uint64_t tls;       /* TPIDR_EL0 */
    bool user;          /* has been in user mode: FP state and TLS must be saved */
    uint8_t fpu[FPU_AREA_SIZE] ALIGNED(16);
};

/* A thread's registers in user mode. */
struct arch_user {
    struct arch_frame frame;
    uint64_t tls;
    uint8_t fpu[FPU_AREA_SIZE] ALIGNED(16);
};

struct arch_space {
    struct pt pt;
    uint64_t tag; /* kernel/arch/asid.h: its identifier and generation; atomic */
};
