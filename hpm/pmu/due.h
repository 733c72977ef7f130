/*
 * Counters that are to interrupt when their count gets somewhere, as far as that is the same for
 * all drivers: a counter is set so that it overflows there, or, where that is further away than it
 * can be set, after a part of the way.
 */
#pragma once
#include "hpm/policy/breakdown.h"

struct due {
    /* bit c: counter c, which does not count as armed any more once it has got there */
    uint32_t armed;
    uint64_t at[HPM_COUNTERS_MAX];
};

static inline void due_set(struct due *d, unsigned c, uint64_t at)
{
    d->armed |= 1u << c;
    d->at[c] = at;
}

/* How long before its overflow an armed counter is to be set: least to most, and never so that only
 * a little is left for later. */
static inline uint64_t due_distance(const struct due *d, unsigned c, uint64_t count, uint64_t least,
                                    uint64_t most)
{
    uint64_t left = d->at[c] > count ? d->at[c] - count : 0;

    return left > most ? MIN(left / 2, most) : MAX(left, least);
}

/* Has it got there? */
static inline bool due_reached(struct due *d, unsigned c, uint64_t count)
{
    bool reached = count >= d->at[c];

    if (reached)
        d->armed &= ~(1u << c);
    return reached;
}
