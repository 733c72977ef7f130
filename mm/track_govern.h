/*
 * What tracking may cost: how many pages are sampled so that it costs no more than a part of the time of the processes concerned.
 *
 * At the end of each window it is told what tracking has cost in it and how long those processes ran, of which it keeps means that fade by an
 * eighth a window: a burst alone changes nothing.  One page of 2^shift is tracked; half as many are taken to cost half.  When the mean is
 * above what is allowed the shift grows at once, by as much as is needed.  It falls by one when several windows in a row say that twice as
 * many pages would stay well within.  A shift that proved too low waits twice as long for its next trial, and one that lasts long
 * halves that, so that where the need lies between two shifts the lower one is seldom tried.
 * Pure: one caller at a time; no clock.
 */
#pragma once
#include "kernel/base.h"

enum {
    GOVERN_SHIFT_MAX = 31,
    GOVERN_CALM_FIRST = 8, /* windows in a row before the shift falls, at first ... */
    GOVERN_CALM_MAX = 1024 /* ... and at most */
};

struct govern {
    unsigned permille;         /* allowed, of the time they ran                    */
    unsigned shift, shift_max; /* now; what the tracker can do                     */
    unsigned calm;             /* windows in a row that allow a lower one          */
    unsigned calm_wanted;      /* so many are enough                               */
    bool on_trial;             /* the shift is lower than before                   */
    unsigned lasted;           /* for so many windows, or since calm_wanted changed */
    uint64_t cost, ran;        /* faded sums, as if all was at the shift of now    */
};

/* permille: 1..1000, of which 1000 allows everything.  Begins at this shift, which is at most shift_max, which is at most GOVERN_SHIFT_MAX. */
void govern_init(struct govern *g, unsigned permille, unsigned shift, unsigned shift_max);
/* A window has ended, in which tracking took `cost` and the processes ran for `ran`, in one unit.  The shift from now on. */
unsigned govern_window(struct govern *g, uint64_t cost, uint64_t ran);
/* NULL, or the invariant that does not hold. */
const char *govern_check(const struct govern *g);
