/* Operations on sets of CPUs. Pure. */
#pragma once
#include "sched/sched.h"

static inline bool cpuset_has(const struct cpuset *s, unsigned cpu)
{
    return cpu < CPU_MAX && s->bits[cpu / 64] >> (cpu % 64) & 1;
}

static inline void cpuset_add(struct cpuset *s, unsigned cpu)
{
    s->bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
}

/* Returns the set of CPUs 0 to n - 1. */
static inline struct cpuset cpuset_first(unsigned n)
{
    struct cpuset s = {0};
    for (unsigned i = 0; i < n; i++)
        cpuset_add(&s, i);
    return s;
}

static inline struct cpuset cpuset_one(unsigned cpu)
{
    struct cpuset s = {0};
    cpuset_add(&s, cpu);
    return s;
}

static inline struct cpuset cpuset_and(const struct cpuset *a, const struct cpuset *b)
{
    struct cpuset s;
    for (unsigned i = 0; i < CPUSET_WORDS; i++)
        s.bits[i] = a->bits[i] & b->bits[i];
    return s;
}

static inline bool cpuset_empty(const struct cpuset *s)
{
    for (unsigned i = 0; i < CPUSET_WORDS; i++)
        if (s->bits[i])
            return false;
    return true;
}

static inline unsigned cpuset_count(const struct cpuset *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CPUSET_WORDS; i++)
        for (uint64_t left = s->bits[i]; left; left &= left - 1)
            n++;
    return n;
}
