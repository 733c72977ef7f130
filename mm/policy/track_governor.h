/*
 * Limits the cost of tracking: how many pages are sampled so that tracking costs no more than a
 * part of the time of the processes concerned.
 *
 * The governor is told the cost of tracking and how long those processes ran. A window ends when
 * they have run for its time, or earlier when tracking has cost the limit of a whole one: less
 * says nothing yet, and a costly beginning must not last for a window's time, most of a short
 * program's. The governor keeps means of windows, which fade by an eighth in a whole one: a burst
 * behind some cheap windows changes nothing.
 *
 * One page of 2^shift is tracked; half as many are taken to cost half. When the mean is above the
 * limit the shift grows at once, by as much as is needed. It falls by one when several windows in a
 * row say that twice as many pages would stay well within the limit. A shift that proved too low
 * waits twice as long for its next trial, and one that lasts long halves that wait, so that where
 * the need lies between two shifts the lower one is seldom tried. Pure: one caller at a time; no
 * clock.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    GOVERN_SHIFT_MAX = 31,
    GOVERN_CALM_FIRST = 8, /* windows in a row before the shift falls, at first ... */
    GOVERN_CALM_MAX = 1024 /* ... and at most */
};

struct track_governor {
    unsigned permille;         /* limit, of the time that the processes ran */
    unsigned shift, shift_max; /* now; at most */
    unsigned calm;             /* windows in a row that allow a lower shift */
    unsigned calm_wanted;      /* windows in a row that lower it */
    bool on_trial;             /* the shift is lower than before */
    unsigned lasted;           /* windows with this shift, or since calm_wanted changed */
    uint64_t cost, ran;        /* faded sums, as if all was at the shift of now */
    uint64_t window;           /* time that the processes run in a whole one */
    struct {
        uint64_t cost, ran;
    } now; /* in the window that has not ended */
};

/* permille: 1..1000; 1000 allows everything. Begins at `shift`, at most shift_max, which is at most
 * GOVERN_SHIFT_MAX. window: from 1, in the unit of cost and ran. */
void track_governor_init(struct track_governor *g, unsigned permille, unsigned shift,
                         unsigned shift_max, uint64_t window);
/* Takes the cost of tracking since the last call and the time that the processes ran. Returns the
 * new shift. */
unsigned track_governor_tell(struct track_governor *g, uint64_t cost, uint64_t ran);
/* Returns NULL, or the broken invariant. */
const char *track_governor_check(const struct track_governor *g);
