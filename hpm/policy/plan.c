/* See plan.h. */
#include "hpm/policy/plan.h"
#include "hpm/events/request.h"

static unsigned first_of(uint64_t counts)
{
    return (unsigned)__builtin_ctzll(counts);
}

/* Returns whether the event is counted all the time, whatever other counters could count it. */
static bool is_always(const struct plan_request *r, unsigned which, const struct event *e)
{
    return r->always[which].modes && event_same(&r->always[which], e);
}

/* Returns whether two logical counts of the same event can have one counter. One of them may be
 * sampled, if either is counted all the time; a tied one must be. */
static bool can_share(const struct plan_packing *p, const struct plan_request *r, unsigned a,
                      unsigned b)
{
    uint64_t both = (uint64_t)1 << a | (uint64_t)1 << b, sampled = r->sampled & both;

    if (!event_same(&r->event[a], &r->event[b]))
        return false;
    if (!sampled)
        return true;
    return !(sampled & (sampled - 1)) && (r->pinned & both) && !(p->tied & both & ~r->pinned) &&
           !is_always(r, 0, &r->event[a]) && !is_always(r, 1, &r->event[a]);
}

static void add_count(struct plan_packing *p, const struct plan_request *r, unsigned i)
{
    unsigned e = 0;

    while (e < p->events && !can_share(p, r, p->first[e], i))
        e++;
    /* The count that is sampled stands for all. */
    if (e < p->events && r->sampled >> i & 1)
        p->first[e] = (uint8_t)i;
    if (e == p->events) {
        p->first[e] = (uint8_t)i;
        p->weight[e] = 1;
        p->event[p->events++] = r->event[i];
    }
    p->event_of[i] = (uint8_t)e;
    p->weight[e] = MAX(p->weight[e], MIN(r->weight[i], (uint8_t)WEIGHT_MAX));
}

static void find_events(struct plan_packing *p, const struct plan_request *r)
{
    for (unsigned s = 0; s < r->sets; s++)
        p->tied |= r->tied >> s & 1 ? r->set[s] : 0;
    for (uint64_t left = r->wanted & ~p->tied; left; left &= left - 1)
        add_count(p, r, first_of(left));
    for (uint64_t left = r->wanted & p->tied; left; left &= left - 1)
        add_count(p, r, first_of(left));
}

static uint64_t events_of(const struct plan_packing *p, uint64_t counts)
{
    uint64_t events = 0;

    for (; counts; counts &= counts - 1)
        events |= (uint64_t)1 << p->event_of[first_of(counts)];
    return events;
}

/* Returns the number of bits set below bit n. */
static unsigned rank_of(uint32_t mask, unsigned n)
{
    unsigned rank = 0;

    for (mask &= (1u << n) - 1; mask; mask &= mask - 1)
        rank++;
    return rank;
}

static bool is_sampled(const struct plan_packing *p, const struct plan_request *r, unsigned e)
{
    return r->sampled >> p->first[e] & 1;
}

/* Gives events their fixed counters, numbered as in group plans. Counters that are not in r->fixed
 * are not used, and none of them can be armed. */
static void seat_fixed(struct plan_packing *p, const struct plan_request *r)
{
    for (unsigned e = 0; e < p->events; e++) {
        unsigned f = p->event[e].fixed;
        bool driven = f < 32 && (r->fixed >> f & 1) && !is_sampled(p, r, e);
        p->demand[e].fixed = driven ? (uint8_t)(2 + rank_of(r->fixed, f)) : GROUP_NIL;
        for (unsigned which = 0; which < 2 && !is_sampled(p, r, e); which++)
            if (is_always(r, which, &p->event[e]))
                p->demand[e] = (struct group_event){.fixed = (uint8_t)which};
    }
}

static int one_empty_group(struct group_plan *groups)
{
    memset(groups, GROUP_NIL, sizeof *groups);
    groups->groups = groups->least = 1;
    return 0;
}

static void name_counts(const struct plan_packing *p, struct group_cause *cause)
{
    uint64_t crowd = 0;

    for (uint64_t left = cause->crowd; left; left &= left - 1)
        crowd |= (uint64_t)1 << p->first[first_of(left)];
    cause->crowd = crowd;
    if (cause->event != GROUP_NIL)
        cause->event = p->first[cause->event];
    if (cause->other != GROUP_NIL)
        cause->other = p->first[cause->other];
}

/* Returns the events that only tied sets want: counters left over are no use to them. */
static uint64_t once(const struct plan_packing *p)
{
    uint64_t events = 0;

    for (unsigned e = 0; e < p->events; e++)
        events |= (p->tied >> p->first[e] & 1) << e;
    return events;
}

static int pack_events(const struct plan_request *r, struct plan_work *work,
                       struct group_cause *cause)
{
    struct plan_packing *p = &work->packing;
    struct group_request request = {
        .events = p->events,
        .counters = r->counters,
        .fixed = (4u << rank_of(r->fixed, 31)) - 1,
        .sets = r->sets,
        .pinned = events_of(p, r->pinned & r->wanted),
        .once = once(p),
        .event = p->demand,
        .set = p->set,
    };

    event_demands(p->event, p->events, r->counters, p->demand);
    seat_fixed(p, r);
    for (unsigned s = 0; s < r->sets; s++)
        p->set[s] = events_of(p, r->set[s]);
    *cause = (struct group_cause){GROUP_POSSIBLE, GROUP_NIL, GROUP_NIL, GROUP_NIL, 0};
    memset(work->share, 1, sizeof work->share);
    int err = p->events ? shares_pack(&request, p->weight, &work->groups, work->share,
                                      &work->shares, cause)
                        : one_empty_group(&work->groups);
    if (err)
        name_counts(p, cause);
    return err;
}

/* Replaces the groups' events by their first logical count; others of the same event follow as
 * aliases. */
static void name_events(const struct plan_packing *p, struct group_plan *groups)
{
    for (unsigned g = 0; g < groups->groups; g++)
        for (unsigned counter = 0; counter < GROUP_COUNTERS_ALL; counter++)
            if (groups->event[g][counter] != GROUP_NIL)
                groups->event[g][counter] = p->first[groups->event[g][counter]];
}

static void make_programme(struct hpm_plan *plan, const struct group_plan *groups,
                           const struct plan_request *r)
{
    for (unsigned g = 0; g < groups->groups; g++) {
        for (unsigned c = 0; c < r->counters; c++) {
            unsigned i = groups->event[g][c];
            if (i == GROUP_NIL)
                continue;
            plan->programme[g].event[c] = &plan->event[i];
            if (!(r->sampled >> i & 1))
                continue;
            plan->programme[g].arms |= (uint8_t)(1u << c);
            plan->programme[g].slot[c] = r->slot[i];
        }
        for (unsigned n = 0; n < HPM_FIXED_MAX; n++)
            if (groups->event[g][PLAN_FIXED(n)] != GROUP_NIL)
                plan->programme[g].event[HPM_COUNTERS_MAX + n] =
                    &plan->event[groups->event[g][PLAN_FIXED(n)]];
    }
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static int plan_turns(struct hpm_plan *out, const struct plan_request *r, struct plan_work *work)
{
    struct mux_config config = {.unit = r->unit, .apart = work->packing.tied};
    uint64_t pass = 0;

    for (unsigned g = 0; g < work->groups.groups; g++)
        pass += work->share[g] * r->slice;
    memcpy(config.share, work->share, sizeof config.share);
    config.passes =
        (unsigned)MIN(MAX((r->round + pass - 1) / pass, (uint64_t)1), (uint64_t)MUX_PASSES_MAX);
    config.round = pass * config.passes;
    int err = mux_plan_init(&out->mux, &config, &work->groups);
    /* As long as a pass on each CPU. */
    out->mux.pool = MAX(r->cpus, 1u) * out->mux.rounds.pass;
    return err == -EINVAL ? -ERANGE : err;
}

/* Returns the counter of the logical count that stands for an event in group g; GROUP_NIL: it has
 * none. */
static unsigned counter_of(const struct group_plan *groups, unsigned g, unsigned count)
{
    for (unsigned c = 0; c < GROUP_COUNTERS_ALL; c++)
        if (groups->event[g][c] == count)
            return c;
    return GROUP_NIL;
}

/* Returns the first group that counts all of the set, which has the largest share of them:
 * shares_pack puts heavy groups first. */
static unsigned group_of(const struct plan_work *work, uint64_t set)
{
    const struct plan_packing *p = &work->packing;

    for (unsigned g = 0; g < work->groups.groups; g++) {
        uint64_t left = set;
        while (left &&
               counter_of(&work->groups, g, p->first[p->event_of[first_of(left)]]) != GROUP_NIL)
            left &= left - 1;
        if (!left)
            return g;
    }
    panic("hpm: a set that no group counts");
}

static void seat_once(struct hpm_plan *out, const struct plan_work *work, uint64_t set)
{
    const struct plan_packing *p = &work->packing;
    unsigned g = group_of(work, set);

    for (; set; set &= set - 1) {
        unsigned i = first_of(set), first = p->first[p->event_of[i]];
        mux_plan_seat(&out->mux, g, counter_of(&work->groups, g, first), i);
    }
}

static void seat_in_all(struct hpm_plan *out, const struct plan_work *work, uint64_t set)
{
    const struct plan_packing *p = &work->packing;
    uint8_t counter[GROUP_MAX];

    for (; set; set &= set - 1) {
        unsigned i = first_of(set), first = p->first[p->event_of[i]];
        for (unsigned g = 0; g < work->groups.groups; g++)
            counter[g] = (uint8_t)counter_of(&work->groups, g, first);
        mux_plan_seat_in_all(&out->mux, counter, i);
    }
}

/* Seats tied counts, each set in its group, or, where all of it is pinned, in all groups. */
static void seat_tied(struct hpm_plan *out, const struct plan_request *r,
                      const struct plan_work *work)
{
    for (unsigned s = 0; s < r->sets; s++)
        if (r->tied >> s & 1 && !(r->set[s] & ~r->pinned))
            seat_in_all(out, work, r->set[s]);
        else if (r->tied >> s & 1)
            seat_once(out, work, r->set[s]);
}

static void seat_aliases(struct hpm_plan *out, const struct plan_request *r,
                         const struct plan_packing *p)
{
    for (uint64_t left = r->wanted & ~p->tied; left; left &= left - 1) {
        unsigned i = first_of(left), first = p->first[p->event_of[i]];
        if (i != first)
            mux_plan_alias(&out->mux, first, i);
    }
}

int plan_make(struct hpm_plan *out, const struct plan_request *r, struct plan_work *work,
              struct group_cause *cause)
{
    struct plan_packing *p = &work->packing;

    *p = (struct plan_packing){0};
    find_events(p, r);
    int err = pack_events(r, work, cause);
    if (err)
        return err;
    name_events(p, &work->groups);
    *out = (struct hpm_plan){0};
    err = plan_turns(out, r, work);
    if (err)
        return err;
    seat_aliases(out, r, p);
    seat_tied(out, r, work);
    out->mux.rough = r->rough & r->wanted;
    out->mux.generation = r->generation;
    memcpy(out->mux.born, r->born, sizeof out->mux.born);
    memcpy(out->event, r->event, sizeof out->event);
    make_programme(out, &work->groups, r);
    return 0;
}
