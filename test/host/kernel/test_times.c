/* Periods, compared with counting them one by one. */
#include "test/host/double/expect_panic.h"
#include "kernel/lib/period.h"

static uint64_t seed = 1;

static uint64_t draw(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

static void times_are_those_that_counting_finds(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t at = draw(1000), interval = 1 + draw(50), now = at + draw(1000);
        uint64_t expected = at, come = 0, forward = at;
        for (; expected <= now; expected += interval)
            come++;
        assert_int_equal(period_left(at, interval, now), expected - now);
        assert_int_equal(period_forward(&forward, interval, now), come);
        assert_int_equal(forward, expected);
    }
}

static void a_time_that_comes_once(void **state)
{
    (void)state;
    assert_int_equal(period_left(10, 0, 4), 6);
    assert_int_equal(period_left(10, 0, 10), 0);
    assert_int_equal(period_left(10, 0, 11), 0);
}

static void nothing_overflows(void **state)
{
    const uint64_t most = UINT64_MAX;
    uint64_t at = 0;

    (void)state;
    assert_int_equal(period_forward(&at, most, most - 1), 1);
    assert_int_equal(at, most);
    at = 5;
    assert_int_equal(period_forward(&at, 1, most), most - 4);
    assert_int_equal(at, most);
    at = most - 10;
    assert_int_equal(period_forward(&at, 100, most - 1), 1);
    assert_int_equal(at, most);
    assert_int_equal(period_left(most, 3, most), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_that_counting_finds),
        cmocka_unit_test(a_time_that_comes_once),
        cmocka_unit_test(nothing_overflows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
