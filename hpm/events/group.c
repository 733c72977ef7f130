/*
 * Packing of events into counter groups; see group.h.
 *
 * An *item* is a set of events that must be in one group: a set of the request, or an event that
 * another one excludes. All other events are single and may go into any group. For a growing number
 * of groups the items are tried in every group (depth first, empty groups being alike). An
 * assignment is pursued only if a maximum matching (augmenting paths) still gives every event a
 * counter, events of unassigned items in any group. When all items are assigned, that matching is
 * the plan.
 *
 * A *cell* is a counter of a group: cell g * GROUP_COUNTERS_ALL + c is counter c of group g.
 */
#include "hpm/events/group.h"

enum {
    NOWHERE = 0xffff,
    EFFORT = 5000000, /* steps of augmenting paths, a few nanoseconds each */
};
#define FIXED_COUNTERS (~0ull << GROUP_COUNTERS_MAX)

static uint64_t bit(unsigned n)
{
    return 1ull << n;
}

static unsigned lowest(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

/* Returns the number of bits set; the compiler's builtin may call a library. */
static unsigned ones(uint64_t mask)
{
    unsigned n = 0;

    for (; mask; mask &= mask - 1)
        n++;
    return n;
}

static uint64_t all_events(const struct group_request *r)
{
    return r->events == 64 ? ~0ull : bit(r->events) - 1;
}

static uint64_t counters_of(const struct group_request *r, unsigned event)
{
    const struct group_event *e = &r->event[event];
    uint64_t counters = e->mask & (bit(r->counters) - 1);

    return e->fixed < GROUP_FIXED_MAX && r->fixed >> e->fixed & 1
               ? counters | bit(GROUP_FIXED(e->fixed))
               : counters;
}

static bool excluded(const struct group_request *r, unsigned a, unsigned b)
{
    const struct group_event *first = &r->event[a], *second = &r->event[b];

    return a != b && first->exclusion && first->exclusion == second->exclusion &&
           (!first->extra || first->extra != second->extra);
}

/* ---- Matching of events to places ------------------------------------------------------------ */

static uint8_t *event_in_cell(struct group_work *w, unsigned cell)
{
    return &w->plan->event[cell / GROUP_COUNTERS_ALL][cell % GROUP_COUNTERS_ALL];
}

/* Moves the events on the path back from free cell `cell` up by one cell each, and puts `event`
 * into the cell at its start. */
static void shift_along(struct group_work *w, unsigned event, unsigned cell)
{
    for (; w->from[cell] != NOWHERE; cell = w->from[cell])
        *event_in_cell(w, cell) = *event_in_cell(w, w->from[cell]);
    *event_in_cell(w, cell) = (uint8_t)event;
}

/* Queues the cells of groups first..last-1 that could have `event` and that no path has reached.
 * Returns a free one, or NOWHERE. */
static unsigned queue_cells(struct group_work *w, unsigned event, unsigned first, unsigned last,
                            unsigned from, unsigned *queued)
{
    for (unsigned g = first; g < last; g++) {
        uint64_t fresh = w->counters[event] & w->unvisited[g];
        w->spent++;
        w->unvisited[g] &= ~fresh;
        while (fresh) {
            /* Fixed counters first, for they can count few events. */
            unsigned c = lowest(fresh & FIXED_COUNTERS ? fresh & FIXED_COUNTERS : fresh);
            unsigned cell = g * GROUP_COUNTERS_ALL + c;
            fresh &= ~bit(c);
            w->spent++;
            w->from[cell] = (uint16_t)from;
            if (*event_in_cell(w, cell) == GROUP_NIL)
                return cell;
            w->queue[(*queued)++] = (uint16_t)cell;
        }
    }
    return NOWHERE;
}

/* Returns the number of first groups that the event may be in. */
static unsigned open_to(const struct group_work *w, unsigned event)
{
    return MIN(w->groups, (unsigned)w->within[event]);
}

/* Gives `event` a cell in groups first..last-1, moving other events if necessary. Returns false if
 * that is impossible: then the first *queued cells of w->queue are those that `event` and the
 * events in its way compete for. */
static bool seat_event(struct group_work *w, unsigned event, unsigned first, unsigned last,
                       unsigned *queued)
{
    for (unsigned g = 0; g < w->groups; g++)
        w->unvisited[g] = ~0ull;
    *queued = 0;
    unsigned free = queue_cells(w, event, first, last, NOWHERE, queued);
    for (unsigned i = 0; free == NOWHERE && i < *queued; i++) {
        unsigned cell = w->queue[i], group = cell / GROUP_COUNTERS_ALL,
                 occupant = *event_in_cell(w, cell);
        bool stays = w->must[group] >> occupant & 1;
        free = queue_cells(w, occupant, stays ? group : 0, stays ? group + 1 : open_to(w, occupant),
                           cell, queued);
    }
    if (free == NOWHERE)
        return false;
    shift_along(w, event, free);
    return true;
}

/* Seats from scratch what each group must have, then the events `anywhere`. */
static bool seat_all(struct group_work *w, uint64_t anywhere)
{
    unsigned queued;

    memset(w->plan->event, GROUP_NIL, (size_t)w->groups * GROUP_COUNTERS_ALL);
    for (unsigned g = 0; g < w->groups; g++)
        for (uint64_t left = w->must[g]; left; left &= left - 1)
            if (!seat_event(w, lowest(left), g, g + 1, &queued))
                return false;
    for (uint64_t left = anywhere; left; left &= left - 1)
        if (!seat_event(w, lowest(left), 0, open_to(w, lowest(left)), &queued))
            return false;
    return true;
}

/* ---- Can it be done at all? ------------------------------------------------------------------ */

static bool sizes_good(const struct group_request *r)
{
    return r->events <= GROUP_EVENTS_MAX && r->counters <= GROUP_COUNTERS_MAX &&
           (r->counters || r->fixed) && r->sets <= GROUP_SETS_MAX && r->groups_max <= GROUP_MAX &&
           !(r->pinned & ~all_events(r));
}

static int refuse_request(struct group_cause *cause, enum group_why why, unsigned event,
                          unsigned other, unsigned set, uint64_t crowd)
{
    *cause = (struct group_cause){why, (uint8_t)event, (uint8_t)other, (uint8_t)set, crowd};
    return why == GROUP_CROWDED || why == GROUP_TOO_MANY ? -ENOSPC : -EINVAL;
}

/* Checks whether events `together` fit into one group. event, set: the demand that brings them
 * together. */
static int check_together(struct group_work *w, uint64_t together, unsigned event, unsigned set,
                          struct group_cause *cause)
{
    unsigned queued;

    for (uint64_t left = together; left; left &= left - 1) {
        unsigned a = lowest(left);
        uint64_t rivals = w->rivals[a] & left;
        if (rivals)
            return refuse_request(cause, GROUP_EXCLUDED, a, lowest(rivals), set, 0);
    }
    w->groups = 1;
    w->must[0] = together;
    memset(w->plan->event[0], GROUP_NIL, GROUP_COUNTERS_ALL);
    for (uint64_t left = together; left; left &= left - 1) {
        if (seat_event(w, lowest(left), 0, 1, &queued))
            continue;
        /* By Hall's theorem; the alternating tree is a least set that violates it. */
        uint64_t crowd = bit(lowest(left));
        for (unsigned i = 0; i < queued; i++)
            crowd |= bit(*event_in_cell(w, w->queue[i]));
        return refuse_request(cause, GROUP_CROWDED, event, GROUP_NIL, set, crowd);
    }
    return 0;
}

static int check_request(struct group_work *w, struct group_cause *cause)
{
    const struct group_request *r = w->request;

    for (unsigned e = 0; e < r->events; e++)
        if (!w->counters[e])
            return refuse_request(cause, GROUP_NO_COUNTER, e, GROUP_NIL, GROUP_NIL, 0);
    int err = check_together(w, r->pinned, GROUP_NIL, GROUP_NIL, cause);
    for (unsigned s = 0; s < r->sets && !err; s++) {
        if (!r->set[s] || r->set[s] & ~all_events(r))
            return refuse_request(cause, GROUP_BAD_SET, GROUP_NIL, GROUP_NIL, s, 0);
        err = check_together(w, r->pinned | r->set[s], GROUP_NIL, s, cause);
    }
    for (unsigned e = 0; e < r->events && !err; e++)
        err = check_together(w, r->pinned | bit(e), e, GROUP_NIL, cause);
    return err;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static void add_item(struct group_work *w, uint64_t events)
{
    uint64_t rivals = 0;
    uint8_t within = GROUP_MAX;

    for (uint64_t left = events; left; left &= left - 1) {
        rivals |= w->rivals[lowest(left)];
        within = MIN(within, w->within[lowest(left)]);
    }
    w->item[w->items] = events;
    w->item_within[w->items] = within;
    w->item_rivals[w->items++] = rivals;
}

/* Returns whether the demand of set s is part of another one's. */
static bool is_covered(const struct group_request *r, unsigned s)
{
    uint64_t wanted = r->set[s] & ~r->pinned;

    for (unsigned other = 0; other < r->sets; other++) {
        uint64_t has = r->set[other] & ~r->pinned;
        if (other != s && !(wanted & ~has) && (wanted != has || other < s))
            return true;
    }
    return !(wanted & (wanted - 1)); /* a single event is no set */
}

/* Orders items by difficulty: by events, then by rivals. */
static bool is_harder(const struct group_work *w, unsigned a, unsigned b)
{
    unsigned events_a = ones(w->item[a]), events_b = ones(w->item[b]);

    return events_a != events_b ? events_a > events_b
                                : ones(w->item_rivals[a]) > ones(w->item_rivals[b]);
}

/* Returns the item, from `first` on, that adds the fewest events to a group with events `in`,
 * shares some of them, and leaves no more events than counters; if there is none, the hardest
 * item. */
static unsigned nearest_item(const struct group_work *w, unsigned first, uint64_t in)
{
    unsigned room = w->request->counters + ones(w->request->fixed) - ones(w->request->pinned),
             hardest = first;
    unsigned best = GROUP_NIL, least = 0;

    for (unsigned i = first; i < w->items; i++) {
        unsigned more = ones(w->item[i] & ~in);
        if (is_harder(w, i, hardest))
            hardest = i;
        if ((w->item[i] & in) && ones(w->item[i] | in) <= room &&
            (best == GROUP_NIL || more < least)) {
            best = i;
            least = more;
        }
    }
    return best == GROUP_NIL ? hardest : best;
}

/* Sorts the items: the hardest first, which soon shows what is impossible; or chained, items that
 * share events in a row as far as they may fit into a group, which soon finds what is possible. */
static void sort_items(struct group_work *w, bool chained)
{
    uint64_t in = 0;

    for (unsigned i = 0; i < w->items; i++) {
        unsigned next = nearest_item(w, i, chained ? in : 0);
        uint64_t events = w->item[next], rivals = w->item_rivals[next];
        uint8_t within = w->item_within[next];
        w->item[next] = w->item[i];
        w->item_rivals[next] = w->item_rivals[i];
        w->item_within[next] = w->item_within[i];
        w->item[i] = events;
        w->item_rivals[i] = rivals;
        w->item_within[i] = within;
        in = events & in ? in | events : events;
    }
}

static void find_items(struct group_work *w)
{
    const struct group_request *r = w->request;
    uint64_t in_sets = 0;

    w->items = 0;
    for (unsigned s = 0; s < r->sets; s++)
        if (!is_covered(r, s)) {
            add_item(w, r->set[s] & ~r->pinned);
            in_sets |= r->set[s];
        }
    w->single = 0;
    for (uint64_t left = all_events(r) & ~r->pinned & ~in_sets; left; left &= left - 1) {
        if (w->rivals[lowest(left)])
            add_item(w, left & -left);
        else
            w->single |= left & -left;
    }
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* Sets what the groups must have with items 0..assigned-1 in their groups. */
static void gather_demands(struct group_work *w, unsigned assigned)
{
    for (unsigned g = 0; g < w->groups; g++)
        w->must[g] = w->request->pinned;
    for (unsigned i = 0; i < assigned; i++)
        w->must[w->choice[i]] |= w->item[i];
}

/* Returns whether the items from `assigned` on and the single events still find counters if rivals
 * do not matter. */
static bool is_hopeful(struct group_work *w, unsigned assigned)
{
    uint64_t seated = 0, open = w->single;

    for (unsigned g = 0; g < w->groups; g++)
        seated |= w->must[g];
    for (unsigned i = assigned; i < w->items; i++)
        open |= w->item[i] & ~seated;
    return seat_all(w, open);
}

/* Returns the group, among those not tried yet, that needs the fewest new events for item i;
 * GROUP_NIL: there is none. Of empty groups that are alike only the first is tried. */
static unsigned next_group(const struct group_work *w, unsigned i)
{
    unsigned best = GROUP_NIL, least = 0;
    uint64_t used = 0;
    bool empty = false; /* there is an empty group before g that is like it */

    for (unsigned k = 0; k < i; k++)
        used |= bit(w->choice[k]);
    for (unsigned g = 0; g < w->groups && g < w->item_within[i]; g++) {
        unsigned more = ones(w->item[i] & ~w->must[g]);
        empty = empty && !(w->edges >> g & 1);
        bool again = empty && !(used >> g & 1);
        empty |= !(used >> g & 1);
        if (again || w->tried[i] >> g & 1 || w->must[g] & w->item_rivals[i])
            continue;
        if (best == GROUP_NIL || more < least) {
            best = g;
            least = more;
        }
    }
    return best;
}

/* Assigns item i to its next group that is not hopeless. Returns false if there is none. */
static bool assign_item(struct group_work *w, unsigned i)
{
    for (;;) {
        gather_demands(w, i);
        unsigned g = next_group(w, i);
        if (g == GROUP_NIL)
            return false;
        w->tried[i] |= bit(g);
        w->choice[i] = (uint8_t)g;
        w->must[g] |= w->item[i];
        if (is_hopeful(w, i + 1))
            return true;
    }
}

/* Searches depth first. Returns true when all events of w->plan have counters. *all: every
 * possibility was tried, so false is a proof. */
static bool search(struct group_work *w, uint64_t effort, bool *all)
{
    unsigned i = 0;

    *all = true;
    gather_demands(w, 0);
    if (!is_hopeful(w, 0))
        return false;
    w->tried[0] = 0;
    while (i < w->items) {
        if (assign_item(w, i)) {
            if (++i < w->items)
                w->tried[i] = 0;
        } else if (i == 0) {
            return false;
        } else if (w->spent > effort) {
            *all = false;
            return false;
        } else {
            i--;
        }
    }
    return true;
}

/* Searches in both orders. Each may take an eighth of the remaining effort; when none remains, only
 * its first descent is made. */
static bool search_both(struct group_work *w, bool *all)
{
    for (unsigned chained = 0; chained < 2; chained++) {
        sort_items(w, chained);
        if (search(w, w->spent + (w->spent < EFFORT ? EFFORT - w->spent : 0) / 8, all))
            return true;
        if (*all)
            break;
    }
    return false;
}

/* Returns the least number of groups by the number of events and counters alone; pinned events take
 * a counter in each group. */
static unsigned fewest_groups(const struct group_request *r)
{
    unsigned pinned = ones(r->pinned), counters = r->counters + ones(r->fixed),
             others = r->events - pinned;

    return others && counters > pinned ? (others + counters - pinned - 1) / (counters - pinned) : 1;
}

static int find_fewest(struct group_work *w, struct group_cause *cause)
{
    unsigned max = w->request->groups_max ? w->request->groups_max : GROUP_MAX;
    bool proven = true, all;

    w->spent = 0;
    for (w->groups = fewest_groups(w->request); w->groups <= max; w->groups++) {
        if (proven)
            w->plan->least = w->groups;
        if (search_both(w, &all)) {
            w->plan->groups = w->groups;
            return 0;
        }
        proven &= all;
    }
    return refuse_request(cause, GROUP_TOO_MANY, GROUP_NIL, GROUP_NIL, GROUP_NIL, 0);
}

/* ---- Counters left over ---------------------------------------------------------------------- */

static uint64_t events_in(const struct group_plan *plan, unsigned group)
{
    uint64_t in = 0;

    for (unsigned p = 0; p < GROUP_COUNTERS_ALL; p++)
        if (plan->event[group][p] != GROUP_NIL)
            in |= bit(plan->event[group][p]);
    return in;
}

/* Returns the event that is in the fewest groups, among those that may use the counter, are not in
 * the group and exclude no event in it. */
static unsigned least_seen(const struct group_work *w, const uint8_t *times, uint64_t in,
                           unsigned counter)
{
    unsigned best = GROUP_NIL;

    for (unsigned e = 0; e < w->request->events; e++)
        if ((w->counters[e] >> counter & 1) && !((in | w->request->once) >> e & 1) &&
            !(in & w->rivals[e]) && (best == GROUP_NIL || times[e] < times[best]))
            best = e;
    return best;
}

static void fill_free_counters(struct group_work *w)
{
    struct group_plan *plan = w->plan;
    uint8_t times[GROUP_EVENTS_MAX] = {0};
    uint64_t used = 0;

    for (unsigned e = 0; e < w->request->events; e++)
        used |= w->request->once >> e & 1 ? 0 : w->counters[e];
    for (unsigned g = 0; g < plan->groups; g++)
        for (uint64_t in = events_in(plan, g); in; in &= in - 1)
            times[lowest(in)]++;
    for (unsigned g = 0; g < plan->groups; g++)
        for (uint64_t left = used; left; left &= left - 1) {
            unsigned p = lowest(left);
            if (plan->event[g][p] != GROUP_NIL)
                continue;
            unsigned e = least_seen(w, times, events_in(plan, g), p);
            plan->event[g][p] = (uint8_t)e;
            if (e != GROUP_NIL)
                times[e]++;
        }
}

int group_pack(const struct group_request *r, struct group_plan *plan, struct group_work *w,
               struct group_cause *cause)
{
    struct group_cause ignored;

    if (!cause)
        cause = &ignored;
    *cause = (struct group_cause){GROUP_POSSIBLE, GROUP_NIL, GROUP_NIL, GROUP_NIL, 0};
    memset(plan, GROUP_NIL, sizeof *plan);
    plan->groups = plan->least = 0;
    if (!sizes_good(r))
        return refuse_request(cause, GROUP_SIZES, GROUP_NIL, GROUP_NIL, GROUP_NIL, 0);
    *w = (struct group_work){.request = r, .plan = plan};
    for (unsigned e = 0; e < r->events; e++) {
        w->counters[e] = counters_of(r, e);
        bool anywhere = !r->within || !r->within[e] || r->within[e] >= GROUP_MAX;
        w->within[e] = anywhere || r->pinned >> e & 1 ? GROUP_MAX : r->within[e];
        w->edges |= w->within[e] < GROUP_MAX ? bit(w->within[e]) : 0;
        for (unsigned other = 0; other < r->events; other++)
            w->rivals[e] |= excluded(r, e, other) ? bit(other) : 0;
    }
    int err = check_request(w, cause);
    memset(plan->event, GROUP_NIL, sizeof plan->event);
    if (err || !r->events)
        return err;
    find_items(w);
    err = find_fewest(w, cause);
    if (err)
        memset(plan->event, GROUP_NIL, sizeof plan->event);
    else
        fill_free_counters(w);
    return err;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Returns whether all of `events` may be in the group. */
static bool is_within(const struct group_request *r, uint64_t events, unsigned group)
{
    for (uint64_t left = r->within ? events & ~r->pinned : 0; left; left &= left - 1)
        if (r->within[lowest(left)] && group >= r->within[lowest(left)])
            return false;
    return true;
}

static const char *check_counter(const struct group_request *r, unsigned event, unsigned counter,
                                 uint64_t in)
{
    if (event >= r->events)
        return "an event that was not asked for";
    if (!(counters_of(r, event) >> counter & 1))
        return "an event on a counter that cannot count it";
    for (unsigned other = 0; other < r->events; other++) {
        if (!(in >> other & 1))
            continue;
        if (other == event)
            return "an event twice in one group";
        if (excluded(r, event, other))
            return "two events in one group that exclude each other";
    }
    return NULL;
}

const char *group_check(const struct group_request *r, const struct group_plan *plan)
{
    uint64_t seen = 0, placed = 0;
    uint32_t sets = 0;

    if (plan->groups > (r->groups_max ? r->groups_max : GROUP_MAX))
        return "more groups than there may be";
    if (plan->least > plan->groups)
        return "fewer groups than are possible";
    for (unsigned g = 0; g < plan->groups; g++) {
        uint64_t in = 0;
        for (unsigned p = 0; p < GROUP_COUNTERS_ALL; p++) {
            if (plan->event[g][p] == GROUP_NIL)
                continue;
            const char *wrong = check_counter(r, plan->event[g][p], p, in);
            if (wrong)
                return wrong;
            in |= bit(plan->event[g][p]);
        }
        if (r->pinned & ~in)
            return "a pinned event is missing from a group";
        for (unsigned s = 0; s < r->sets; s++)
            sets |= r->set[s] & ~in || !is_within(r, r->set[s], g) ? 0 : 1u << s;
        seen |= in;
        for (uint64_t left = in; left; left &= left - 1)
            placed |= is_within(r, left & -left, g) ? left & -left : 0;
    }
    if (seen != all_events(r))
        return "an event that no group counts";
    if (placed != seen)
        return "an event in no group that it may be in";
    if (sets != (r->sets == 32 ? ~0u : (1u << r->sets) - 1))
        return "a set that no group has all of";
    return NULL;
}
