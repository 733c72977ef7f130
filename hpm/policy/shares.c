/* See shares.h. */
#include "hpm/policy/shares.h"

static uint64_t bit(unsigned n)
{
    return 1ull << n;
}

/* Raises the weights of each set's events to the heaviest's, until nothing changes. Returns whether
 * events that are not pinned have different weights. */
static bool level_sets(struct shares_work *w, const struct group_request *r, const uint8_t *weight)
{
    bool raised = true, differ = false;
    uint8_t first = 0;

    memcpy(w->weight, weight, r->events);
    while (raised) {
        raised = false;
        for (unsigned s = 0; s < r->sets; s++) {
            uint8_t most = 0;
            for (uint64_t left = r->set[s] & ~r->pinned; left; left &= left - 1)
                most = MAX(most, w->weight[__builtin_ctzll(left)]);
            for (uint64_t left = r->set[s] & ~r->pinned; left; left &= left - 1) {
                raised |= w->weight[__builtin_ctzll(left)] < most;
                w->weight[__builtin_ctzll(left)] = most;
            }
        }
    }
    for (unsigned e = 0; e < r->events; e++) {
        if (r->pinned >> e & 1)
            continue;
        differ |= first && w->weight[e] != first;
        first = w->weight[e];
    }
    return differ;
}

/* Writes the events of `events` in the order of work. */
static uint64_t in_order(const struct shares_work *w, uint64_t events)
{
    uint64_t out = 0;

    for (unsigned at = 0; at < w->request.events; at++)
        out |= (events >> w->order[at] & 1) << at;
    return out;
}

static void put_events(struct shares_work *w, const struct group_request *r, unsigned *at,
                       unsigned weight)
{
    for (unsigned e = 0; e < r->events; e++) {
        bool pinned = r->pinned >> e & 1;
        if (weight ? pinned || w->weight[e] != weight : !pinned)
            continue;
        w->event[*at] = r->event[e];
        w->order[(*at)++] = (uint8_t)e;
    }
}

static void sort_events(struct shares_work *w, const struct group_request *r)
{
    unsigned at = 0;

    w->levels = 0;
    put_events(w, r, &at, 0);
    for (unsigned weight = WEIGHT_MAX; weight; weight--) {
        unsigned before = at;
        put_events(w, r, &at, weight);
        if (at != before)
            w->level[w->levels++] = (struct shares_level){(uint8_t)weight, (uint8_t)at, 0};
    }
    w->request = *r;
    w->request.event = w->event;
    w->request.within = w->within;
    w->request.set = w->set;
    w->request.pinned = in_order(w, r->pinned);
    w->request.once = in_order(w, r->once);
    for (unsigned s = 0; s < r->sets; s++)
        w->all_sets[s] = in_order(w, r->set[s]);
}

/* Packs the events of levels 0..last, those before `last` within their groups. */
static int pack_levels(struct shares_work *w, const struct group_request *r, unsigned last)
{
    uint64_t events = w->level[last].events == 64 ? ~0ull : bit(w->level[last].events) - 1;
    unsigned level = 0;

    w->request.events = w->level[last].events;
    w->request.sets = 0;
    for (unsigned s = 0; s < r->sets; s++)
        if (!(w->all_sets[s] & ~events))
            w->set[w->request.sets++] = w->all_sets[s];
    for (unsigned e = 0; e < w->request.events; e++) {
        while (e >= w->level[level].events)
            level++;
        w->within[e] = level < last ? w->level[level].groups : 0;
    }
    int err = group_pack(&w->request, &w->plan, &w->group, NULL);
    if (!err)
        w->level[last].groups =
            (uint8_t)MAX(w->plan.groups, last ? (unsigned)w->level[last - 1].groups : 1u);
    return err;
}

/* Packs the levels from `first` on, one after the other. Returns the sum of shares; 0: they need
 * too many groups. */
static unsigned pack_from(struct shares_work *w, const struct group_request *r, unsigned first)
{
    unsigned sum = 0, groups = 0;

    for (unsigned level = first; level < w->levels; level++)
        if (pack_levels(w, r, level))
            return 0;
    for (unsigned level = 0; level < w->levels; level++) {
        sum += (w->level[level].groups - groups) * w->level[level].weight;
        groups = w->level[level].groups;
    }
    return sum;
}

/* Gives a level one group more where that makes the sum of shares smaller. */
static void improve_levels(struct shares_work *w, const struct group_request *r, unsigned sum)
{
    struct shares_level best[WEIGHT_MAX];

    for (unsigned level = 0; level + 1 < w->levels; level++) {
        memcpy(best, w->level, sizeof best);
        w->level[level].groups++;
        unsigned tried = w->level[level].groups > GROUP_MAX ? 0 : pack_from(w, r, level + 1);
        if (tried && tried < sum) {
            sum = tried;
            level = ~0u; /* from the heaviest again */
        } else {
            memcpy(w->level, best, sizeof best);
        }
    }
}

static unsigned common_divisor(const struct shares_work *w)
{
    unsigned common = 0;

    for (unsigned level = 0; level < w->levels; level++)
        for (unsigned b = w->level[level].weight; b;) {
            unsigned rest = common % b;
            common = b;
            b = rest;
        }
    return common;
}

static void put_plan(const struct shares_work *w, struct group_plan *plan, uint8_t share[GROUP_MAX])
{
    unsigned level = 0, common = common_divisor(w);

    *plan = w->plan;
    for (unsigned g = 0; g < plan->groups; g++) {
        for (unsigned c = 0; c < GROUP_COUNTERS_ALL; c++)
            if (w->plan.event[g][c] != GROUP_NIL)
                plan->event[g][c] = w->order[w->plan.event[g][c]];
        while (g >= w->level[level].groups)
            level++;
        share[g] = (uint8_t)(w->level[level].weight / common);
    }
}

int shares_pack(const struct group_request *r, const uint8_t *weight, struct group_plan *plan,
                uint8_t share[GROUP_MAX], struct shares_work *w, struct group_cause *cause)
{
    struct group_request alike = *r;

    memset(share, 1, GROUP_MAX);
    alike.within = NULL;
    w->levels = 0;
    int err = group_pack(&alike, plan, &w->group, cause);
    if (err || !level_sets(w, r, weight))
        return err;
    sort_events(w, r);
    unsigned sum = pack_from(w, r, 0);
    if (!sum) {
        *cause = (struct group_cause){GROUP_TOO_MANY, GROUP_NIL, GROUP_NIL, GROUP_NIL, 0};
        return -ENOSPC;
    }
    improve_levels(w, r, sum);
    err = pack_levels(w, r, w->levels - 1);
    ASSERT(!err);
    put_plan(w, plan, share);
    return 0;
}

/* ---- Weights from variances ------------------------------------------------------------------ */

uint64_t shares_variance(const uint32_t *deviation, const uint16_t *slices, unsigned n,
                         unsigned all)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < n; i++)
        if (slices[i] && slices[i] < all)
            sum += ((uint64_t)deviation[i] * deviation[i] << 8) * (all - slices[i]) / slices[i];
    return sum;
}

/* Writes events' numbers, the largest deviation first. */
static void sort_deviations(const uint32_t *deviation, unsigned n, uint8_t *order)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned at = i;
        for (; at && deviation[order[at - 1]] < deviation[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
}

static uint8_t rounded_weight(uint32_t deviation, uint32_t most, unsigned largest)
{
    uint64_t weight = most ? ((uint64_t)deviation * largest * 2 + most) / (2ull * most) : 1;

    return (uint8_t)MIN(MAX(weight, (uint64_t)1), (uint64_t)WEIGHT_MAX);
}

void shares_neyman(const uint32_t *deviation, unsigned n, unsigned counters, uint8_t *weight)
{
    /* Weights that the largest deviation would have, were it not clamped. */
    static const uint8_t largest[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64};
    uint8_t order[GROUP_EVENTS_MAX];
    uint32_t sorted[GROUP_EVENTS_MAX];
    uint16_t slices[GROUP_EVENTS_MAX];
    uint64_t best = UINT64_MAX;

    ASSERT(n <= GROUP_EVENTS_MAX && counters);
    sort_deviations(deviation, n, order);
    for (unsigned i = 0; i < n; i++)
        sorted[i] = deviation[order[i]];
    for (unsigned try = 0; n && try < ARRAY_SIZE(largest); try++) {
        unsigned all = 0;
        for (unsigned i = 0; i < n; i++) {
            bool first = i % counters == 0; /* the heaviest of its group */
            slices[i] = first ? rounded_weight(sorted[i], sorted[0], largest[try]) : slices[i - 1];
            all += first ? slices[i] : 0;
        }
        uint64_t variance = shares_variance(sorted, slices, n, all);
        if (variance >= best)
            continue;
        best = variance;
        for (unsigned i = 0; i < n; i++)
            weight[order[i]] = rounded_weight(sorted[i], sorted[0], largest[try]);
    }
}
