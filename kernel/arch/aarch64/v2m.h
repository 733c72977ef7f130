/* GICv2m: a frame of registers that turns a device's message into a shared interrupt (Arm DEN 0029,
 * appendix E). */
#pragma once
#include "kernel/arch/msi.h"
#include "kernel/firmware/platform.h"

/* Boot CPU, after gic_init: the first frame, ready for messages; count: how many. 0, -ENODEV or
 * -ENOMEM. */
int v2m_init(const struct platform *platform, arch_alloc_fn *alloc, unsigned *count);
extern const struct msi_ops v2m_messages;
/* Message that raises the CPU's PMU interrupt; false: none is left for it. Served by the handler
 * gic_attach was given for v2m_pmu_first() and the following v2m_pmu_count(). */
bool v2m_pmu_message(const struct cpu *cpu, struct arch_msi *out);
uint32_t v2m_pmu_first(void);
uint32_t v2m_pmu_count(void);
