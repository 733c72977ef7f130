/* Intel's fixed counters other than those of cycles and instructions; called by intel.c. */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/policy/breakdown.h"
#include "hpm/pmu/x86/intel_ability.h"

/* State of a CPU. */
struct intel_fixed {
    uint64_t bits;      /* of IA32_PERF_GLOBAL_CTRL: programmed counters */
    uint64_t reference; /* the register at the last reading */
    uint64_t sum[HPM_FIXED_MAX];
    const struct event *programmed[HPM_FIXED_MAX]; /* by rank, see intel_fixed_find */
};

/* Returns the fixed counters of this CPU, a mask numbered as in struct event. The counter of its
 * n-th bit has rank n below. */
uint32_t intel_fixed_find(const struct intel_ability *has);
/* Sets up this CPU's counters, which are stopped. Each CPU once. */
void intel_fixed_init(struct intel_fixed *f);
/* Returns the global bits of the counters that must stop because their events change. */
uint64_t intel_fixed_changed(const struct intel_fixed *f, const struct event *const *next);
/* Reads all counts up to now, by rank. */
void intel_fixed_read(struct intel_fixed *f, uint64_t *count);
/* Writes how user mode reads the counter of rank n, and its value; index 0: it cannot, for every
 * reading resets the counter. */
void intel_fixed_user(const struct intel_fixed *f, unsigned n, struct hpm_user_register *out);
/* Programs counters that are stopped and have been read. Returns their fields of
 * IA32_FIXED_CTR_CTRL. */
uint64_t intel_fixed_program(struct intel_fixed *f, const struct event *const *next);

/* Returns the field of a fixed counter that counts in these modes. */
static inline uint64_t intel_fixed_field(unsigned f, unsigned modes)
{
    return FIXED_FIELD(f, (modes & EVENT_KERNEL ? FIXED_KERNEL : 0) |
                              (modes & EVENT_USER ? FIXED_USER : 0));
}
