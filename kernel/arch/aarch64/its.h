/*
 * Interrupt translation services of a GICv3 (Arm IHI 0069H, chapter 5): a PCI function's message
 * becomes an event of a device, an event becomes an LPI, and its collection gives the CPU.
 */
#pragma once
#include "kernel/arch/msi.h"
#include "kernel/firmware/platform.h"

/* Initialises the services for messages; `count`: the number of messages. Boot CPU, after
 * gic_init(). Returns 0; -ENODEV: none, or none that works, which was printed; -ENOMEM. */
int its_init(const struct platform *platform, arch_alloc_fn *alloc, unsigned *count);
/* Each CPU, after gic_init_cpu(), interrupts off, while no messages are allocated. */
void its_init_cpu(const struct cpu *cpu);
extern const struct msi_ops its_messages;
