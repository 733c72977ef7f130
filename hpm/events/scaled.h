/* Numbers for formulas over counts, with 64 bits of precision at any magnitude, so that neither a
 * count of years nor a ratio of one in a million is lost, without floating point. value = (negative
 * ? -1 : 1) * bits * 2^exponent. Pure; every operation rounds towards zero. */
#pragma once
#include "kernel/lib/base.h"

struct scaled {
    uint64_t bits; /* 0: the number is 0 */
    int exponent;
    bool negative;
};

static inline struct scaled scaled_of(uint64_t value)
{
    return (struct scaled){.bits = value};
}

struct scaled scaled_add(struct scaled a, struct scaled b);
struct scaled scaled_sub(struct scaled a, struct scaled b);
struct scaled scaled_mul(struct scaled a, struct scaled b);
struct scaled scaled_div(struct scaled a, struct scaled b); /* b is not 0 */
/* Rounds to the nearest whole number, half away from zero. Returns false if it does not fit. */
bool scaled_round(struct scaled a, int64_t *out);
