/*
 * Load averages: how many threads ran or waited for a CPU, averaged over the last 1, 5 and 15
 * minutes, as uptime(1) shows them. Every LOAD_SECONDS each average moves towards the number of the
 * moment, so that older numbers weigh less, by e in its time. Pure: no clock, lock, or register.
 */
#pragma once
#include "kernel/lib/base.h"

#define LOAD_SHIFT   16 /* averages are in 2^-16 threads */
#define LOAD_SECONDS 5

enum { LOAD_1_MINUTE, LOAD_5_MINUTES, LOAD_15_MINUTES, LOADS };

struct loads {
    uint32_t average[LOADS];
};

static inline void loads_note(struct loads *l, unsigned threads)
{
    /* exp(-5 / 60), exp(-5 / 300), exp(-5 / 900) in 2^-16 */
    static const uint32_t stays[LOADS] = {60296, 64453, 65173};
    const uint32_t one = 1u << LOAD_SHIFT;

    for (unsigned i = 0; i < LOADS; i++) {
        uint64_t now = (uint64_t)threads << LOAD_SHIFT;
        uint64_t sum = (uint64_t)l->average[i] * stays[i] + now * (one - stays[i]);
        /* Rounded towards `now`, which is reached so. */
        l->average[i] = (uint32_t)((sum + (now > l->average[i] ? one - 1 : 0)) >> LOAD_SHIFT);
    }
}
