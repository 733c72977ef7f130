/* The misses by memory size that are remembered of a program, from epoch to epoch. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/divide/demand.h"
#include "test/host/double/random.h"

enum { SPACING = 10, PLENTY = 1000000 };

/* A loop of `pages` pages, each used `uses` times. */
struct loop {
    uint32_t pages;
    uint64_t uses;
};

static struct demand_epoch epoch_of(const struct loop *l)
{
    return (struct demand_epoch){
        .spacing = SPACING, .soon_us = 1000, .pages = l->pages, .accesses = PLENTY, .work = PLENTY};
}

/* Adds an epoch with the accesses of the loop. */
static void add_loop(struct demand *d, struct demand_epoch e, const struct loop *l)
{
    uint32_t pages[DEMAND_ASKS_MAX];
    uint64_t misses[DEMAND_ASKS_MAX];
    unsigned asks = demand_asks(d, &e, pages);

    for (unsigned i = 0; i < asks; i++)
        misses[i] = pages[i] < l->pages ? l->pages * l->uses : 0;
    e.misses = misses;
    demand_add(d, &e);
}

/* Adds one epoch of the loop, in which the program worked for `worked_us`. Returns the misses it
 * expects with `pages`. */
static uint64_t misses_after(const struct demand_epoch *e, const struct loop *l, uint64_t worked_us,
                             uint32_t pages)
{
    struct demand d = {0};

    demand_passed(&d, worked_us, 0);
    add_loop(&d, *e, l);
    for (unsigned i = 1; i < DIVIDE_POINTS; i++)
        assert_true(d.misses[i] <= d.misses[i - 1]);
    assert_int_equal(pages % SPACING, 0);
    return d.misses[pages / SPACING];
}

/* ---- What is remembered ---------------------------------------------------------------------- */

static void the_past_is_a_number_of_accesses_not_of_epochs(void **state)
{
    struct demand d = {0};
    struct loop often = {.pages = 10, .uses = 3}, seldom = {.pages = 110, .uses = 0};

    (void)state;
    /* One access in a hundred needs 110 pages. Nine epochs in ten see none of these accesses. */
    struct demand_epoch e = epoch_of(&often);
    e.accesses = 10000;
    for (unsigned epoch = 0; epoch < 100; epoch++) {
        seldom.uses = epoch % 10 == 0;
        demand_passed(&d, 100, 0);
        add_loop(&d, e, seldom.uses ? &seldom : &often);
    }
    assert_int_equal(d.misses[0], 90 * 30 + 10 * 110);
    assert_int_equal(d.misses[10], 10 * 110);
    assert_int_equal(d.misses[11], 0);
    assert_int_equal(d.work, 10000);
    /* Epochs with many accesses make it forget, and so does much work without accesses. */
    often.uses = 2000;
    for (unsigned epoch = 0; epoch < 11; epoch++)
        add_loop(&d, e, &often);
    assert_in_range(d.misses[10], 0, 1);
    often.uses = 0;
    for (unsigned epoch = 0; epoch < 40; epoch++) {
        demand_passed(&d, 500000, 0);
        add_loop(&d, e, &often);
    }
    assert_int_equal(d.misses[0], 0);
    assert_in_range(d.work, 500000, 1500000);
}

/* Ten million accesses to 100 pages, then an epoch with one access to each of 1,000 pages, in which
 * the program waits nearly all the time. It has 100 pages, so the past would predict only hits. */
static void a_past_that_an_epoch_contradicts_is_forgotten_at_once(void **state)
{
    struct demand d = {0};
    const struct loop small = {.pages = 100, .uses = 100000}, large = {.pages = 1000, .uses = 1};
    struct demand_epoch e = epoch_of(&small);

    (void)state;
    demand_passed(&d, 100000, 0);
    add_loop(&d, e, &small);
    e.has = 100;
    demand_passed(&d, 100000, 99900);
    add_loop(&d, e, &large);
    /* Of the past, two to four times the epoch's accesses are left, and the work by that. */
    assert_in_range(d.misses[0], 1000 + 2000, 1000 + 4000);
    assert_int_equal(d.misses[100 / SPACING], 1000);
    assert_in_range(d.work, 100 + 20, 100 + 40);
}

/* Epochs that agree with the past: with all pages in memory, the same loop, or a smaller one. */
static void a_past_that_an_epoch_agrees_with_is_remembered(void **state)
{
    const struct loop small = {.pages = 100, .uses = 100000}, large = {.pages = 1000, .uses = 1},
                      few = {.pages = 8, .uses = 1};
    const struct {
        const struct loop *then;
        uint32_t has;
    } cases[] = {{&large, 1000}, {&small, 0}, {&small, 90}, {&few, 0}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        struct demand d = {0};
        struct demand_epoch e = epoch_of(&small);
        e.accesses = 1ull << 40;
        add_loop(&d, e, &small);
        e.has = cases[i].has;
        add_loop(&d, e, cases[i].then);
        assert_true(d.misses[0] > 10000000);
    }
}

/* A wait is counted in the epoch it ends in, though it may have begun in the epoch before. */
static void negative_work_is_carried_to_the_next_epoch(void **state)
{
    struct demand d = {0};
    const struct loop loop = {.pages = 10, .uses = 1};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    demand_passed(&d, 1000, 1300);
    add_loop(&d, e, &loop);
    assert_int_equal(d.work, 0);
    demand_passed(&d, 1000, 0);
    add_loop(&d, e, &loop);
    assert_int_equal(d.work, 700);
    add_loop(&d, e, &loop);
    assert_int_equal(d.work, 700);
}

/* A wait of many epochs is counted when it ends. The next epochs make up for one epoch of it. */
static void negative_work_is_one_epoch_at_most(void **state)
{
    struct demand d = {0};
    const struct loop loop = {.pages = 10, .uses = 1};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    demand_passed(&d, 1000, 50000);
    demand_passed(&d, 1000, 0);
    demand_passed(&d, 1000, 0);
    add_loop(&d, e, &loop);
    assert_int_equal(d.work, 1000);
}

/* ---- Pages that no curve knows --------------------------------------------------------------- */

static void hot_pages_stay_and_other_pages_have_the_rest(void **state)
{
    const struct loop loop = {.pages = 50, .uses = 4};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    assert_int_equal(misses_after(&e, &loop, 1000, 40), 200);
    assert_int_equal(misses_after(&e, &loop, 1000, 50), 0);
    e.hot = 30;
    assert_int_equal(misses_after(&e, &loop, 1000, 70), 200);
    assert_int_equal(misses_after(&e, &loop, 1000, 80), 0);
}

/* Hot pages are used within 1 ms. A program that works for 20 ms uses each of them 20 times. */
static void hot_pages_without_room_miss_as_often_as_they_are_used(void **state)
{
    const struct loop loop = {.pages = 0};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    e.hot = 40;
    assert_int_equal(misses_after(&e, &loop, 20000, 40), 0);
    assert_int_equal(misses_after(&e, &loop, 20000, 30), 10 * 20);
    assert_int_equal(misses_after(&e, &loop, 20000, 0), 40 * 20);
    /* A program that only waited is taken to have used each hot page once. */
    assert_int_equal(misses_after(&e, &loop, 0, 0), 40);
}

static void uses_of_hot_pages_are_limited_to_what_a_curve_may_have(void **state)
{
    const struct loop loop = {.pages = 0};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    e.hot = 1u << 20;
    e.soon_us = 1;
    assert_in_range(misses_after(&e, &loop, 1u << 30, 0), 1u << 31, DIVIDE_MISSES_MAX);
}

/* The log counts 5,000 uses; the hot pages, of which only a sample is seen, are taken to have as
 * many together. */
static void hot_pages_have_at_least_as_many_uses_as_logged_pages(void **state)
{
    const struct loop loop = {.pages = 50, .uses = 100};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    e.hot = 10;
    assert_int_equal(misses_after(&e, &loop, 1000, 0), 5000 + 10 * (5000 / 10));
}

static void the_largest_number_of_hot_pages_in_an_epoch_counts(void **state)
{
    struct demand d = {0};
    const struct loop loop = {.pages = 0};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    e.hot = 20;
    demand_hot(&d, 50);
    add_loop(&d, e, &loop);
    assert_int_equal(d.hot, 50);
    demand_hot(&d, 10);
    add_loop(&d, e, &loop);
    assert_int_equal(d.hot, 20);
}

/* Of 100 pages the program has used 60 for the first time in this epoch. */
static void first_used_pages_are_expected_to_be_used_again(void **state)
{
    const struct loop loop = {.pages = 0};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    e.pages = 100;
    e.begins = 60;
    assert_int_equal(misses_after(&e, &loop, 1000, 90), 60);
    assert_int_equal(misses_after(&e, &loop, 1000, 100), 0);
    e.begins = 0;
    assert_int_equal(misses_after(&e, &loop, 1000, 0), 0);
}

static void first_used_pages_of_several_epochs_are_used_together(void **state)
{
    struct demand d = {0};
    const struct loop loop = {.pages = 0};
    struct demand_epoch e = epoch_of(&loop);

    (void)state;
    e.pages = 100;
    e.begins = 60;
    add_loop(&d, e, &loop);
    e.pages = 150;
    e.begins = 50;
    add_loop(&d, e, &loop);
    assert_int_equal(d.misses[90 / SPACING], 110);
    assert_int_equal(d.misses[140 / SPACING], 110);
    assert_int_equal(d.misses[150 / SPACING], 0);
    /* The last 10 first uses are in an epoch in which most accesses are not first uses. */
    e.pages = 160;
    e.begins = 0;
    add_loop(&d, e, &loop);
    assert_int_equal(d.misses[150 / SPACING], 110);
    assert_int_equal(d.misses[160 / SPACING], 0);
    /* When half of the past is forgotten, half of its first uses are. */
    e.accesses = 100;
    e.pages = 200;
    add_loop(&d, e, &loop);
    assert_int_equal(d.misses[190 / SPACING], 55);
}

static void any_epochs_leave_a_curve_that_does_not_rise(void **state)
{
    struct demand d = {0};
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t any[8];
        for (unsigned k = 0; k < ARRAY_SIZE(any); k++)
            any[k] = (uint32_t)test_random(&seed);
        struct loop loop = {.pages = any[0] % 2000, .uses = any[1] % 50};
        struct demand_epoch e = epoch_of(&loop);
        e.spacing = 1 + any[2] % 20;
        e.hot = any[3] % 3 ? 0 : any[3] % 3000;
        e.soon_us = 1 + any[4] % 1000;
        e.begins = any[0] % 4 ? 0 : any[1] % 2000;
        e.has = any[2] % 3000;
        demand_hot(&d, any[5] % 3000);
        demand_passed(&d, any[6] % 100000, any[7] % 100000);
        add_loop(&d, e, &loop);
        for (unsigned k = 1; k < DIVIDE_POINTS; k++)
            assert_true(d.misses[k] <= d.misses[k - 1]);
        assert_true(d.misses[0] <= DIVIDE_MISSES_MAX && d.work <= 2 * PLENTY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_past_is_a_number_of_accesses_not_of_epochs),
        cmocka_unit_test(a_past_that_an_epoch_contradicts_is_forgotten_at_once),
        cmocka_unit_test(a_past_that_an_epoch_agrees_with_is_remembered),
        cmocka_unit_test(negative_work_is_carried_to_the_next_epoch),
        cmocka_unit_test(negative_work_is_one_epoch_at_most),
        cmocka_unit_test(hot_pages_stay_and_other_pages_have_the_rest),
        cmocka_unit_test(hot_pages_without_room_miss_as_often_as_they_are_used),
        cmocka_unit_test(uses_of_hot_pages_are_limited_to_what_a_curve_may_have),
        cmocka_unit_test(hot_pages_have_at_least_as_many_uses_as_logged_pages),
        cmocka_unit_test(the_largest_number_of_hot_pages_in_an_epoch_counts),
        cmocka_unit_test(first_used_pages_are_expected_to_be_used_again),
        cmocka_unit_test(first_used_pages_of_several_epochs_are_used_together),
        cmocka_unit_test(any_epochs_leave_a_curve_that_does_not_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
