/* How often Arm's Statistical Profiling Extension records: intervals as the driver and hpm on top
 * of it set them, and their jitter. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/access_users.h"
#include "test/host/double/spe_kinds.h"

#define EVERY hpm_caps()->sampled

/* Returns the operations per record, over `records` records. */
static uint64_t average_interval(uint32_t period, uint32_t jitter, unsigned records)
{
    const struct spe_double *d = &spe_double[0];

    sample_all(EVERY, period, jitter, true, false);
    uint64_t before = d->operations, taken = d->taken;
    while (d->taken - taken < records) {
        spe_operate(period / 2, &spe_hit);
        tick(0);
    }
    uint64_t average = (d->operations - before) / (d->taken - taken);
    one_stop();
    assert_true(take_all() > 0);
    return average;
}

static void intervals_are_as_long_as_asked_for(void **state)
{
    struct armv8_kind random = spe_known;

    (void)state;
    random.spe.features |= IDR_ERND;
    for (unsigned i = 0; i < 2; i++) {
        spe_start(i ? &random : &spe_known);
        assert_in_range(average_interval(4096, 0, 500), 4096, 4096);
        assert_in_range(average_interval(5000, 0, 2000), 4950, 5050);
        assert_in_range(average_interval(5000, 2500, 2000), 4900, 5100);
        assert_in_range(average_interval(1100, 600, 4000), 1070, 1130);
        assert_in_range(average_interval(1 << 20, 1 << 19, 300), 1030000, 1070000);
    }
}

/* Only if it does not change the interval, and enough jitter was asked for. */
static void the_hardwares_jitter_is_used_where_it_does_not_add_up(void **state)
{
    struct armv8_kind random = spe_known;

    (void)state;
    spe_start(&spe_known);
    sample_all(EVERY, 5000, 2000, true, false);
    assert_false(spe_double[0].now.irr & IRR_RND);
    one_stop();
    random.spe.features |= IDR_ERND;
    spe_start(&random);
    sample_all(EVERY, 5000, 255, true, false);
    assert_false(spe_double[0].now.irr & IRR_RND);
    one_stop();
    sample_all(EVERY, 5000, 256, true, false);
    assert_true(spe_double[0].now.irr & IRR_RND);
}

static void jitter_is_drawn_anew_at_each_drain(void **state)
{
    uint64_t least = UINT64_MAX, most = 0;

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    sample_all(EVERY, 1 << 16, 1 << 13, true, false);
    for (unsigned i = 0; i < 300; i++) {
        uint64_t interval = spe_double[0].now.irr;
        least = MIN(least, interval);
        most = MAX(most, interval);
        spe_operate(interval + 1, &spe_hit);
        tick(0);
    }
    assert_in_range(least, (1 << 16) - (1 << 13), (1 << 16) - (1 << 12) * 15 / 8);
    assert_in_range(most, (1 << 16) + (1 << 12) * 15 / 8, (1 << 16) + (1 << 13));
    assert_int_equal(account().lost_hardware, 0);
}

/* Draining begins no new interval: however often it happens, operations are as likely as before. */
static void draining_does_not_lengthen_the_interval(void **state)
{
    const struct spe_double *d = &spe_double[0];

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    sample_all(EVERY, 4096, 0, true, false);
    for (unsigned i = 0; i < 4096; i++) {
        spe_operate(100, &spe_hit);
        tick(0);
    }
    assert_int_equal(d->operations, 4096 * 100);
    assert_int_equal(d->taken, 100);
    assert_int_equal(take_all(), 100);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(intervals_are_as_long_as_asked_for),
        TEST(the_hardwares_jitter_is_used_where_it_does_not_add_up),
        TEST(jitter_is_drawn_anew_at_each_drain),
        TEST(draining_does_not_lengthen_the_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
