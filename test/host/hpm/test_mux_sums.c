/* Sums of what threads and CPUs counted in turns, and differences of two readings: pools, units and
 * windows. */
#include "test/host/double/expect_panic.h"
#include "hpm/policy/estimate.h"
#include "test/host/double/mux_work.h"

static void readings_of_a_window_and_of_several_threads_add_up(void **state)
{
    struct mux_plan p = plan_of(2, NULL);
    static struct mux_counts c[2];
    struct mux_sum first[2], second[2], sum, window;

    (void)state;
    memset(c, 0, sizeof c);
    for (unsigned unit = 0; unit < 200; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            for (unsigned i = 0; i < 2; i++)
                add_slice(&c[i], &p, g, p.rounds.slice, below(1000) + 1000 * (unit / 100));
        for (unsigned i = 0; i < 2; i++) {
            assert_true(mux_close(&c[i], &p));
            if (unit == 99)
                mux_read(&c[i], &p, 2, &first[i]);
        }
    }
    for (unsigned i = 0; i < 2; i++)
        mux_read(&c[i], &p, 2, &second[i]);
    sum = second[0];
    mux_sum_add(&sum, &second[1]);
    assert_int_equal(sum.length, c[0].length + c[1].length);
    assert_int_equal(sum.units, 400);
    assert_int_equal(sum.pairs, 398);
    assert_int_equal(sum.count, second[0].count + second[1].count);
    assert_true(sum.variance == second[0].variance + second[1].variance);
    window = second[0];
    mux_sum_sub(&window, &first[0]);
    assert_int_equal(window.units, 100);
    assert_int_equal(window.pairs, 100);
    assert_in_range(window.count, 100 * 4 * 1400, 100 * 4 * 1600);
    mux_sum_add(&window, &first[0]);
    assert_memory_equal(&window, &second[0], sizeof window);
}

/* Returns the counts of a thread that ran in one slice, in the turn of group g, where each of its
 * events happened n times. */
static struct mux_sum short_life(const struct mux_plan *p, unsigned g, uint64_t length, uint64_t n,
                                 unsigned event)
{
    struct mux_counts c = {0};
    struct mux_sum part;

    add_slice(&c, p, g, length, n);
    mux_part(&c, p, event, &part);
    return part;
}

/* Each thread alone has all of an event or nothing. */
static void threads_that_closed_no_unit_are_scaled_as_one(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_sum sum = {0}, pinned = {0};

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        struct mux_sum part = short_life(&p, i % GROUPS, 1000 + i / GROUPS, 10, 1), whole = part;
        mux_sum_add(&sum, &part);
        mux_sum_settle(&whole);
        assert_int_equal(whole.count, i % GROUPS == 1 ? 10 : 0);
        part = short_life(&p, i % GROUPS, 1000 + i / GROUPS, 10, PINNED);
        mux_sum_add(&pinned, &part);
    }
    assert_int_equal(sum.count, 0);
    mux_sum_settle(&sum);
    assert_int_equal(sum.count, 400);
    assert_int_equal(sum.counted, 100);
    assert_int_equal(sum.length, 4 * sum.seen);
    mux_sum_settle(&sum); /* once is enough */
    assert_int_equal(sum.count, 400);
    mux_sum_settle(&pinned);
    assert_int_equal(pinned.count, 400);
    assert_int_equal(pinned.seen, pinned.length);
}

/* A pool that hardly saw the event goes by the rate of the rest. */
static void a_pool_that_hardly_saw_an_event_goes_by_the_rest(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    static struct mux_counts c;
    struct mux_sum sum, part;

    (void)state;
    memset(&c, 0, sizeof c);
    for (unsigned g = 0; g < GROUPS; g++)
        add_slice(&c, &p, g, p.rounds.slice, 3000);
    assert_true(mux_close(&c, &p));
    mux_part(&c, &p, 1, &sum);
    uint64_t closed = sum.count;
    part = short_life(&p, 0, p.rounds.pass, 10, 1);
    mux_sum_add(&sum, &part);
    mux_sum_settle(&sum);
    assert_int_equal(sum.count, 2 * closed);
}

/* A pass at a time. Fractions are carried, so that rare events are not rounded away. */
static void a_pool_is_closed_as_a_unit_when_it_is_long_enough(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_sum sum = {0};
    uint64_t length = p.rounds.slice / 10 + 3;
    unsigned units = 0;

    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        struct mux_sum part =
            short_life(&p, i % GROUPS, i % GROUPS == 2 ? length : length + 7, i / 40 % 3 == 0, 2);
        mux_sum_add(&sum, &part);
        bool long_enough = sum.pool.length >= p.rounds.pass;
        assert_int_equal(mux_sum_close(&sum, &p, 2), long_enough);
        units += long_enough;
        assert_true(!long_enough || !sum.pool.length);
    }
    assert_in_range(units, 95, 100);
    assert_int_equal(sum.units, units);
    assert_int_equal(sum.pairs, units - 1);
    assert_true(sum.variance > 0);
    mux_sum_settle(&sum);
    uint64_t expected = sum.counted * sum.length / sum.seen;
    assert_in_range(sum.count, expected - 8, expected + 8);
    p.rough = 1 << 2;
    struct mux_sum rough = {0}, part = short_life(&p, 2, 2 * p.rounds.pass, 10, 2);
    for (unsigned i = 0; i < 3; i++) {
        mux_sum_add(&rough, &part);
        assert_true(mux_sum_close(&rough, &p, 2));
    }
    assert_true(rough.units == 3 && rough.pairs == 0 && rough.variance == 0);
}

/* As sums that readers subtract from each other. */
static void a_difference_of_pools_is_of_what_was_seen_in_it(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_sum before = {0}, after;

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        struct mux_sum part = short_life(&p, i % GROUPS, 1000, 10, 1);
        mux_sum_add(&before, &part);
    }
    after = before;
    for (unsigned i = 0; i < 80; i++) {
        struct mux_sum part = short_life(&p, i % GROUPS, 1000, 30, 1);
        mux_sum_add(&after, &part);
    }
    mux_sum_sub(&after, &before);
    assert_int_equal(after.length, 80000);
    assert_int_equal(after.count, 2400);
    assert_int_equal(after.pool.length, 0);
    assert_int_equal(before.count, 0); /* the earlier sum is not changed */
}

/* An error in the earlier estimate of the open unit is not made good in the next window, which has
 * what was seen in it. */
static void a_short_window_has_what_was_seen_in_it(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_counts c = {0};
    struct mux_sum before, after;

    (void)state;
    for (unsigned unit = 0; unit < 10; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            add_slice(&c, &p, g, p.rounds.slice, 100);
        assert_true(mux_close(&c, &p));
    }
    for (unsigned g = 0; g < 2; g++)
        add_slice(&c, &p, g, p.rounds.slice, 90000);
    mux_read(&c, &p, 0, &before); /* seen for half of the unit, so it is estimated as 180,000 */
    for (unsigned g = 2; g < GROUPS; g++)
        add_slice(&c, &p, g, p.rounds.slice, 100);
    assert_true(mux_close(&c, &p));
    for (unsigned g = 0; g < GROUPS; g++)
        add_slice(&c, &p, g, p.rounds.slice, 100);
    assert_true(mux_close(&c, &p));
    mux_read(&c, &p, 0, &after);
    mux_sum_sub(&after, &before);
    assert_int_equal(after.counted, 100);
    assert_int_equal(after.count, 100 * after.length / after.seen);
}

static void a_window_never_has_fewer_than_were_counted(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_counts c = {0};
    struct mux_sum before, after;

    (void)state;
    add_slice(&c, &p, 1, 900000, 0);
    add_slice(&c, &p, 0, 75000, 60000);
    mux_read(&c, &p, 0, &before); /* 60,000 in 75,000: it is estimated as 780,000 in all */
    assert_true(before.count > 700000);
    add_slice(&c, &p, 0, 300000, 5);
    add_slice(&c, &p, 2, 200000, 0);
    add_slice(&c, &p, 3, 200000, 0);
    assert_true(mux_close(&c, &p));
    for (unsigned unit = 0; unit < MUX_FEW_UNITS; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            add_slice(&c, &p, g, p.rounds.slice, 0);
        assert_true(mux_close(&c, &p));
    }
    mux_read(&c, &p, 0, &after);
    assert_true(after.count < before.count);
    mux_sum_sub(&after, &before);
    assert_int_equal(after.count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(readings_of_a_window_and_of_several_threads_add_up, mux_set_up),
        cmocka_unit_test_setup(threads_that_closed_no_unit_are_scaled_as_one, mux_set_up),
        cmocka_unit_test_setup(a_pool_that_hardly_saw_an_event_goes_by_the_rest, mux_set_up),
        cmocka_unit_test_setup(a_pool_is_closed_as_a_unit_when_it_is_long_enough, mux_set_up),
        cmocka_unit_test_setup(a_difference_of_pools_is_of_what_was_seen_in_it, mux_set_up),
        cmocka_unit_test_setup(a_short_window_has_what_was_seen_in_it, mux_set_up),
        cmocka_unit_test_setup(a_window_never_has_fewer_than_were_counted, mux_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
