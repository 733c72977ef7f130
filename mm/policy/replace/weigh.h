/*
 * Decides which of several experts is in force, by how often each would have missed since the
 * start.
 *
 * An expert takes over when its lead is worth the change:
 * - It pays for the change: N / 16 misses, N being the frames, and the pages that it would have
 *   resident and that will have to be fetched; twice as much each time that the same expert takes
 *   over again, as going to and fro costs without end.
 * - It is no swing: if the expert was ahead of the other before and lost the lead again, it has to
 *   be ahead by more than the largest such lead, or by N. Leads are known of all experts, so that
 *   swings are seen without following them.
 * - It is growing: a lead that has not grown since the last decision comes from a past phase, as
 *   after the way back of a sweep there and back, of which LRU has the pages used last, by N at
 *   most, and others those used first.
 * Of experts ahead by as much, the one with the largest lead beyond a third of its pages to be
 * fetched takes over. Recent misses alone do not count: the expert that was best lately can lose on
 * every change. Experts combined against the cost of changing state: [Blum and Burch 2000]; over
 * the whole past: [Azar, Broder and Manasse 1993]. Internal to this folder.
 */
#pragma once
#include "kernel/lib/base.h"

enum { WEIGH_EXPERTS_MAX = 8 };

struct weigh_lead {
    /* largest since there is a lead; largest of those lost */
    uint64_t high, lost;
};

/* Counts of one pool; all are halved once in a long while. */
struct weigh {
    uint32_t experts;
    uint32_t turns[WEIGH_EXPERTS_MAX]; /* how often each took over */
    uint64_t accesses, misses[WEIGH_EXPERTS_MAX];
    /* misses up to the last decision */
    uint64_t before[WEIGH_EXPERTS_MAX];
    struct weigh_lead lead[WEIGH_EXPERTS_MAX][WEIGH_EXPERTS_MAX]; /* [i][j]: of j over i */
};

void weigh_init(struct weigh *w, uint32_t experts);
/* Returns the number of accesses from one decision to the next. */
uint32_t weigh_interval(uint32_t frames);
/* Counts an access; missed: a bit for each expert that would have missed. */
void weigh_count(struct weigh *w, uint32_t missed);
/* Counts misses at an access that was counted or not logged: a bit for each expert. */
void weigh_count_late(struct weigh *w, uint32_t missed);
/* Returns the expert that is to be in force from now on, after `current`. fetches: pages to be
 * fetched, for each expert. */
uint32_t weigh_decide(struct weigh *w, uint32_t current, const uint32_t *fetches, uint32_t frames);
