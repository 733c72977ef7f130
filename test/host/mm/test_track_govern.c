/* The limit on the cost of tracking, against loads with a known cost at every shift. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/track_governor.h"
#include "test/host/double/random.h"

enum { RAN = 10000000, SHIFT_MAX = 16 };

/* Reports a window of a load that would cost `permille` thousandths if every page were tracked.
 * Returns the shift that follows. */
static unsigned window(struct track_governor *g, unsigned permille)
{
    track_governor_tell(g, (uint64_t)RAN / 1000 * permille >> g->shift, RAN);
    const char *broken = track_governor_check(g);
    if (broken)
        fail_msg("%s", broken);
    return g->shift;
}

static struct track_governor begin(unsigned allowed, unsigned shift)
{
    struct track_governor g;

    track_governor_init(&g, allowed, shift, SHIFT_MAX, RAN);
    return g;
}

static void a_costly_load_is_sampled_as_much_as_needed(void **state)
{
    struct track_governor g = begin(10, 0);

    (void)state;
    assert_int_equal(window(&g, 75), 3);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(window(&g, 75), 3);
}

static void a_cheap_load_is_not_sampled(void **state)
{
    struct track_governor g = begin(10, 5);

    (void)state;
    for (unsigned i = 0; i < 5 * (GOVERN_CALM_FIRST + 2); i++)
        window(&g, 7);
    assert_int_equal(g.shift, 0);
}

static void a_burst_changes_nothing(void **state)
{
    struct track_governor g = begin(10, 0);

    (void)state;
    for (unsigned i = 0; i < 50; i++)
        window(&g, 5);
    assert_int_equal(window(&g, 40), 0);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(window(&g, 5), 0);
}

static void between_two_shifts_the_lower_one_is_seldom_tried(void **state)
{
    struct track_governor g = begin(10, 0);
    unsigned changes = 0, before = 0;

    (void)state;
    /* The load costs 14 thousandths at shift 0, then is cheap for as long as a trial takes. */
    for (unsigned i = 0; i < 20000; i++) {
        unsigned shift = window(&g, i % 64 < 32 ? 14 : 3);
        changes += shift != before;
        before = shift;
    }
    assert_true(changes < 20000 / 64);
}

static void a_random_load_costs_no_more_than_allowed_in_the_long_run(void **state)
{
    (void)state;
    for (unsigned allowed = 1; allowed <= 100; allowed *= 10) {
        struct track_governor g = begin(allowed, 0);
        uint64_t seed = allowed, cost = 0;
        unsigned load = 0;
        enum { WINDOWS = 20000 };
        for (unsigned i = 0; i < WINDOWS; i++) {
            if (test_random(&seed) % 100 == 0)
                load = (unsigned)(test_random(&seed) % (50 * allowed));
            cost += (uint64_t)RAN / 1000 * load >> g.shift;
            window(&g, load);
        }
        assert_true(cost / WINDOWS <= (uint64_t)RAN / 1000 * allowed * 5 / 4);
        /* The shift is no higher than a steady load needs. */
        for (unsigned i = 0; i < 20 * GOVERN_CALM_MAX; i++)
            window(&g, 3 * allowed);
        assert_int_equal(g.shift, 2);
    }
}

static void windows_in_which_no_thread_ran_do_not_count(void **state)
{
    struct track_governor g = begin(10, 2), before = g;

    (void)state;
    assert_int_equal(track_governor_tell(&g, RAN, 0), 2);
    assert_int_equal(g.cost, before.cost);
    /* Nor is the cost charged to threads that run later. */
    assert_int_equal(track_governor_tell(&g, 1, RAN / 1000), 2);
}

/* Returns the cost, in thousandths of a window, of a program that runs for `windows` windows and
 * reports each 64th of a window. */
static uint64_t cost_of_short(unsigned windows, unsigned permille)
{
    enum { PARTS = 64 };
    struct track_governor g = begin(10, 0);
    uint64_t cost = 0;

    for (unsigned i = 0; i < windows * PARTS; i++) {
        uint64_t part = (uint64_t)RAN / 1000 * permille / PARTS >> g.shift;
        cost += part;
        track_governor_tell(&g, part, RAN / PARTS);
        assert_null(track_governor_check(&g));
    }
    return cost / (RAN / 1000);
}

static void a_short_program_costs_little_more_than_allowed(void **state)
{
    (void)state;
    for (unsigned permille = 5; permille <= 640; permille *= 2)
        for (unsigned windows = 1; windows <= 100; windows *= 10)
            assert_in_range(cost_of_short(windows, permille), 0, 10 * windows + 10 + permille / 64);
}

static void a_cost_below_a_windows_allowance_changes_nothing(void **state)
{
    struct track_governor g = begin(10, 0);

    (void)state;
    /* It is half of a window's allowance, then all of it. */
    assert_int_equal(track_governor_tell(&g, RAN / 200, RAN / 100), 0);
    assert_int_equal(g.ran, 0);
    assert_int_equal(track_governor_tell(&g, RAN / 200, RAN / 100), 6);
}

static void with_all_time_allowed_every_page_is_tracked(void **state)
{
    struct track_governor g = begin(1000, 3);

    (void)state;
    assert_int_equal(track_governor_tell(&g, 5 * RAN, RAN), 0);
}

static void the_largest_numbers_do_not_overflow(void **state)
{
    struct track_governor g = begin(999, 0);

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        track_governor_tell(&g, UINT64_MAX, i % 2 ? UINT64_MAX : 1);
        assert_null(track_governor_check(&g));
    }
    EXPECT_PANIC(track_governor_init(&g, 0, 0, 1, 1));
    EXPECT_PANIC(track_governor_init(&g, 1, 2, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_costly_load_is_sampled_as_much_as_needed),
        cmocka_unit_test(a_cheap_load_is_not_sampled),
        cmocka_unit_test(a_burst_changes_nothing),
        cmocka_unit_test(between_two_shifts_the_lower_one_is_seldom_tried),
        cmocka_unit_test(a_random_load_costs_no_more_than_allowed_in_the_long_run),
        cmocka_unit_test(windows_in_which_no_thread_ran_do_not_count),
        cmocka_unit_test(a_short_program_costs_little_more_than_allowed),
        cmocka_unit_test(a_cost_below_a_windows_allowance_changes_nothing),
        cmocka_unit_test(with_all_time_allowed_every_page_is_tracked),
        cmocka_unit_test(the_largest_numbers_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
