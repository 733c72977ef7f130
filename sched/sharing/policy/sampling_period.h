/*
 * One access in how many is sampled? As many as the budget allows: at first by what the counters
 * say, which know little of a young process, then by the samples. They come in bursts, so a low
 * rate may just be the time between two, and a burst is braked at once.
 * Not struct period (hpm/policy/period.h), which aims at a number of samples in windows of equal
 * length and goes by their mean. Here a budget of time is to hold over a whole detection, so what
 * was spent too much is paid back; bursts are shorter than a judgement, so the worst of them is the
 * guide; a change reaches each CPU only at its next switch or tick, so small ones are not made. Pure: the
 * caller reads clock and accounts, and tells the PMU.
 */
#pragma once
#include "kernel/lib/base.h"

enum { SAMPLING_PERIOD_MAX = 1 << 20 };

/* As of now, since boot where not said otherwise. */
struct sampling_state {
    uint64_t now_ns;
    uint64_t taken;    /* samples, of all CPUs */
    uint64_t accesses; /* that these stand for, each with the period it was taken with */
    uint64_t spent_ns; /* on them and what is made of them, by all CPUs */
    unsigned cpus;
    unsigned budget_permille; /* part of the CPUs' time that may be spent */
    uint32_t period_min;      /* the PMU's; 0: any */
};

struct sampling_period {
    uint32_t period; /* 1..SAMPLING_PERIOD_MAX */
    /* Private. */
    uint64_t begin_ns, begin_spent_ns;
    uint64_t peak_per_ms;               /* accesses, in the worst time between two looks */
    uint64_t since_ns, taken, accesses; /* when the period was last judged */
};

/* Sampling begins; there are about so many accesses in a millisecond. */
void sampling_period_begin(struct sampling_period *p, const struct sampling_state *s,
                           uint64_t accesses_per_ms);
/* Has more been spent since sampling began than the budget allows until a millisecond from now? */
bool sampling_period_over_budget(const struct sampling_period *p, const struct sampling_state *s);
/* Every millisecond or so. True when p->period has changed. settling: a lower rate is what is
 * hoped for just now. */
bool sampling_period_adapt(struct sampling_period *p, const struct sampling_state *s,
                           bool settling);
