/* See group_oracle.h. */
#include <string.h>
#include "test/host/double/group_oracle.h"

enum { STATES = 1 << (ORACLE_EVENTS + ORACLE_SETS) };

static bool event_may_use(const struct group_request *r, unsigned e, unsigned counter)
{
    unsigned fixed = counter - r->counters;

    return counter < r->counters ? r->event[e].mask >> counter & 1
                                 : (r->fixed >> fixed & 1) && r->event[e].fixed == fixed;
}

/* Returns whether the events of `left` find counters besides the taken ones, by trying
 * everything. */
static bool seatable(const struct group_request *r, unsigned left, unsigned taken)
{
    if (!left)
        return true;
    unsigned e = (unsigned)__builtin_ctz(left);
    for (unsigned p = 0; p < r->counters + ORACLE_FIXED; p++)
        if (!(taken >> p & 1) && event_may_use(r, e, p) &&
            seatable(r, left & (left - 1), taken | 1u << p))
            return true;
    return false;
}

static bool at_odds(const struct group_event *a, const struct group_event *b)
{
    if (!a->exclusion || a->exclusion != b->exclusion)
        return false;
    return !(a->extra && b->extra && a->extra == b->extra);
}

static bool exclusive(const struct group_request *r, unsigned group)
{
    for (unsigned a = 0; a < r->events; a++)
        for (unsigned b = a + 1; b < r->events; b++)
            if ((group >> a & 1) && (group >> b & 1) && at_odds(&r->event[a], &r->event[b]))
                return true;
    return false;
}

static unsigned sets_within(const struct group_request *r, unsigned group)
{
    unsigned sets = 0;

    for (unsigned s = 0; s < r->sets; s++)
        sets |= (r->set[s] & ~(uint64_t)group) ? 0 : 1u << s;
    return sets;
}

/* Returns the weight of the heaviest of the group's events that are not pinned, at least 1. */
static unsigned share_of(const struct group_request *r, const uint8_t *weight, unsigned group)
{
    unsigned share = 1;

    for (unsigned e = 0; weight && e < r->events; e++)
        if ((group >> e & 1) && !(r->pinned >> e & 1))
            share = MAX(share, weight[e]);
    return share;
}

/* Shortest ways over the events and sets covered (Dijkstra). */
unsigned oracle_least_shares(const struct group_request *r, const uint8_t *weight)
{
    static unsigned sum_to[STATES];
    static bool done[STATES];
    unsigned possible[1 << ORACLE_EVENTS], share[1 << ORACLE_EVENTS], n = 0;
    unsigned target = ((1u << r->events) - 1) | (((1u << r->sets) - 1) << ORACLE_EVENTS);

    for (unsigned group = 0; group < 1u << r->events; group++)
        if (!(r->pinned & ~(uint64_t)group) && !exclusive(r, group) && seatable(r, group, 0)) {
            share[n] = share_of(r, weight, group);
            possible[n++] = group | sets_within(r, group) << ORACLE_EVENTS;
        }
    memset(sum_to, 0, sizeof sum_to);
    memset(done, 0, sizeof done);
    for (unsigned state = 0; state != target;) {
        done[state] = true;
        for (unsigned i = 0; i < n; i++) {
            unsigned next = state | possible[i], sum = sum_to[state] + share[i];
            if (!done[next] && (!sum_to[next] || sum < sum_to[next]))
                sum_to[next] = sum;
        }
        unsigned nearest = STATES;
        for (unsigned s = 0; s < STATES; s++)
            if (!done[s] && sum_to[s] && (nearest == STATES || sum_to[s] < sum_to[nearest]))
                nearest = s;
        if (nearest == STATES)
            return 0;
        state = nearest;
    }
    return sum_to[target];
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void draw_event(struct group_event *e, unsigned counters, unsigned classes, uint32_t *seed)
{
    uint32_t mask = next_random(seed) | next_random(seed);

    *e = (struct group_event){.mask = mask & ((1u << counters) - 1), .fixed = GROUP_NIL};
    if (next_random(seed) % 4 == 0 || !e->mask)
        e->fixed = next_random(seed) % ORACLE_FIXED;
    if (classes && next_random(seed) % 3 == 0)
        e->exclusion = 1 + next_random(seed) % classes;
    e->extra = next_random(seed) % 3;
}

void oracle_draw(struct group_request *r, struct group_event *event, uint64_t *set, uint32_t *seed)
{
    *r = (struct group_request){.event = event, .set = set};
    r->events = 3 + next_random(seed) % 5;
    r->counters = 1 + (next_random(seed) % 8 + 2) / 3;
    r->fixed = next_random(seed) % (1 << ORACLE_FIXED);
    r->sets = next_random(seed) % (ORACLE_SETS + 1);
    unsigned classes = next_random(seed) % 3;
    for (unsigned e = 0; e < r->events; e++)
        draw_event(&event[e], r->counters, classes, seed);
    for (unsigned s = 0; s < r->sets; s++) {
        set[s] = 0;
        for (unsigned n = 2 + next_random(seed) % 2; n; n--)
            set[s] |= 1ull << next_random(seed) % r->events;
    }
    if (next_random(seed) % 3 == 0)
        r->pinned = 1ull << next_random(seed) % r->events;
}
