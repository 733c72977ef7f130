/*
 * Message interrupts of devices: msi.c keeps the handler of each message, an instruction set
 * delivers messages to CPUs. Messages are numbered from 0.
 */
#pragma once
#include "kernel/arch/arch.h"

/* A controller that delivers messages. All functions: interrupts off, under msi.c's lock, on any
 * CPU. */
struct msi_ops {
    const char *name; /* printed at boot */
    /* Gives message n to the requester, delivers it to the CPU, and returns what the device must
     * write. Returns 0, or an error of arch_msi_alloc(). */
    int (*bind)(unsigned n, uint32_t requester, const struct cpu *target, struct arch_msi *out);
    /* Delivers it to another CPU; `out` is what the device must write from now on. Returns 0 or
     * -ERANGE. */
    int (*move)(unsigned n, const struct cpu *from, const struct cpu *to, struct arch_msi *out);
    void (*raise)(unsigned n, const struct cpu *target); /* raises it as if it had been sent */
    void (*unbind)(unsigned n, const struct cpu *target);
};

/* Sets the controller for messages 0 to count - 1, and prints it; NULL: none. Boot CPU, once, in
 * arch_init_irq(). */
void msi_init(const struct msi_ops *ops, unsigned count);
/* Handles message n on this CPU. Interrupts off. */
void msi_arrived(unsigned n);
