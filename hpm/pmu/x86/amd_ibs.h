/*
 * Instruction-based sampling of AMD's cores, the half that samples operations: what the counters'
 * driver needs of it. All calls as in struct pmu_ops.
 */
#pragma once
#include "hpm/pmu/pmu.h"

/* What a CPU says it has; equal on all CPUs, or the one that differs is not used. */
struct ibs_ability {
    bool usable;
    bool untold;            /* it would be, had the firmware chosen an interrupt */
    bool filter;            /* the hardware can leave out accesses that the L3 served */
    bool operations, fetch; /* which halves there are; that of fetches is kept off */
};

/* family, model: of the processor; features: CPUID 8000_0001, ECX; last: the last extended leaf. */
struct ibs_ability ibs_ask(unsigned family, unsigned model, uint32_t features, uint32_t last);
/* Boot CPU, once. */
void ibs_describe(const struct ibs_ability *has, struct pmu_caps *caps);
void ibs_cpu_init(const struct cpu *cpu, const struct ibs_ability *has);
void ibs_sample(const struct hpm_sampling *config);
uint64_t ibs_waiting(void);
size_t ibs_drain(struct hpm_sample *out, size_t max, uint64_t *lost);
/* In the PMU interrupt: is there a record? */
bool ibs_interrupted(void);
/* Records of this CPU that nobody had asked for. */
uint64_t ibs_passed_over(unsigned cpu);
