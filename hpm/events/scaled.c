/* Arithmetic of scaled numbers; see scaled.h. */
#include "hpm/events/scaled.h"
#include "kernel/lib/fixed.h"

/* Normalizes: the highest bit set becomes bit 63; 0 stays 0. */
static struct scaled normalized(struct scaled a)
{
    if (!a.bits)
        return (struct scaled){0};
    unsigned shift = 63 - log2_floor(a.bits);
    a.bits <<= shift;
    a.exponent -= (int)shift;
    return a;
}

static uint64_t shifted(uint64_t bits, int right)
{
    return right < 64 ? bits >> right : 0;
}

/* Brings both to one exponent, with one bit of room above. */
static void align_pair(struct scaled *a, struct scaled *b)
{
    *a = normalized(*a);
    *b = normalized(*b);
    int exponent =
        (!b->bits || (a->bits && a->exponent > b->exponent) ? a->exponent : b->exponent) + 1;
    a->bits = a->bits ? shifted(a->bits, exponent - a->exponent) : 0;
    b->bits = b->bits ? shifted(b->bits, exponent - b->exponent) : 0;
    a->exponent = b->exponent = exponent;
}

struct scaled scaled_add(struct scaled a, struct scaled b)
{
    align_pair(&a, &b);
    if (a.negative == b.negative)
        a.bits += b.bits;
    else if (a.bits >= b.bits)
        a.bits -= b.bits;
    else
        a = (struct scaled){b.bits - a.bits, a.exponent, b.negative};
    return a.bits ? a : (struct scaled){0};
}

struct scaled scaled_sub(struct scaled a, struct scaled b)
{
    b.negative = !b.negative;
    return scaled_add(a, b);
}

struct scaled scaled_mul(struct scaled a, struct scaled b)
{
    a = normalized(a);
    b = normalized(b);
    if (!a.bits || !b.bits)
        return (struct scaled){0};
    wide_t product = (wide_t)a.bits * b.bits;
    return (struct scaled){(uint64_t)(product >> 64), a.exponent + b.exponent + 64,
                           a.negative != b.negative};
}

/* The quotient has 63 fractional bits. */
struct scaled scaled_div(struct scaled a, struct scaled b)
{
    uint64_t rest;

    ASSERT(b.bits);
    a = normalized(a);
    b = normalized(b);
    if (!a.bits)
        return a;
    wide_t quotient = fixed_div_wide((wide_t)a.bits << 63, b.bits, &rest);
    return (struct scaled){(uint64_t)quotient, a.exponent - b.exponent - 63,
                           a.negative != b.negative};
}

bool scaled_round(struct scaled a, int64_t *out)
{
    a = normalized(a);
    *out = 0;
    if (!a.bits || a.exponent < -64)
        return true;
    if (a.exponent > -1)
        return false;
    uint64_t half = (uint64_t)1 << (-a.exponent - 1);
    uint64_t whole = shifted(a.bits, -a.exponent) + !!(a.bits & half);
    if (whole > INT64_MAX)
        return false;
    *out = a.negative ? -(int64_t)whole : (int64_t)whole;
    return true;
}
