/*
 * What tracking may cost: how many pages are sampled so that it costs no more than a part of the
 * time of the processes concerned.
 *
 * It is told what tracking has cost and how long those processes ran. A window ends when they have
 * run for its time, or before that when tracking has cost what it may in a whole one: less says
 * nothing yet, and what begins dear is not dear for a window's time, most of a short program's. Of
 * windows it keeps means, which fade by an eighth in a whole one: a burst behind some cheap ones
 * changes nothing.
 *
 * One page of 2^shift is tracked; half as many are taken to cost half. When the mean is above what
 * is allowed the shift grows at once, by as much as is needed. It falls by one when several
 * windows in a row say that twice as many pages would stay well within. A shift that proved too
 * low waits twice as long for its next trial, and one that lasts long halves that, so that where
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
    unsigned permille;         /* allowed, of the time they ran */
    unsigned shift, shift_max; /* now; what the tracker can do */
    unsigned calm;             /* windows in a row that allow a lower one */
    unsigned calm_wanted;      /* so many are enough */
    bool on_trial;             /* the shift is lower than before */
    unsigned lasted;           /* for so many windows, or since calm_wanted changed */
    uint64_t cost, ran;        /* faded sums, as if all was at the shift of now */
    uint64_t window;           /* how long they run in a whole one */
    struct {
        uint64_t cost, ran;
    } now; /* in the window that has not ended */
};

/* permille: 1..1000, of which 1000 allows everything. Begins at this shift, which is at most
 * shift_max, which is at most GOVERN_SHIFT_MAX. window: from 1, in the unit of what it will be
 * told. */
void track_governor_init(struct track_governor *g, unsigned permille, unsigned shift,
                         unsigned shift_max, uint64_t window);
/* Since it was told last tracking took `cost`, and the processes ran for `ran`.  The shift from now
 * on. */
unsigned track_governor_tell(struct track_governor *g, uint64_t cost, uint64_t ran);
/* NULL, or the invariant that does not hold. */
const char *track_governor_check(const struct track_governor *g);
