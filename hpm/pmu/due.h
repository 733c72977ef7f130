/* The part of armed counters that is the same for all drivers. A counter that is to interrupt at a
 * count is set so that it overflows there, or, if that is further away than it can be set, after a
 * part of the way. */
#pragma once
#include "hpm/policy/breakdown.h"

struct due {
    /* bit c: counter c is armed and has not reached at[c] */
    uint32_t armed;
    uint64_t at[HPM_COUNTERS_MAX];
};

static inline void due_set(struct due *d, unsigned c, uint64_t at)
{
    d->armed |= 1u << c;
    d->at[c] = at;
}

/* Returns how long before its overflow counter c is to be set: `least` to `most`, and never so that
 * only a little is left for later. */
static inline uint64_t due_distance(const struct due *d, unsigned c, uint64_t count, uint64_t least,
                                    uint64_t most)
{
    uint64_t left = d->at[c] > count ? d->at[c] - count : 0;

    return left > most ? MIN(left / 2, most) : MAX(left, least);
}

/* Returns whether counter c has reached its count, and disarms it if so. */
static inline bool due_reached(struct due *d, unsigned c, uint64_t count)
{
    bool reached = count >= d->at[c];

    if (reached)
        d->armed &= ~(1u << c);
    return reached;
}
