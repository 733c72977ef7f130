/* See weigh.h. */
#include "mm/policy/replace/weigh.h"

enum {
    STEPS = 16,     /* decisions in N accesses, the frames */
    LEAD_SHIFT = 4, /* least lead: N >> this */
    TURNS_MAX = 16, /* doublings of the price */
    BEYOND = 3,     /* leads are compared less 1 / BEYOND of the pages to be fetched */
    LONG = 4096,    /* times N accesses, after which all counts are halved */
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
    weigh_count_late(w, missed);
}

void weigh_count_late(struct weigh *w, uint32_t missed)
{
    for (uint32_t i = 0; i < w->experts; i++)
        w->misses[i] += missed >> i & 1;
}

static void halve_counts(struct weigh *w)
{
    w->accesses /= 2;
    for (uint32_t i = 0; i < w->experts; i++) {
        w->turns[i] /= 2;
        w->misses[i] /= 2;
        w->before[i] /= 2;
        for (uint32_t j = 0; j < w->experts; j++) {
            w->lead[i][j].high /= 2;
            w->lead[i][j].lost /= 2;
        }
    }
}

static void note_leads(struct weigh *w)
{
    for (uint32_t i = 0; i < w->experts; i++) {
        for (uint32_t j = 0; j < w->experts; j++) {
            struct weigh_lead *lead = &w->lead[i][j];
            if (w->misses[i] > w->misses[j]) {
                lead->high = MAX(lead->high, w->misses[i] - w->misses[j]);
                continue;
            }
            lead->lost = MAX(lead->lost, lead->high);
            lead->high = 0;
        }
    }
}

/* Returns whether `next` has missed less than `current` since the last decision. */
static bool gains(const struct weigh *w, uint32_t current, uint32_t next)
{
    return w->misses[next] - w->before[next] < w->misses[current] - w->before[current];
}

/* Returns the lead that pays for a change to expert `next`, which has `fetches` pages to be
 * fetched. */
static uint64_t least_lead(const struct weigh *w, uint32_t current, uint32_t next, uint32_t fetches,
                           uint32_t frames)
{
    uint64_t price = (uint64_t)fetches + (frames >> LEAD_SHIFT);
    uint64_t lost = w->lead[current][next].lost;

    return MAX(price << MIN(w->turns[next], (uint32_t)TURNS_MAX), MIN(lost, (uint64_t)frames));
}

uint32_t weigh_decide(struct weigh *w, uint32_t current, const uint32_t *fetches, uint32_t frames)
{
    int64_t most = 0;
    uint32_t best = current;

    note_leads(w);
    for (uint32_t i = 0; i < w->experts; i++) {
        int64_t lead = (int64_t)(w->misses[current] - w->misses[i]),
                beyond = lead - fetches[i] / BEYOND;
        if (gains(w, current, i) && lead > (int64_t)least_lead(w, current, i, fetches[i], frames) &&
            beyond > most) {
            most = beyond;
            best = i;
        }
    }
    for (uint32_t i = 0; i < w->experts; i++)
        w->before[i] = w->misses[i];
    w->turns[best] += best != current;
    if (w->accesses >= (uint64_t)LONG * frames)
        halve_counts(w);
    return best;
}
