/* See replace_weigh.h. */
#include "mm/replace_weigh.h"

enum {
    STEPS = 16,          /* decisions in N accesses        */
    LEAD_SHIFT = 5,      /* least lead: N / 32             */
    SHARE = 6,           /* of the pages to be fetched ... */
    SHARE_OF = 20,       /* ... in so many parts           */
    SHARE_BY_CHANGE = 3, /* ... and more by each change    */
    LONG = 4096,         /* N accesses: then all that was counted is halved */
};

void weigh_init(struct weigh *w, uint32_t experts)
{
    ASSERT(experts <= WEIGH_EXPERTS_MAX);
    *w = (struct weigh){.experts = experts};
}

uint32_t weigh_interval(uint32_t frames)
{
    return MAX(frames / STEPS, 1u);
}

void weigh_count(struct weigh *w, uint32_t missed)
{
    w->accesses++;
    for (uint32_t i = 0; i < w->experts; i++)
        w->misses[i] += missed >> i & 1;
}

static void halve(struct weigh *w)
{
    w->accesses /= 2;
    w->changes /= 2;
    for (uint32_t i = 0; i < w->experts; i++)
        w->misses[i] /= 2;
}

uint32_t weigh_decide(struct weigh *w, uint32_t current, const uint32_t *far, uint32_t frames)
{
    uint64_t share = SHARE + (uint64_t)SHARE_BY_CHANGE * w->changes;
    int64_t most = 0;
    uint32_t best = current;

    for (uint32_t i = 0; i < w->experts; i++) {
        int64_t lead = (int64_t)(w->misses[current] - w->misses[i]), beyond = lead - far[i] / 2;
        if (lead > (int64_t)(far[i] * share / SHARE_OF + (frames >> LEAD_SHIFT)) && beyond > most) {
            most = beyond;
            best = i;
        }
    }
    w->changes += best != current;
    if (w->accesses >= (uint64_t)LONG * frames)
        halve(w);
    return best;
}
