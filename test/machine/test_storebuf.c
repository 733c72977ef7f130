/* The store buffer, cycle by cycle. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "test/machine/storebuf.h"

static void hits_in_an_empty_buffer_cost_nothing(void **state)
{
    (void)state;
    struct storebuf s;
    storebuf_init(&s, 16, 2);
    for (cycles_t now = 0; now < 100; now++)
        assert_int_equal(storebuf_put(&s, now, 0), 0);
    assert_int_equal(storebuf_drain(&s, 100), 0);
}

static void misses_wait_only_when_the_buffer_is_full(void **state)
{
    (void)state;
    struct storebuf s;
    storebuf_init(&s, 4, 2);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(storebuf_put(&s, 10, 100), 0);
    /* The stores leave at 110, 210, 310 and 410. */
    assert_int_equal(storebuf_drain(&s, 10), 400);
    assert_int_equal(storebuf_put(&s, 50, 30), 60);
    assert_int_equal(storebuf_put(&s, 110, 30), 100);
    assert_int_equal(storebuf_drain(&s, 210), 410 + 30 + 30 - 210);
}

static void what_has_left_makes_room(void **state)
{
    (void)state;
    struct storebuf s;
    storebuf_init(&s, 2, 1);
    assert_int_equal(storebuf_put(&s, 0, 100), 0);
    assert_int_equal(storebuf_put(&s, 0, 100), 0);
    assert_int_equal(storebuf_put(&s, 99, 100), 1);
    assert_int_equal(storebuf_put(&s, 200, 100), 0);
    /* The stores of 100 and 200 have left; those of 300 and 400 have not. */
    assert_int_equal(storebuf_drain(&s, 200), 200);
    assert_int_equal(storebuf_drain(&s, 500), 0);
    assert_int_equal(storebuf_put(&s, 500, 7), 0);
    assert_int_equal(storebuf_drain(&s, 500), 7);
}

static void a_hit_behind_a_miss_leaves_after_it(void **state)
{
    (void)state;
    struct storebuf s;
    storebuf_init(&s, 8, 2);
    storebuf_put(&s, 0, 100);
    assert_int_equal(storebuf_put(&s, 1, 0), 0);
    assert_int_equal(storebuf_put(&s, 2, 0), 0);
    assert_int_equal(storebuf_drain(&s, 2), 102);
}

static void a_long_burst_runs_at_the_speed_of_its_misses(void **state)
{
    (void)state;
    struct storebuf s;
    cycles_t now = 0;
    storebuf_init(&s, 16, 2);
    for (unsigned i = 0; i < 1000; i++)
        now += 1 + storebuf_put(&s, now, 120);
    /* The last sixteen stores are still in the buffer. */
    assert_int_equal(now, 1 + 120 * (1000 - 16));
    assert_int_equal(now + storebuf_drain(&s, now), 120 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_in_an_empty_buffer_cost_nothing),
        cmocka_unit_test(misses_wait_only_when_the_buffer_is_full),
        cmocka_unit_test(what_has_left_makes_room),
        cmocka_unit_test(a_hit_behind_a_miss_leaves_after_it),
        cmocka_unit_test(a_long_burst_runs_at_the_speed_of_its_misses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
