/* Miss-rate curves against the exact ones. */
#include "test/host/expect_panic.h"
#include "test/host/mattson.h"
#include "mm/mrc.h"

enum { PAGES = 512, LENGTH = 30000, GROUP = 8 };

static struct mrc *make(const struct mrc_config *config)
{
    struct mrc *m = malloc(mrc_bytes(config));

    assert_non_null(m);
    memset(m, 0xa5, mrc_bytes(config));
    mrc_init(m, config);
    return m;
}

static void check(const struct mrc *m)
{
    const char *broken = mrc_check(m);

    if (broken)
        fail_msg("%s", broken);
}

static void run(struct mrc *m, const struct trace *t)
{
    for (size_t i = 0; i < t->length; i++)
        mrc_touch(m, t->page[i]);
    mrc_epoch(m);
    check(m);
}

static void curves_are_exact_at_every_group(void **state)
{
    struct mrc_config config = {.nodes = PAGES};

    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, PAGES, LENGTH, 1);
        struct mattson lru = mattson_lru(&t), mru = mattson_mru(&t, GROUP);
        struct mrc *m = make(&config);
        assert_int_equal(mrc_whole(m, GROUP, PAGES), GROUP);
        run(m, &t);
        assert_int_equal(mrc_accesses(m), t.length);
        assert_int_equal(mrc_cold(m), lru.cold);
        for (uint32_t memory = 0; memory <= PAGES; memory += GROUP) {
            assert_int_equal(mrc_misses(m, MRC_LRU, memory), lru.misses[memory]);
            assert_int_equal(mrc_misses(m, MRC_MRU, memory), mru.misses[memory]);
        }
        free(m);
        mattson_free(&lru);
        mattson_free(&mru);
        trace_free(&t);
    }
}

static void benefit_and_penalty_are_exact_around_the_memory_a_program_has(void **state)
{
    enum { MEMORY = 200, AROUND = 24 };
    struct mrc_config config = {.nodes = PAGES};
    struct trace t = trace_make(TRACE_PHASES, PAGES, LENGTH, 2);
    struct mattson lru = mattson_lru(&t), mru = mattson_mru(&t, 8);
    struct mrc *m = make(&config);

    (void)state;
    assert_int_equal(mrc_around(m, AROUND, MEMORY), AROUND);
    run(m, &t);
    assert_int_equal(mrc_benefit(m, MRC_LRU, MEMORY, AROUND),
                     lru.misses[MEMORY] - lru.misses[MEMORY + AROUND]);
    assert_int_equal(mrc_penalty(m, MRC_LRU, MEMORY, AROUND),
                     lru.misses[MEMORY - AROUND] - lru.misses[MEMORY]);
    assert_int_equal(mrc_benefit(m, MRC_MRU, MEMORY, AROUND),
                     mru.misses[MEMORY] - mru.misses[MEMORY + AROUND]);
    assert_int_equal(mrc_penalty(m, MRC_MRU, MEMORY, AROUND),
                     mru.misses[MEMORY - AROUND] - mru.misses[MEMORY]);
    free(m);
    mattson_free(&lru);
    mattson_free(&mru);
    trace_free(&t);
}

/* The largest difference of two curves at groups of the first, in thousandths of all accesses. */
static unsigned farthest(const struct mrc *m, enum mrc_policy policy, const struct mattson *exact,
                         uint32_t step, size_t accesses)
{
    uint64_t worst = 0;

    for (uint32_t memory = step; memory <= exact->pages; memory += step) {
        uint64_t estimate = mrc_misses(m, policy, memory), truth = exact->misses[memory];
        worst = MAX(worst, MAX(estimate, truth) - MIN(estimate, truth));
    }
    return (unsigned)(worst * 1000 / accesses);
}

static void a_sample_of_one_page_in_eight_is_near_the_exact_curve(void **state)
{
    enum { MANY = 4096, EVERY = 64, SHIFT = 3 };
    static const enum trace_kind kinds[] = {TRACE_LOOP, TRACE_UNIFORM, TRACE_DRIFT};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        struct mrc_config config = {.nodes = MANY, .sample_shift = SHIFT, .seed = 3};
        struct trace t = trace_make(kinds[k], MANY, 12 * MANY, 4);
        struct mattson lru = mattson_lru(&t);
        struct mrc *m = make(&config);
        assert_int_equal(mrc_whole(m, EVERY, MANY), EVERY);
        run(m, &t);
        assert_in_range(farthest(m, MRC_LRU, &lru, EVERY, t.length), 0, 50);
        free(m);
        mattson_free(&lru);
        trace_free(&t);
    }
}

static void one_page_of_each_run_is_drawn(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift <= MRC_SAMPLE_SHIFT_MAX; shift++) {
        struct mrc m = {.config = {.nodes = 1 << 20, .sample_shift = shift, .seed = 77}};
        for (uint32_t run = 0; run < 50; run++) {
            unsigned drawn = 0;
            for (uint32_t i = 0; i < 1u << shift; i++)
                drawn += mrc_sampled(&m, (run << shift) + i);
            assert_int_equal(drawn, 1);
        }
    }
}

static void the_last_epoch_weighs_as_much_as_was_asked_for(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .decay_shift = 1};
    struct mrc *m = make(&config);

    (void)state;
    mrc_whole(m, 1, 4);
    for (unsigned i = 0; i < 2; i++)
        mrc_touch(m, i);
    mrc_epoch(m);
    assert_int_equal(mrc_cold(m), 2);
    /* A loop of two: misses in memory of one page. */
    for (unsigned i = 0; i < 100; i++)
        mrc_touch(m, i % 2);
    mrc_epoch(m);
    assert_int_equal(mrc_misses(m, MRC_LRU, 1), 50);
    assert_int_equal(mrc_misses(m, MRC_LRU, 2), 0);
    mrc_epoch(m);
    assert_int_equal(mrc_misses(m, MRC_LRU, 1), 25);
    assert_int_equal(mrc_accesses(m), 25);
    check(m);
    free(m);
}

static void memory_beyond_the_last_group_misses_as_at_it(void **state)
{
    struct mrc_config config = {.nodes = PAGES};
    struct trace t = trace_make(TRACE_LOOP, PAGES, LENGTH, 1);
    struct mrc *m = make(&config);

    (void)state;
    mrc_whole(m, 16, 64);
    run(m, &t);
    assert_int_equal(mrc_misses(m, MRC_LRU, 64), LENGTH - PAGES);
    assert_int_equal(mrc_misses(m, MRC_LRU, UINT32_MAX), LENGTH - PAGES);
    assert_int_equal(mrc_benefit(m, MRC_LRU, 64, UINT32_MAX), 0);
    assert_int_equal(mrc_penalty(m, MRC_LRU, 64, UINT32_MAX), 0);
    free(m);
    trace_free(&t);
}

static void groups_are_enlarged_until_they_cover_the_memory(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .sample_shift = 2};
    struct mrc *m = make(&config);

    (void)state;
    assert_int_equal(mrc_whole(m, 1, 100), 4);
    assert_int_equal(mrc_whole(m, 1, 4 * MRC_GROUPS_MAX), 4);
    assert_int_equal(mrc_whole(m, 1, 4 * MRC_GROUPS_MAX + 1), 8);
    assert_int_equal(mrc_whole(m, 1, 0), 4);
    check(m);
    free(m);
}

static void unmapped_pages_are_used_for_the_first_time_again(void **state)
{
    struct mrc_config config = {.nodes = PAGES};
    struct mrc *m = make(&config);
    uint64_t seed = 21, cold = 0;
    bool seen[PAGES] = {false};

    (void)state;
    mrc_whole(m, GROUP, PAGES);
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t page = (uint32_t)(test_random(&seed) % PAGES);
        if (test_random(&seed) % 4) {
            mrc_touch(m, page);
            cold += !seen[page];
        } else {
            mrc_forget(m, page);
        }
        seen[page] = lrustack_holds((struct lrustack *)(m + 1), page);
        if (i % 100 == 0)
            check(m);
    }
    mrc_epoch(m);
    assert_int_equal(mrc_cold(m), cold);
    free(m);
}

static void grown_curves_go_on_where_they_were(void **state)
{
    struct mrc_config few = {.nodes = 200, .sample_shift = 1}, many = {.nodes = PAGES, .sample_shift = 1};
    struct mrc *grown = malloc(mrc_bytes(&many)), *from_start = make(&many), *m = make(&few);

    (void)state;
    mrc_whole(m, GROUP, PAGES);
    mrc_whole(from_start, GROUP, PAGES);
    for (uint32_t i = 0; i < 1000; i++) {
        mrc_touch(m, i * i % 199);
        mrc_touch(from_start, i * i % 199);
    }
    memset(grown, 0x5a, mrc_bytes(&many));
    memcpy(grown, m, mrc_bytes(&few));
    free(m);
    mrc_grow(grown, PAGES);
    check(grown);
    for (uint32_t i = 0; i < 3000; i++) {
        mrc_touch(grown, i * i % PAGES);
        mrc_touch(from_start, i * i % PAGES);
    }
    mrc_epoch(grown);
    mrc_epoch(from_start);
    assert_memory_equal(grown, from_start, mrc_bytes(&many));
    free(grown);
    free(from_start);
}

static void bad_configurations_need_no_memory(void **state)
{
    (void)state;
    assert_int_equal(mrc_bytes(&(struct mrc_config){.nodes = 0}), 0);
    assert_int_equal(mrc_bytes(&(struct mrc_config){.nodes = LRUSTACK_NODES_MAX + 1u}), 0);
    assert_int_equal(mrc_bytes(&(struct mrc_config){.nodes = 1, .sample_shift = MRC_SAMPLE_SHIFT_MAX + 1}),
                     0);
    assert_int_equal(mrc_bytes(&(struct mrc_config){.nodes = 1, .decay_shift = MRC_DECAY_SHIFT_MAX + 1}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_exact_at_every_group),
        cmocka_unit_test(benefit_and_penalty_are_exact_around_the_memory_a_program_has),
        cmocka_unit_test(a_sample_of_one_page_in_eight_is_near_the_exact_curve),
        cmocka_unit_test(one_page_of_each_run_is_drawn),
        cmocka_unit_test(the_last_epoch_weighs_as_much_as_was_asked_for),
        cmocka_unit_test(memory_beyond_the_last_group_misses_as_at_it),
        cmocka_unit_test(groups_are_enlarged_until_they_cover_the_memory),
        cmocka_unit_test(unmapped_pages_are_used_for_the_first_time_again),
        cmocka_unit_test(grown_curves_go_on_where_they_were),
        cmocka_unit_test(bad_configurations_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
