/* Records of accesses on Arm's processors (FEAT_SPE), for armv8.c. All calls as in struct
 * pmu_ops. */
#pragma once
#include "hpm/pmu/pmu.h"
#include "hpm/pmu/arm/spe_sources.h"
#include "hpm/policy/sample.h"

/* What a CPU says it has. Others may differ from the first in all but codes, if their records are
 * no longer, nor their shortest interval. */
struct spe_ability {
    bool usable;
    bool foreign;                  /* there is a buffer, but a higher exception level's */
    unsigned version;              /* of FEAT_SPE: 1 is v1.0, 2 is v1.1 ...; 0: there is none */
    unsigned format;               /* of records: 0 is the one that is known */
    uint32_t align, record_max;    /* bytes */
    uint32_t interval_min;         /* operations */
    bool by_event, by_type;        /* filters */
    bool random;                   /* by the hardware, and the interval stays as it is */
    const struct spe_codes *codes; /* NULL: events only */
};

/* dfr0, midr: ID_AA64DFR0_EL1 and MIDR_EL1 of this CPU. */
struct spe_ability spe_ask(uint64_t dfr0, uint32_t midr);
/* Boot CPU, once: what there is into caps, why there is not onto the console. */
void spe_describe(const struct spe_ability *has, struct pmu_caps *caps);
/* has: of this CPU. True, or false: it lacks what the first CPU's, `all`, has. */
bool spe_cpu_init(const struct cpu *cpu, const struct spe_ability *has,
                  const struct spe_ability *all, const struct pmu_setup *setup);
void spe_sample(const struct hpm_sampling *config);
uint64_t spe_waiting(void);
size_t spe_drain(struct hpm_sample *out, size_t max, uint64_t *lost);
/* In an interrupt: has the buffer stopped? */
bool spe_interrupted(void);
/* Records of this CPU that nobody had asked for. */
uint64_t spe_passed_over(unsigned cpu);
