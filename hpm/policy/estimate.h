/*
 * How sure a multiplexed count is: a 95 % interval of the true count, from the sums of
 * hpm/policy/mux.h.
 *
 * The interval is a score interval: all counts N that are within t standard deviations of the
 * estimate, the deviation being the one there would be if N were true (the variance of a count is
 * in proportion to the count, for events that come singly or in bunches of any size). Where much
 * was seen this is estimate +- t deviations. Where little was seen it leans upwards, as it should;
 * for events that come singly it is Wilson's (1927) interval for a binomial share. t is Student's,
 * with two thirds of the pairs of successive units as degrees of freedom, which is what differences
 * have. With fewer than 256 counts, the variance is taken to be at least that of single independent
 * events.
 *
 * If nothing was counted there is no variance, and the upper limit depends on how many events come
 * at once: a miss stalls for a hundred cycles, a burst is missed as a whole. The limit is then t^2
 * (1 - seen) / seen bunches, the number of which none would have been seen, times the largest
 * bunch. The bunch is taken from the event's *spread*, its variance divided by its count, in other
 * threads' or earlier counts that are not 0. If there are none, the spread is unknown and no
 * interval is given (ESTIMATE_NONE).
 *
 * Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/policy/mux.h"

enum {
    /* With fewer units the variance is too uncertain, see docs/results/mux.txt. */
    ESTIMATE_UNITS_MIN = 12,
    /* At most 1 / ESTIMATE_OPEN_PART of the length may be in units that are not closed. */
    ESTIMATE_OPEN_PART = 8,
};

enum estimate_sure {
    ESTIMATE_EXACT,    /* counted all the time */
    ESTIMATE_INTERVAL, /* low and high hold at 95 % */
    /* too few units for an interval, or too much of the length is not in closed units */
    ESTIMATE_SHORT,
    ESTIMATE_UNSEEN,    /* never counted */
    ESTIMATE_PUBLISHED, /* in the published form, which has no interval */
    ESTIMATE_BEYOND,    /* figures too large for an interval: see the ranges in mux.h */
    ESTIMATE_NONE,      /* nothing was counted, here or elsewhere, so that the spread is unknown */
};

struct estimate {
    enum estimate_sure sure;
    uint64_t count;         /* over all of the length */
    uint64_t low, high;     /* without an interval: what was really counted, and UINT64_MAX */
    uint64_t deviation;     /* standard deviation of count; 0 without an interval */
    wide_t variance;        /* its square, before rounding */
    uint32_t seen_permille; /* of the length */
};

/* Spread of events that are known to come singly. */
#define ESTIMATE_SINGLES 1
/* Returns the variance divided by the count, in 2^-16, at least ESTIMATE_SINGLES. If fewer than two
 * closed units have counts, all counts are taken to have come at once. Returns 0 if nothing was
 * counted. */
uint64_t estimate_spread(const struct mux_sum *sum);
/* Estimates `sum`, made of units that were closed in rounds like `rounds`. spread: the largest
 * spread of the event wherever it was counted, used if `sum` has none; 0: unknown. */
void estimate_make(const struct mux_sum *sum, const struct mux_rounds *rounds, uint64_t spread,
                   struct estimate *out);
/* Returns Student's t for a two-sided 95 % interval of `pairs` pairs, at least 8, in 2^-16. */
uint32_t estimate_t(uint64_t pairs);
