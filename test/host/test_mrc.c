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
    struct mrc_config config = {.nodes = PAGES, .group = GROUP, .memory = PAGES};

    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, PAGES, LENGTH, 1);
        struct mattson lru = mattson_lru(&t), mru = mattson_mru(&t, GROUP);
        struct mrc *m = make(&config);
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

static void benefit_is_of_more_memory_and_penalty_of_less(void **state)
{
    enum { MEMORY = 200 };
    struct mrc_config config = {.nodes = PAGES, .group = GROUP, .memory = PAGES};
    struct trace t = trace_make(TRACE_PHASES, PAGES, LENGTH, 2);
    struct mattson lru = mattson_lru(&t), mru = mattson_mru(&t, GROUP);
    struct mrc *m = make(&config);

    (void)state;
    run(m, &t);
    for (uint32_t g = GROUP; g <= MEMORY; g += GROUP) {
        assert_int_equal(mrc_benefit(m, MRC_LRU, MEMORY, g), lru.misses[MEMORY] - lru.misses[MEMORY + g]);
        assert_int_equal(mrc_penalty(m, MRC_LRU, MEMORY, g), lru.misses[MEMORY - g] - lru.misses[MEMORY]);
        assert_int_equal(mrc_benefit(m, MRC_MRU, MEMORY, g), mru.misses[MEMORY] - mru.misses[MEMORY + g]);
        assert_int_equal(mrc_penalty(m, MRC_MRU, MEMORY, g), mru.misses[MEMORY - g] - mru.misses[MEMORY]);
    }
    free(m);
    mattson_free(&lru);
    mattson_free(&mru);
    trace_free(&t);
}

static void between_groups_a_curve_is_straight(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = GROUP, .memory = PAGES};
    struct trace t = trace_make(TRACE_UNIFORM, PAGES, LENGTH, 2);
    struct mrc *m = make(&config);

    (void)state;
    run(m, &t);
    for (uint32_t memory = 0; memory < PAGES; memory++) {
        uint32_t from = memory / GROUP * GROUP, part = memory - from;
        uint64_t here = mrc_misses(m, MRC_LRU, from), next = mrc_misses(m, MRC_LRU, from + GROUP);
        assert_int_equal(mrc_misses(m, MRC_LRU, memory), here - (here - next) * part / GROUP);
    }
    free(m);
    trace_free(&t);
}

static void the_last_epoch_weighs_as_much_as_was_asked_for(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 1, .memory = 4, .decay_shift = 1};
    struct mrc *m = make(&config);

    (void)state;
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
    struct mrc_config config = {.nodes = PAGES, .group = 16, .memory = 64};
    struct trace t = trace_make(TRACE_LOOP, PAGES, LENGTH, 1);
    struct mrc *m = make(&config);

    (void)state;
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
    struct mrc_config config = {.nodes = PAGES, .group = 3, .memory = 4 * MRC_GROUPS_MAX};
    struct mrc *m = make(&config);

    (void)state;
    assert_int_equal(mrc_group_pages(m), 4);
    mrc_touch(m, 1);
    mrc_touch(m, 2);
    mrc_regroup(m, 1, 4 * MRC_GROUPS_MAX + 1);
    assert_int_equal(mrc_group_pages(m), 8);
    mrc_regroup(m, 1, 1);
    assert_int_equal(m->groups, 1);
    /* Which pages were used when is not forgotten. */
    mrc_touch(m, 1);
    mrc_epoch(m);
    assert_int_equal(mrc_accesses(m), 1);
    assert_int_equal(mrc_misses(m, MRC_LRU, 1), 1);
    mrc_regroup(m, MRC_GROUP_MAX, UINT32_MAX);
    assert_int_equal(m->groups, 4);
    check(m);
    free(m);
}

static void unmapped_pages_are_used_for_the_first_time_again(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = GROUP, .memory = PAGES};
    struct mrc *m = make(&config);
    uint64_t seed = 21, cold = 0;
    bool seen[PAGES] = {false};

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t page = (uint32_t)(test_random(&seed) % PAGES);
        if (test_random(&seed) % 4) {
            mrc_touch(m, page);
            cold += !seen[page];
        } else {
            mrc_forget(m, page);
        }
        seen[page] = ((struct lrudist *)(m + 1))->slot[page] != 0;
        if (i % 100 == 0)
            check(m);
    }
    mrc_epoch(m);
    assert_int_equal(mrc_cold(m), cold);
    free(m);
}

static void grown_curves_go_on_where_they_were(void **state)
{
    struct mrc_config few = {.nodes = 200, .group = GROUP, .memory = PAGES}, many = few;
    struct mrc *m = make(&few);

    (void)state;
    many.nodes = PAGES;
    struct mrc *grown = malloc(mrc_bytes(&many)), *from_start = make(&many);
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
    assert_int_equal(mrc_cold(grown), mrc_cold(from_start));
    assert_memory_equal(grown->mean, from_start->mean, sizeof grown->mean);
    free(grown);
    free(from_start);
}

static void bad_configurations_need_no_memory(void **state)
{
    const struct mrc_config good = {.nodes = 1, .group = 1, .memory = 1};
    struct mrc_config bad[] = {good, good, good, good, good, good};

    (void)state;
    assert_true(mrc_bytes(&good) > 0);
    bad[0].nodes = 0;
    bad[1].nodes = LRUDIST_NODES_MAX + 1u;
    bad[2].group = 0;
    bad[3].memory = 0;
    bad[5].group = MRC_GROUP_MAX + 1;
    bad[4].decay_shift = MRC_DECAY_SHIFT_MAX + 1;
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(mrc_bytes(&bad[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_exact_at_every_group),
        cmocka_unit_test(benefit_is_of_more_memory_and_penalty_of_less),
        cmocka_unit_test(between_groups_a_curve_is_straight),
        cmocka_unit_test(the_last_epoch_weighs_as_much_as_was_asked_for),
        cmocka_unit_test(memory_beyond_the_last_group_misses_as_at_it),
        cmocka_unit_test(groups_are_enlarged_until_they_cover_the_memory),
        cmocka_unit_test(unmapped_pages_are_used_for_the_first_time_again),
        cmocka_unit_test(grown_curves_go_on_where_they_were),
        cmocka_unit_test(bad_configurations_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
