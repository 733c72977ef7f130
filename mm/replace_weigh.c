/* See replace_weigh.h.  Counts that fade are times ONE. */
#include "mm/replace_weigh.h"

enum {
    STEPS = 16,        /* decisions in N accesses                                             */
    DECAY = 354,       /* at each, by 65536 (1 - 2^(-1/128)): half is left after 8 N          */
    LEAD_SHIFT = 5,    /* least lead lately: N / 32 misses                                     */
    CAREFUL_SHIFT = 2, /* ... and since the start: N / 4                                      */
    FAR_QUARTERS = 3,  /* ... and so many quarters of the pages to be fetched                 */
    STAY = 6 * STEPS,  /* decisions that one made while careful is left alone, doubled each time ... */
    STAY_DOUBLED = 5,
    STAY_SHIFT = 1,   /* ... but not with another N / 2 misses ahead                         */
    PATIENCE = 4,     /* decisions after one that came to nothing, as that took time         */
    BUDGET_SHIFT = 8, /* what changes may have cost: 1/256 of the accesses, and N            */
    DOUBT = 16,       /* the knowing is trusted as if it had done as its shadow did for 16 N accesses */
    FORGET = 4,       /* ... and what it did is forgotten so much more slowly than misses lately */
    LONG = 4096,      /* N accesses: then all that was counted since the start is halved     */
    ONE = 65536,
};

void weigh_init(struct weigh *w, uint32_t experts)
{
    ASSERT(experts > WEIGH_KNOWING && experts <= WEIGH_EXPERTS_MAX);
    *w = (struct weigh){.experts = experts};
}

uint32_t weigh_interval(uint32_t n)
{
    return MAX(n / STEPS, 1u);
}

/* The expert, while in force, missed so many more than its shadow. */
static void exceed(struct weigh *w, uint32_t i, int64_t misses)
{
    w->excess[i] += misses * ONE;
    if (i == WEIGH_KNOWING)
        w->knowing_excess += misses * ONE;
}

void weigh_count(struct weigh *w, uint32_t current, uint32_t missed, bool miss)
{
    for (uint32_t i = 0; i < w->experts; i++)
        if (missed >> i & 1) {
            w->recent[i] += ONE;
            w->ever[i]++;
        }
    w->accesses++;
    w->own += miss;
    w->window += ONE;
    w->knowing_in_force += current == WEIGH_KNOWING ? ONE : 0;
    exceed(w, current, (int64_t)miss - (missed >> current & 1));
}

/* Of the knowing, in so many accesses. */
static uint64_t likely_excess(const struct weigh *w, uint64_t accesses, uint32_t n)
{
    uint64_t trusted = w->knowing_in_force / ONE + (uint64_t)DOUBT * n;

    return (uint64_t)MAX(w->knowing_excess, 0) / trusted * accesses;
}

static uint64_t with_excess(const struct weigh *w, uint64_t misses, uint32_t i, uint64_t accesses, uint32_t n)
{
    uint64_t excess = (uint64_t)MAX(w->excess[i], 0);

    return misses + (i == WEIGH_KNOWING ? MAX(excess, likely_excess(w, accesses, n)) : excess);
}

/* What counts now: misses lately, or since the start while careful. */
static void count_now(struct weigh *w, uint64_t *misses, uint32_t n)
{
    uint64_t least = UINT64_MAX, budget = (w->accesses >> BUDGET_SHIFT) + n;

    for (uint32_t i = 0; i < w->experts; i++)
        least = MIN(least, w->ever[i]);
    if (w->own > least + budget)
        w->careful = 1;
    else if (w->own < least + budget / 2)
        w->careful = w->stays = 0;
    for (uint32_t i = 0; i < w->experts; i++)
        misses[i] = w->careful ? with_excess(w, w->ever[i] * ONE, i, w->accesses, n)
                               : with_excess(w, w->recent[i], i, w->window / ONE, n);
}

uint32_t weigh_best(struct weigh *w, uint32_t current, uint32_t n)
{
    uint64_t misses[WEIGH_EXPERTS_MAX], frames = (uint64_t)n * ONE;
    uint32_t best = current;

    count_now(w, misses, n);
    for (uint32_t i = 0; i < w->experts; i++)
        best = misses[i] < misses[best] ? i : best;
    w->lead = misses[current] - misses[best];
    if (w->careful && w->lead > frames >> STAY_SHIFT)
        w->patience = 0;
    if (w->patience > 0) {
        w->patience--;
        return current;
    }
    return w->lead > frames >> (w->careful ? CAREFUL_SHIFT : LEAD_SHIFT) ? best : current;
}

bool weigh_worth(struct weigh *w, uint32_t current, uint32_t best, uint32_t far)
{
    ASSERT(best != current);
    bool worth = w->lead > (uint64_t)far * ONE * FAR_QUARTERS / 4;

    w->patience = !worth ? (uint32_t)PATIENCE : 0;
    if (worth && w->careful)
        w->patience = STAY << MIN(w->stays++, (uint32_t)STAY_DOUBLED);
    return worth;
}

void weigh_taken(struct weigh *w, uint32_t next, uint32_t far, uint32_t n)
{
    exceed(w, next, -(int64_t)MAX(far, n / 8));
}

void weigh_age(struct weigh *w, uint32_t n)
{
    bool halve = w->accesses >= (uint64_t)LONG * n;

    for (uint32_t i = 0; i < w->experts; i++) {
        w->recent[i] -= w->recent[i] * DECAY / 65536;
        w->excess[i] -= w->excess[i] * DECAY / 65536;
        w->ever[i] >>= halve;
    }
    w->knowing_excess -= w->knowing_excess * (DECAY / FORGET) / 65536;
    w->knowing_in_force -= w->knowing_in_force * (DECAY / FORGET) / 65536;
    w->window -= w->window * DECAY / 65536;
    w->own >>= halve;
    w->accesses >>= halve;
}

uint64_t weigh_recent(const struct weigh *w, uint32_t expert)
{
    return w->recent[expert] / ONE;
}
