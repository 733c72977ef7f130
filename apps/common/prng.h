/*
 * Random numbers: xorshift64*, seeded through splitmix64 so that neighbouring seeds give unrelated
 * sequences (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
 * The state is one word of the caller. Equal seeds give equal sequences on every platform.
 */
#pragma once
#include <stdint.h>

struct prng {
    uint64_t state; /* never 0 */
};

static inline struct prng prng_seeded(uint64_t seed, uint64_t stream)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15u + (stream + 1) * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (struct prng){.state = z ? z : 1};
}

static inline uint64_t prng_next(struct prng *prng)
{
    uint64_t x = prng->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    prng->state = x;
    return x * 0x2545f4914f6cdd1du;
}

/* Returns a number from 0 to bound - 1; bound is not 0. The bias, bound / 2^32, does not matter
 * here. */
static inline uint32_t prng_below(struct prng *prng, uint32_t bound)
{
    return (uint32_t)(((prng_next(prng) >> 32) * bound) >> 32);
}

/* Returns the number at an index of a sequence, by seed and stream, without computing those before
 * it (splitmix64's finisher). */
static inline uint64_t prng_at(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u +
                 stream * 0xa0761d6478bd642fu;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Maps to [0, 1), a multiple of 2^-53. */
static inline double prng_unit(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}
