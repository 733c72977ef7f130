/* Fixed-point helpers for policies, which use no floating point. */
#pragma once
#include "kernel/base.h"

/* floor(sqrt(x)), bit by bit. */
static inline uint32_t fixed_isqrt(uint64_t x)
{
    uint64_t root = 0;

    for (uint64_t bit = 1ull << 62; bit; bit >>= 2) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint32_t)root;
}
