/* GICv2m: a frame of registers that converts a device's message to a shared interrupt (Arm DEN
 * 0029, appendix E). */
#pragma once
#include "kernel/arch/msi.h"
#include "kernel/firmware/platform.h"

/* Initialises the first frame for messages; `count`: the number of messages. Boot CPU, after
 * gic_init(). Returns 0, -ENODEV or -ENOMEM. */
int v2m_init(const struct platform *platform, arch_alloc_fn *alloc, unsigned *count);
extern const struct msi_ops v2m_messages;
/* Returns the message that raises the CPU's PMU interrupt, or false if none is available. The
 * handler that gic_attach() was given for the v2m_pmu_count() interrupts from v2m_pmu_first() on
 * handles it. */
bool v2m_pmu_message(const struct cpu *cpu, struct arch_msi *out);
uint32_t v2m_pmu_first(void);
uint32_t v2m_pmu_count(void);
