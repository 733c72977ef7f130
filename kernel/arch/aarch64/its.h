/*
 * Interrupt translation services of a GICv3 (Arm IHI 0069H, chapter 5): a PCI function's message
 * becomes an event of a device, an event an LPI, and its collection says at which CPU.
 */
#pragma once
#include "kernel/arch/msi.h"
#include "kernel/firmware/platform.h"

/* Boot CPU, after gic_init: those there are, ready for messages; count: how many. 0; -ENODEV:
 * none, or none that works, which has been said; -ENOMEM. */
int its_init(const struct platform *platform, arch_alloc_fn *alloc, unsigned *count);
/* Each CPU, after gic_init_cpu, interrupts off, while nobody allocates messages. */
void its_init_cpu(const struct cpu *cpu);
extern const struct msi_ops its_messages;
