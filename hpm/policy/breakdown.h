/* Where cycles go: the figures of a breakdown, the events behind them, what a PMU can count of
 * them, and the counts of a thread or CPU. */
#pragma once
#include "hpm/policy/estimate.h"
#include "hpm/events/fit.h"
#include "kernel/lib/base.h"

/* What served a load or a read-for-ownership. */
enum hpm_source {
    SOURCE_L1,
    SOURCE_LOCAL_L2,
    SOURCE_LOCAL_L3,
    SOURCE_REMOTE_L2,
    SOURCE_REMOTE_L3,
    SOURCE_LOCAL_MEMORY,
    SOURCE_REMOTE_MEMORY,
    SOURCE_COUNT
};
#define SOURCES_REMOTE_CACHE ((1u << SOURCE_REMOTE_L2) | (1u << SOURCE_REMOTE_L3))

/* Why no instruction completed. Completion cycles are the rest ([A] 2.5). Behind STALL_CAUSES: a
 * PMU that does not know the cause may know the half of the pipeline: the front end had no
 * instructions, or the back end no room for them. */
enum hpm_stall {
    STALL_ICACHE,
    STALL_BRANCH,
    STALL_DCACHE,
    STALL_TLB,
    STALL_OTHER,
    STALL_CAUSES,
    STALL_FRONTEND = STALL_CAUSES,
    STALL_BACKEND,
    STALL_COUNT
};

/* Costs of which only the number is known. */
enum hpm_miss {
    MISS_BRANCH, /* mispredicted */
    MISS_L1I,
    MISS_L1D,
    MISS_L2,
    MISS_LAST_LEVEL,
    MISS_ITLB, /* page-table walks */
    MISS_DTLB,
    MISS_CHIP, /* accesses to other chips */
    MISS_COUNT
};

/* Where cycles went, cumulative; subtract two readings. Cycles and instructions are exact. A figure
 * that shared a counter is scaled from the part of the cycles in which it was counted ("seen") to
 * all of them, and fitted (hpm/events/fit.h), so that no part is larger than its whole. A figure
 * that the PMU does not count is 0; hpm_caps() tells which. */
struct hpm_breakdown {
    uint64_t cycles;       /* not idle */
    uint64_t instructions; /* not idle */
    uint64_t idle_cycles;
    uint64_t stall[STALL_COUNT];
    uint64_t dcache[SOURCE_COUNT]; /* stall[STALL_DCACHE] by source, measured */
    uint64_t served[SOURCE_COUNT]; /* accesses by source */
    uint64_t missed[MISS_COUNT];
    uint64_t seen_cycles;   /* in which the least seen figure was counted */
    uint32_t seen_permille; /* of the cycles: seen_cycles / cycles */
    /* Of each figure from stall on: its increments, and the cycles in which it was counted; 0: it
     * is computed, not counted. */
    uint64_t figure_counted[FIT_FIGURES], figure_seen[FIT_FIGURES];
    uint64_t fitted; /* bit f: figure f was changed by fitting */
};
_Static_assert(offsetof(struct hpm_breakdown, seen_cycles) -
                       offsetof(struct hpm_breakdown, stall) ==
                   FIT_FIGURES * sizeof(uint64_t),
               "the figures are one array");

/* The events behind the figures above that need programmable counters, in one row: stalls,
 * data-cache stalls by source, accesses by source, loads and stores, misses. */
#define HPM_EVENTS       (STALL_COUNT + 2 * SOURCE_COUNT + 2 + MISS_COUNT)
#define HPM_COUNTERS_MAX 8
/* Fixed counters besides those of cycles and instructions; and all counters, programmable and
 * fixed. */
#define HPM_FIXED_MAX    6
#define HPM_COUNTERS_ALL (HPM_COUNTERS_MAX + HPM_FIXED_MAX)

/* Counts of one thread, or of one CPU; see hpm/policy/context.h. */
struct hpm_context {
    uint32_t sequence; /* odd while it is being written */
    uint64_t cycles;
    struct mux_counts counts;
};

/* Accounts, which together are all that CPUs do while they are not halted, each part counted once.
 * HPM_IDLE: what the idle thread does between halts. HPM_INTERRUPTS: interrupts of devices, timers
 * and other CPUs, and HPM_MONITORING: those of monitoring itself, each from its handler's first
 * reading of the counters to its last. Unless the boot says hpm.accounts=on, these two are counted
 * for the thread that they interrupt. */
enum hpm_account { HPM_THREADS, HPM_IDLE, HPM_INTERRUPTS, HPM_MONITORING, HPM_ACCOUNTS };

/* Sums of counts of several threads or CPUs, ended threads included. Zeroed at first, as far as
 * held. */
struct hpm_sums {
    uint32_t generation; /* of the plan under which it was added to last */
    uint64_t cycles;
    uint64_t fitted; /* bit i: hpm_session_fit has changed count[i] */
    /* Bit i: count[i] is valid; other counts are 0. */
    uint64_t held;
    struct mux_sum count[GROUP_EVENTS_MAX]; /* by logical count, see hpm/policy/plan.h */
};

static inline void hpm_sums_clear(struct hpm_sums *s)
{
    s->generation = 0;
    s->cycles = s->fitted = s->held = 0;
}

/* Returns logical count i, settled (mux_sum_settle). */
static inline struct mux_sum hpm_sums_count(const struct hpm_sums *s, unsigned i)
{
    struct mux_sum sum = s->held >> i & 1 ? s->count[i] : (struct mux_sum){0};

    mux_sum_settle(&sum);
    return sum;
}

/* How a figure is known. Estimated: accesses x latency, an upper bound, for overlapping accesses
 * are counted as if they did not overlap. */
enum hpm_known { HPM_UNKNOWN, HPM_ESTIMATED, HPM_MEASURED };

struct hpm_caps {
    bool present;      /* there is a PMU */
    bool can_sample;   /* precise records with the data's source */
    bool instructions; /* are counted */
    bool user, kernel; /* modes that are counted */
    /* Interrupts and monitoring have accounts of their own. */
    bool apart;
    const char *name;  /* of the backend */
    unsigned counters; /* programmable ones */
    /* Mask of 1 << enum hpm_source: sources of which records can be taken. */
    uint32_t sampled;
    uint32_t stall, dcache, served, missed; /* bit i: entry i of the breakdown's array is counted */
    enum hpm_known remote;                  /* how the stalls of hpm_read_remote are known */
    uint32_t sample_period_min;             /* shortest period of samples of accesses */
    unsigned line_bytes;                    /* coherence line */
    /* Cycles, documented by the machine or measured at boot; 0: unknown. */
    uint32_t latency[SOURCE_COUNT];
};

void hpm_breakdown_add(struct hpm_breakdown *sum, const struct hpm_breakdown *part);
/* Subtracts `earlier` from `from`: each figure is scaled from what was seen of it since
 * (fit_since), and fitted. */
void hpm_breakdown_sub(struct hpm_breakdown *from, const struct hpm_breakdown *earlier);
/* What waiting for other chips' caches costs, cumulative: all cycles, those stalled for it
 * (hpm_caps()->remote tells whether measured or estimated), and the accesses that these caches
 * served. */
struct hpm_remote {
    uint64_t cycles, stall, served;
};
