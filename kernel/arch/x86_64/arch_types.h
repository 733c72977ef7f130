/*
 * The x86-64 parts of structures that the rest of the kernel embeds. Their members are private to
 * this folder. entry.S knows the offsets of the first members of struct arch_cpu; cpu_init.c checks
 * them at compile time.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/pt.h"
#include "frame.h"

#define ARCH_MARKS_FAULT 0          /* the first access to a page without a mark faults */
#define ARCH_ELF_MACHINE 62         /* EM_X86_64: the machine of programs */
#define ARCH_USER_CODE   UINT64_MAX /* the bits of a return address that are the address */

/* Intel SDM vol. 3A, 8.7 "Task Management in 64-bit Mode". */
struct x86_tss {
    uint32_t reserved0;
    uint64_t rsp[3];
    uint64_t reserved1;
    uint64_t ist[7];
    uint64_t reserved2;
    uint16_t reserved3;
    uint16_t iomap;
} PACKED;

#define GDT_ENTRIES 9

struct arch_cpu {
    struct cpu *self;             /* %gs:0 */
    uint64_t kernel_stack;        /* %gs:8: the stack of entries from user mode; equals tss.rsp0 */
    uint64_t user_sp;             /* %gs:16: scratch of the syscall entry */
    struct arch_context *context; /* of the running thread */
    bool stop;                    /* the next NMI is IPI_STOP */
    uint64_t gdt[GDT_ENTRIES];
    struct x86_tss tss;
};

/* x87, SSE and AVX in the standard XSAVE layout: 512 + 64 + 256 bytes (SDM vol. 1, 13.4). */
#define FPU_AREA_SIZE 832

struct arch_context {
    uint64_t sp;        /* while switched out: its stack, with callee-saved registers on top */
    uint64_t stack_top; /* the stack of its entries from user mode */
    uint64_t fs_base;   /* TLS register */
    uint64_t gs_base;   /* user mode's */
    bool user;          /* has been in user mode: FP, FS and GS state must be saved */
    uint8_t fpu[FPU_AREA_SIZE + 64];
};

/* A thread's registers in user mode. */
struct arch_user {
    struct arch_frame frame;
    uint64_t fs_base, gs_base;
    uint8_t fpu[FPU_AREA_SIZE + 64];
};

struct arch_space {
    struct pt pt;
};
