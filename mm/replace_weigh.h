/*
 * Which of several experts is to decide, by how often each would have missed since the start.
 *
 * One takes over when its lead is worth it: by N / 32 misses, N being the frames, and by a share of the pages that it would have resident
 * and that are to be fetched.  The share begins with 3/10 and grows by 3/20 with each change, as changing again and again is what
 * may cost without end: after k changes each needs a lead that pays for what the change may cost, so that the changes
 * become rarer as they add up.  Of those ahead by as much, the one whose lead is largest beyond half of those pages.
 * What was best lately does not count: it can lose on every change.
 * Experts combined against the cost of changing state: [Blum and Burch 2000]; on the whole, not lately: [Azar, Broder and Manasse 1993].
 * Internal to mm/replace_*.c.
 */
#pragma once
#include "kernel/base.h"

enum { WEIGH_EXPERTS_MAX = 8 };

struct weigh {
    uint32_t experts;
    uint32_t changes; /* so far: as the counts below, halved once in a long while */
    uint64_t accesses, misses[WEIGH_EXPERTS_MAX];
};

void weigh_init(struct weigh *w, uint32_t experts);
/* Accesses from one decision to the next. */
uint32_t weigh_interval(uint32_t frames);
/* An access, and the experts that would have missed, a bit each. */
void weigh_count(struct weigh *w, uint32_t missed);
/* A decision: the expert that is to be in force from now on, `current` being so.  far: pages to be fetched, for each. */
uint32_t weigh_decide(struct weigh *w, uint32_t current, const uint32_t *far, uint32_t frames);
