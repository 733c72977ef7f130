/*
 * Plans and programs act on each other. Memory is divided, epoch by epoch as mm/pool/divide.c does,
 * among programs with known curves, which get pages only as they miss. The tests look at the rates
 * and speeds that the programs then have, not at predictions.
 */
#include "test/host/double/expect_panic.h"
#include "mm/policy/divide/demand.h"

enum {
    SHAPE = 17, /* points of a shape, from none to all of a program's pages */
    PROGRAMS = 3,
    EPOCH_US = 30000,
    FAULT_US = 1000,
    SETTLED = 60, /* epochs */
    EPOCHS = 100,
    ENOUGH = 4, /* remembered accesses to a page */
    LASTS = 64, /* remembered epochs */
};

/* A program. shape[i]: the misses in a thousand accesses to pages used before, with i 16ths of the
 * program's pages. */
struct program {
    uint32_t pages, accesses_per_ms; /* while it does not wait */
    uint32_t shape[SHAPE];
    uint32_t weight, rate; /* asked for */
    uint32_t since;        /* the epoch in which it starts */
    /* first epochs, in which it uses a 64th of its pages, often */
    uint32_t fills;
    uint32_t held;
    uint64_t worked_us, misses; /* in the last epoch */
};

/* Programs of 2 MB as memstat showed them: transactions on B-trees, and sweeps through a cube along
 * each of its directions. */
static const struct program warehouse = {
    .pages = 827,
    .accesses_per_ms = 500,
    .weight = 1,
    .shape = {1000, 1000, 937, 799, 622, 458, 300, 168, 79, 33, 12, 7, 5, 4, 4, 1, 0}};
static const struct program sweeps = {
    .pages = 512,
    .accesses_per_ms = 94,
    .weight = 1,
    .shape = {1000, 999, 999, 995, 971, 882, 671, 626, 586, 542, 457, 404, 342, 275, 208, 144, 0}};
static const struct program loop = {.pages = 400,
                                    .accesses_per_ms = 200,
                                    .weight = 1,
                                    .shape = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000,
                                              1000, 1000, 1000, 1000, 1000, 1000, 1000, 0}};

struct world {
    struct divide_room room;
    struct divide_config config;
    struct program program[PROGRAMS];
    struct divide_pool pool[PROGRAMS];
    struct demand demand[PROGRAMS];
    unsigned programs;
    uint32_t memory;
};

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct world));
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

/* Returns the misses in `work_us` of work with `pages`, in millionths. */
static uint64_t misses_in(const struct program *p, uint64_t work_us, uint32_t pages)
{
    uint64_t at = (uint64_t)pages * (SHAPE - 1), i = at / p->pages, rest = at % p->pages;

    if (i >= SHAPE - 1 || (p->fills && pages >= p->pages / 64))
        return 0;
    uint64_t per_million =
        1000ull * p->shape[i] - 1000ull * (p->shape[i] - p->shape[i + 1]) * rest / p->pages;
    return work_us * p->accesses_per_ms / 1000 * per_million;
}

/* Returns the time in us that the program works in an epoch with `pages`; it waits for the rest. */
static uint64_t work_with(const struct program *p, uint32_t pages)
{
    uint64_t a_second = misses_in(p, 1000000, pages) / 1000000;

    return EPOCH_US * 1000000ull / (1000000 + a_second * FAULT_US);
}

static double speed(const struct program *p, uint32_t pages)
{
    return (double)work_with(p, pages) / EPOCH_US;
}

static double rate(const struct program *p)
{
    return (double)p->misses * 1000000 / EPOCH_US;
}

/* Runs program `i` for an epoch with the pages it holds. Each miss adds a page, up to the pool's
 * target. Adds the curve of the work done to the program's past. */
static void run_program(struct world *w, unsigned i)
{
    struct program *p = &w->program[i];
    uint32_t target = w->pool[i].pages, had = p->held, pages[DEMAND_ASKS_MAX];
    uint64_t misses[DEMAND_ASKS_MAX];

    p->held = MIN(p->held, target);
    p->worked_us = work_with(p, p->held);
    p->misses = misses_in(p, p->worked_us, p->held) / 1000000;
    demand_passed(&w->demand[i], EPOCH_US, EPOCH_US - p->worked_us);
    struct demand_epoch e = {.misses = misses,
                             .spacing = w->config.step,
                             .soon_us = 1,
                             .has = MIN(had, p->held),
                             .accesses = ENOUGH * w->memory,
                             .work = LASTS * EPOCH_US};
    unsigned asks = demand_asks(&w->demand[i], &e, pages);
    for (unsigned k = 0; k < asks; k++)
        misses[k] = misses_in(p, p->worked_us, pages[k]) / 1000000;
    demand_add(&w->demand[i], &e);
    p->held += (uint32_t)MIN(MIN(target - p->held, p->pages - MIN(p->pages, p->held)), p->misses);
    p->fills -= p->fills > 0;
}

/* Divides as mm/pool/divide.c does. A program has no curve in its first epoch. */
static void divide_pools(struct world *w, unsigned epoch)
{
    struct divide_report report;
    unsigned pools = 0;

    for (unsigned i = 0; i < w->programs; i++) {
        const struct program *p = &w->program[i];
        if (p->since > epoch)
            continue;
        w->pool[i] = (struct divide_pool){
            .misses = w->demand[i].misses,
            .points = p->since < epoch ? DIVIDE_POINTS : 0,
            .spacing = w->config.step,
            .work = MAX(w->demand[i].work, 1ull),
            .fault_time = FAULT_US,
            .seen = DIVIDE_SEEN_UNKNOWN,
            .minimum = 12,
            .weight = p->weight,
            .high = p->rate,
            .pages = w->pool[i].pages,
            .planned = w->pool[i].planned,
            .held = p->held,
        };
        pools = i + 1;
    }
    assert_int_equal(divide_plan(&w->room, &w->config, w->pool, pools, w->memory, &report), 0);
}

static void begin_world(struct world *w, enum divide_goal goal, uint32_t memory, unsigned programs,
                        ...)
{
    va_list args;

    *w = (struct world){.programs = programs, .memory = memory};
    w->config = (struct divide_config){.goal = goal,
                                       .step = (memory + DIVIDE_POINTS - 2) / (DIVIDE_POINTS - 1),
                                       .move_max = memory / 8,
                                       .hysteresis_permil = 20,
                                       .lasts = LASTS * EPOCH_US};
    va_start(args, programs);
    for (unsigned i = 0; i < programs; i++)
        w->program[i] = *va_arg(args, const struct program *);
    va_end(args);
}

static void run_epochs(struct world *w, unsigned from, unsigned to)
{
    for (unsigned epoch = from; epoch < to; epoch++) {
        divide_pools(w, epoch);
        for (unsigned i = 0; i < w->programs; i++)
            if (w->program[i].since <= epoch)
                run_program(w, i);
    }
}

static double slowed(const struct world *w, unsigned i, uint32_t pages)
{
    return speed(&w->program[i], w->memory) / speed(&w->program[i], pages);
}

/* Returns the harmonic mean of the speedups of two programs with `first` and `second` pages. A
 * speedup is relative to the program with all of the memory. */
static double mean_speedup(const struct world *w, uint32_t first, uint32_t second)
{
    return 2 / (slowed(w, 0, first) + slowed(w, 1, second));
}

/* Returns the highest mean speedup of any division of `memory`. */
static double best_speedup(const struct world *w, uint32_t memory)
{
    double best = 0;

    for (uint32_t first = 12; first + 12 <= memory; first++)
        best = MAX(best, mean_speedup(w, first, memory - first));
    return best;
}

/* Memory of 30 to 95 percent of both programs' pages. The best division is taken of two steps less:
 * plans are in steps, so a loop may get up to a step more than it needs. */
static void throughput_settles_near_the_best_division(void **state)
{
    struct world *w = *state;
    static const struct program *const pairs[][2] = {
        {&warehouse, &sweeps}, {&warehouse, &loop}, {&loop, &sweeps}};

    for (unsigned n = 0; n < ARRAY_SIZE(pairs); n++) {
        uint32_t all = pairs[n][0]->pages + pairs[n][1]->pages;
        for (uint32_t percent = 30; percent <= 95; percent += 5) {
            begin_world(w, DIVIDE_THROUGHPUT, all * percent / 100, 2, pairs[n][0], pairs[n][1]);
            run_epochs(w, 0, SETTLED);
            uint32_t planned = w->pool[0].planned;
            run_epochs(w, SETTLED, EPOCHS);
            assert_int_equal(w->pool[0].planned, planned);
            double mean = mean_speedup(w, w->program[0].held, w->program[1].held);
            assert_true(mean >= 0.98 * best_speedup(w, w->memory - 2 * w->config.step));
        }
    }
}

/* In its first epochs the program makes many accesses to few pages, which predict nothing of its
 * later use; later, starved, it makes few accesses. Within 20 epochs it has its pages all the
 * same. */
static void a_program_that_comes_to_need_more_pages_gets_them_soon(void **state)
{
    struct world *w = *state;

    begin_world(w, DIVIDE_THROUGHPUT, 900, 2, &warehouse, &sweeps);
    w->program[0].fills = 4;
    run_epochs(w, 0, 20);
    double mean = mean_speedup(w, w->program[0].held, w->program[1].held);
    assert_true(mean >= 0.9 * best_speedup(w, w->memory));
}

/* Whether the program that asks for the rate starts first or last. */
static void a_service_asked_for_is_kept(void **state)
{
    struct world *w = *state;

    for (uint32_t asked = 100; asked <= 800; asked += 100) {
        for (unsigned late = 0; late < 2; late++) {
            begin_world(w, DIVIDE_SERVICE, 900, 3, late ? &sweeps : &warehouse, &loop,
                        late ? &warehouse : &sweeps);
            struct program *asker = &w->program[late ? 2 : 0];
            asker->rate = asked;
            asker->since = late ? 20 : 0;
            run_epochs(w, 0, SETTLED);
            for (unsigned epoch = SETTLED; epoch < EPOCHS; epoch++) {
                run_epochs(w, epoch, epoch + 1);
                assert_true(rate(asker) <= 1.05 * asked);
            }
        }
    }
}

/* A program that asks for no rate, and has the least weight, misses more than twice as often. */
static void a_service_is_kept_because_it_was_asked_for(void **state)
{
    struct world *w = *state;

    for (unsigned asks = 0; asks < 2; asks++) {
        begin_world(w, DIVIDE_SERVICE, 1000, 3, &warehouse, &loop, &sweeps);
        w->program[1].weight = w->program[2].weight = 16;
        w->program[0].rate = asks ? 300 : 0;
        run_epochs(w, 0, EPOCHS);
        if (asks)
            assert_true(rate(&w->program[0]) <= 315);
        else
            assert_true(rate(&w->program[0]) >= 800);
    }
}

/* Stores the misses a second of two programs after SETTLED epochs, on average. */
static void settled_rates(struct world *w, double misses[2])
{
    misses[0] = misses[1] = 0;
    run_epochs(w, 0, SETTLED);
    for (unsigned epoch = SETTLED; epoch < EPOCHS; epoch++) {
        run_epochs(w, epoch, epoch + 1);
        for (unsigned i = 0; i < 2; i++)
            misses[i] += rate(&w->program[i]) / (EPOCHS - SETTLED);
    }
}

/* Of curves with cliffs, and without. */
static void fairness_makes_programs_miss_alike(void **state)
{
    struct world *w = *state;
    static const struct program *const others[] = {&sweeps, &loop};
    double misses[2];

    for (unsigned other = 0; other < 2; other++) {
        for (uint32_t memory = 500; memory <= 1150; memory += 50) {
            begin_world(w, DIVIDE_FAIRNESS, memory, 2, &warehouse, others[other]);
            settled_rates(w, misses);
            assert_true(MAX(misses[0], misses[1]) <= 1.1 * MIN(misses[0], misses[1]));
        }
    }
}

/* The warehouse misses little with the rest of the memory, so the loop gets all its pages. */
static void maxmin_gives_a_loop_what_it_needs(void **state)
{
    struct world *w = *state;
    double misses[2];

    begin_world(w, DIVIDE_MAXMIN, 1100, 2, &warehouse, &loop);
    settled_rates(w, misses);
    assert_true(misses[0] < 800);
    assert_true(misses[1] == 0);
}

/* The program has no curve yet: its plan is twice the pages it holds, up to an equal part. */
static void a_new_program_gets_an_equal_part_at_most_and_keeps_its_pages(void **state)
{
    struct world *w = *state;

    for (unsigned goal = DIVIDE_THROUGHPUT; goal < DIVIDE_GOALS; goal++) {
        begin_world(w, goal, 900, 2, &warehouse, &sweeps);
        w->program[1].since = 30;
        w->program[1].held = 200;
        w->program[1].rate = goal == DIVIDE_SERVICE ? 50 : 0;
        run_epochs(w, 0, 30);
        divide_pools(w, 30);
        assert_in_range(w->pool[1].planned, 400, 401);
        w->program[1].held = 400;
        divide_pools(w, 30);
        assert_in_range(w->pool[1].planned, 450, 451);
        w->program[1].held = 600;
        divide_pools(w, 30);
        assert_in_range(w->pool[1].planned, 600, 600);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(throughput_settles_near_the_best_division),
        TEST(a_program_that_comes_to_need_more_pages_gets_them_soon),
        TEST(a_service_asked_for_is_kept),
        TEST(a_service_is_kept_because_it_was_asked_for),
        TEST(fairness_makes_programs_miss_alike),
        TEST(maxmin_gives_a_loop_what_it_needs),
        TEST(a_new_program_gets_an_equal_part_at_most_and_keeps_its_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
