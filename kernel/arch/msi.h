/*
 * Message interrupts of devices: msi.c keeps who waits for which, an instruction set says how a
 * message reaches a CPU. Messages have numbers from 0 on.
 */
#pragma once
#include "kernel/arch/arch.h"

/* A way of delivery. All: interrupts off, under msi.c's lock, on any CPU. */
struct msi_ops {
    const char *name; /* as the line at boot has it */
    /* Message n is the requester's from now on and goes to the CPU: what is to be written where.
     * 0, or as arch_msi_alloc. */
    int (*bind)(unsigned n, uint32_t requester, const struct cpu *target, struct arch_msi *out);
    /* It goes to another CPU; out is what is to be written from now on. 0 or -ERANGE. */
    int (*move)(unsigned n, const struct cpu *from, const struct cpu *to, struct arch_msi *out);
    void (*raise)(unsigned n, const struct cpu *target); /* as if it had been sent */
    void (*unbind)(unsigned n, const struct cpu *target);
};

/* Boot CPU, once, in arch_init_irq: messages 0 to count - 1 are delivered so; NULL: there is no
 * way. Says so. */
void msi_init(const struct msi_ops *ops, unsigned count);
/* Message n has arrived on this CPU. Interrupts off. */
void msi_arrived(unsigned n);
