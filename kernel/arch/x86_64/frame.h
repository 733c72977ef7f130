/* The registers of an interrupted context, in the order that entry.S saves them. */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/arch/frame_register.h"

struct arch_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
    uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
    uint64_t vector, error;
    uint64_t rip, cs, rflags, rsp, ss; /* pushed by the processor */
};

#define FRAME_REGISTERS 22

static inline vaddr_t frame_sp(const struct arch_frame *frame)
{
    return frame->rsp;
}

/* Returns whether interrupts were on. */
static inline bool frame_irqs(const struct arch_frame *frame)
{
    return frame->rflags & 0x200;
}

/* Returns the address of the return address right after a call. */
static inline const void *frame_return(const struct arch_frame *frame)
{
    return (const void *)frame->rsp;
}

/* Makes the context continue at `pc`. */
static inline void frame_go(struct arch_frame *frame, vaddr_t pc)
{
    frame->rip = pc;
}
