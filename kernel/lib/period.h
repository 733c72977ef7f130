/* Times that come again every `interval` ns. An interval of 0: the time comes once. Pure. */
#pragma once
#include "kernel/lib/base.h"

/* Moves a time that has come, *at_ns <= now_ns, to the next one behind now_ns; UINT64_MAX: beyond
 * all times. Returns how many times have come, at least 1. The interval is not 0. */
static inline uint64_t period_forward(uint64_t *at_ns, uint64_t interval, uint64_t now_ns)
{
    uint64_t come = (now_ns - *at_ns) / interval + 1, last_ns = *at_ns + (come - 1) * interval;

    *at_ns = interval > UINT64_MAX - last_ns ? UINT64_MAX : last_ns + interval;
    return come;
}

/* Returns the ns from now_ns to the next time; 0: it has come, and comes no more. */
static inline uint64_t period_left(uint64_t at_ns, uint64_t interval, uint64_t now_ns)
{
    if (at_ns <= now_ns && interval)
        period_forward(&at_ns, interval, now_ns);
    return at_ns > now_ns ? at_ns - now_ns : 0;
}
