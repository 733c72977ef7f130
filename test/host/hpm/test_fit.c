/* Estimates that fit each other: no part is larger than its whole, and no difference comes from
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "hpm/events/fit.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"

static uint64_t seed = 7;

static uint64_t below(uint64_t limit)
{
    return test_random(&seed) % limit;
}

/* 0 contains 1 and 2, 1 contains 3 and 4. */
static const struct fit_set two_levels[] = {{0, 1 << 1 | 1 << 2}, {1, 1 << 3 | 1 << 4}};

static void what_fits_is_left_as_it_is(void **state)
{
    struct fit_event e[5] = {
        {1000, 1000, true}, {600, 60, false}, {400, 40, false}, {350, 30, false}, {250, 9, false}};

    (void)state;
    assert_int_equal(fit_events(e, two_levels, 2), 0);
    assert_true(e[1].count == 600 && e[2].count == 400 && e[3].count == 350 && e[4].count == 250);
}

/* As in a breakdown: stalls for data scaled too low, and those of one source exact. */
static void a_whole_is_raised_to_what_is_exact_in_it(void **state)
{
    struct fit_event e[5] = {{30000, 30000, true},
                             {6000, 700, false},
                             {20000, 2000, false},
                             {14000, 14000, true},
                             {500, 50, false}};

    (void)state;
    assert_int_equal(fit_events(e, two_levels, 2), 1 << 1 | 1 << 2 | 1 << 4);
    assert_int_equal(e[0].count, 30000);
    assert_int_equal(e[3].count, 14000);
    assert_in_range(e[1].count, 14050, 16000);
    assert_in_range(e[2].count, 2000, 30000 - e[1].count);
    assert_in_range(e[4].count, 50, e[1].count - e[3].count);
}

static void parts_give_way_by_what_was_not_counted_of_them(void **state)
{
    struct fit_event e[5] = {{1000, 1000, true}, {900, 100, false}, {900, 100, false}};

    (void)state;
    assert_int_equal(fit_events(e, two_levels, 1), 1 << 1 | 1 << 2);
    assert_true(e[1].count == 500 && e[2].count == 500);
    struct fit_event uneven[5] = {{1000, 1000, true}, {900, 700, false}, {900, 100, false}};
    fit_events(uneven, two_levels, 1);
    assert_int_equal(uneven[1].count, 740);
    assert_int_equal(uneven[2].count, 260);
}

/* Counters are not all read at the same moment. */
static void even_what_was_counted_gives_way_to_a_whole_that_is_exact(void **state)
{
    struct fit_event e[5] = {{1000, 1000, true}, {800, 800, false}, {400, 400, false}};

    (void)state;
    fit_events(e, two_levels, 1);
    assert_int_equal(e[1].count, 666);
    assert_int_equal(e[2].count, 333);
}

static void whatever_the_figures_parts_come_to_no_more_than_their_whole(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct fit_event e[5];
        uint64_t counted = 0;
        for (unsigned k = 5; k-- > 0;) {
            e[k] = (struct fit_event){below(1 + (1ull << below(60))), 0, false};
            e[k].at_least = below(e[k].count + 1) / (1 + below(8));
            e[k].exact = k > 1 && below(4) == 0;
            counted += k == 0 ? 0 : e[k].exact ? e[k].count : e[k].at_least;
        }
        e[0] = (struct fit_event){counted + below(1 + (1ull << below(60))), 0, true};
        struct fit_event before[5];
        memcpy(before, e, sizeof e);
        uint64_t changed = fit_events(e, two_levels, 2);
        assert_true(e[1].count + e[2].count <= e[0].count && e[3].count + e[4].count <= e[1].count);
        for (unsigned k = 0; k < 5; k++) {
            assert_int_equal(changed >> k & 1, e[k].count != before[k].count);
            assert_true(e[k].count >= (before[k].exact ? before[k].count : before[k].at_least));
        }
    }
}

static void figures_of_a_breakdown_fit(void **state)
{
    uint64_t count[FIT_FIGURES] = {0}, counted[FIT_FIGURES] = {0}, seen[FIT_FIGURES] = {0};
    const struct fit_figures f = {20000000, count, counted, seen};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        count[i] = 6000000;
        counted[i] = 600000;
        seen[i] = 2000000;
    }
    /* remote L2, counted all the time */
    count[FIT_DCACHE + 3] = counted[FIT_DCACHE + 3] = 14028720;
    seen[FIT_DCACHE + 3] = f.cycles;
    count[FIT_DCACHE + 1] = 90000, counted[FIT_DCACHE + 1] = 9000, seen[FIT_DCACHE + 1] = 2000000;
    assert_true(fit_figures(&f) & 1 << 2);
    assert_int_equal(count[FIT_DCACHE + 3], 14028720);
    assert_true(count[2] >= count[FIT_DCACHE + 3] + count[FIT_DCACHE + 1]);
    assert_true(count[0] + count[1] + count[2] + count[3] + count[4] <= f.cycles);
    /* If stalls for data are not counted, the sources have no more than all cycles. */
    seen[2] = count[2] = counted[2] = 0;
    count[FIT_DCACHE + 1] = 90000000;
    fit_figures(&f);
    assert_int_equal(count[FIT_DCACHE + 1], 20000000 - 14028720);
    assert_int_equal(count[2], 0);
}

/* An estimate that falls until the next reading is no negative count, and one that jumps no rate
 * above one. */
static void differences_go_by_what_was_seen_between(void **state)
{
    struct fit_reading before = {1000000, 40000, 10000, 250000},
                       now = {2000000, 1500000, 60000, 500000};

    (void)state;
    assert_int_equal(fit_since(&now, &before), 200000);
    now.count = 20000;
    assert_int_equal(fit_since(&now, &before), 200000);
    now.seen = 260000; /* hardly seen: by the estimates, and at least what was counted */
    assert_int_equal(fit_since(&now, &before), 50000);
    now.count = 100000;
    assert_int_equal(fit_since(&now, &before), 60000);
    now.seen = 1250000; /* seen all the time */
    assert_int_equal(fit_since(&now, &before), 50000);
    struct fit_reading none = {0};
    assert_int_equal(fit_since(&now, &none), 100000);
    assert_int_equal(fit_since(&none, &now), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_left_as_it_is),
        cmocka_unit_test(a_whole_is_raised_to_what_is_exact_in_it),
        cmocka_unit_test(parts_give_way_by_what_was_not_counted_of_them),
        cmocka_unit_test(even_what_was_counted_gives_way_to_a_whole_that_is_exact),
        cmocka_unit_test(whatever_the_figures_parts_come_to_no_more_than_their_whole),
        cmocka_unit_test(figures_of_a_breakdown_fit),
        cmocka_unit_test(differences_go_by_what_was_seen_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
