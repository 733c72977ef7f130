/* Plans of all that is counted at a time: which counts share a counter, where each count is, and
 * the cause if there is no plan. */
#include "test/host/double/expect_panic.h"
#include "hpm/events/request.h"
#include "hpm/policy/plan.h"
#include "test/host/double/random.h"

enum { SLICE = 10000, BOTH = EVENT_USER | EVENT_KERNEL };

static struct hpm_plan plan;
static struct plan_work work;
static struct group_cause cause;

static struct event on(uint32_t counters, unsigned config)
{
    return (struct event){.config = config,
                          .counters = counters,
                          .fixed = EVENT_NO_FIXED,
                          .modes = BOTH,
                          .exclusion = 0};
}

static const struct event cycles = {.config = 1, .counters = 1, .fixed = 5, .modes = BOTH},
                          instructions = {.config = 2, .counters = 2, .fixed = 4, .modes = BOTH};

static struct plan_request on_counters(unsigned counters)
{
    return (struct plan_request){
        .counters = counters, .generation = 3, .slice = SLICE, .always = {cycles, instructions}};
}

static void want(struct plan_request *r, unsigned i, struct event e)
{
    r->event[i] = e;
    r->born[i] = i % 3 + 1;
    r->wanted |= 1ull << i;
}

static void make(const struct plan_request *r)
{
    assert_int_equal(plan_make(&plan, r, &work, &cause), 0);
}

static void assert_refused(const struct plan_request *r, int error, enum group_why why)
{
    assert_int_equal(plan_make(&plan, r, &work, &cause), error);
    assert_int_equal(cause.why, why);
}

/* ---- What any plan must keep ----------------------------------------------------------------- */

/* Returns the counter of the logical count in the group, which is at most one; GROUP_NIL: it has
 * none. */
static unsigned counter_of(unsigned group, unsigned i)
{
    unsigned counter = GROUP_NIL;

    for (unsigned s = 0; s < plan.mux.group[group].seats; s++)
        if (plan.mux.group[group].seat[s].event == i) {
            assert_int_equal(counter, GROUP_NIL);
            counter = plan.mux.group[group].seat[s].counter;
        }
    return counter;
}

static unsigned groups_with(uint64_t counts)
{
    unsigned n = 0;

    for (unsigned g = 0; g < plan.mux.rounds.groups; g++) {
        bool all = true;
        for (uint64_t left = counts; left; left &= left - 1)
            all = all && counter_of(g, (unsigned)__builtin_ctzll(left)) != GROUP_NIL;
        n += all;
    }
    return n;
}

/* Returns the slices of a pass in which the count is counted. */
static unsigned slices_with(unsigned i)
{
    unsigned n = 0;

    for (unsigned g = 0; g < plan.mux.rounds.groups; g++)
        n += counter_of(g, i) != GROUP_NIL ? plan.mux.rounds.share[g] : 0;
    return n;
}

static uint64_t tied_counts(const struct plan_request *r)
{
    uint64_t tied = 0;

    for (unsigned s = 0; s < r->sets; s++)
        tied |= r->tied >> s & 1 ? r->set[s] : 0;
    return tied;
}

static bool exclude(const struct event *a, const struct event *b)
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
        event_same(plan.programme[group].event[HPM_COUNTERS_MAX + counter - PLAN_FIXED(0)], e));
}

static void check_counter(const struct plan_request *r, unsigned group, unsigned i)
{
    const struct event *e = &r->event[i];
    unsigned counter = counter_of(group, i);

    if (counter == GROUP_NIL)
        return;
    if (counter >= r->counters) {
        assert_in_range(counter, PLAN_CYCLES, PLAN_COUNTERS_ALL - 1);
        check_fixed_counter(r, group, i, counter);
        return;
    }
    assert_true(e->counters >> counter & 1);
    assert_non_null(plan.programme[group].event[counter]);
    assert_true(event_same(plan.programme[group].event[counter], e));
    for (uint64_t left = r->wanted; left; left &= left - 1) {
        unsigned other = (unsigned)__builtin_ctzll(left), at = counter_of(group, other);
        bool same = event_same(e, &r->event[other]), tied = tied_counts(r) >> other & 1;
        assert_true(at == GROUP_NIL ? !same || tied : same == (at == counter));
        assert_false(at != GROUP_NIL && exclude(e, &r->event[other]));
    }
}

static void check_group(const struct plan_request *r, unsigned group)
{
    bool seated[HPM_COUNTERS_ALL] = {false};

    for (unsigned s = 0; s < plan.mux.group[group].seats; s++) {
        assert_true(r->wanted >> plan.mux.group[group].seat[s].event & 1);
        unsigned counter = plan.mux.group[group].seat[s].counter;
        if (counter < HPM_COUNTERS_MAX)
            seated[counter] = true;
        else if (counter >= PLAN_FIXED(0))
            seated[HPM_COUNTERS_MAX + counter - PLAN_FIXED(0)] = true;
    }
    for (unsigned c = 0; c < HPM_COUNTERS_ALL; c++)
        assert_int_equal(plan.programme[group].event[c] != NULL, seated[c]);
    for (unsigned i = 0; i < GROUP_EVENTS_MAX; i++)
        check_counter(r, group, i);
}

/* A tied set is all of what its counts have: one group, and the same slices. Of a pinned one these
 * are all. */
static void check_set(const struct plan_request *r, unsigned s)
{
    assert_true(groups_with(r->set[s]) >= 1);
    if (!(r->tied >> s & 1))
        return;
    unsigned groups = r->set[s] & ~r->pinned ? 1 : plan.mux.rounds.groups;
    for (uint64_t left = r->set[s]; left; left &= left - 1)
        assert_int_equal(groups_with(left & -left), groups);
}

/* A count has its weight's part of the slices at least, beside one that weighs the least; pinned
 * counts are in all of them. What all weights have in common does not matter. */
static void check_weights(const struct plan_request *r)
{
    unsigned most = 0, groups = plan.mux.rounds.groups;

    for (unsigned g = 0; g < groups; g++)
        most = MAX(most, plan.mux.rounds.share[g]);
    assert_in_range(most, 1, WEIGHT_MAX);
    for (uint64_t left = r->wanted & ~r->pinned; left && most > 1; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        for (unsigned common = 1; common <= WEIGHT_MAX / most; common++)
            if (plan.mux.slots_with[i] * common >= r->weight[i])
                break;
            else
                assert_true(common < WEIGHT_MAX / most);
    }
}

static void check(const struct plan_request *r)
{
    assert_int_equal(plan.mux.generation, r->generation);
    assert_int_equal(plan.mux.events, r->wanted);
    assert_int_equal(plan.mux.rounds.slice, SLICE);
    for (unsigned g = 0; g < plan.mux.rounds.groups; g++)
        check_group(r, g);
    for (uint64_t left = r->wanted; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        assert_int_equal(plan.mux.born[i], r->born[i]);
        assert_int_equal(plan.mux.slots_with[i], slices_with(i));
        assert_true(plan.mux.slots_with[i] >= 1);
        if (r->pinned >> i & 1)
            assert_int_equal(plan.mux.slots_with[i], plan.mux.rounds.slots);
    }
    for (unsigned s = 0; s < r->sets; s++)
        check_set(r, s);
    check_weights(r);
}

/* ---- What is possible ------------------------------------------------------------------------ */

static void equal_events_share_a_counter_and_all_count(void **state)
{
    struct plan_request r = on_counters(1);
    uint64_t count[PLAN_COUNTERS_ALL] = {0};
    struct mux_counts counts = {0};
    struct mux_sum sum;

    (void)state;
    want(&r, 3, on(1, 7));
    want(&r, 10, on(1, 8));
    want(&r, 40, on(1, 7));
    want(&r, 63, on(1, 7));
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 2);
    for (unsigned g = 0; g < 2; g++) {
        count[0] = counter_of(g, 3) == 0 ? 500 : 20;
        mux_add(&counts, &plan.mux, g, SLICE, count);
    }
    static const uint8_t alike[] = {3, 40, 63};
    for (unsigned i = 0; i < ARRAY_SIZE(alike); i++) {
        mux_read(&counts, &plan.mux, alike[i], &sum);
        assert_int_equal(sum.counted, 500);
        assert_int_equal(sum.count, 1000);
        assert_int_equal(sum.seen, SLICE);
    }
    mux_read(&counts, &plan.mux, 10, &sum);
    assert_int_equal(sum.counted, 20);
}

static void a_round_has_as_many_passes_as_it_takes(void **state)
{
    struct plan_request r = on_counters(1);

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        want(&r, i, on(1, 7 + i));
    static const struct {
        uint64_t round;
        unsigned passes;
    } cases[] = {{0, 1},
                 {4 * SLICE, 1},
                 {4 * SLICE + 1, 2},
                 {40 * SLICE, 10},
                 {4000 * SLICE, MUX_PASSES_MAX}};
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        r.round = cases[i].round;
        make(&r);
        check(&r);
        assert_int_equal(plan.mux.rounds.passes, cases[i].passes);
        assert_int_equal(plan.mux.rounds.round, 4 * SLICE * cases[i].passes);
    }
}

static void only_what_is_wanted_can_be_rough(void **state)
{
    struct plan_request r = on_counters(1);

    (void)state;
    want(&r, 3, on(1, 7));
    want(&r, 5, on(1, 7));
    r.rough = 1 << 3 | 1 << 4;
    make(&r);
    assert_int_equal(plan.mux.rough, 1 << 3);
}

static void an_event_in_other_modes_is_another_one(void **state)
{
    struct plan_request r = on_counters(2);
    struct event user = on(3, 7);

    (void)state;
    user.modes = EVENT_USER;
    want(&r, 0, on(3, 7));
    want(&r, 1, user);
    make(&r);
    check(&r);
    assert_int_not_equal(counter_of(0, 0), counter_of(0, 1));
}

/* Event 5 and half of the others can be counted on counter 0 only. */
static void pinned_events_are_in_every_group_and_so_are_their_equals(void **state)
{
    struct plan_request r = on_counters(2);

    (void)state;
    for (unsigned i = 0; i < 20; i++)
        want(&r, i, on(i % 4 ? 2 : 3, 100 + i));
    want(&r, 33, on(1, 7));
    want(&r, 50, on(1, 7));
    r.pinned = 1ull << 50;
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 20);
    assert_int_equal(groups_with(1ull << 33 | 1ull << 50), 20);
}

/* Counts 3 and 9 are of one event, of which counter 0 counts nothing else; 9 is sampled. */
static struct plan_request sampled_and_counted(void)
{
    struct plan_request r = on_counters(2);

    want(&r, 3, on(1, 7));
    want(&r, 9, on(1, 7));
    r.slot[9] = 5;
    r.sampled = 1ull << 9;
    r.pinned = 1ull << 3 | 1ull << 9;
    return r;
}

static void what_is_sampled_all_the_time_is_counted_by_its_counter(void **state)
{
    struct plan_request r = sampled_and_counted();

    (void)state;
    make(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
    assert_int_equal(counter_of(0, 3), 0);
    assert_int_equal(counter_of(0, 9), 0);
    assert_int_equal(plan.programme[0].arms, 1);
    assert_int_equal(plan.programme[0].slot[0], 5);
    r.pinned = 1ull << 3;
    make(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
    assert_int_equal(plan.programme[0].arms, 1);
    r.pinned |= 1ull << 9;
    /* The same in a set whose counts are to be in the same slices. */
    want(&r, 4, on(2, 8));
    r.set[0] = 1ull << 3 | 1ull << 4;
    r.sets = 1;
    r.tied = 1;
    r.pinned |= 1ull << 4;
    make(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
    assert_int_equal(counter_of(0, 3), 0);
    assert_int_equal(counter_of(0, 4), 1);
    assert_int_equal(plan.programme[0].arms, 1);
}

static void what_is_sampled_in_turns_is_counted_apart(void **state)
{
    struct plan_request r = sampled_and_counted();

    (void)state;
    r.pinned = 0;
    make(&r);
    assert_int_equal(plan.mux.rounds.groups, 2);
    r.pinned = 1ull << 9; /* but a set that is not pinned has slices of its own */
    r.event[9].counters = r.event[3].counters = 3;
    want(&r, 4, on(2, 8));
    r.set[0] = 1ull << 3 | 1ull << 4;
    r.sets = 1;
    r.tied = 1;
    assert_refused(&r, -ENOSPC, GROUP_CROWDED);
}

static void what_is_pinned_but_not_wanted_takes_no_counter(void **state)
{
    struct plan_request r = on_counters(1);

    (void)state;
    want(&r, 4, on(1, 7));
    r.event[5] = on(1, 8);
    r.pinned = 1ull << 5;
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
}

static void a_set_has_a_group_with_all_of_it(void **state)
{
    struct plan_request r = on_counters(2);

    (void)state;
    for (unsigned i = 0; i < 6; i++)
        want(&r, 60 - i, on(3, i + 10));
    r.sets = 3;
    for (unsigned s = 0; s < 3; s++)
        r.set[s] = 1ull << (60 - s) | 1ull << (57 - s);
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 3);
}

static void cycles_and_instructions_take_no_programmable_counter(void **state)
{
    struct plan_request r = on_counters(1);

    (void)state;
    want(&r, 0, on(1, 7));
    want(&r, 1, cycles);
    want(&r, 2, instructions);
    want(&r, 3, cycles);
    r.sets = 1;
    r.set[0] = 0xf;
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
    assert_int_equal(counter_of(0, 1), PLAN_CYCLES);
    assert_int_equal(counter_of(0, 2), PLAN_INSTRUCTIONS);
    assert_int_equal(counter_of(0, 3), PLAN_CYCLES);
}

/* Reference cycles, slots and a share of them, as Intel has them. */
static struct event fixed_event(unsigned fixed)
{
    struct event e = on(0, 1000 + fixed);

    e.fixed = (uint8_t)fixed;
    return e;
}

static void fixed_counters_count_their_events_beside_the_others(void **state)
{
    struct plan_request r = on_counters(1);
    uint64_t count[PLAN_COUNTERS_ALL] = {0};
    struct mux_counts counts = {0};
    struct mux_sum sum;

    (void)state;
    r.fixed = 1u << 2 | 1u << 3 | 0xfu << 16;
    want(&r, 0, on(1, 7));
    want(&r, 1, fixed_event(2));
    want(&r, 2, fixed_event(3));
    want(&r, 3, fixed_event(19));
    r.sets = 1;
    r.set[0] = 0xf;
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
    assert_int_equal(counter_of(0, 1), PLAN_FIXED(0));
    assert_int_equal(counter_of(0, 2), PLAN_FIXED(1));
    assert_int_equal(counter_of(0, 3), PLAN_FIXED(5));
    count[PLAN_FIXED(5)] = 123;
    mux_add(&counts, &plan.mux, 0, SLICE, count);
    mux_read(&counts, &plan.mux, 3, &sum);
    assert_int_equal(sum.count, 123);
}

static void a_fixed_counter_that_there_is_not_counts_nothing(void **state)
{
    struct plan_request r = on_counters(4);

    (void)state;
    r.fixed = 1u << 2;
    want(&r, 5, fixed_event(3));
    assert_refused(&r, -EINVAL, GROUP_NO_COUNTER);
    assert_int_equal(cause.event, 5);
}

static void in_other_modes_they_do(void **state)
{
    struct plan_request r = on_counters(2);
    struct event c = cycles, i = instructions;

    (void)state;
    c.modes = EVENT_USER;
    i.modes = EVENT_KERNEL;
    want(&r, 0, c);
    want(&r, 1, i);
    make(&r);
    check(&r);
    assert_int_equal(counter_of(0, 0), 0);
    assert_int_equal(counter_of(0, 1), 1);
    /* What is not always counted needs a counter as well. */
    r = on_counters(2);
    r.always[1].modes = 0;
    want(&r, 1, instructions);
    make(&r);
    check(&r);
    assert_int_equal(counter_of(0, 1), 1);
}

static void nothing_wanted_is_one_empty_group(void **state)
{
    struct plan_request r = on_counters(4);

    (void)state;
    r.event[9] = on(1, 7);
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 1);
    assert_int_equal(plan.mux.group[0].seats, 0);
}

static void a_heavy_event_has_more_slices_and_so_have_its_equals(void **state)
{
    struct plan_request r = on_counters(1);

    (void)state;
    for (unsigned i = 0; i < 9; i++)
        want(&r, i, on(1, 7 + i));
    want(&r, 50, on(1, 9));
    r.weight[50] = 4;
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.slots, 12);
    assert_int_equal(plan.mux.rounds.pass, 12 * SLICE);
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(plan.mux.slots_with[i], i == 2 ? 4 : 1);
    assert_int_equal(plan.mux.slots_with[50], 4);
}

/* Counter 1 has room for event 8 in both groups, cycles are counted in all. */
static void a_tied_set_is_counted_in_one_group_only(void **state)
{
    struct plan_request r = on_counters(2);
    uint64_t count[PLAN_COUNTERS_ALL] = {0};
    struct mux_counts counts = {0};
    struct mux_sum sum;

    (void)state;
    want(&r, 1, on(1, 7));
    want(&r, 2, on(1, 9));
    want(&r, 3, on(3, 8));
    want(&r, 4, cycles);
    want(&r, 20, on(1, 7));
    want(&r, 21, on(3, 8));
    want(&r, 22, cycles);
    r.sets = 1;
    r.set[0] = 7ull << 20;
    r.tied = 1;
    make(&r);
    check(&r);
    assert_int_equal(plan.mux.rounds.groups, 2);
    assert_int_equal(groups_with(1 << 3 | 1 << 4), 2);
    for (unsigned g = 0; g < 2; g++) {
        memset(count, 0, sizeof count);
        count[PLAN_CYCLES] = 1000;
        count[counter_of(g, 3)] = 10;
        mux_add(&counts, &plan.mux, g, SLICE, count);
    }
    mux_read(&counts, &plan.mux, 22, &sum);
    assert_int_equal(sum.counted, 1000);
    mux_read(&counts, &plan.mux, 21, &sum);
    assert_int_equal(sum.counted, 10);
    mux_read(&counts, &plan.mux, 3, &sum);
    assert_int_equal(sum.counted, 20);
}

/* ---- What is not ----------------------------------------------------------------------------- */

static void an_event_without_a_counter_is_named(void **state)
{
    struct plan_request r = on_counters(2);

    (void)state;
    want(&r, 8, on(3, 7));
    want(&r, 21, on(4, 9));
    want(&r, 30, on(4, 9));
    assert_refused(&r, -EINVAL, GROUP_NO_COUNTER);
    assert_int_equal(cause.event, 21);
    assert_int_equal(cause.set, GROUP_NIL);
}

static void events_that_exclude_each_other_are_named(void **state)
{
    struct plan_request r = on_counters(4);
    struct event a = on(15, 7), b = on(15, 8);

    (void)state;
    a.exclusion = b.exclusion = EVENT_OFFCORE_0;
    a.extra = 1;
    b.extra = 2;
    want(&r, 2, on(15, 1));
    want(&r, 20, a);
    want(&r, 45, b);
    r.sets = 2;
    r.set[0] = 1ull << 2 | 1ull << 20;
    r.set[1] = 1ull << 20 | 1ull << 45;
    assert_refused(&r, -EINVAL, GROUP_EXCLUDED);
    assert_int_equal(1ull << cause.event | 1ull << cause.other, 1ull << 20 | 1ull << 45);
    assert_int_equal(cause.set, 1);
    r.sets = 1;
    make(&r);
    check(&r);
}

static void the_crowd_is_named(void **state)
{
    struct plan_request r = on_counters(4);

    (void)state;
    want(&r, 1, on(3, 1));
    want(&r, 30, on(12, 2));
    want(&r, 41, on(12, 3));
    want(&r, 42, on(12, 3));
    want(&r, 43, on(12, 4));
    r.pinned = r.wanted;
    assert_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(cause.crowd, 1ull << 30 | 1ull << 41 | 1ull << 43);
    assert_int_equal(cause.event, GROUP_NIL);
    r.pinned = 0;
    r.sets = 2;
    r.set[0] = 1ull << 1 | 1ull << 30;
    r.set[1] = r.wanted;
    assert_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(cause.set, 1);
    assert_int_equal(cause.crowd, 1ull << 30 | 1ull << 41 | 1ull << 43);
    r.sets = 1;
    make(&r);
    check(&r);
}

static void slices_and_rounds_out_of_range_are_refused(void **state)
{
    struct plan_request r = on_counters(1);

    (void)state;
    for (unsigned i = 0; i < 64; i++)
        want(&r, i, on(1, i));
    r.slice = MUX_SLICE_MIN - 1;
    assert_int_equal(plan_make(&plan, &r, &work, &cause), -ERANGE);
    r.slice = MUX_ROUND_MAX / 64 + 1;
    assert_int_equal(plan_make(&plan, &r, &work, &cause), -ERANGE);
    r.slice = MUX_ROUND_MAX / 64;
    make(&r);
}

/* ---- At random ------------------------------------------------------------------------------- */

enum { KINDS = 24, TRIALS = 2000 };

static void draw_kinds(struct event kinds[KINDS], unsigned counters, uint64_t *seed)
{
    for (unsigned k = 0; k < KINDS; k++) {
        kinds[k] = on((uint32_t)(test_random(seed) % (1u << counters)) |
                          1u << test_random(seed) % counters,
                      100 + k);
        if (test_random(seed) % 6 == 0) {
            kinds[k].exclusion = EVENT_OFFCORE_0;
            kinds[k].extra = test_random(seed) % 3;
        }
    }
    kinds[0] = cycles;
    kinds[1] = instructions;
    kinds[2] = fixed_event(3);
    kinds[3].fixed = 17;
}

static uint64_t draw_some(uint64_t of, unsigned most, uint64_t *seed)
{
    uint64_t some = 0;

    for (unsigned n = (unsigned)(test_random(seed) % (most + 1)); n; n--)
        some |= 1ull << test_random(seed) % 64;
    return some & of;
}

static void draw_request(struct plan_request *r, uint64_t *seed)
{
    struct event kinds[KINDS];
    uint64_t tied = 0;
    unsigned counters = 1 + (unsigned)(test_random(seed) % HPM_COUNTERS_MAX);

    draw_kinds(kinds, counters, seed);
    *r = on_counters(counters);
    r->fixed = 1u << 3 | 1u << 17;
    for (unsigned i = 0; i < 64; i++) {
        r->event[i] = kinds[test_random(seed) % KINDS]; /* those that are not wanted, too */
        r->born[i] = (uint32_t)(test_random(seed) % 4);
    }
    r->wanted = test_random(seed) & (test_random(seed) | test_random(seed));
    for (unsigned i = 0; i < 64 && test_random(seed) % 2; i++)
        r->weight[i] = (uint8_t)(test_random(seed) % 4 ? 0 : test_random(seed) % (WEIGHT_MAX + 1));
    r->pinned = draw_some(UINT64_MAX, 1, seed);
    for (unsigned s = (unsigned)(test_random(seed) % 4); s; s--) {
        r->set[r->sets] = draw_some(r->wanted, 4, seed);
        bool all = !(r->set[r->sets] & ~r->pinned) || test_random(seed) % 8 == 0;
        bool apart = !(r->set[r->sets] & (tied | (all ? 0 : r->pinned)));
        if (r->set[r->sets] && apart && test_random(seed) % 2) {
            r->pinned |= all ? r->set[r->sets] : 0;
            tied |= r->set[r->sets];
            r->tied |= 1u << r->sets;
        }
        r->sets += r->set[r->sets] != 0;
    }
    /* Sets that are not tied have none of the tied counts. */
    for (unsigned s = 0; s < r->sets; s++)
        if (!(r->tied >> s & 1) && (r->set[s] & tied)) {
            r->set[s] = r->set[--r->sets];
            r->tied = (r->tied & ~(1u << s)) | (r->tied >> r->sets & 1) << s;
            r->tied &= (1u << r->sets) - 1;
            s--;
        }
}

/* The cause names wanted counts only, and is sufficient by itself. */
static void check_refusal(const struct plan_request *r)
{
    uint32_t there = (1u << r->counters) - 1, counters = 0;

    assert_int_equal(cause.crowd & ~r->wanted, 0);
    if (cause.why == GROUP_EXCLUDED) {
        assert_true(r->wanted >> cause.event & r->wanted >> cause.other & 1);
        assert_true(exclude(&r->event[cause.event], &r->event[cause.other]));
        return;
    }
    assert_int_equal(cause.why, GROUP_CROWDED);
    for (uint64_t left = cause.crowd; left; left &= left - 1)
        counters |= r->event[__builtin_ctzll(left)].counters & there;
    assert_true(__builtin_popcountll(cause.crowd) > __builtin_popcount(counters));
}

static void random_requests_are_planned_or_refused_for_a_reason(void **state)
{
    struct plan_request r;
    uint64_t seed = 77;
    unsigned made = 0, excluded = 0, crowded = 0;

    (void)state;
    for (unsigned t = 0; t < TRIALS; t++) {
        draw_request(&r, &seed);
        if (!plan_make(&plan, &r, &work, &cause)) {
            check(&r);
            made++;
            continue;
        }
        check_refusal(&r);
        excluded += cause.why == GROUP_EXCLUDED;
        crowded += cause.why == GROUP_CROWDED;
    }
    assert_true(made > TRIALS / 3);
    assert_true(excluded > 5 && crowded > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_events_share_a_counter_and_all_count),
        cmocka_unit_test(a_round_has_as_many_passes_as_it_takes),
        cmocka_unit_test(only_what_is_wanted_can_be_rough),
        cmocka_unit_test(an_event_in_other_modes_is_another_one),
        cmocka_unit_test(pinned_events_are_in_every_group_and_so_are_their_equals),
        cmocka_unit_test(what_is_sampled_all_the_time_is_counted_by_its_counter),
        cmocka_unit_test(what_is_sampled_in_turns_is_counted_apart),
        cmocka_unit_test(what_is_pinned_but_not_wanted_takes_no_counter),
        cmocka_unit_test(a_set_has_a_group_with_all_of_it),
        cmocka_unit_test(cycles_and_instructions_take_no_programmable_counter),
        cmocka_unit_test(in_other_modes_they_do),
        cmocka_unit_test(fixed_counters_count_their_events_beside_the_others),
        cmocka_unit_test(a_fixed_counter_that_there_is_not_counts_nothing),
        cmocka_unit_test(nothing_wanted_is_one_empty_group),
        cmocka_unit_test(a_heavy_event_has_more_slices_and_so_have_its_equals),
        cmocka_unit_test(a_tied_set_is_counted_in_one_group_only),
        cmocka_unit_test(an_event_without_a_counter_is_named),
        cmocka_unit_test(events_that_exclude_each_other_are_named),
        cmocka_unit_test(the_crowd_is_named),
        cmocka_unit_test(slices_and_rounds_out_of_range_are_refused),
        cmocka_unit_test(random_requests_are_planned_or_refused_for_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
