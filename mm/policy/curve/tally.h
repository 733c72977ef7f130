/* Counts of distances in groups of 2^shift: for distances 1..2^shift, the next 2^shift, ..., and
 * beyond all groups. The counts are the caller's. */
#pragma once
#include "kernel/lib/base.h"

struct tally {
    uint32_t *count; /* [groups + 1] the last for all beyond */
    uint32_t groups;
    unsigned shift;
};

/* Counts `distance`, from 1, n times. */
static ALWAYS_INLINE void tally_add(const struct tally *t, uint32_t distance, uint32_t n)
{
    t->count[MIN((distance - 1) >> t->shift, t->groups)] += n;
}
