/*
 * Counts of distances, by groups of as many: what has been found at distances 1..2^shift, at the
 * next 2^shift, ..., and beyond all groups. The counts are the caller's.
 */
#pragma once
#include "kernel/lib/base.h"

struct tally {
    uint32_t *count; /* [groups + 1]; the last: beyond */
    uint32_t groups;
    unsigned shift;
};

/* n times this distance, from 1. */
static ALWAYS_INLINE void tally_add(const struct tally *t, uint32_t distance, uint32_t n)
{
    t->count[MIN((distance - 1) >> t->shift, t->groups)] += n;
}
