/*
 * Which of several experts is to decide, by how often each would have missed since the start.
 *
 * One takes over when its lead is worth it.
 * - It is to pay for the change: N / 16 misses, N being the frames, and the pages that it would
 *   have resident and that will have to be fetched; twice as much each time that the same one takes
 *   over again, as going to and fro costs without end.
 * - It is to be no swing: where one was ahead of the other before and lost the lead again, it has
 *   to be ahead by more than by the largest such lead, or by N. Leads are known of all experts, so
 *   that swings are seen without following them.
 * - It is to be growing: a lead that grew no more since the last decision is of what is over, as
 *   after the way back of a sweep there and back, of which LRU has what was used last, by N at
 *   most, and others what was used first.
 * Of those ahead by as much, the one whose lead is largest beyond a third of the pages to be
 * fetched. What was best lately does not count: it can lose on every change.
 * Experts combined against the cost of changing state: [Blum and Burch 2000]; on the whole, not
 * lately: [Azar, Broder and Manasse 1993].
 * Internal to mm/replace_*.c.
 */
#pragma once
#include "kernel/lib/base.h"

enum { WEIGH_EXPERTS_MAX = 8 };

struct weigh_lead {
    /* the largest since there is one; the largest of those that came to nothing */
    uint64_t high, lost;
};

/* All counts are halved once in a long while. */
struct weigh {
    uint32_t experts;
    uint32_t turns[WEIGH_EXPERTS_MAX]; /* how often it took over */
    uint64_t accesses, misses[WEIGH_EXPERTS_MAX];
    uint64_t before[WEIGH_EXPERTS_MAX];                           /* misses at the last decision */
    struct weigh_lead lead[WEIGH_EXPERTS_MAX][WEIGH_EXPERTS_MAX]; /* [i][j]: of j, over i */
};

void weigh_init(struct weigh *w, uint32_t experts);
/* Accesses from one decision to the next. */
uint32_t weigh_interval(uint32_t frames);
/* An access, and the experts that would have missed, a bit each. */
void weigh_count(struct weigh *w, uint32_t missed);
/* These would have missed besides, at an access that was not counted. */
void weigh_count_late(struct weigh *w, uint32_t missed);
/* A decision: the expert that is to be in force from now on, `current` being so. fetches: pages to
 * be fetched, for each. */
uint32_t weigh_decide(struct weigh *w, uint32_t current, const uint32_t *fetches, uint32_t frames);
