/* Random numbers of host tests, from a seed that the test keeps. */
#pragma once
#include <stdint.h>

/* xorshift64* (Vigna 2016): the same numbers on every host. */
static inline uint64_t test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}
