/* Records of accesses on Arm's processors (FEAT_SPE); called by armv8.c. Calls as in struct
 * pmu_ops. */
#pragma once
#include "hpm/pmu/pmu.h"
#include "hpm/pmu/arm/spe_sources.h"
#include "hpm/policy/sample.h"

/* What a CPU reports. Other CPUs may differ from the first in all but codes, if their records and
 * their shortest interval are not longer. */
struct spe_ability {
    bool usable;
    bool foreign;                  /* the buffer belongs to a higher exception level */
    unsigned version;              /* of FEAT_SPE: 1 is v1.0, 2 is v1.1 ...; 0: there is none */
    unsigned format;               /* of records; 0 is the only one known */
    uint32_t align, record_max;    /* bytes */
    uint32_t interval_min;         /* operations */
    bool by_event, by_type;        /* filters that exist */
    bool random;                   /* random delays do not change the interval */
    const struct spe_codes *codes; /* NULL: sources by events only */
};

/* Reads what this CPU has. dfr0, midr: its ID_AA64DFR0_EL1 and MIDR_EL1. */
struct spe_ability spe_ask(uint64_t dfr0, uint32_t midr);
/* Adds to `caps` what can be recorded; if nothing, prints why. Boot CPU, once. */
void spe_describe(const struct spe_ability *has, struct pmu_caps *caps);
/* Sets up this CPU, which has `has`. Returns false if it lacks what the first CPU, `all`, has. */
bool spe_cpu_init(const struct cpu *cpu, const struct spe_ability *has,
                  const struct spe_ability *all, const struct pmu_setup *setup);
uint32_t spe_sample(unsigned sampler, const struct hpm_sampling *config);
uint64_t spe_waiting(void);
size_t spe_drain(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX]);
/* Returns whether the buffer has stopped. In an interrupt. */
bool spe_interrupted(void);
/* Returns the records of `cpu` that were not of the sources asked for. */
uint64_t spe_passed_over(unsigned cpu);
