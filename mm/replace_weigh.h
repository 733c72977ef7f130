/*
 * Which of several experts is to decide, by how often each would have missed.  Decisions, every 1/16 of the memory's frames in accesses:
 *   recent  misses with a half-life of 8 N accesses, N being the frames.  The best takes over when its lead is worth the
 *           pages that it would have resident and that are not (hysteresis): at once where a change of phase is just seen, as
 *           little has been evicted yet, late where experts that are about as good keep different pages
 *   excess  how much more the real memory missed than the shadow of the expert in force: a memory that others have filled need not
 *           become what the expert would have.  It counts against that expert, but for the pages to be fetched.  Against the one that knows the
 *           real memory all the time, WEIGH_KNOWING, it counts longer, when another is in force as much as it was by the access: others begin
 *           anew when they take over, but what that one missed it will miss again; of uses that follow at once its shadow, which
 *           has a sample of the pages, does not know how often others come between
 *   ever    misses since the start.  Chasing what was best lately can lose on every change.  When that has cost more than
 *           a budget, compared with the expert that was best on the whole, that one is followed until it is made good, and is
 *           given ever more time to show that it does what its shadow does, unless another has meanwhile got far ahead
 * After [Blum and Burch 2000], where the cost of changing state is what experts are combined against.
 * All accesses, misses and frames, N, are those of a sample.  Internal to mm/replace_*.c.
 */
#pragma once
#include "kernel/base.h"

enum { WEIGH_EXPERTS_MAX = 8, WEIGH_KNOWING = 3 };

struct weigh {
    uint32_t experts;
    uint32_t careful;  /* follows the best on the whole */
    uint32_t patience; /* decisions to let pass         */
    uint32_t stays;    /* made while careful            */
    uint64_t accesses;
    uint64_t recent[WEIGH_EXPERTS_MAX], ever[WEIGH_EXPERTS_MAX];
    int64_t excess[WEIGH_EXPERTS_MAX];
    int64_t knowing_excess;    /* as `excess`, fading more slowly ... */
    uint64_t knowing_in_force; /* ... and the accesses of that time   */
    uint64_t window;           /* accesses, as `recent`               */
    uint64_t own;              /* the real memory's misses, as `ever` */
    uint64_t lead;             /* of the best, in the decision that is made */
};

void weigh_init(struct weigh *w, uint32_t experts);
/* Accesses from one decision to the next. */
uint32_t weigh_interval(uint32_t n);
/* An access, with this expert in force: experts that would have missed, a bit each, and whether the real memory did. */
void weigh_count(struct weigh *w, uint32_t current, uint32_t missed, bool miss);
/* A decision: the expert that might take over, or the one in force. */
uint32_t weigh_best(struct weigh *w, uint32_t current, uint32_t n);
/* Whether it is to, so many pages being to be fetched. */
bool weigh_worth(struct weigh *w, uint32_t current, uint32_t best, uint32_t far);
/* It does. */
void weigh_taken(struct weigh *w, uint32_t next, uint32_t far, uint32_t n);
/* After each decision. */
void weigh_age(struct weigh *w, uint32_t n);
/* Its misses lately. */
uint64_t weigh_recent(const struct weigh *w, uint32_t expert);
