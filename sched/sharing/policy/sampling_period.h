/*
 * The sampling period: as short as the budget allows. It is set first by the counters, which know
 * little of a young process, then by the samples. Samples come in bursts. So a low rate may just be
 * the time between two bursts, and a burst raises the period at once.
 *
 * Unlike struct period (hpm/policy/period.h), which aims at a number of samples in windows of equal
 * length and follows their mean, this keeps a budget of time over a whole detection. Time spent
 * above the budget is paid back. Looks for samples, at each switch of threads, cost the same at any
 * period: what they leave of the budget, at least a half of it, is for samples. Bursts are shorter
 * than the time between two settings, so the largest one is the guide. A change reaches each CPU
 * only at its next switch or tick, so small changes are not made.
 *
 * Pure: the caller reads the clock and the accounts, and programs the PMU.
 */
#pragma once
#include "kernel/lib/base.h"

enum { SAMPLING_PERIOD_MAX = 1 << 20 };

/* The state now. Counts are since boot. */
struct sampling_state {
    uint64_t now_ns;
    uint64_t taken;      /* samples taken, on all CPUs */
    uint64_t accesses;   /* that these stand for, each by the period it was taken with */
    uint64_t spent_ns;   /* on samples and clustering, on all CPUs */
    uint64_t looking_ns; /* on looks for samples that found none */
    unsigned cpus;
    unsigned budget_permille; /* part of the CPUs' time that may be spent */
    uint32_t period_min;      /* shortest period of the PMU; 0: any */
};

struct sampling_period {
    uint32_t period; /* 1 to SAMPLING_PERIOD_MAX */
    /* Private. */
    uint64_t begin_ns, begin_spent_ns, begin_looking_ns;
    uint64_t peak_per_ms;               /* most accesses in a millisecond between two looks */
    uint64_t since_ns, taken, accesses; /* at the last setting */
};

/* Starts with the period for about accesses_per_ms accesses in a millisecond. */
void sampling_period_begin(struct sampling_period *p, const struct sampling_state *s,
                           uint64_t accesses_per_ms);
/* Returns whether more has been spent since the start than the budget allows up to a millisecond
 * from now. */
bool sampling_period_over_budget(const struct sampling_period *p, const struct sampling_state *s);
/* Adapts p->period; called about every millisecond. settling: a lower rate is the aim now, and does
 * not shorten the period. Returns whether it has changed. */
bool sampling_period_adapt(struct sampling_period *p, const struct sampling_state *s,
                           bool settling);
