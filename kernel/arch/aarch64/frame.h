/* The registers of an interrupted context, in the order that entry.S saves them. */
#pragma once
#include "sysreg.h"
#include "kernel/lib/base.h"
#include "kernel/arch/frame_register.h"

struct arch_frame {
    uint64_t x[31], sp;
    uint64_t pc, pstate;
    uint64_t esr, far;  /* of this exception, even if others follow */
    uint64_t record[2]; /* link and return address, for backtraces */
};

#define FRAME_LR        30
#define FRAME_REGISTERS 36

static inline vaddr_t frame_sp(const struct arch_frame *frame)
{
    return frame->sp;
}

/* Returns whether interrupts were on. */
static inline bool frame_irqs(const struct arch_frame *frame)
{
    return !(frame->pstate & SPSR_I);
}

/* Returns the address of the return address right after a call. */
static inline const void *frame_return(const struct arch_frame *frame)
{
    return &frame->x[FRAME_LR];
}

/* Makes the context continue at `pc`. */
static inline void frame_go(struct arch_frame *frame, vaddr_t pc)
{
    frame->pc = pc;
}
