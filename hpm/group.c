/*
 * Packing of events into counter groups; see group.h.
 * For a given number of groups a maximum matching (augmenting paths) either seats every item or proves that
 * there is no plan; the number grows from the least one that could hold all items.
 */
#include "hpm/group.h"

enum { PLACES_MAX = GROUP_MAX * GROUP_COUNTERS_MAX, FREE = 0xffff };

struct matching {
    const struct group_request *request;
    unsigned groups;
    uint16_t item_at[PLACES_MAX]; /* place = group * counters + counter */
    bool visited[PLACES_MAX];
};

static bool is_pinned(const struct group_request *r, unsigned event)
{
    return r->pinned >> event & 1;
}

/* Items 0..events-1 are the events (a pinned one: its copy for group 0); item g * events + e is pinned event
 * e in group g. */
static bool may_sit(const struct matching *m, unsigned item, unsigned place)
{
    const struct group_request *r = m->request;
    unsigned event = item % r->events;

    if (!(r->mask[event] >> place % r->counters & 1))
        return false;
    return !is_pinned(r, event) || item / r->events == place / r->counters;
}

static bool seat(struct matching *m, unsigned item)
{
    for (unsigned place = 0; place < m->groups * m->request->counters; place++) {
        if (m->visited[place] || !may_sit(m, item, place))
            continue;
        m->visited[place] = true;
        if (m->item_at[place] == FREE || seat(m, m->item_at[place])) {
            m->item_at[place] = (uint16_t)item;
            return true;
        }
    }
    return false;
}

static bool seat_all(struct matching *m)
{
    const struct group_request *r = m->request;

    memset(m->item_at, 0xff, sizeof m->item_at);
    for (unsigned item = 0; item < m->groups * r->events; item++) {
        if (item >= r->events && !is_pinned(r, item % r->events))
            continue;
        memset(m->visited, 0, sizeof m->visited);
        if (!seat(m, item))
            return false;
    }
    return true;
}

static bool in_group(const struct group_request *r, const struct group_plan *plan, unsigned group,
                     unsigned event)
{
    for (unsigned c = 0; c < r->counters; c++)
        if (plan->event[group][c] == event)
            return true;
    return false;
}

/* The event that may use counter c, is not in the group yet and is seen in the fewest groups. */
static unsigned least_seen(const struct group_request *r, const struct group_plan *plan, const uint8_t *times,
                           unsigned group, unsigned c)
{
    unsigned best = GROUP_NO_EVENT;

    for (unsigned e = 0; e < r->events; e++)
        if ((r->mask[e] >> c & 1) && !in_group(r, plan, group, e) &&
            (best == GROUP_NO_EVENT || times[e] < times[best]))
            best = e;
    return best;
}

static void fill_free_counters(const struct group_request *r, struct group_plan *plan)
{
    uint8_t times[GROUP_EVENTS_MAX] = {0};

    for (unsigned g = 0; g < plan->groups; g++)
        for (unsigned c = 0; c < r->counters; c++)
            if (plan->event[g][c] != GROUP_NO_EVENT)
                times[plan->event[g][c]]++;
    for (unsigned g = 0; g < plan->groups; g++)
        for (unsigned c = 0; c < r->counters; c++) {
            if (plan->event[g][c] != GROUP_NO_EVENT)
                continue;
            unsigned e = least_seen(r, plan, times, g, c);
            plan->event[g][c] = (uint8_t)e;
            if (e != GROUP_NO_EVENT)
                times[e]++;
        }
}

static int validate(const struct group_request *r)
{
    if (r->events > GROUP_EVENTS_MAX || !r->counters || r->counters > GROUP_COUNTERS_MAX)
        return -EINVAL;
    if (r->events < 32 && r->pinned >> r->events)
        return -EINVAL;
    for (unsigned e = 0; e < r->events; e++)
        if (!(r->mask[e] & ((1u << r->counters) - 1)))
            return -EINVAL;
    return 0;
}

int group_pack(const struct group_request *request, struct group_plan *plan)
{
    struct matching m = {.request = request, .groups = 1};
    int err = validate(request);

    memset(plan, 0xff, sizeof *plan);
    plan->groups = 0;
    if (err || !request->events)
        return err;
    while (!seat_all(&m))
        if (++m.groups > GROUP_MAX)
            return -ENOSPC;
    plan->groups = m.groups;
    for (unsigned place = 0; place < m.groups * request->counters; place++)
        if (m.item_at[place] != FREE)
            plan->event[place / request->counters][place % request->counters] =
                m.item_at[place] % request->events;
    fill_free_counters(request, plan);
    return 0;
}

const char *group_check(const struct group_request *r, const struct group_plan *plan)
{
    uint32_t seen = 0;

    if (plan->groups > GROUP_MAX)
        return "more groups than there may be";
    for (unsigned g = 0; g < plan->groups; g++) {
        uint32_t in = 0;
        for (unsigned c = 0; c < r->counters; c++) {
            unsigned e = plan->event[g][c];
            if (e == GROUP_NO_EVENT)
                continue;
            if (e >= r->events)
                return "an event that was not asked for";
            if (!(r->mask[e] >> c & 1))
                return "an event on a counter that cannot count it";
            if (in >> e & 1)
                return "an event twice in one group";
            in |= 1u << e;
        }
        if (r->pinned & ~in)
            return "a pinned event is missing from a group";
        seen |= in;
    }
    if (seen != (r->events < 32 ? (1u << r->events) - 1 : ~0u))
        return "an event that no group counts";
    return NULL;
}
