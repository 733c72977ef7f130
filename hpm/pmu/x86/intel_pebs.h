/* Records of accesses on Intel's processors; called by intel.c, which provides the counter. */
#pragma once
#include "hpm/pmu/x86/intel_models.h"
#include "hpm/pmu/x86/intel_regs.h"
#include "hpm/pmu/pmu.h"

#define PEBS_SAMPLER 3 /* the counter with records: all load events can use it */

/* What can be recorded; all members 0: nothing. */
struct pebs {
    const struct intel_model *model;
    const struct intel_record *record;
    uint32_t sources;     /* sources of which records can be taken */
    bool enable_latency;  /* the latency event needs a bit of its own in PEBS_ENABLE */
    bool adaptive;        /* MSR_PEBS_DATA_CFG exists */
    uint32_t counter_msr; /* to write the counter */
    uint64_t counter_mask;
};

/* Returns what a processor with these abilities can record. */
struct pebs pebs_find(const struct event_identity *id, unsigned version,
                      uint64_t perf_capabilities);
/* Sets up this CPU. PEBS_ENABLE is 0. Each CPU once, before the calls below. */
void pebs_cpu_init(const struct pebs *p, unsigned cpu, const struct pmu_setup *setup);
/* As the members of struct pmu_ops. The global bit of PEBS_SAMPLER is set. */
uint32_t pebs_sample(unsigned cpu, const struct hpm_sampling *config);
uint64_t pebs_waiting(unsigned cpu);
size_t pebs_drain(unsigned cpu, struct hpm_sample *out, size_t max, uint64_t *lost);
