/* Variance and interval of a multiplexed count; see estimate.h. */
#include "hpm/policy/estimate.h"

/* Fixed point: variances, standard deviations and limits have 16 fractional bits, their squares
 * 32. */
enum { FRACTION_BITS = 16, FEW_COUNTS = 256 };
#define VARIANCE_MAX ((wide_t)1 << 108)

/*
 * Cornish and Fisher: t = z + (z^3 + z) / 4n + (5z^5 + 16z^3 + 3z) / 96n^2, z = 1.959964, for n
 * degrees of freedom, here n = 2/3 pairs; wrong by less than 0.0002 from 40 pairs on, by 0.01 at 9.
 */
uint32_t estimate_t(uint64_t pairs)
{
    enum { Z = 128448, FIRST = 233207, SECOND = 416193 };

    return (uint32_t)(Z + FIRST / pairs + (pairs >> 32 ? 0 : SECOND / (pairs * pairs)));
}

/* Returns the variance of all of count: that of the pairs for each unit, and for the length outside
 * closed units in proportion. */
static wide_t whole_variance(const struct mux_sum *s)
{
    uint64_t rest;
    wide_t v =
        fixed_add_wide(s->variance, fixed_div_wide(fixed_mul_wide(s->variance, s->units - s->pairs),
                                                   s->pairs, &rest));

    return fixed_mul_wide(v, fixed_muldiv(s->length, 1 << FRACTION_BITS, s->closed)) >>
           FRACTION_BITS;
}

/* Returns the spread of events that come singly, in 2^-16: the ratio of what was not seen to what
 * was. */
static uint64_t single_spread(const struct mux_sum *s)
{
    return fixed_muldiv(s->length - s->seen, 1 << FRACTION_BITS, s->seen);
}

uint64_t estimate_spread(const struct mux_sum *s)
{
    uint64_t rest;

    if (!s->counted || !s->seen)
        return 0;
    wide_t at_once = fixed_mul_wide(single_spread(s), s->counted);
    wide_t spread =
        s->pairs && s->variance ? fixed_div_wide(whole_variance(s), s->count, &rest) : at_once;
    return (uint64_t)MIN(MAX(spread, (wide_t)ESTIMATE_SINGLES), (wide_t)UINT64_MAX);
}

/* Sets the limits N with (N - count)^2 = t^2 variance(N), variance(N) = spread * N. */
static void set_limits(struct estimate *e, const struct mux_sum *s, wide_t variance,
                       uint64_t spread, uint64_t t)
{
    uint64_t rest, t2 = t * t >> FRACTION_BITS;
    wide_t squared = variance * t2 >> FRACTION_BITS; /* t2 is below 2^19 */
    /* t^2 spread. If nothing was counted it is the spread of other counts, and at least that of
     * single events. */
    wide_t lean = s->count ? fixed_div_wide(squared, s->count, &rest) : 0;

    if (!s->counted)
        lean = MAX(lean, (wide_t)MAX(spread, single_spread(s)) * t2 >> FRACTION_BITS);

    if (lean >> 62) {
        e->sure = ESTIMATE_BEYOND;
        return;
    }
    wide_t half =
        (wide_t)fixed_isqrt_wide((squared << FRACTION_BITS) + (lean / 2) * (lean / 2)) + 1;
    wide_t middle = ((wide_t)s->count << FRACTION_BITS) + lean / 2;
    wide_t high = (middle + half + (1 << FRACTION_BITS) - 1) >> FRACTION_BITS;

    e->sure = high > UINT64_MAX ? ESTIMATE_BEYOND : ESTIMATE_INTERVAL;
    e->high = e->sure == ESTIMATE_INTERVAL ? (uint64_t)high : UINT64_MAX;
    if (e->sure == ESTIMATE_INTERVAL && middle > half)
        e->low = MAX(s->counted, (uint64_t)((middle - half) >> FRACTION_BITS));
    e->variance = variance >> FRACTION_BITS;
    e->deviation = fixed_isqrt_wide(variance << FRACTION_BITS) >> FRACTION_BITS;
}

static enum estimate_sure kind_of(const struct mux_sum *s, const struct mux_rounds *rounds,
                                  uint64_t spread)
{
    if (s->seen == s->length)
        return ESTIMATE_EXACT;
    if (!s->seen)
        return ESTIMATE_UNSEEN;
    if (rounds->published)
        return ESTIMATE_PUBLISHED;
    if (s->units < ESTIMATE_UNITS_MIN || !s->pairs || s->units - s->pairs > s->pairs ||
        s->length > s->closed + s->length / ESTIMATE_OPEN_PART)
        return ESTIMATE_SHORT;
    if (!s->counted && !spread)
        return ESTIMATE_NONE;
    return s->count == UINT64_MAX ? ESTIMATE_BEYOND : ESTIMATE_INTERVAL;
}

void estimate_make(const struct mux_sum *s, const struct mux_rounds *rounds, uint64_t spread,
                   struct estimate *e)
{
    *e = (struct estimate){.sure = kind_of(s, rounds, spread),
                           .count = s->count,
                           .low = s->counted,
                           .high = UINT64_MAX};
    e->seen_permille = s->length ? (uint32_t)fixed_muldiv(s->seen, 1000, s->length) : 1000;
    if (e->sure == ESTIMATE_EXACT)
        e->high = s->count;
    if (e->sure != ESTIMATE_INTERVAL)
        return;
    wide_t variance = whole_variance(s);
    if (s->counted < FEW_COUNTS)
        variance = MAX(variance, (wide_t)fixed_muldiv(s->count, s->length - s->seen, s->seen)
                                     << FRACTION_BITS);
    if (variance >= VARIANCE_MAX)
        e->sure = ESTIMATE_BEYOND;
    else
        set_limits(e, s, variance, spread, estimate_t(s->pairs));
}
