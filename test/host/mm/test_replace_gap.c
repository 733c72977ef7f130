/* Replacement by gaps between uses: near the optimum where gaps are regular; pages used later than
 * predicted. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/replace_random.h"
#include "test/host/double/traces.h"
#include "tools/replay/simulate.h"

static uint64_t misses(const struct replace_ops *ops, const struct trace *t, uint32_t frames)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames, .seed = 1};
    struct access_trace seen = {.page = t->page, .length = t->length, .pages = t->pages};
    uint64_t n;

    assert_int_equal(simulate(ops, &config, &seen, &n), 0);
    return n;
}

static uint64_t least(const struct trace *t, uint32_t frames)
{
    struct access_trace seen = {.page = t->page, .length = t->length, .pages = t->pages};
    uint64_t n;

    assert_int_equal(belady(&seen, frames, &n), 0);
    return n;
}

/* Returns the misses saved against LRU, in thousandths of those that the optimum saves. */
static uint64_t saved(const struct trace *t, uint32_t frames)
{
    uint64_t lru = misses(&replace_lru, t, frames), gap = misses(&replace_gap, t, frames);

    return gap < lru ? 1000 * (lru - gap) / (lru - least(t, frames)) : 0;
}

static void a_loop_misses_as_the_optimum_does(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LOOP, 1000, 60000, 1);

    /* Two of 50 frames hold the pages used last: 1 in 25 is lost. */
    for (uint32_t percent = 5; percent < 100; percent += 10)
        assert_true(saved(&t, 10 * percent) >= (percent == 5 ? 955 : 995));
    trace_free(&t);
}

static void a_factorisation_saves_most_of_what_the_optimum_saves(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LU, 2048, 2048 * 31, 1);

    for (uint32_t percent = 40; percent < 100; percent += 10)
        assert_true(saved(&t, 2048 * percent / 100) >= 950);
    trace_free(&t);
}

/* A page's gaps alternate: long, short. */
static void a_sweep_there_and_back_is_predicted(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_BACK_FORTH, 1024, 1024 * 60, 1);

    for (uint32_t percent = 40; percent < 100; percent += 10)
        assert_true(saved(&t, 1024 * percent / 100) >= 900);
    trace_free(&t);
}

/* A page is used again two uses later, and then not for a long time. */
static void a_page_stays_for_a_use_that_follows_at_once(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_STENCIL, 2048, 2048 * 60, 1);

    for (uint32_t percent = 20; percent < 100; percent += 15)
        assert_true(saved(&t, 2048 * percent / 100) >= 900);
    trace_free(&t);
}

/* ---- Three loops in turn: the time of each next use is known --------------------------------- */

enum { LOOPS = 3, STEPS = 12000 };
static const uint32_t around[LOOPS] = {40, 150, 400}, from[LOOPS] = {0, 40, 190};

static uint32_t page_at(uint32_t time)
{
    uint32_t i = time % LOOPS;

    return from[i] + time / LOOPS % around[i];
}

/* Returns the time from `time` to the next use of the page. */
static uint32_t time_to_next_use(uint32_t page, uint32_t time)
{
    uint32_t i = page < from[1] ? 0 : page < from[2] ? 1 : 2, t = time + 1;

    for (t += (i + LOOPS - t % LOOPS) % LOOPS; page_at(t) != page; t += LOOPS)
        ;
    return t - time;
}

/* Within the width of a slot, an 8th of the time to the next use. */
static void the_victim_has_the_farthest_next_use(void **state)
{
    (void)state;
    static uint64_t memory[1 << 13];
    struct replace_config config = {.nodes = 590, .frames = 300};
    uint32_t resident = 0;

    assert_true(replace_gap.bytes(590) <= sizeof memory);
    assert_int_equal(replace_gap.init(memory, &config), 0);
    for (uint32_t time = 0; time < STEPS; time++) {
        uint32_t page = page_at(time), farthest = 0;
        if (replace_gap.resident(memory, page)) {
            replace_gap.touch(memory, page);
            continue;
        }
        if (resident == config.frames) {
            uint32_t victim = replace_gap.victim(memory, page);
            for (uint32_t n = 0; n < config.nodes; n++)
                if (replace_gap.resident(memory, n))
                    farthest = MAX(farthest, time_to_next_use(n, time));
            if (time > STEPS / 2)
                assert_true(8 * time_to_next_use(victim, time) >= 7 * farthest - 8);
            replace_gap.leave(memory, victim);
            resident--;
        }
        replace_gap.enter(memory, page, 0);
        resident++;
    }
    assert_null(replace_gap.check(memory));
}

/* ---- Pages used later than predicted --------------------------------------------------------- */

static void start(uint64_t *memory, uint32_t nodes, uint32_t frames)
{
    struct replace_config config = {.nodes = nodes, .frames = frames};

    assert_int_equal(replace_gap.init(memory, &config), 0);
}

/* Pages 0..9 are used no more, pages 10..19 are. */
static void pages_used_no_more_are_evicted_first(void **state)
{
    (void)state;
    static uint64_t memory[1 << 13];

    start(memory, 20, 20);
    for (uint32_t n = 0; n < 20; n++)
        replace_gap.enter(memory, n, 0);
    for (uint32_t time = 0; time < 100; time++)
        replace_gap.touch(memory, time % 20);
    for (uint32_t time = 0; time < 60; time++)
        replace_gap.touch(memory, 10 + time % 10);
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t victim = replace_gap.victim(memory, REPLACE_NONE);
        assert_in_range(victim, 0, 9);
        replace_gap.leave(memory, victim);
    }
    assert_null(replace_gap.check(memory));
}

/* Each page is named once, but for the two used last. */
static void a_page_in_the_buffer_is_passed_over(void **state)
{
    (void)state;
    static uint64_t memory[1 << 13];
    uint32_t asked[20] = {0};

    start(memory, 20, 20);
    for (uint32_t n = 0; n < 20; n++)
        replace_gap.enter(memory, n, 0);
    for (uint32_t time = 0; time < 100; time++)
        replace_gap.touch(memory, time % 20);
    for (uint32_t i = 0; i < 18; i++) {
        uint32_t victim = replace_gap.victim(memory, REPLACE_NONE);
        assert_int_equal(asked[victim]++, 0);
        assert_true(victim < 18);
        replace_gap.touch(memory, victim);
        assert_null(replace_gap.check(memory));
    }
}

/* With the longest gaps, and pages late by many uses: the farthest slots. */
static void random_uses_over_long_times_keep_its_invariants(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct replace_random r = replace_random_start(&replace_gap, 30, 90, 12, NULL, seed);
        for (unsigned round = 0; round < 10; round++) {
            for (unsigned step = 0; step < 100; step++)
                replace_random_step(&r);
            uint32_t node = 0;
            while (node < r.nodes && !r.resident[node])
                node++;
            for (uint32_t i = 0; node < r.nodes && i < 1u << (round + 8); i++)
                replace_gap.touch(r.state, node);
        }
        replace_random_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_misses_as_the_optimum_does),
        cmocka_unit_test(a_factorisation_saves_most_of_what_the_optimum_saves),
        cmocka_unit_test(a_sweep_there_and_back_is_predicted),
        cmocka_unit_test(a_page_stays_for_a_use_that_follows_at_once),
        cmocka_unit_test(the_victim_has_the_farthest_next_use),
        cmocka_unit_test(pages_used_no_more_are_evicted_first),
        cmocka_unit_test(a_page_in_the_buffer_is_passed_over),
        cmocka_unit_test(random_uses_over_long_times_keep_its_invariants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
