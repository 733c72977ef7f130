/*
 * Functions of real numbers with the same bits on every machine: they use only the four operations
 * and the square root, which IEEE 754 rounds exactly, in a fixed order.
 */
#pragma once
#include <stdint.h>

struct complex_number {
    double re, im;
};

static inline struct complex_number complex_product(struct complex_number a,
                                                    struct complex_number b)
{
    return (struct complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

enum { REAL_ROOTS_MAX = 40 };

/* Primitive roots of unity: power[k] = exp(-2 pi i / 2^k), k = 0..REAL_ROOTS_MAX-1. */
struct real_roots {
    struct complex_number power[REAL_ROOTS_MAX];
};
void real_roots_init(struct real_roots *roots);

/* exp(-2 pi i e / 2^k), within 10^-14. k < REAL_ROOTS_MAX, e < 2^k. */
struct complex_number real_root(const struct real_roots *roots, unsigned k, uint64_t e);

/* e^x for |x| <= 700, within 10^-14 of it. */
double real_exp(double x);

/* The natural logarithm of a positive, normal x, within 10^-14 of max(1, |log x|). */
double real_log(double x);
