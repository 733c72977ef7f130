/* Intel's fixed counters beyond those of cycles and instructions: between intel.c and
 * intel_fixed.c. */
#pragma once
#include "hpm/pmu/user_page.h"
#include "hpm/policy/breakdown.h"
#include "hpm/pmu/x86/intel_ability.h"

/* Of a CPU. */
struct intel_fixed {
    uint64_t bits;      /* of IA32_PERF_GLOBAL_CTRL: what is programmed */
    uint64_t reference; /* the register at the last reading */
    uint64_t sum[HPM_FIXED_MAX];
    const struct event *programmed[HPM_FIXED_MAX]; /* by rank: see intel_fixed_find */
};

/* Which there are, a mask as struct event numbers them; the n-th of its bits is of rank n below. */
uint32_t intel_fixed_find(const struct intel_ability *has);
/* Each CPU once; they stand still. */
void intel_fixed_init(struct intel_fixed *f);
/* Global bits of those that must stand still because they are to count something else. */
uint64_t intel_fixed_changed(const struct intel_fixed *f, const struct event *const *next);
/* Everything counted up to now, by rank. */
void intel_fixed_read(struct intel_fixed *f, uint64_t *count);
/* How user mode reads that of rank n, and where it stands; index 0: it is set back whenever it is
 * read. */
void intel_fixed_user(const struct intel_fixed *f, unsigned n, struct hpm_user_register *out);
/* They stand still and have been read. Their fields of IA32_FIXED_CTR_CTRL. */
uint64_t intel_fixed_program(struct intel_fixed *f, const struct event *const *next);

/* Field of a fixed counter that counts in these modes. */
static inline uint64_t intel_fixed_field(unsigned f, unsigned modes)
{
    return FIXED_FIELD(f, (modes & EVENT_KERNEL ? FIXED_KERNEL : 0) |
                              (modes & EVENT_USER ? FIXED_USER : 0));
}
