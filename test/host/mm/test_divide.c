/* Memory for pools against every possible division. */
#include "test/host/double/dividing.h"

enum { POOLS = 4, ALL = SPACING * (POINTS - 1) }; /* pages of the curves */

static void divide(struct fixture *f, uint32_t memory)
{
    uint64_t total = 0;

    f->room.spare = memory;
    assert_int_equal(divide_solve(&f->room, &f->config, f->pool, f->pools, memory), 0);
    for (unsigned i = 0; i < f->pools; i++) {
        assert_true(f->room.best[i] >= f->pool[i].minimum);
        total += f->room.best[i];
    }
    assert_int_equal(total + f->room.spare, memory);
    assert_true(f->room.spare == 0 || f->config.goal == DIVIDE_FAIRNESS ||
                f->config.goal == DIVIDE_SERVICE);
}

static void pages_go_where_each_saves_most(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_slope(f, 1, 2400);
    divide(f, 96);
    assert_int_equal(f->room.best[0], 0);
    assert_int_equal(f->room.best[1], 96);
}

static void a_loop_gets_all_its_pages_or_none(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_loop(f, 1, 64, 5000);
    divide(f, 80);
    assert_int_equal(f->room.best[1], 64);
    divide(f, 56);
    assert_int_equal(f->room.best[0], 56);
    make_loop(f, 1, 64, 700);
    divide(f, 80);
    assert_int_equal(f->room.best[0], 80);
}

static void a_step_that_ends_behind_the_cliff_leaves_pages_to_others(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_loop(f, 1, 64, 5000);
    f->pool[1].minimum = 5;
    divide(f, 80);
    assert_int_equal(f->room.best[1], 64);
}

static void a_weight_counts_as_so_many_misses(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_slope(f, 1, 2400);
    f->pool[0].weight = 3;
    divide(f, 96);
    assert_int_equal(f->room.best[0], 96);
}

/* Each pool against itself alone: one that misses at every size is slowed by a part of the memory
 * only as far as all of it would make it faster. */
static void slowdown_is_by_that_alone(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        make_slope(f, i, 1000);
        f->pool[i].fault_time = f->pool[i].work = 1000;
    }
    for (unsigned k = 0; k < POINTS; k++) /* with many misses that no memory avoids */
        f->misses[1][k] += 1000;
    assert_int_equal(divide_cost(&f->pool[0], ALL, ALL), 0);
    assert_int_equal(divide_cost(&f->pool[1], ALL, ALL), 0);
    assert_int_equal(divide_cost(&f->pool[0], 0, ALL), 1000000ull * 1000);
    assert_int_equal(divide_cost(&f->pool[1], 0, ALL), 1000000ull * 1000 / 1001);
    assert_int_equal(divide_lost(&f->pool[0], 0, ALL), 1000000ull * 1000 / 1001);
    assert_int_equal(divide_lost(&f->pool[1], 0, ALL), 1000000ull * 1000 / 2001);
    f->pool[0].weight = 3;
    assert_int_equal(divide_cost(&f->pool[0], 0, ALL), 3000000ull * 1000);
    assert_int_equal(divide_lost(&f->pool[0], 0, ALL), 1000000ull * 1000 / 1001);
}

static void what_a_miss_costs_counts_by_how_much_a_program_is_slowed(void **state)
{
    struct fixture *f = *state;

    /* The same misses to be saved; the second has little to do besides. */
    make_slope(f, 0, 1000);
    make_slope(f, 1, 1000);
    for (unsigned i = 0; i < 2; i++) {
        f->pool[i].fault_time = 1000;
        f->pool[i].work = i ? 10000 : 1000000;
    }
    assert_int_equal(divide_cost(&f->pool[0], 0, ALL), 1000000);
    assert_int_equal(divide_cost(&f->pool[1], 0, ALL), 100000000);
    assert_int_equal(divide_lost(&f->pool[0], 0, ALL), 500000);
    assert_int_equal(divide_rate(&f->pool[0], 0), 500);
    assert_int_equal(divide_rate(&f->pool[0], 48), 500ull * 1000000 / 1500000);
    divide(f, 96);
    assert_int_equal(f->room.best[0], 0);
    divide(f, 80);
    assert_int_equal(f->room.best[1], 80);
}

/* Makes pool i `times` slower than alone with less than `below` pages, and another number of times
 * up to all of its curve. */
static void make_slowed(struct fixture *f, unsigned i, uint32_t below, uint64_t times,
                        uint64_t then)
{
    make_slope(f, i, 0);
    for (uint32_t k = 0; k + 1 < POINTS; k++)
        f->misses[i][k] = k * SPACING < below ? times - 1 : then - 1;
    f->pool[i].fault_time = f->pool[i].work;
}

static double speedup(const struct fixture *f, unsigned i, uint32_t pages, uint32_t memory)
{
    const struct divide_pool *p = &f->pool[i];
    double work = (double)p->work, fault = (double)p->fault_time;

    return (work + fault * (double)divide_misses(p, memory)) /
           (work + fault * (double)divide_misses(p, pages));
}

/* Both run at a third of their speeds, rather than one at full speed and the other at a hundredth,
 * though the sum of that is larger. */
static void throughput_starves_none_for_a_larger_sum_of_speedups(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        make_slowed(f, i, 64, 100, 3);
        make_slowed(f, 1 - i, 32, 100, 3);
        assert_true(speedup(f, i, 96, 96) + speedup(f, 1 - i, 0, 96) >
                    speedup(f, i, 64, 96) + speedup(f, 1 - i, 32, 96) + 0.3);
        divide(f, 96);
        assert_int_equal(f->room.best[1 - i], 32);
    }
    /* By weights alone, if they are large enough. */
    f->pool[1].weight = 60;
    divide(f, 96);
    assert_int_equal(f->room.best[1], 96);
}

static double weighted_misses(const struct fixture *f, const uint32_t *pages,
                              UNUSED uint32_t memory)
{
    double misses = 0;

    for (unsigned i = 0; i < f->pools; i++)
        misses += (double)divide_misses(&f->pool[i], pages[i]) * f->pool[i].weight;
    return misses;
}

/* Returns one by the weighted harmonic mean of speedups. */
static double slowed(const struct fixture *f, const uint32_t *pages, uint32_t memory)
{
    double weights = 0, sum = 0;

    for (unsigned i = 0; i < f->pools; i++) {
        weights += f->pool[i].weight;
        sum += f->pool[i].weight / speedup(f, i, pages[i], memory);
    }
    return sum / weights;
}

typedef double measure_t(const struct fixture *f, const uint32_t *pages, uint32_t memory);

/* Returns the least measure of all divisions of the steps that pools i.. have. */
static double least(const struct fixture *f, measure_t *measure, uint32_t *pages, unsigned i,
                    uint32_t steps, uint32_t memory)
{
    double best = 1e30;

    if (i == f->pools)
        return measure(f, pages, memory);
    for (uint32_t k = 0; k <= steps; k++) {
        pages[i] = f->pool[i].minimum + k * STEP;
        best = MIN(best, least(f, measure, pages, i + 1, steps - k, memory));
    }
    return best;
}

/* Any curves, cliffs included, and any weights: the fewest misses where a miss's cost is not known,
 * else the highest harmonic mean. */
static void throughput_is_the_best_of_all_divisions_in_steps(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 17;

    for (unsigned round = 0; round < 600; round++) {
        measure_t *measure = round % 2 ? slowed : weighted_misses;
        uint32_t pages[POOLS], steps = (uint32_t)(test_random(&seed) % 13), memory = steps * STEP;
        f->pools = 0;
        for (unsigned i = 0; i < 1 + round / 2 % POOLS; i++) {
            make_any(f, i, &seed);
            if (test_random(&seed) % 3 == 0)
                make_loop(f, i, 16 + (uint32_t)(test_random(&seed) % 64),
                          test_random(&seed) % 5000);
            f->pool[i].fault_time = round % 2 * (1 + test_random(&seed) % 2000);
            memory += f->pool[i].minimum;
        }
        divide(f, memory);
        double best = least(f, measure, pages, 0, steps, memory);
        /* Costs are in whole millionths. */
        assert_true(measure(f, f->room.best, memory) <= best + 1e-6);
    }
}

static uint64_t highest_rate(const struct fixture *f, const uint32_t *pages)
{
    uint64_t highest = 0;

    for (unsigned i = 0; i < f->pools; i++)
        highest = MAX(highest, divide_rate(&f->pool[i], pages[i]));
    return highest;
}

static void maxmin_finds_the_lowest_rate_all_can_have(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 23;

    f->config.goal = DIVIDE_MAXMIN;
    for (unsigned round = 0; round < 100; round++) {
        uint32_t memory = 40 + (uint32_t)(test_random(&seed) % 60);
        for (unsigned i = 0; i < 3; i++) {
            make_any(f, i, &seed);
            f->pool[i].minimum %= 8;
            f->pool[i].fault_time = round % 2 * 100;
        }
        divide(f, memory);
        uint64_t lowest = UINT64_MAX;
        for (uint32_t a = f->pool[0].minimum; a <= memory; a++) {
            for (uint32_t b = f->pool[1].minimum; a + b + f->pool[2].minimum <= memory; b++)
                lowest = MIN(lowest, highest_rate(f, (uint32_t[]){a, b, memory - a - b}));
        }
        assert_int_equal(highest_rate(f, f->room.best), lowest);
    }
}

/* Returns whether all that could miss as often as the pool that misses most do. */
static bool alike(const struct fixture *f, const uint32_t *pages)
{
    uint64_t near = divide_near(highest_rate(f, pages));

    for (unsigned i = 0; i < f->pools; i++) {
        if (divide_rate(&f->pool[i], pages[i]) < near &&
            divide_rate(&f->pool[i], f->pool[i].minimum) >= near)
            return false;
    }
    return true;
}

/* Any curves, cliffs included: of all divisions with which rates are equal, spare memory or not,
 * one in which they are lowest. */
static void fairness_finds_the_lowest_equal_rates(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 29;

    f->config.goal = DIVIDE_FAIRNESS;
    for (unsigned round = 0; round < 200; round++) {
        uint32_t memory = 40 + (uint32_t)(test_random(&seed) % 100);
        make_any(f, 0, &seed);
        if (round % 4)
            make_loop(f, 1, 16 + (uint32_t)(test_random(&seed) % 64), test_random(&seed) % 5000);
        else
            make_any(f, 1, &seed);
        for (unsigned i = 0; i < 2; i++)
            f->pool[i].fault_time = round % 2 * 100;
        divide(f, memory);
        assert_true(alike(f, f->room.best));
        uint64_t lowest = UINT64_MAX;
        for (uint32_t a = f->pool[0].minimum; a <= memory; a++) {
            for (uint32_t b = f->pool[1].minimum; a + b <= memory; b++) {
                if (alike(f, (uint32_t[]){a, b}))
                    lowest = MIN(lowest, highest_rate(f, (uint32_t[]){a, b}));
            }
        }
        assert_int_equal(highest_rate(f, f->room.best), lowest);
    }
}

/* With one page more a loop misses nothing: a pool that misses less than the loop could is given no
 * more, and memory is spare. */
static void fairness_keeps_a_loop_from_what_it_needs_while_another_misses(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_loop(f, 1, 48, 900);
    for (unsigned maxmin = 0; maxmin < 2; maxmin++) {
        f->config.goal = maxmin ? DIVIDE_MAXMIN : DIVIDE_FAIRNESS;
        divide(f, 96);
        uint64_t a = divide_rate(&f->pool[0], f->room.best[0]),
                 b = divide_rate(&f->pool[1], f->room.best[1]);
        if (maxmin) {
            assert_int_equal(b, 0);
        } else {
            assert_int_equal(b, 900);
            assert_in_range(a, 882, 900);
        }
        assert_int_equal(f->room.bound[1], !maxmin);
        assert_int_equal(f->room.spare > 0, !maxmin);
    }
}

static void fairness_makes_rates_equal_where_curves_are_smooth(void **state)
{
    struct fixture *f = *state;

    f->config.goal = DIVIDE_FAIRNESS;
    make_slope(f, 0, 120000);
    make_slope(f, 1, 60000);
    divide(f, 100);
    uint64_t a = divide_rate(&f->pool[0], f->room.best[0]),
             b = divide_rate(&f->pool[1], f->room.best[1]);
    assert_true(MAX(a, b) - MIN(a, b) <= MAX(a, b) / 20);
    f->pool[1].weight = 2;
    divide(f, 100);
    a = divide_rate(&f->pool[0], f->room.best[0]);
    b = divide_rate(&f->pool[1], f->room.best[1]);
    assert_true(MAX(a, b) - MIN(a, b) <= MAX(a, b) / 20);
}

static void a_service_is_kept_before_misses_are_saved(void **state)
{
    struct fixture *f = *state;

    f->config.goal = DIVIDE_SERVICE;
    make_slope(f, 0, 1200);
    make_slope(f, 1, 24000);
    f->pool[0].high = 300;
    f->pool[0].low = 200;
    divide(f, 96);
    assert_in_range(divide_rate(&f->pool[0], f->room.best[0]), 280, 300);
    /* the lower end: pages it does not need go to others */
    make_slope(f, 1, 100);
    divide(f, 120);
    assert_in_range(divide_rate(&f->pool[0], f->room.best[0]), 200, 220);
}

static void the_heaviest_service_comes_first(void **state)
{
    struct fixture *f = *state;

    f->config.goal = DIVIDE_SERVICE;
    for (unsigned i = 0; i < 2; i++) {
        make_slope(f, i, 1200);
        f->pool[i].high = 300;
    }
    f->pool[1].weight = 2;
    divide(f, 80);
    assert_in_range(f->room.best[1], 72, 80);
    assert_true(divide_misses(&f->pool[1], f->room.best[1]) <= 300);
}

static void a_pool_without_a_curve_may_have_twice_what_it_holds_up_to_an_equal_part(void **state)
{
    struct fixture *f = *state;

    for (unsigned goal = DIVIDE_THROUGHPUT; goal < DIVIDE_GOALS; goal++) {
        f->config.goal = goal;
        make_slope(f, 0, 5000);
        for (uint32_t held = 0; held <= 40; held++) {
            make_unknown(f, 1, held);
            f->pool[1].minimum = 4;
            divide(f, 81);
            assert_int_equal(f->room.best[1], MIN(MAX(2 * held, 4u), 40u));
        }
    }
}

/* Pools that have just begun, and hold next to nothing, are no reason to take pages from a loop
 * that it needs. */
static void small_ones_without_a_curve_leave_a_loop_what_it_needs(void **state)
{
    struct fixture *f = *state;

    make_loop(f, 0, 64, 1000);
    for (unsigned i = 1; i < 4; i++) {
        make_unknown(f, i, 2);
        f->pool[i].minimum = 4;
    }
    divide(f, 80);
    assert_true(f->room.best[0] >= 64);
}

/* Memory that they do not ask for is divided. */
static void pools_of_which_nothing_is_known_have_even_parts_of_what_is_over(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 3; i++)
        make_unknown(f, i, i);
    divide(f, 90);
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(f->room.best[i], 28, 32);
}

static void a_pool_without_a_curve_keeps_what_it_holds(void **state)
{
    struct fixture *f = *state;

    for (unsigned goal = DIVIDE_THROUGHPUT; goal < DIVIDE_GOALS; goal++) {
        f->config.goal = goal;
        make_slope(f, 0, 5000);
        make_unknown(f, 1, 70);
        f->pool[1].high = 400; /* no rate is known to be kept */
        divide(f, 81);
        assert_int_equal(f->room.best[1], 70);
        /* Of several, each has an equal part of the pages it holds first; one that does not use its
         * part leaves it to the others. */
        make_unknown(f, 0, 10);
        make_unknown(f, 2, 40);
        divide(f, 90);
        assert_int_equal(f->room.best[0], 10);
        assert_in_range(f->room.best[1], 30, 50);
        assert_in_range(f->room.best[2], 30, 40);
        f->pools = 2;
    }
}

static void a_pool_that_wants_nothing_gets_none_of_what_is_over(void **state)
{
    struct fixture *f = *state;

    /* A loop that does not fit, one that is resident, an idle one which has most so far. */
    make_loop(f, 0, 96, 1000);
    make_loop(f, 1, 16, 1000);
    make_slope(f, 2, 0);
    f->pool[2].pages = 64;
    f->pool[2].minimum = 4;
    divide(f, 84);
    assert_int_equal(f->room.best[0], 64);
    assert_int_equal(f->room.best[1], 16);
    assert_int_equal(f->room.best[2], 4);
}

static void a_curve_is_scaled_to_what_was_seen(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    f->pool[0].pages = 48;
    assert_int_equal(divide_misses(&f->pool[0], 48), 600);
    f->pool[0].seen = 2403;
    assert_in_range(divide_misses(&f->pool[0], 48), 2395, 2405);
    assert_in_range(divide_misses(&f->pool[0], 24), 3590, 3610);
    f->pool[0].seen = 1 << 30;
    assert_int_equal(divide_misses(&f->pool[0], 48), 16 * 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pages_go_where_each_saves_most),
        TEST(a_loop_gets_all_its_pages_or_none),
        TEST(a_step_that_ends_behind_the_cliff_leaves_pages_to_others),
        TEST(a_weight_counts_as_so_many_misses),
        TEST(slowdown_is_by_that_alone),
        TEST(what_a_miss_costs_counts_by_how_much_a_program_is_slowed),
        TEST(throughput_starves_none_for_a_larger_sum_of_speedups),
        TEST(throughput_is_the_best_of_all_divisions_in_steps),
        TEST(maxmin_finds_the_lowest_rate_all_can_have),
        TEST(fairness_finds_the_lowest_equal_rates),
        TEST(fairness_keeps_a_loop_from_what_it_needs_while_another_misses),
        TEST(fairness_makes_rates_equal_where_curves_are_smooth),
        TEST(a_service_is_kept_before_misses_are_saved),
        TEST(the_heaviest_service_comes_first),
        TEST(a_pool_without_a_curve_may_have_twice_what_it_holds_up_to_an_equal_part),
        TEST(small_ones_without_a_curve_leave_a_loop_what_it_needs),
        TEST(pools_of_which_nothing_is_known_have_even_parts_of_what_is_over),
        TEST(a_pool_without_a_curve_keeps_what_it_holds),
        TEST(a_pool_that_wants_nothing_gets_none_of_what_is_over),
        TEST(a_curve_is_scaled_to_what_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
