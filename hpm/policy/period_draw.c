/* Random primes; see period.h. */
#include "hpm/policy/period.h"
#include "hpm/policy/draw.h"

#define PRIME_LAST 4294967291u /* below 2^32 */

static uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t n)
{
    uint64_t result = 1;

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * base % n;
        base = base * base % n;
    }
    return result;
}

/* Returns whether n = 1 + odd * 2^twos passes the Miller-Rabin test for `base`. */
static bool passes_test(uint64_t n, uint64_t odd, unsigned twos, uint64_t base)
{
    uint64_t x = power_mod(base % n, odd, n);

    if (x <= 1 || x == n - 1) /* 0: base is a multiple of n */
        return true;
    while (--twos && x != n - 1)
        x = x * x % n;
    return x == n - 1;
}

/* Bases 2, 7 and 61 decide all n below 4,759,123,141 (Jaeschke 1993, "On strong pseudoprimes to
 * several bases"). */
bool period_is_prime(uint64_t n)
{
    static const uint8_t small[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

    for (unsigned i = 0; i < ARRAY_SIZE(small); i++)
        if (n % small[i] == 0)
            return n == small[i];
    if (n < 41 * 41)
        return n > 1;
    unsigned twos = (unsigned)__builtin_ctzll(n - 1);
    uint64_t odd = (n - 1) >> twos;
    return passes_test(n, odd, twos, 2) && passes_test(n, odd, twos, 7) &&
           passes_test(n, odd, twos, 61);
}

/* Returns the prime below or above x, chosen so that the mean stays x. */
static uint64_t round_to_prime(uint64_t x, uint64_t *random)
{
    uint64_t below = x, above = x;

    while (!period_is_prime(below))
        below--;
    while (!period_is_prime(above))
        above++;
    return above > below && draw_bits(random) % (above - below) < x - below ? above : below;
}

uint64_t period_draw(uint64_t mean, uint64_t *random)
{
    uint64_t jitter = mean / 16;

    if (mean < 2)
        return mean;
    if (mean <= PERIOD_MAX)
        jitter = MIN(jitter, PERIOD_MAX - mean);
    uint64_t x = mean - jitter + draw_bits(random) % (2 * jitter + 1);

    return x <= PRIME_LAST ? round_to_prime(x, random) : x;
}
