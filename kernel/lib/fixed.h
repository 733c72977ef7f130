/* Fixed-point helpers for policies, which use no floating point and no library. Results that do not
 * fit saturate. */
#pragma once
#include "kernel/lib/base.h"

typedef unsigned __int128 wide_t;
#define WIDE_MAX (~(wide_t)0)

/* Returns floor(sqrt(x)), computed bit by bit. */
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

/* Returns floor(sqrt(x)). */
static inline uint64_t fixed_isqrt_wide(wide_t x)
{
    wide_t root = 0;

    for (wide_t bit = (wide_t)1 << 126; bit; bit >>= 2) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint64_t)root;
}

/* Returns n / d and stores the remainder; `d` must not be 0. Does long division itself, because the
 * compiler would call a library. */
static inline wide_t fixed_div_wide(wide_t n, uint64_t d, uint64_t *remainder)
{
    uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n;

    if (!high) {
        *remainder = low % d;
        return low / d;
    }
    uint64_t rest = high % d, quotient = 0;
    for (int i = 63; i >= 0; i--) {
        uint64_t carry = rest >> 63;
        rest = rest << 1 | (low >> i & 1);
        if (carry || rest >= d) {
            rest -= d;
            quotient |= 1ull << i;
        }
    }
    *remainder = rest;
    return (wide_t)(high / d) << 64 | quotient;
}

/* Returns a * b / c rounded down, at most 2^64 - 1; `c` must not be 0. */
static inline uint64_t fixed_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    wide_t product = (wide_t)a * b;
    uint64_t rest;

    if (!(uint64_t)(product >> 64))
        return (uint64_t)product / c;
    wide_t quotient = fixed_div_wide(product, c, &rest);

    return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}

/* Returns a + b, at most 2^64 - 1. */
static inline uint64_t fixed_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* Returns a * b, at most WIDE_MAX. */
static inline wide_t fixed_mul_wide(wide_t a, uint64_t b)
{
    wide_t high = (a >> 64) * b, low = (wide_t)(uint64_t)a * b;

    if (high >> 64 || (high << 64) + low < low)
        return WIDE_MAX;
    return (high << 64) + low;
}

/* Returns a + b, at most WIDE_MAX. */
static inline wide_t fixed_add_wide(wide_t a, wide_t b)
{
    return a + b < a ? WIDE_MAX : a + b;
}
