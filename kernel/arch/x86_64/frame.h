/* The registers of an interrupted context as entry.S lays them on the stack. */
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

/* Were interrupts on? */
static inline bool frame_irqs(const struct arch_frame *frame)
{
    return frame->rflags & 0x200;
}

static inline uint64_t frame_link(const struct arch_frame *frame)
{
    return frame->rbp;
}

/* Where the address is that a call has just left. */
static inline const void *frame_return(const struct arch_frame *frame)
{
    return (const void *)frame->rsp;
}

/* The context goes on there. */
static inline void frame_go(struct arch_frame *frame, vaddr_t pc)
{
    frame->rip = pc;
}
