/* Random distances between samples. Each CPU has a random sequence of its own; its driver keeps the
 * state. */
#pragma once
#include "kernel/lib/base.h"

static inline uint64_t draw_begin(unsigned cpu)
{
    return (cpu + 1) * (uint64_t)0x9e3779b97f4a7c15;
}

/* xorshift64 (Marsaglia 2003). */
static inline uint64_t draw_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Returns a number that is uniform in middle - jitter .. middle + jitter. jitter: less than
 * middle. */
static inline uint32_t draw_around(uint64_t *state, uint32_t middle, uint32_t jitter)
{
    return middle - jitter + (uint32_t)(draw_bits(state) % (2 * (uint64_t)jitter + 1));
}
