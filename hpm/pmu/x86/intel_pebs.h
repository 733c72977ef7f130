/* Records of accesses on Intel's processors: between intel.c, whose counter they need, and
 * intel_pebs.c. */
#pragma once
#include "hpm/pmu/x86/intel_models.h"
#include "hpm/pmu/x86/intel_regs.h"
#include "hpm/pmu/pmu.h"

#define PEBS_SAMPLER 3 /* the counter whose events are recorded: one that all load events can use */

/* What records there can be; all of it 0: none. */
struct pebs {
    const struct intel_model *model;
    const struct intel_record *record;
    uint32_t sources;     /* that there can be records of */
    bool enable_latency;  /* the latency event needs PEBS_ENABLE's own bit */
    bool adaptive;        /* MSR_PEBS_DATA_CFG is there */
    uint32_t counter_msr; /* to write the counter */
    uint64_t counter_mask;
};

/* Of a processor with these abilities, whose counters are written at counter_msr + n. */
struct pebs pebs_find(const struct event_identity *who, unsigned version,
                      uint64_t perf_capabilities);
/* Each CPU once, before the rest, PEBS_ENABLE being 0. */
void pebs_cpu_init(const struct pebs *p, unsigned cpu, const struct pmu_setup *setup);
/* As the members of struct pmu_ops. The sampler's global bit is on. */
void pebs_sample(unsigned cpu, const struct hpm_sampling *config);
uint64_t pebs_waiting(unsigned cpu);
size_t pebs_drain(unsigned cpu, struct hpm_sample *out, size_t max, uint64_t *lost);
