/* The division of memory among pools, compared with all possible divisions. */
#include "test/host/double/dividing.h"

enum { POOLS = 4, ALL = SPACING * (POINTS - 1) }; /* ALL: pages of a curve */

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

static void a_loop_gets_no_pages_beyond_its_cliff(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_loop(f, 1, 64, 5000);
    f->pool[1].minimum = 5;
    divide(f, 80);
    assert_int_equal(f->room.best[1], 64);
}

static void a_weight_multiplies_misses(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_slope(f, 1, 2400);
    f->pool[0].weight = 3;
    divide(f, 96);
    assert_int_equal(f->room.best[0], 96);
}

/* A pool is compared with itself with all of the memory. Misses that no memory avoids do not count
 * as slowdown. */
static void slowdown_is_relative_to_all_memory(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        make_slope(f, i, 1000);
        f->pool[i].fault_time = f->pool[i].work = 1000;
    }
    for (unsigned k = 0; k < POINTS; k++) /* misses that no memory avoids */
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

static void a_miss_costs_more_in_a_pool_that_works_less(void **state)
{
    struct fixture *f = *state;

    /* Both can save the same misses; the second works a hundredth of the first's time. */
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

/* Makes pool `i` slower than with all of its curve's pages: `times` as slow with fewer than `below`
 * pages, `then` times as slow from there on. */
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

/* One pool at full speed and the other at a hundredth has the larger sum of speedups. Both at a
 * third of their speeds has the higher harmonic mean, and is chosen. */
static void throughput_starves_no_pool_for_a_larger_sum_of_speedups(void **state)
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
    /* A large weight decides against the harmonic mean. */
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

/* Returns the reciprocal of the weighted harmonic mean of speedups. */
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

/* Returns the least measure of all divisions of `steps` steps among pools `i` and up; pages[] has
 * the pages of the pools before. */
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

/* Random curves, with and without cliffs, and random weights: fewest misses where the cost of a
 * miss is unknown, else the highest harmonic mean. */
static void throughput_finds_the_best_of_all_divisions(void **state)
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
        /* Costs are rounded to millionths. */
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

static void maxmin_finds_the_lowest_highest_rate(void **state)
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

/* Returns whether every pool misses about as often as the pool with the highest rate, unless it
 * cannot even with its minimum. */
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

/* Random curves, with and without cliffs: the lowest rates of all divisions in which rates are
 * alike. Divisions may leave memory spare. */
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

/* A loop misses always or never. While it misses, fairness gives the other pool only the pages that
 * make it miss as often, and the rest stays spare. */
static void fairness_leaves_a_loop_missing_while_another_pool_misses(void **state)
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
    /* Its rate may rise to the lower end of its range; the pages go to the other pool. */
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

static void a_pool_without_a_curve_gets_twice_its_pages_up_to_an_equal_part(void **state)
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

/* Pools that have just begun and hold few pages take none that a loop needs. */
static void small_pools_without_a_curve_leave_a_loop_its_pages(void **state)
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

/* Memory beyond twice the pages that the pools hold is divided evenly. */
static void pools_without_curves_get_even_parts_of_spare_memory(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 3; i++)
        make_unknown(f, i, i);
    divide(f, 90);
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(f->room.best[i], 28, 32);
}

static void a_pool_without_a_curve_keeps_its_pages(void **state)
{
    struct fixture *f = *state;

    for (unsigned goal = DIVIDE_THROUGHPUT; goal < DIVIDE_GOALS; goal++) {
        f->config.goal = goal;
        make_slope(f, 0, 5000);
        make_unknown(f, 1, 70);
        f->pool[1].high = 400; /* its rate is unknown */
        divide(f, 81);
        assert_int_equal(f->room.best[1], 70);
        /* Several such pools: each keeps its pages up to an equal part. A pool with fewer leaves
         * the rest of its part to the others. */
        make_unknown(f, 0, 10);
        make_unknown(f, 2, 40);
        divide(f, 90);
        assert_int_equal(f->room.best[0], 10);
        assert_in_range(f->room.best[1], 30, 50);
        assert_in_range(f->room.best[2], 30, 40);
        f->pools = 2;
    }
}

static void a_pool_that_saves_no_misses_gets_no_spare_memory(void **state)
{
    struct fixture *f = *state;

    /* A loop that does not fit, a resident loop, and an idle pool that holds most pages. */
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

static void a_curve_is_scaled_to_the_misses_seen(void **state)
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
        TEST(a_loop_gets_no_pages_beyond_its_cliff),
        TEST(a_weight_multiplies_misses),
        TEST(slowdown_is_relative_to_all_memory),
        TEST(a_miss_costs_more_in_a_pool_that_works_less),
        TEST(throughput_starves_no_pool_for_a_larger_sum_of_speedups),
        TEST(throughput_finds_the_best_of_all_divisions),
        TEST(maxmin_finds_the_lowest_highest_rate),
        TEST(fairness_finds_the_lowest_equal_rates),
        TEST(fairness_leaves_a_loop_missing_while_another_pool_misses),
        TEST(fairness_makes_rates_equal_where_curves_are_smooth),
        TEST(a_service_is_kept_before_misses_are_saved),
        TEST(the_heaviest_service_comes_first),
        TEST(a_pool_without_a_curve_gets_twice_its_pages_up_to_an_equal_part),
        TEST(small_pools_without_a_curve_leave_a_loop_its_pages),
        TEST(pools_without_curves_get_even_parts_of_spare_memory),
        TEST(a_pool_without_a_curve_keeps_its_pages),
        TEST(a_pool_that_saves_no_misses_gets_no_spare_memory),
        TEST(a_curve_is_scaled_to_the_misses_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
