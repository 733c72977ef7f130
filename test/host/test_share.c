/* Memory for pools against every division there is, and how plans are followed. */
#include "test/host/expect_panic.h"
#include "mm/share.h"

enum { POINTS = 13, SPACING = 8, STEP = 8, POOLS = 4 };

struct fixture {
    struct share share;
    struct share_config config;
    struct share_pool pool[SHARE_POOLS_MAX];
    uint64_t misses[SHARE_POOLS_MAX][POINTS];
    unsigned pools;
};

static void add(struct fixture *f, unsigned i)
{
    f->pool[i] = (struct share_pool){.misses = f->misses[i],
                                     .points = POINTS,
                                     .spacing = SPACING,
                                     .work = 1000000,
                                     .seen = SHARE_SEEN_UNKNOWN,
                                     .weight = 1};
    f->pools = MAX(f->pools, i + 1);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->config = (struct share_config){.goal = SHARE_THROUGHPUT, .step = STEP, .move_max = 1000};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

/* As many misses as rate, until all of the loop is in memory. */
static void make_loop(struct fixture *f, unsigned i, uint32_t pages, uint64_t rate)
{
    add(f, i);
    for (unsigned p = 0; p < POINTS; p++)
        f->misses[i][p] = p * SPACING < pages ? rate : 0;
}

/* Each page saves the same. */
static void make_slope(struct fixture *f, unsigned i, uint64_t rate)
{
    add(f, i);
    for (unsigned p = 0; p < POINTS; p++)
        f->misses[i][p] = rate * (POINTS - 1 - p) / (POINTS - 1);
}

static void make_any(struct fixture *f, unsigned i, uint64_t *seed)
{
    uint64_t left = test_random(seed) % 5000;

    add(f, i);
    for (unsigned p = 0; p < POINTS; p++) {
        f->misses[i][p] = left;
        if (test_random(seed) % 3)
            left -= test_random(seed) % (left / 2 + 1);
    }
    f->pool[i].weight = 1 + (uint32_t)(test_random(seed) % 3);
    f->pool[i].work = 1000 + test_random(seed) % 100000;
    f->pool[i].minimum = (uint32_t)(test_random(seed) % 20);
}

static uint64_t divide(struct fixture *f, uint32_t memory)
{
    uint64_t total = 0;

    assert_int_equal(share_divide(&f->share, &f->config, f->pool, f->pools, memory), 0);
    for (unsigned i = 0; i < f->pools; i++) {
        assert_true(f->share.best[i] >= f->pool[i].minimum);
        total += f->share.best[i];
    }
    assert_int_equal(total, memory);
    return total;
}

static void pages_go_where_each_saves_most(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_slope(f, 1, 2400);
    divide(f, 96);
    assert_int_equal(f->share.best[0], 0);
    assert_int_equal(f->share.best[1], 96);
}

static void a_loop_gets_all_its_pages_or_none(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_loop(f, 1, 64, 5000);
    divide(f, 80);
    assert_int_equal(f->share.best[1], 64);
    divide(f, 56);
    assert_int_equal(f->share.best[0], 56);
    make_loop(f, 1, 64, 700);
    divide(f, 80);
    assert_int_equal(f->share.best[0], 80);
}

static void a_step_that_ends_behind_the_cliff_leaves_pages_to_others(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_loop(f, 1, 64, 5000);
    f->pool[1].minimum = 5;
    divide(f, 80);
    assert_int_equal(f->share.best[1], 64);
}

static void a_weight_counts_as_so_many_misses(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    make_slope(f, 1, 2400);
    f->pool[0].weight = 3;
    divide(f, 96);
    assert_int_equal(f->share.best[0], 96);
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
    assert_int_equal(share_cost(&f->pool[0], 0), 500000);
    assert_int_equal(share_cost(&f->pool[1], 0), 1000000 * 100 / 101);
    assert_int_equal(share_rate(&f->pool[0], 0), 500);
    assert_int_equal(share_rate(&f->pool[0], 48), 500ull * 1000000 / 1500000);
    divide(f, 96);
    assert_int_equal(f->share.best[0], 0);
    divide(f, 80);
    assert_int_equal(f->share.best[0], 80);
}

static uint64_t cost_of(const struct fixture *f, const uint32_t *pages)
{
    uint64_t cost = 0;

    for (unsigned i = 0; i < f->pools; i++)
        cost += share_cost(&f->pool[i], pages[i]);
    return cost;
}

/* Pool i and those after it have so many steps: the least cost of all divisions. */
static uint64_t least(const struct fixture *f, uint32_t *pages, unsigned i, uint32_t steps)
{
    uint64_t best = UINT64_MAX;

    if (i == f->pools)
        return cost_of(f, pages);
    for (uint32_t k = 0; k <= steps; k++) {
        pages[i] = f->pool[i].minimum + k * STEP;
        best = MIN(best, least(f, pages, i + 1, steps - k));
    }
    return best;
}

static void no_division_in_steps_costs_less(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 17;

    for (unsigned round = 0; round < 300; round++) {
        uint32_t pages[POOLS], steps = (uint32_t)(test_random(&seed) % 13), memory = steps * STEP;
        f->pools = 0;
        for (unsigned i = 0; i < 1 + round % POOLS; i++) {
            make_any(f, i, &seed);
            f->pool[i].fault_time = round % 2 * (50 + i);
            memory += f->pool[i].minimum;
        }
        divide(f, memory);
        assert_true(cost_of(f, f->share.best) <= least(f, pages, 0, steps));
    }
}

static uint64_t highest_rate(const struct fixture *f, const uint32_t *pages)
{
    uint64_t highest = 0;

    for (unsigned i = 0; i < f->pools; i++)
        highest = MAX(highest, share_rate(&f->pool[i], pages[i]));
    return highest;
}

static void fairness_finds_the_lowest_rate_all_can_have(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 23;

    f->config.goal = SHARE_FAIRNESS;
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
        assert_int_equal(highest_rate(f, f->share.best), lowest);
    }
}

static void fairness_makes_rates_equal_where_curves_are_smooth(void **state)
{
    struct fixture *f = *state;

    f->config.goal = SHARE_FAIRNESS;
    make_slope(f, 0, 120000);
    make_slope(f, 1, 60000);
    divide(f, 100);
    uint64_t a = share_rate(&f->pool[0], f->share.best[0]), b = share_rate(&f->pool[1], f->share.best[1]);
    assert_true(MAX(a, b) - MIN(a, b) <= MAX(a, b) / 20);
    f->pool[1].weight = 2;
    divide(f, 100);
    a = share_rate(&f->pool[0], f->share.best[0]);
    b = share_rate(&f->pool[1], f->share.best[1]);
    assert_true(MAX(a, b) - MIN(a, b) <= MAX(a, b) / 20);
}

static void a_service_is_kept_before_misses_are_saved(void **state)
{
    struct fixture *f = *state;

    f->config.goal = SHARE_SERVICE;
    make_slope(f, 0, 1200);
    make_slope(f, 1, 24000);
    f->pool[0].high = 300;
    f->pool[0].low = 200;
    divide(f, 96);
    assert_in_range(share_rate(&f->pool[0], f->share.best[0]), 280, 300);
    /* The lower end: what it has more than it needs goes to others. */
    make_slope(f, 1, 100);
    divide(f, 120);
    assert_in_range(share_rate(&f->pool[0], f->share.best[0]), 200, 220);
}

static void the_heaviest_service_comes_first(void **state)
{
    struct fixture *f = *state;

    f->config.goal = SHARE_SERVICE;
    for (unsigned i = 0; i < 2; i++) {
        make_slope(f, i, 1200);
        f->pool[i].high = 300;
    }
    f->pool[1].weight = 2;
    divide(f, 80);
    assert_in_range(f->share.best[1], 72, 80);
    assert_true(share_misses(&f->pool[1], f->share.best[1]) <= 300);
}

static void a_pool_without_a_curve_gets_an_equal_part(void **state)
{
    struct fixture *f = *state;

    for (unsigned goal = 0; goal < SHARE_GOALS; goal++) {
        f->config.goal = goal;
        make_slope(f, 0, 5000);
        make_slope(f, 1, 5000);
        f->pool[1].points = 0;
        divide(f, 81);
        assert_int_equal(f->share.best[1], 40);
    }
}

static void a_pool_without_a_curve_keeps_what_it_holds(void **state)
{
    struct fixture *f = *state;

    for (unsigned goal = 0; goal < SHARE_GOALS; goal++) {
        f->config.goal = goal;
        make_slope(f, 0, 5000);
        make_slope(f, 1, 0);
        f->pool[1].points = 0;
        f->pool[1].held = 70;
        f->pool[1].high = 400; /* no rate is known to be kept */
        divide(f, 81);
        assert_int_equal(f->share.best[1], 70);
        /* Of several, each an equal part of what it holds first; one that does not use its part leaves it to the others. */
        make_slope(f, 2, 0);
        f->pool[2].points = 0;
        f->pool[2].held = 40;
        f->pool[0].points = 0;
        f->pool[0].held = 10;
        divide(f, 90);
        assert_int_equal(f->share.best[0], 10);
        assert_in_range(f->share.best[1], 30, 50);
        assert_in_range(f->share.best[2], 30, 40);
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
    assert_int_equal(f->share.best[0], 64);
    assert_int_equal(f->share.best[1], 16);
    assert_int_equal(f->share.best[2], 4);
}

static void a_curve_is_scaled_to_what_was_seen(void **state)
{
    struct fixture *f = *state;

    make_slope(f, 0, 1200);
    f->pool[0].pages = 48;
    assert_int_equal(share_misses(&f->pool[0], 48), 600);
    f->pool[0].seen = 2403;
    assert_in_range(share_misses(&f->pool[0], 48), 2395, 2405);
    assert_in_range(share_misses(&f->pool[0], 24), 3590, 3610);
    f->pool[0].seen = 1 << 30;
    assert_int_equal(share_misses(&f->pool[0], 48), 16 * 600);
}

static void epoch(struct fixture *f, uint32_t memory, struct share_report *report)
{
    uint64_t pages = 0, planned = 0;

    assert_int_equal(share_epoch(&f->share, &f->config, f->pool, f->pools, memory, report), 0);
    for (unsigned i = 0; i < f->pools; i++) {
        assert_true(f->pool[i].pages >= f->pool[i].minimum);
        pages += f->pool[i].pages;
        planned += f->pool[i].planned;
    }
    assert_int_equal(pages, memory);
    assert_int_equal(planned, memory);
}

static void pools_approach_the_plan_by_so_many_pages_an_epoch(void **state)
{
    struct fixture *f = *state;
    struct share_report report;

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

static void a_little_better_is_not_worth_a_new_plan(void **state)
{
    struct fixture *f = *state;
    struct share_report report;

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

static void a_few_misses_are_not_worth_many_moves(void **state)
{
    struct fixture *f = *state;
    struct share_report report;

    make_slope(f, 0, 0);
    make_slope(f, 1, 5);
    f->pool[0].pages = f->pool[0].planned = 96;
    epoch(f, 96, &report);
    assert_false(report.replanned);
}

/* A page takes as long to read as a miss: half of the speed is regained by 1000 moves of one time unit in 2000. */
static void moves_must_pay_while_the_plan_lasts(void **state)
{
    struct fixture *f = *state;
    struct share_report report;

    for (unsigned pays = 0; pays < 2; pays++) {
        make_slope(f, 0, 0);
        make_slope(f, 1, 1000);
        f->pool[0].fault_time = f->pool[1].fault_time = 1000;
        f->pool[0].pages = f->pool[0].planned = 96;
        f->pool[1].pages = f->pool[1].planned = 0;
        f->config.lasts = pays ? 2 * 96000 + 2000 : 2 * 96000 - 2000;
        epoch(f, 96, &report);
        assert_int_equal(report.replanned, pays);
    }
}

static void the_past_is_of_accesses_and_not_of_epochs(void **state)
{
    struct share_past past = {0};
    uint64_t misses[SHARE_POINTS] = {0};

    (void)state;
    /* One in a hundred of an epoch's 30 misses with 10 steps, which none of these epochs can tell from none. */
    misses[0] = 30;
    for (unsigned epoch = 0; epoch < 100; epoch++) {
        misses[10] = epoch % 10 == 0 ? 3 : 0;
        past.over += 100;
        share_past_add(&past, misses, 10000, 1000000);
    }
    assert_int_equal(past.misses[0], 3000);
    assert_int_equal(past.misses[10], 30);
    assert_int_equal(past.work, 10000);
    /* Many accesses make it forget in a few epochs, and so does much work without any. */
    misses[0] = 20000;
    misses[10] = 0;
    for (unsigned epoch = 0; epoch < 6; epoch++)
        share_past_add(&past, misses, 10000, 1000000);
    assert_int_equal(past.misses[10], 0);
    memset(misses, 0, sizeof misses);
    for (unsigned epoch = 0; epoch < 24; epoch++) {
        past.over += 500000;
        share_past_add(&past, misses, 10000, 1000000);
    }
    assert_int_equal(past.misses[0], 0);
    assert_in_range(past.work, 500000, 1500000);
}

/* A wait that began in the epoch before is counted in this one. */
static void work_less_than_none_is_made_up_for(void **state)
{
    struct share_past past = {0};
    uint64_t misses[SHARE_POINTS] = {1};

    (void)state;
    past.over = -300;
    share_past_add(&past, misses, 100, 100000);
    assert_int_equal(past.work, 0);
    past.over += 1000;
    share_past_add(&past, misses, 100, 100000);
    assert_int_equal(past.work, 700);
    assert_int_equal(past.over, 0);
}

static void new_pools_and_other_memory_are_planned_for_at_once(void **state)
{
    struct fixture *f = *state;
    struct share_report report;

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

static void a_new_pool_has_its_equal_part_planned_before_it_has_a_curve(void **state)
{
    struct fixture *f = *state;
    struct share_report report;

    make_slope(f, 0, 1000);
    epoch(f, 90, &report);
    make_slope(f, 1, 0);
    f->pool[1].points = 0;
    epoch(f, 90, &report);
    assert_int_equal(f->pool[1].planned, 45);
    epoch(f, 90, &report);
    assert_false(report.replanned);
}

static void any_epochs_keep_the_sum_and_the_bound(void **state)
{
    struct fixture *f = *state;
    struct share_report report;
    uint64_t seed = 5;

    for (unsigned round = 0; round < 2000; round++) {
        uint32_t memory = 1000 + (uint32_t)(round / 100 * 37 % 500);
        uint64_t fault_time = round / 100 % 2 * 1000;
        f->config.goal = round / 100 % SHARE_GOALS;
        f->config.move_max = 1 + (uint32_t)(test_random(&seed) % 50);
        f->config.hysteresis_permil = (uint32_t)(test_random(&seed) % 100);
        f->pools = 1 + round / 100 % 7;
        for (unsigned i = 0; i < f->pools; i++) {
            struct share_pool old = f->pool[i];
            make_any(f, i, &seed);
            f->pool[i].fault_time = fault_time;
            if (round % 100 == 0)
                continue;
            f->pool[i].minimum = old.minimum;
            f->pool[i].pages = old.pages;
            f->pool[i].planned = old.planned;
            f->pool[i].points = test_random(&seed) % 8 ? POINTS : 0;
            f->pool[i].seen =
                test_random(&seed) % 2 ? (int64_t)(test_random(&seed) % 9000) : SHARE_SEEN_UNKNOWN;
            f->pool[i].high = test_random(&seed) % 100000;
            f->pool[i].low = f->pool[i].high / 2;
        }
        epoch(f, memory, &report);
        if (round % 100)
            assert_true(report.moved <= f->config.move_max);
    }
}

static void numbers_out_of_range_are_refused(void **state)
{
    struct fixture *f = *state;
    struct share_report report;
    const struct share_config good = f->config;

    make_slope(f, 0, 1000);
    const struct share_pool pool = f->pool[0];
#define REFUSED(error)                                                                         \
    do {                                                                                       \
        assert_int_equal(share_epoch(&f->share, &f->config, f->pool, 1, 100, &report), error); \
        f->config = good;                                                                      \
        f->pool[0] = pool;                                                                     \
        make_slope(f, 0, 1000);                                                                \
    } while (0)
    f->config.goal = SHARE_GOALS;
    REFUSED(-EINVAL);
    f->config.step = 0;
    REFUSED(-EINVAL);
    f->config.move_max = 0;
    REFUSED(-EINVAL);
    f->config.hysteresis_permil = 1001;
    REFUSED(-EINVAL);
    f->pool[0].weight = 0;
    REFUSED(-EINVAL);
    f->pool[0].weight = SHARE_WEIGHT_MAX + 1;
    REFUSED(-EINVAL);
    f->pool[0].work = 0;
    REFUSED(-EINVAL);
    f->pool[0].work = SHARE_WORK_MAX + 1;
    REFUSED(-EINVAL);
    f->pool[0].fault_time = SHARE_WORK_MAX + 1;
    REFUSED(-EINVAL);
    f->pool[0].spacing = 0;
    REFUSED(-EINVAL);
    f->pool[0].low = 1;
    REFUSED(-EINVAL);
    f->misses[0][3] = 100000;
    REFUSED(-EINVAL);
    f->pool[0].minimum = 101;
    REFUSED(-ENOMEM);
    assert_int_equal(share_epoch(&f->share, &f->config, f->pool, 0, 100, &report), -EINVAL);
    assert_int_equal(share_epoch(&f->share, &f->config, f->pool, SHARE_POOLS_MAX + 1, 100, &report), -EINVAL);
    assert_int_equal(share_epoch(&f->share, &f->config, f->pool, 1, SHARE_MEMORY_MAX + 1, &report), -EINVAL);
    assert_int_equal(share_epoch(&f->share, &f->config, f->pool, 1, SHARE_MEMORY_MAX, &report), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pages_go_where_each_saves_most),
        TEST(a_loop_gets_all_its_pages_or_none),
        TEST(a_step_that_ends_behind_the_cliff_leaves_pages_to_others),
        TEST(a_weight_counts_as_so_many_misses),
        TEST(what_a_miss_costs_counts_by_how_much_a_program_is_slowed),
        TEST(no_division_in_steps_costs_less),
        TEST(fairness_finds_the_lowest_rate_all_can_have),
        TEST(fairness_makes_rates_equal_where_curves_are_smooth),
        TEST(a_service_is_kept_before_misses_are_saved),
        TEST(the_heaviest_service_comes_first),
        TEST(a_pool_without_a_curve_gets_an_equal_part),
        TEST(a_pool_without_a_curve_keeps_what_it_holds),
        TEST(a_pool_that_wants_nothing_gets_none_of_what_is_over),
        TEST(a_curve_is_scaled_to_what_was_seen),
        TEST(pools_approach_the_plan_by_so_many_pages_an_epoch),
        TEST(a_little_better_is_not_worth_a_new_plan),
        TEST(a_few_misses_are_not_worth_many_moves),
        TEST(moves_must_pay_while_the_plan_lasts),
        TEST(the_past_is_of_accesses_and_not_of_epochs),
        TEST(work_less_than_none_is_made_up_for),
        TEST(new_pools_and_other_memory_are_planned_for_at_once),
        TEST(a_new_pool_has_its_equal_part_planned_before_it_has_a_curve),
        TEST(any_epochs_keep_the_sum_and_the_bound),
        TEST(numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
