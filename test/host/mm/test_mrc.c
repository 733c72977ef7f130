/* Miss-rate curves, against curves found naively (mattson.h). */
#include "test/host/double/expect_panic.h"
#include "test/host/double/mattson.h"
#include "mm/policy/curve/mrc.h"

enum { PAGES = 512, LENGTH = 30000, GROUP = 8 };

static struct mrc *make(const struct mrc_config *config)
{
    struct mrc *m = malloc(mrc_bytes(config));

    assert_non_null(m);
    memset(m, 0xa5, mrc_bytes(config));
    mrc_init(m, config);
    return m;
}

static void touch(struct mrc *m, uint32_t node)
{
    mrc_touch_all(m, &node, 1);
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
        touch(m, t->page[i]);
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

static void epochs_weigh_by_the_decay_shift(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 1, .memory = 4, .decay_shift = 1};
    struct mrc *m = make(&config);

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        touch(m, i);
    mrc_epoch(m);
    assert_int_equal(mrc_cold(m), 2);
    /* A loop of two pages misses always in memory of one page. */
    for (unsigned i = 0; i < 100; i++)
        touch(m, i % 2);
    mrc_epoch(m);
    assert_int_equal(mrc_misses(m, MRC_LRU, 1), 50);
    assert_int_equal(mrc_misses(m, MRC_LRU, 2), 0);
    mrc_epoch(m);
    assert_int_equal(mrc_misses(m, MRC_LRU, 1), 25);
    assert_int_equal(mrc_accesses(m), 25);
    check(m);
    free(m);
}

static void memory_beyond_the_last_group_misses_as_the_last_group(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 16, .memory = 64};
    struct trace t = trace_make(TRACE_LOOP, PAGES, LENGTH, 1);
    struct mrc *m = make(&config);

    (void)state;
    run(m, &t);
    assert_int_equal(mrc_misses(m, MRC_LRU, 64), LENGTH - PAGES);
    assert_int_equal(mrc_misses(m, MRC_LRU, UINT32_MAX), LENGTH - PAGES);
    free(m);
    trace_free(&t);
}

static void with_groups_of_a_page_curves_are_exact_at_every_size(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 1, .memory = PAGES, .lru_only = true};

    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, PAGES, LENGTH, 3);
        struct mattson lru = mattson_lru(&t);
        struct mrc *m = make(&config);
        run(m, &t);
        for (uint32_t memory = 0; memory <= PAGES; memory++)
            assert_int_equal(mrc_misses(m, MRC_LRU, memory), lru.misses[memory]);
        free(m);
        mattson_free(&lru);
        trace_free(&t);
    }
}

static void pages_given_together_count_as_one_by_one(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 1, .memory = PAGES};
    uint64_t seed = 17;

    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, PAGES, LENGTH, 4);
        struct mrc *together = make(&config), *single = make(&config);
        for (size_t i = 0, n; i < t.length; i += n) {
            n = MIN(1 + (size_t)(test_random(&seed) % 200), t.length - i);
            mrc_touch_all(together, t.page + i, n);
            for (size_t k = 0; k < n; k++)
                touch(single, t.page[i + k]);
        }
        assert_memory_equal(together, single, (size_t)single->lru_at);
        check(together);
        assert_int_equal(mrc_pages(together), mrc_pages(single));
        free(together);
        free(single);
        trace_free(&t);
    }
}

static void groups_are_enlarged_until_they_cover_the_memory(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 3, .memory = 4 * MRC_GROUPS_MAX};
    struct mrc *m = make(&config);

    (void)state;
    assert_int_equal(mrc_group_pages(m), 4);
    free(m);
    config.memory++;
    m = make(&config);
    assert_int_equal(mrc_group_pages(m), 8);
    free(m);
    config.memory = 1;
    m = make(&config);
    assert_int_equal(m->groups, 1);
    free(m);
    config = (struct mrc_config){.nodes = PAGES, .group = MRC_GROUP_MAX, .memory = UINT32_MAX};
    m = make(&config);
    assert_int_equal(m->groups, 4);
    check(m);
    free(m);
}

/* Returns a copy of m in a larger block. */
static struct mrc *grown(struct mrc *m, unsigned shift)
{
    struct mrc_config few = m->config, many = few;

    many.nodes <<= shift;
    many.memory <<= shift;
    struct mrc *larger = malloc(mrc_bytes(&many));
    assert_non_null(larger);
    memset(larger, 0x5a, mrc_bytes(&many));
    memcpy(larger, m, mrc_bytes(&few));
    free(m);
    mrc_grow(larger, shift);
    check(larger);
    return larger;
}

/* Touches the same pages in both, i * i % pages each. */
static void touch_modulo(struct mrc *a, struct mrc *b, uint32_t times, uint32_t pages)
{
    for (uint32_t i = 0; i < times; i++) {
        touch(a, i * i % pages);
        touch(b, i * i % pages);
    }
}

static void grown_curves_go_on_where_they_were(void **state)
{
    (void)state;
    for (unsigned lru_only = 0; lru_only < 2; lru_only++) {
        struct mrc_config few = {.nodes = PAGES / 4,
                                 .group = 4,
                                 .memory = PAGES / 4,
                                 .decay_shift = 1,
                                 .lru_only = lru_only};
        struct mrc_config many = few;
        many.nodes = many.memory = PAGES;
        struct mrc *m = make(&few), *from_start = make(&many);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            touch_modulo(m, from_start, 1000, PAGES / 4 - 1);
            mrc_epoch(m);
            mrc_epoch(from_start);
        }
        touch_modulo(m, from_start, 500, PAGES / 4);
        m = grown(m, 2);
        touch_modulo(m, from_start, 3000, PAGES);
        mrc_epoch(m);
        mrc_epoch(from_start);
        assert_int_equal(mrc_cold(m), mrc_cold(from_start));
        assert_memory_equal(m + 1, from_start + 1,
                            (lru_only ? 1 : 2) * (m->groups * (size_t)12 + sizeof(uint32_t)));
        free(m);
        free(from_start);
    }
}

static void enlarged_groups_lose_no_counts(void **state)
{
    struct mrc_config few = {
        .nodes = PAGES, .group = 1, .memory = MRC_GROUPS_MAX, .decay_shift = 1};
    struct mrc *m = make(&few), *same = make(&few);

    (void)state;
    touch_modulo(m, same, 5000, PAGES);
    mrc_epoch(m);
    mrc_epoch(same);
    touch_modulo(m, same, 5000, PAGES - 7);
    m = grown(m, 2);
    assert_int_equal(mrc_group_pages(m), 4);
    mrc_epoch(m);
    mrc_epoch(same);
    for (uint32_t memory = 0; memory <= PAGES; memory += 4) {
        assert_int_equal(mrc_misses(m, MRC_LRU, memory), mrc_misses(same, MRC_LRU, memory));
        assert_int_equal(mrc_misses(m, MRC_MRU, memory), mrc_misses(same, MRC_MRU, memory));
    }
    free(m);
    free(same);
}

/* A program of 48 MB, with groups as in the kernel: with one page less, a loop misses always. */
static void a_cliff_is_exact_in_large_programs(void **state)
{
    enum { LOOP = 12289, ROUNDS = 4 };
    struct mrc_config config = {.nodes = 16384, .group = 1, .memory = 16384, .lru_only = true};
    struct mrc *m = make(&config);

    (void)state;
    for (uint32_t i = 0; i < ROUNDS * LOOP; i++)
        touch(m, i % LOOP);
    mrc_epoch(m);
    assert_int_equal(mrc_misses(m, MRC_LRU, LOOP - 1), (ROUNDS - 1) * LOOP);
    assert_int_equal(mrc_misses(m, MRC_LRU, LOOP), 0);
    free(m);
}

static void mru_misses_are_unknown_with_lru_only(void **state)
{
    struct mrc_config config = {.nodes = PAGES, .group = 1, .memory = PAGES, .lru_only = true};
    struct mrc *m = make(&config);

    (void)state;
    touch(m, 1);
    mrc_epoch(m);
    EXPECT_PANIC((void)mrc_misses(m, MRC_MRU, 3));
    free(m);
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
        cmocka_unit_test(between_groups_a_curve_is_straight),
        cmocka_unit_test(epochs_weigh_by_the_decay_shift),
        cmocka_unit_test(memory_beyond_the_last_group_misses_as_the_last_group),
        cmocka_unit_test(with_groups_of_a_page_curves_are_exact_at_every_size),
        cmocka_unit_test(pages_given_together_count_as_one_by_one),
        cmocka_unit_test(groups_are_enlarged_until_they_cover_the_memory),
        cmocka_unit_test(grown_curves_go_on_where_they_were),
        cmocka_unit_test(enlarged_groups_lose_no_counts),
        cmocka_unit_test(a_cliff_is_exact_in_large_programs),
        cmocka_unit_test(mru_misses_are_unknown_with_lru_only),
        cmocka_unit_test(bad_configurations_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
