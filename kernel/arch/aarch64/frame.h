/* The registers of an interrupted context as entry.S lays them on the stack. */
#pragma once
#include "sysreg.h"
#include "kernel/lib/base.h"
#include "kernel/arch/frame_register.h"

struct arch_frame {
    uint64_t x[31], sp;
    uint64_t pc, pstate;
    uint64_t esr, far;  /* of the exception, whatever has happened since */
    uint64_t record[2]; /* link and return address, for backtraces */
};

#define FRAME_LR        30
#define FRAME_REGISTERS 36

static inline vaddr_t frame_sp(const struct arch_frame *frame)
{
    return frame->sp;
}

/* Were interrupts on? */
static inline bool frame_irqs(const struct arch_frame *frame)
{
    return !(frame->pstate & SPSR_I);
}

static inline uint64_t frame_link(const struct arch_frame *frame)
{
    return frame->x[29];
}

/* Where the address is that a call has just left. */
static inline const void *frame_return(const struct arch_frame *frame)
{
    return &frame->x[FRAME_LR];
}

/* The context goes on there. */
static inline void frame_go(struct arch_frame *frame, vaddr_t pc)
{
    frame->pc = pc;
}
