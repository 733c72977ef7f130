/* Plans of all that is counted at a time: which counts share a counter, where each count is, and
 * the cause if there is no plan. */
#include "test/host/double/expect_panic.h"
#include "hpm/events/request.h"
#include "test/host/double/planned.h"

/* ---- What is possible ------------------------------------------------------------------------ */

static void equal_events_share_a_counter_and_all_count(void **state)
{
    struct plan_request r = plan_on(1);
    uint64_t count[PLAN_COUNTERS_ALL] = {0};
    struct mux_counts counts = {0};
    struct mux_sum sum;

    (void)state;
    plan_want(&r, 3, event_on(1, 7));
    plan_want(&r, 10, event_on(1, 8));
    plan_want(&r, 40, event_on(1, 7));
    plan_want(&r, 63, event_on(1, 7));
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 2);
    for (unsigned g = 0; g < 2; g++) {
        count[0] = plan_counter_of(g, 3) == 0 ? 500 : 20;
        mux_add(&counts, &planned.mux, g, SLICE, count);
    }
    static const uint8_t alike[] = {3, 40, 63};
    for (unsigned i = 0; i < ARRAY_SIZE(alike); i++) {
        mux_read(&counts, &planned.mux, alike[i], &sum);
        assert_int_equal(sum.counted, 500);
        assert_int_equal(sum.count, 1000);
        assert_int_equal(sum.seen, SLICE);
    }
    mux_read(&counts, &planned.mux, 10, &sum);
    assert_int_equal(sum.counted, 20);
}

static void a_round_has_as_many_passes_as_it_takes(void **state)
{
    struct plan_request r = plan_on(1);

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        plan_want(&r, i, event_on(1, 7 + i));
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
        plan_succeeds(&r);
        plan_check(&r);
        assert_int_equal(planned.mux.rounds.passes, cases[i].passes);
        assert_int_equal(planned.mux.rounds.round, 4 * SLICE * cases[i].passes);
    }
}

static void only_what_is_wanted_can_be_rough(void **state)
{
    struct plan_request r = plan_on(1);

    (void)state;
    plan_want(&r, 3, event_on(1, 7));
    plan_want(&r, 5, event_on(1, 7));
    r.rough = 1 << 3 | 1 << 4;
    plan_succeeds(&r);
    assert_int_equal(planned.mux.rough, 1 << 3);
}

static void an_event_in_other_modes_is_another_one(void **state)
{
    struct plan_request r = plan_on(2);
    struct event user = event_on(3, 7);

    (void)state;
    user.modes = EVENT_USER;
    plan_want(&r, 0, event_on(3, 7));
    plan_want(&r, 1, user);
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_not_equal(plan_counter_of(0, 0), plan_counter_of(0, 1));
}

/* Event 5 and half of the others can be counted on counter 0 only. */
static void pinned_events_are_in_every_group_and_so_are_their_equals(void **state)
{
    struct plan_request r = plan_on(2);

    (void)state;
    for (unsigned i = 0; i < 20; i++)
        plan_want(&r, i, event_on(i % 4 ? 2 : 3, 100 + i));
    plan_want(&r, 33, event_on(1, 7));
    plan_want(&r, 50, event_on(1, 7));
    r.pinned = 1ull << 50;
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 20);
    assert_int_equal(plan_groups_with(1ull << 33 | 1ull << 50), 20);
}

/* Counts 3 and 9 are of one event, of which counter 0 counts nothing else; 9 is sampled. */
static struct plan_request sampled_and_counted(void)
{
    struct plan_request r = plan_on(2);

    plan_want(&r, 3, event_on(1, 7));
    plan_want(&r, 9, event_on(1, 7));
    r.slot[9] = 5;
    r.sampled = 1ull << 9;
    r.pinned = 1ull << 3 | 1ull << 9;
    return r;
}

static void what_is_sampled_all_the_time_is_counted_by_its_counter(void **state)
{
    struct plan_request r = sampled_and_counted();

    (void)state;
    plan_succeeds(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
    assert_int_equal(plan_counter_of(0, 3), 0);
    assert_int_equal(plan_counter_of(0, 9), 0);
    assert_int_equal(planned.programme[0].arms, 1);
    assert_int_equal(planned.programme[0].slot[0], 5);
    r.pinned = 1ull << 3;
    plan_succeeds(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
    assert_int_equal(planned.programme[0].arms, 1);
    r.pinned |= 1ull << 9;
    /* The same in a set whose counts are to be in the same slices. */
    plan_want(&r, 4, event_on(2, 8));
    r.set[0] = 1ull << 3 | 1ull << 4;
    r.sets = 1;
    r.tied = 1;
    r.pinned |= 1ull << 4;
    plan_succeeds(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
    assert_int_equal(plan_counter_of(0, 3), 0);
    assert_int_equal(plan_counter_of(0, 4), 1);
    assert_int_equal(planned.programme[0].arms, 1);
}

static void what_is_sampled_in_turns_is_counted_apart(void **state)
{
    struct plan_request r = sampled_and_counted();

    (void)state;
    r.pinned = 0;
    plan_succeeds(&r);
    assert_int_equal(planned.mux.rounds.groups, 2);
    r.pinned = 1ull << 9; /* but a set that is not pinned has slices of its own */
    r.event[9].counters = r.event[3].counters = 3;
    plan_want(&r, 4, event_on(2, 8));
    r.set[0] = 1ull << 3 | 1ull << 4;
    r.sets = 1;
    r.tied = 1;
    plan_is_refused(&r, -ENOSPC, GROUP_CROWDED);
}

static void what_is_pinned_but_not_wanted_takes_no_counter(void **state)
{
    struct plan_request r = plan_on(1);

    (void)state;
    plan_want(&r, 4, event_on(1, 7));
    r.event[5] = event_on(1, 8);
    r.pinned = 1ull << 5;
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
}

static void a_set_has_a_group_with_all_of_it(void **state)
{
    struct plan_request r = plan_on(2);

    (void)state;
    for (unsigned i = 0; i < 6; i++)
        plan_want(&r, 60 - i, event_on(3, i + 10));
    r.sets = 3;
    for (unsigned s = 0; s < 3; s++)
        r.set[s] = 1ull << (60 - s) | 1ull << (57 - s);
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 3);
}

static void cycles_and_instructions_take_no_programmable_counter(void **state)
{
    struct plan_request r = plan_on(1);

    (void)state;
    plan_want(&r, 0, event_on(1, 7));
    plan_want(&r, 1, event_cycles);
    plan_want(&r, 2, event_instructions);
    plan_want(&r, 3, event_cycles);
    r.sets = 1;
    r.set[0] = 0xf;
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
    assert_int_equal(plan_counter_of(0, 1), PLAN_CYCLES);
    assert_int_equal(plan_counter_of(0, 2), PLAN_INSTRUCTIONS);
    assert_int_equal(plan_counter_of(0, 3), PLAN_CYCLES);
}

static void fixed_counters_count_their_events_beside_the_others(void **state)
{
    struct plan_request r = plan_on(1);
    uint64_t count[PLAN_COUNTERS_ALL] = {0};
    struct mux_counts counts = {0};
    struct mux_sum sum;

    (void)state;
    r.fixed = 1u << 2 | 1u << 3 | 0xfu << 16;
    plan_want(&r, 0, event_on(1, 7));
    plan_want(&r, 1, event_fixed(2));
    plan_want(&r, 2, event_fixed(3));
    plan_want(&r, 3, event_fixed(19));
    r.sets = 1;
    r.set[0] = 0xf;
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
    assert_int_equal(plan_counter_of(0, 1), PLAN_FIXED(0));
    assert_int_equal(plan_counter_of(0, 2), PLAN_FIXED(1));
    assert_int_equal(plan_counter_of(0, 3), PLAN_FIXED(5));
    count[PLAN_FIXED(5)] = 123;
    mux_add(&counts, &planned.mux, 0, SLICE, count);
    mux_read(&counts, &planned.mux, 3, &sum);
    assert_int_equal(sum.count, 123);
}

static void a_fixed_counter_that_there_is_not_counts_nothing(void **state)
{
    struct plan_request r = plan_on(4);

    (void)state;
    r.fixed = 1u << 2;
    plan_want(&r, 5, event_fixed(3));
    plan_is_refused(&r, -EINVAL, GROUP_NO_COUNTER);
    assert_int_equal(plan_cause.event, 5);
}

static void in_other_modes_they_do(void **state)
{
    struct plan_request r = plan_on(2);
    struct event c = event_cycles, i = event_instructions;

    (void)state;
    c.modes = EVENT_USER;
    i.modes = EVENT_KERNEL;
    plan_want(&r, 0, c);
    plan_want(&r, 1, i);
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(plan_counter_of(0, 0), 0);
    assert_int_equal(plan_counter_of(0, 1), 1);
    /* What is not always counted needs a counter as well. */
    r = plan_on(2);
    r.always[1].modes = 0;
    plan_want(&r, 1, event_instructions);
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(plan_counter_of(0, 1), 1);
}

static void nothing_wanted_is_one_empty_group(void **state)
{
    struct plan_request r = plan_on(4);

    (void)state;
    r.event[9] = event_on(1, 7);
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 1);
    assert_int_equal(planned.mux.group[0].seats, 0);
}

static void a_heavy_event_has_more_slices_and_so_have_its_equals(void **state)
{
    struct plan_request r = plan_on(1);

    (void)state;
    for (unsigned i = 0; i < 9; i++)
        plan_want(&r, i, event_on(1, 7 + i));
    plan_want(&r, 50, event_on(1, 9));
    r.weight[50] = 4;
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.slots, 12);
    assert_int_equal(planned.mux.rounds.pass, 12 * SLICE);
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(planned.mux.slots_with[i], i == 2 ? 4 : 1);
    assert_int_equal(planned.mux.slots_with[50], 4);
}

/* Counter 1 has room for event 8 in both groups, cycles are counted in all. */
static void a_tied_set_is_counted_in_one_group_only(void **state)
{
    struct plan_request r = plan_on(2);
    uint64_t count[PLAN_COUNTERS_ALL] = {0};
    struct mux_counts counts = {0};
    struct mux_sum sum;

    (void)state;
    plan_want(&r, 1, event_on(1, 7));
    plan_want(&r, 2, event_on(1, 9));
    plan_want(&r, 3, event_on(3, 8));
    plan_want(&r, 4, event_cycles);
    plan_want(&r, 20, event_on(1, 7));
    plan_want(&r, 21, event_on(3, 8));
    plan_want(&r, 22, event_cycles);
    r.sets = 1;
    r.set[0] = 7ull << 20;
    r.tied = 1;
    plan_succeeds(&r);
    plan_check(&r);
    assert_int_equal(planned.mux.rounds.groups, 2);
    assert_int_equal(plan_groups_with(1 << 3 | 1 << 4), 2);
    for (unsigned g = 0; g < 2; g++) {
        memset(count, 0, sizeof count);
        count[PLAN_CYCLES] = 1000;
        count[plan_counter_of(g, 3)] = 10;
        mux_add(&counts, &planned.mux, g, SLICE, count);
    }
    mux_read(&counts, &planned.mux, 22, &sum);
    assert_int_equal(sum.counted, 1000);
    mux_read(&counts, &planned.mux, 21, &sum);
    assert_int_equal(sum.counted, 10);
    mux_read(&counts, &planned.mux, 3, &sum);
    assert_int_equal(sum.counted, 20);
}

/* ---- What is not ----------------------------------------------------------------------------- */

static void an_event_without_a_counter_is_named(void **state)
{
    struct plan_request r = plan_on(2);

    (void)state;
    plan_want(&r, 8, event_on(3, 7));
    plan_want(&r, 21, event_on(4, 9));
    plan_want(&r, 30, event_on(4, 9));
    plan_is_refused(&r, -EINVAL, GROUP_NO_COUNTER);
    assert_int_equal(plan_cause.event, 21);
    assert_int_equal(plan_cause.set, GROUP_NIL);
}

static void events_that_exclude_each_other_are_named(void **state)
{
    struct plan_request r = plan_on(4);
    struct event a = event_on(15, 7), b = event_on(15, 8);

    (void)state;
    a.exclusion = b.exclusion = EVENT_OFFCORE_0;
    a.extra = 1;
    b.extra = 2;
    plan_want(&r, 2, event_on(15, 1));
    plan_want(&r, 20, a);
    plan_want(&r, 45, b);
    r.sets = 2;
    r.set[0] = 1ull << 2 | 1ull << 20;
    r.set[1] = 1ull << 20 | 1ull << 45;
    plan_is_refused(&r, -EINVAL, GROUP_EXCLUDED);
    assert_int_equal(1ull << plan_cause.event | 1ull << plan_cause.other, 1ull << 20 | 1ull << 45);
    assert_int_equal(plan_cause.set, 1);
    r.sets = 1;
    plan_succeeds(&r);
    plan_check(&r);
}

static void the_crowd_is_named(void **state)
{
    struct plan_request r = plan_on(4);

    (void)state;
    plan_want(&r, 1, event_on(3, 1));
    plan_want(&r, 30, event_on(12, 2));
    plan_want(&r, 41, event_on(12, 3));
    plan_want(&r, 42, event_on(12, 3));
    plan_want(&r, 43, event_on(12, 4));
    r.pinned = r.wanted;
    plan_is_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(plan_cause.crowd, 1ull << 30 | 1ull << 41 | 1ull << 43);
    assert_int_equal(plan_cause.event, GROUP_NIL);
    r.pinned = 0;
    r.sets = 2;
    r.set[0] = 1ull << 1 | 1ull << 30;
    r.set[1] = r.wanted;
    plan_is_refused(&r, -ENOSPC, GROUP_CROWDED);
    assert_int_equal(plan_cause.set, 1);
    assert_int_equal(plan_cause.crowd, 1ull << 30 | 1ull << 41 | 1ull << 43);
    r.sets = 1;
    plan_succeeds(&r);
    plan_check(&r);
}

static void slices_and_rounds_out_of_range_are_refused(void **state)
{
    struct plan_request r = plan_on(1);

    (void)state;
    for (unsigned i = 0; i < 64; i++)
        plan_want(&r, i, event_on(1, i));
    r.slice = MUX_SLICE_MIN - 1;
    assert_int_equal(plan_make(&planned, &r, &plan_work, &plan_cause), -ERANGE);
    r.slice = MUX_ROUND_MAX / 64 + 1;
    assert_int_equal(plan_make(&planned, &r, &plan_work, &plan_cause), -ERANGE);
    r.slice = MUX_ROUND_MAX / 64;
    plan_succeeds(&r);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
