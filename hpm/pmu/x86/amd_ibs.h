/* Instruction-based sampling of AMD's cores, the half that samples operations: what the counters'
 * driver needs of it. Calls as in struct pmu_ops. */
#pragma once
#include "hpm/pmu/pmu.h"

/* What a CPU reports. A CPU that differs from the first one is not used. */
struct ibs_ability {
    bool usable;
    bool untold;            /* would be usable if the firmware had chosen an interrupt */
    bool filter;            /* the hardware can leave out accesses that the L3 served */
    bool operations, fetch; /* which halves exist; fetch sampling is kept off */
};

/* Reads what this CPU has. family, model: of the processor; features: CPUID 8000_0001, ECX; last:
 * the last extended leaf. */
struct ibs_ability ibs_ask(unsigned family, unsigned model, uint32_t features, uint32_t last);
/* Adds to `caps` what can be recorded; if nothing, prints why. Boot CPU, once. */
void ibs_describe(const struct ibs_ability *has, struct pmu_caps *caps);
void ibs_cpu_init(const struct cpu *cpu, const struct ibs_ability *has);
uint32_t ibs_sample(unsigned sampler, const struct hpm_sampling *config);
uint64_t ibs_waiting(void);
size_t ibs_drain(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX]);
/* Returns whether a record is ready. In the PMU interrupt. */
bool ibs_interrupted(void);
/* Returns the records of `cpu` that were not of the sources asked for. */
uint64_t ibs_passed_over(unsigned cpu);
