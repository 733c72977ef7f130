/*
 * How sure a multiplexed count is: 95 % interval of the true count, from what hpm/policy/mux.h has
 * summed up.
 *
 * The interval is a score interval: all counts N that are not further from the estimate than t
 * standard deviations *as they would be if N were true*, the variance of a count being in
 * proportion to it (as for events that come singly, or in bunches of whatever size). Where much
 * was seen that is estimate +- t deviations; where little was, it leans upwards as it should, and
 * with events that come singly it is Wilson's (1927) interval for a binomial share. t is Student's,
 * at two thirds of the pairs of successive units, which is what differences have for degrees of
 * freedom. Of fewer than 256 counts no variance below that of single independent events is
 * believed.
 *
 * Where nothing was counted there is no variance, and how high the true count may be is a matter of
 * how many come at once: a miss stalls for a hundred cycles, what comes in bursts is missed a burst
 * at a time. At t^2 (1 - seen) / seen bunches none of which was seen the limit is that number
 * times the largest bunch, for which the event's *spread* stands, its variance for each count, in
 * those counts, other threads' or earlier ones, that have some. Where there are none nothing is
 * known of it, and no interval given (ESTIMATE_NONE). Pure: no clock, lock, allocation or register.
 */
#pragma once
#include "hpm/policy/mux.h"

enum {
    ESTIMATE_UNITS_MIN = 12, /* fewer say too little of their variance, see docs/results/mux.txt */
    /* no more than 1 / 8 of the length may be in units that are not closed */
    ESTIMATE_OPEN_PART = 8,
};

enum estimate_sure {
    ESTIMATE_EXACT,     /* counted all the time */
    ESTIMATE_INTERVAL,  /* low and high hold at 95 % */
    ESTIMATE_SHORT,     /* over too few units for an interval, or most of it not in closed ones */
    ESTIMATE_UNSEEN,    /* never counted */
    ESTIMATE_PUBLISHED, /* in the published form, which has no interval */
    ESTIMATE_BEYOND,    /* figures too large for one: see the ranges in mux.h */
    ESTIMATE_NONE,      /* nothing was counted, here or elsewhere: what it comes in is not known */
};

struct estimate {
    enum estimate_sure sure;
    uint64_t count;         /* over all of the length */
    uint64_t low, high;     /* without an interval: what was really counted, and UINT64_MAX */
    uint64_t deviation;     /* standard deviation of count; 0 without an interval */
    wide_t variance;        /* its square, before rounding */
    uint32_t seen_permille; /* of the length */
};

/* Of events that are known to come singly. */
#define ESTIMATE_SINGLES 1
/* Variance for each count, in 2^-16, at least ESTIMATE_SINGLES; as if all came at once where less
 * than two closed units have some. 0: nothing was counted. */
uint64_t estimate_spread(const struct mux_sum *sum);
/* sum's units were closed by rounds like these. spread: the largest of the event wherever it was
 * counted, for where sum has none; 0: nowhere. */
void estimate_make(const struct mux_sum *sum, const struct mux_rounds *rounds, uint64_t spread,
                   struct estimate *out);
/* Returns Student's t for a two-sided 95 % interval of the given number of pairs, at least 8, in
 * 2^-16. */
uint32_t estimate_t(uint64_t pairs);
