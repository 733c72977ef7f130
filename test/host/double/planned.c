/* See planned.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "hpm/events/request.h"
#include "test/host/double/planned.h"

struct hpm_plan planned;
struct plan_work plan_work;
struct group_cause plan_cause;

struct event event_on(uint32_t counters, unsigned config)
{
    return (struct event){.config = config,
                          .counters = counters,
                          .fixed = EVENT_NO_FIXED,
                          .modes = BOTH,
                          .exclusion = 0};
}

const struct event event_cycles = {.config = 1, .counters = 1, .fixed = 5, .modes = BOTH},
                   event_instructions = {.config = 2, .counters = 2, .fixed = 4, .modes = BOTH};

struct plan_request plan_on(unsigned counters)
{
    return (struct plan_request){.counters = counters,
                                 .generation = 3,
                                 .slice = SLICE,
                                 .always = {event_cycles, event_instructions}};
}

void plan_want(struct plan_request *r, unsigned i, struct event e)
{
    r->event[i] = e;
    r->born[i] = i % 3 + 1;
    r->wanted |= 1ull << i;
}

void plan_succeeds(const struct plan_request *r)
{
    assert_int_equal(plan_make(&planned, r, &plan_work, &plan_cause), 0);
}

void plan_is_refused(const struct plan_request *r, int error, enum group_why why)
{
    assert_int_equal(plan_make(&planned, r, &plan_work, &plan_cause), error);
    assert_int_equal(plan_cause.why, why);
}

struct event event_fixed(unsigned fixed)
{
    struct event e = event_on(0, 1000 + fixed);

    e.fixed = (uint8_t)fixed;
    return e;
}

/* ---- What any plan must keep ----------------------------------------------------------------- */

unsigned plan_counter_of(unsigned group, unsigned i)
{
    unsigned counter = GROUP_NIL;

    for (unsigned s = 0; s < planned.mux.group[group].seats; s++)
        if (planned.mux.group[group].seat[s].event == i) {
            assert_int_equal(counter, GROUP_NIL);
            counter = planned.mux.group[group].seat[s].counter;
        }
    return counter;
}

unsigned plan_groups_with(uint64_t counts)
{
    unsigned n = 0;

    for (unsigned g = 0; g < planned.mux.rounds.groups; g++) {
        bool all = true;
        for (uint64_t left = counts; left; left &= left - 1)
            all = all && plan_counter_of(g, (unsigned)__builtin_ctzll(left)) != GROUP_NIL;
        n += all;
    }
    return n;
}

/* Returns the slices of a pass in which the count is counted. */
static unsigned slices_with(unsigned i)
{
    unsigned n = 0;

    for (unsigned g = 0; g < planned.mux.rounds.groups; g++)
        n += plan_counter_of(g, i) != GROUP_NIL ? planned.mux.rounds.share[g] : 0;
    return n;
}

static uint64_t tied_counts(const struct plan_request *r)
{
    uint64_t tied = 0;

    for (unsigned s = 0; s < r->sets; s++)
        tied |= r->tied >> s & 1 ? r->set[s] : 0;
    return tied;
}

bool plan_excludes(const struct event *a, const struct event *b)
{
    return a->exclusion && a->exclusion == b->exclusion && (a->extra != b->extra || !a->extra) &&
           !event_same(a, b);
}

/* Checks that the counter is that of cycles, of instructions, or the event's fixed counter. */
static void check_fixed_counter(const struct plan_request *r, unsigned group, unsigned i,
                                unsigned counter)
{
    const struct event *e = &r->event[i];

    if (counter < PLAN_FIXED(0)) {
        assert_true(event_same(e, &r->always[counter - PLAN_CYCLES]));
        return;
    }
    assert_true(r->fixed >> e->fixed & 1);
    assert_int_equal(counter, PLAN_FIXED(__builtin_popcount(r->fixed & ((1u << e->fixed) - 1))));
    assert_true(
        event_same(planned.programme[group].event[HPM_COUNTERS_MAX + counter - PLAN_FIXED(0)], e));
}

static void check_counter(const struct plan_request *r, unsigned group, unsigned i)
{
    const struct event *e = &r->event[i];
    unsigned counter = plan_counter_of(group, i);

    if (counter == GROUP_NIL)
        return;
    if (counter >= r->counters) {
        assert_in_range(counter, PLAN_CYCLES, PLAN_COUNTERS_ALL - 1);
        check_fixed_counter(r, group, i, counter);
        return;
    }
    assert_true(e->counters >> counter & 1);
    assert_non_null(planned.programme[group].event[counter]);
    assert_true(event_same(planned.programme[group].event[counter], e));
    for (uint64_t left = r->wanted; left; left &= left - 1) {
        unsigned other = (unsigned)__builtin_ctzll(left), at = plan_counter_of(group, other);
        bool same = event_same(e, &r->event[other]), tied = tied_counts(r) >> other & 1;
        assert_true(at == GROUP_NIL ? !same || tied : same == (at == counter));
        assert_false(at != GROUP_NIL && plan_excludes(e, &r->event[other]));
    }
}

static void check_group(const struct plan_request *r, unsigned group)
{
    bool seated[HPM_COUNTERS_ALL] = {false};

    for (unsigned s = 0; s < planned.mux.group[group].seats; s++) {
        assert_true(r->wanted >> planned.mux.group[group].seat[s].event & 1);
        unsigned counter = planned.mux.group[group].seat[s].counter;
        if (counter < HPM_COUNTERS_MAX)
            seated[counter] = true;
        else if (counter >= PLAN_FIXED(0))
            seated[HPM_COUNTERS_MAX + counter - PLAN_FIXED(0)] = true;
    }
    for (unsigned c = 0; c < HPM_COUNTERS_ALL; c++)
        assert_int_equal(planned.programme[group].event[c] != NULL, seated[c]);
    for (unsigned i = 0; i < GROUP_EVENTS_MAX; i++)
        check_counter(r, group, i);
}

/* A tied set is all of what its counts have: one group, and the same slices. Of a pinned one these
 * are all. */
static void check_set(const struct plan_request *r, unsigned s)
{
    assert_true(plan_groups_with(r->set[s]) >= 1);
    if (!(r->tied >> s & 1))
        return;
    unsigned groups = r->set[s] & ~r->pinned ? 1 : planned.mux.rounds.groups;
    for (uint64_t left = r->set[s]; left; left &= left - 1)
        assert_int_equal(plan_groups_with(left & -left), groups);
}

/* A count has its weight's part of the slices at least, beside one that weighs the least; pinned
 * counts are in all of them. What all weights have in common does not matter. */
static void check_weights(const struct plan_request *r)
{
    unsigned most = 0, groups = planned.mux.rounds.groups;

    for (unsigned g = 0; g < groups; g++)
        most = MAX(most, planned.mux.rounds.share[g]);
    assert_in_range(most, 1, WEIGHT_MAX);
    for (uint64_t left = r->wanted & ~r->pinned; left && most > 1; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned common = 1; common <= WEIGHT_MAX / most; common++)
            if (planned.mux.slots_with[i] * common >= r->weight[i])
                break;
            else
                assert_true(common < WEIGHT_MAX / most);
    }
}

void plan_check(const struct plan_request *r)
{
    assert_int_equal(planned.mux.generation, r->generation);
    assert_int_equal(planned.mux.events, r->wanted);
    assert_int_equal(planned.mux.rounds.slice, SLICE);
    for (unsigned g = 0; g < planned.mux.rounds.groups; g++)
        check_group(r, g);
    for (uint64_t left = r->wanted; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        assert_int_equal(planned.mux.born[i], r->born[i]);
        assert_int_equal(planned.mux.slots_with[i], slices_with(i));
        assert_true(planned.mux.slots_with[i] >= 1);
        if (r->pinned >> i & 1)
            assert_int_equal(planned.mux.slots_with[i], planned.mux.rounds.slots);
    }
    for (unsigned s = 0; s < r->sets; s++)
        check_set(r, s);
    check_weights(r);
}
