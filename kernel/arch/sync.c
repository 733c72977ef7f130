/* See sync.h. */
#include "kernel/arch/sync.h"

struct sync_bounds sync_bounds(const struct sync_round *rounds, unsigned n)
{
    struct sync_bounds b = {INT64_MIN, INT64_MAX};

    ASSERT(n);
    for (unsigned i = 0; i < n; i++) {
        b.low = MAX(b.low, (int64_t)(rounds[i].answered - rounds[i].heard));
        b.high = MIN(b.high, (int64_t)(rounds[i].answered - rounds[i].asked));
    }
    return b;
}

int64_t sync_correction(struct sync_bounds b)
{
    return -(b.low + (int64_t)((uint64_t)b.high - (uint64_t)b.low) / 2);
}
