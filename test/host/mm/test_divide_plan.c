/* When a plan is replaced, and how pools approach it, epoch by epoch. */
#include "test/host/double/dividing.h"

static void epoch(struct fixture *f, uint32_t memory, struct divide_report *report)
{
    uint64_t pages = 0, planned = 0;

    assert_int_equal(divide_plan(&f->room, &f->config, f->pool, f->pools, memory, report), 0);
    for (unsigned i = 0; i < f->pools; i++) {
        assert_true(f->pool[i].pages >= f->pool[i].minimum);
        pages += f->pool[i].pages;
        planned += f->pool[i].planned;
    }
    assert_int_equal(planned + f->room.planned_spare, memory);
    assert_true(f->room.planned_spare == 0 || f->config.goal == DIVIDE_FAIRNESS ||
                f->config.goal == DIVIDE_SERVICE);
    assert_in_range(pages, f->room.planned_spare ? 0 : memory, memory);
}

static void pools_approach_the_plan_by_move_max_pages_an_epoch(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    make_slope(f, 0, 2400);
    make_slope(f, 1, 1200);
    f->pool[1].pages = f->pool[1].planned = 96;
    f->config.move_max = 10;
    for (unsigned i = 1; i <= 10; i++) {
        epoch(f, 96, &report);
        assert_int_equal(f->pool[0].pages, MIN(10 * i, 96u));
        assert_int_equal(report.replanned, i == 1);
    }
    epoch(f, 96, &report);
    assert_int_equal(report.moved, 0);
}

static void a_gain_below_the_hysteresis_brings_no_new_plan(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    f->config.hysteresis_permil = 100;
    make_slope(f, 0, 100000);
    make_slope(f, 1, 102000);
    f->pool[0].pages = f->pool[0].planned = 96;
    epoch(f, 96, &report);
    assert_false(report.replanned);
    assert_true(report.cost_best < report.cost);
    make_slope(f, 1, 200000);
    f->pool[0].pages = f->pool[0].planned = 96;
    epoch(f, 96, &report);
    assert_true(report.replanned);
}

static void a_few_misses_bring_no_moves_of_many_pages(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    make_slope(f, 0, 100);
    make_slope(f, 1, 105);
    f->pool[0].pages = f->pool[0].planned = 96;
    epoch(f, 96, &report);
    assert_false(report.replanned);
}

static void useless_pages_move_for_a_few_misses(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    make_slope(f, 0, 0);
    make_slope(f, 1, 5);
    f->pool[0].pages = f->pool[0].planned = 96;
    epoch(f, 96, &report);
    assert_true(report.replanned);
    assert_in_range(f->pool[1].planned, 80, 96);
}

/* A loop that fits in no division misses as often with fewer pages. */
static void moving_pages_of_a_loop_that_does_not_fit_costs_nothing(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    make_loop(f, 0, 128, 10000);
    make_slope(f, 1, 1000);
    f->pool[0].fault_time = f->pool[1].fault_time = 1000;
    f->pool[0].pages = f->pool[0].planned = 96;
    f->config.lasts = 1000;
    epoch(f, 96, &report);
    assert_true(report.replanned);
    assert_int_equal(f->pool[1].planned, 96);
}

/* 96 pages, each read once again, go to a pool that runs at half its speed without them. Reading a
 * page takes as long as a miss, and longer by the factor that the pool is slowed by. */
static void moves_must_pay_while_the_plan_lasts(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    const uint64_t slowed = 96000, saved = 1000000 - slowed;

    for (unsigned pays = 0; pays < 2; pays++) {
        make_slope(f, 0, 96);
        make_slope(f, 1, 1000);
        f->pool[0].fault_time = f->pool[1].fault_time = 1000;
        f->pool[0].pages = f->pool[0].planned = 96;
        f->pool[1].pages = f->pool[1].planned = 0;
        f->config.lasts = 96000 * (1000000 + slowed) / saved + (pays ? 200 : -200);
        epoch(f, 96, &report);
        assert_int_equal(report.replanned, pays);
    }
}

/* Ends of ranges: moving 2^18 pages at 2^40 a page costs 2^58, which in millionths is beyond 64
 * bits. The pool takes twice as long as alone meanwhile, so the move costs 2^59. */
static void the_dearest_moves_are_not_free(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;
    const uint32_t all = 1u << 18;
    const struct {
        uint64_t lasts;
        bool pays;
    } cases[] = {{1, false},
                 {DIVIDE_WORK_MAX, false},
                 {1ull << 58, false},
                 {1ull << 59, true},
                 {UINT64_MAX, true}};

    f->config.step = f->config.move_max = all;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_loop(f, 0, SPACING * 8, all);
        make_loop(f, 1, SPACING * 8, DIVIDE_MISSES_MAX);
        f->pool[1].weight = 2;
        for (unsigned p = 0; p < 2; p++) {
            f->pool[p].spacing = all / 8;
            f->pool[p].fault_time = f->pool[p].work = DIVIDE_WORK_MAX;
        }
        f->pool[0].pages = f->pool[0].planned = all;
        f->config.lasts = cases[i].lasts;
        epoch(f, all, &report);
        assert_int_equal(report.cost, 2000000);
        assert_int_equal(report.replanned, cases[i].pays);
    }
}

/* Pools hold nearly 2^32 pages each when memory shrinks to 96 pages. */
static void pools_larger_than_memory_shrink_to_it(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    for (unsigned i = 0; i < 3; i++) {
        make_slope(f, i, 100);
        f->pool[i].pages = UINT32_MAX - i;
        f->pool[i].planned = DIVIDE_MEMORY_MAX;
    }
    epoch(f, 96, &report);
    assert_true(report.replanned);
}

/* Every combination of least and largest numbers. */
static void ends_of_ranges_do_not_wrap(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    f->config.step = 1;
    f->config.move_max = UINT32_MAX;
    for (unsigned bits = 0; bits < 1u << 12; bits++) {
        f->config.goal = 1 + bits % (DIVIDE_GOALS - 1);
        f->config.hysteresis_permil = bits & 1 ? 1000 : 0;
        f->config.lasts = bits & 2 ? UINT64_MAX : 1;
        for (unsigned i = 0; i < 2; i++) {
            make_loop(f, i, 64, bits >> i & 4 ? DIVIDE_MISSES_MAX : 1);
            f->pool[i].spacing = bits & 16 ? DIVIDE_MEMORY_MAX / 8 : 1;
            f->pool[i].work = bits >> i & 32 ? DIVIDE_WORK_MAX : 1;
            f->pool[i].fault_time = bits & 128 ? DIVIDE_WORK_MAX : bits & 1;
            f->pool[i].weight = bits & 256 ? DIVIDE_WEIGHT_MAX : 1;
            f->pool[i].high = bits & 512 ? DIVIDE_MISSES_MAX : bits & 1;
            f->pool[i].seen = bits & 1024 ? INT64_MAX : 0;
            f->pool[i].pages = f->pool[i].planned =
                bits & 2048 ? DIVIDE_MEMORY_MAX / 2 : i * DIVIDE_MEMORY_MAX;
        }
        for (unsigned i = 0; i < 2; i++) {
            const struct divide_pool *p = &f->pool[i];
            assert_true(divide_misses(p, 0) >= divide_misses(p, DIVIDE_MEMORY_MAX));
            if (p->seen && p->pages) /* many more misses than predicted */
                assert_int_equal(divide_misses(p, 0), 16 * p->misses[0]);
            /* The curve is a straight line between the last two points. */
            if (p->spacing > 1 && p->misses[0] > 1)
                assert_in_range(divide_misses(p, p->spacing * 8 - 1), 0,
                                divide_misses(p, 0) / 1000);
            assert_true(divide_cost(p, 0, DIVIDE_MEMORY_MAX) >=
                        divide_cost(p, DIVIDE_MEMORY_MAX, DIVIDE_MEMORY_MAX));
            assert_true(divide_rate(p, 0) >= divide_rate(p, DIVIDE_MEMORY_MAX));
            if (p->fault_time)
                assert_in_range(divide_cost(p, 0, DIVIDE_MEMORY_MAX), 0,
                                DIVIDE_SLOWED_MAX * p->weight);
            assert_in_range(divide_lost(p, 0, DIVIDE_MEMORY_MAX), 0, 1000000);
        }
        epoch(f, DIVIDE_MEMORY_MAX, &report);
        assert_true(report.cost_best <= report.cost || !report.replanned ||
                    f->config.goal != DIVIDE_THROUGHPUT);
    }
}

/* The largest number of pools, each as slow as possible: the gain of one of them still leads to a
 * new plan, except with goal service, which looks at rates first. */
static void sums_of_the_slowest_do_not_wrap(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    for (unsigned goal = 0; goal < 2; goal++) {
        f->config.goal = goal ? DIVIDE_SERVICE : DIVIDE_THROUGHPUT;
        for (unsigned i = 0; i < DIVIDE_POOLS_MAX; i++) {
            make_loop(f, i, i ? SPACING * (POINTS - 1) : STEP, DIVIDE_MISSES_MAX);
            f->pool[i].work = 1;
            f->pool[i].fault_time = DIVIDE_WORK_MAX;
            f->pool[i].weight = DIVIDE_WEIGHT_MAX;
            f->pool[i].planned = 0;
        }
        f->room.planned_spare = SPACING * (POINTS - 1) - 1;
        f->pool[1].planned = 1;
        epoch(f, SPACING * (POINTS - 1), &report);
        assert_int_equal(report.replanned, !goal);
        if (!goal) {
            assert_int_equal(report.cost, DIVIDE_SLOWED_MAX * DIVIDE_WEIGHT_MAX * DIVIDE_POOLS_MAX);
            assert_int_equal(report.cost_best,
                             report.cost / DIVIDE_POOLS_MAX * (DIVIDE_POOLS_MAX - 1));
        }
    }
}

static void new_pools_and_changed_memory_bring_a_new_plan_at_once(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    make_slope(f, 0, 1000);
    f->config.move_max = 4;
    epoch(f, 90, &report);
    assert_int_equal(f->pool[0].pages, 90);
    make_slope(f, 1, 1000);
    f->pool[1].minimum = 20;
    epoch(f, 90, &report);
    assert_in_range(f->pool[1].pages, 20, 24);
    epoch(f, 60, &report);
    epoch(f, 200, &report);
}

static void a_new_pool_without_a_curve_has_an_equal_part_planned(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;

    make_slope(f, 0, 1000);
    epoch(f, 90, &report);
    make_unknown(f, 1, 30);
    epoch(f, 90, &report);
    assert_int_equal(f->pool[1].planned, 45);
    epoch(f, 90, &report);
    assert_false(report.replanned);
}

static void random_epochs_keep_the_sum_and_move_max(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;
    uint64_t seed = 5;

    for (unsigned round = 0; round < 2000; round++) {
        uint32_t memory = 1000 + (uint32_t)(round / 100 * 37 % 500);
        uint64_t fault_time = round / 100 % 2 * 1000;
        f->config.goal = 1 + round / 100 % (DIVIDE_GOALS - 1);
        f->config.move_max = 1 + (uint32_t)(test_random(&seed) % 50);
        f->config.hysteresis_permil = (uint32_t)(test_random(&seed) % 100);
        f->pools = 1 + round / 100 % 7;
        for (unsigned i = 0; i < f->pools; i++) {
            struct divide_pool old = f->pool[i];
            make_any(f, i, &seed);
            f->pool[i].fault_time = fault_time;
            if (round % 100 == 0)
                continue;
            f->pool[i].minimum = old.minimum;
            f->pool[i].pages = old.pages;
            f->pool[i].planned = old.planned;
            f->pool[i].points = test_random(&seed) % 8 ? POINTS : 0;
            f->pool[i].seen =
                test_random(&seed) % 2 ? (int64_t)(test_random(&seed) % 9000) : DIVIDE_SEEN_UNKNOWN;
            f->pool[i].high = test_random(&seed) % 100000;
            f->pool[i].low = f->pool[i].high / 2;
        }
        uint32_t had[DIVIDE_POOLS_MAX], lost = 0, spare = f->room.planned_spare;
        for (unsigned i = 0; i < f->pools; i++)
            had[i] = f->pool[i].pages;
        epoch(f, memory, &report);
        for (unsigned i = 0; i < f->pools; i++)
            lost += had[i] - MIN(had[i], f->pool[i].pages);
        if (round % 100 == 0)
            continue;
        assert_true(lost <= f->config.move_max);
        /* Spare memory is given beyond move_max. */
        assert_true(report.moved <= f->config.move_max || spare > f->room.planned_spare);
    }
}

static void numbers_out_of_range_are_refused(void **state)
{
    struct fixture *f = *state;
    struct divide_report report;
    const struct divide_config good = f->config;

    make_slope(f, 0, 1000);
    const struct divide_pool pool = f->pool[0];
#define REFUSED(error)                                                                        \
    do {                                                                                      \
        assert_int_equal(divide_plan(&f->room, &f->config, f->pool, 1, 100, &report), error); \
        f->config = good;                                                                     \
        f->pool[0] = pool;                                                                    \
        make_slope(f, 0, 1000);                                                               \
    } while (0)
    f->config.goal = DIVIDE_EVEN;
    REFUSED(-EINVAL);
    f->config.goal = DIVIDE_GOALS;
    REFUSED(-EINVAL);
    f->config.step = 0;
    REFUSED(-EINVAL);
    f->config.move_max = 0;
    REFUSED(-EINVAL);
    f->config.hysteresis_permil = 1001;
    REFUSED(-EINVAL);
    f->pool[0].weight = 0;
    REFUSED(-EINVAL);
    f->pool[0].weight = DIVIDE_WEIGHT_MAX + 1;
    REFUSED(-EINVAL);
    f->pool[0].work = 0;
    REFUSED(-EINVAL);
    f->pool[0].work = DIVIDE_WORK_MAX + 1;
    REFUSED(-EINVAL);
    f->pool[0].fault_time = DIVIDE_WORK_MAX + 1;
    REFUSED(-EINVAL);
    f->pool[0].spacing = 0;
    REFUSED(-EINVAL);
    f->pool[0].low = 1;
    REFUSED(-EINVAL);
    f->pool[0].high = DIVIDE_MISSES_MAX + 1;
    REFUSED(-EINVAL);
    f->misses[0][0] = DIVIDE_MISSES_MAX + 1;
    REFUSED(-EINVAL);
    f->misses[0][3] = 100000;
    REFUSED(-EINVAL);
    f->pool[0].minimum = 101;
    REFUSED(-ENOMEM);
    assert_int_equal(divide_plan(&f->room, &f->config, f->pool, 0, 100, &report), -EINVAL);
    assert_int_equal(divide_plan(&f->room, &f->config, f->pool, DIVIDE_POOLS_MAX + 1, 100, &report),
                     -EINVAL);
    assert_int_equal(divide_plan(&f->room, &f->config, f->pool, 1, DIVIDE_MEMORY_MAX + 1, &report),
                     -EINVAL);
    assert_int_equal(divide_plan(&f->room, &f->config, f->pool, 1, DIVIDE_MEMORY_MAX, &report), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pools_approach_the_plan_by_move_max_pages_an_epoch),
        TEST(a_gain_below_the_hysteresis_brings_no_new_plan),
        TEST(a_few_misses_bring_no_moves_of_many_pages),
        TEST(useless_pages_move_for_a_few_misses),
        TEST(moving_pages_of_a_loop_that_does_not_fit_costs_nothing),
        TEST(moves_must_pay_while_the_plan_lasts),
        TEST(the_dearest_moves_are_not_free),
        TEST(pools_larger_than_memory_shrink_to_it),
        TEST(ends_of_ranges_do_not_wrap),
        TEST(sums_of_the_slowest_do_not_wrap),
        TEST(new_pools_and_changed_memory_bring_a_new_plan_at_once),
        TEST(a_new_pool_without_a_curve_has_an_equal_part_planned),
        TEST(random_epochs_keep_the_sum_and_move_max),
        TEST(numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
