/* Reuse distances against a list that is searched and shifted. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/naive_stack.h"
#include "mm/policy/curve/lrudist.h"

enum { NODES = 97, GROWN = 301 };

struct fixture {
    struct lrudist *d;
    struct naive_stack naive;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->d = malloc(lrudist_bytes(NODES));
    memset(f->d, 0xa5, lrudist_bytes(NODES));
    lrudist_init(f->d, NODES);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->d);
    free(f);
    return 0;
}

static void check(const struct fixture *f)
{
    const char *broken = lrudist_check(f->d);

    if (broken)
        fail_msg("%s", broken);
    assert_int_equal(f->d->size, f->naive.size);
}

static void touch(struct fixture *f, uint32_t page)
{
    assert_int_equal(lrudist_touch_for_test(f->d, page), naive_touch(&f->naive, page));
    check(f);
}

static void touch_any(struct fixture *f, uint64_t *seed)
{
    touch(f, (uint32_t)(test_random(seed) % f->d->nodes));
}

static void a_distance_counts_the_pages_used_since(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(lrudist_touch_for_test(f->d, 5), 0);
    assert_int_equal(lrudist_touch_for_test(f->d, 5), 1);
    assert_int_equal(lrudist_touch_for_test(f->d, 6), 0);
    assert_int_equal(lrudist_touch_for_test(f->d, 7), 0);
    assert_int_equal(lrudist_touch_for_test(f->d, 6), 2);
    assert_int_equal(lrudist_touch_for_test(f->d, 5), 3);
}

static void distances_are_exact_for_any_accesses(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 3;

    for (unsigned i = 0; i < 20000; i++)
        touch(f, (uint32_t)(test_random(&seed) % (i % 2000 < 1000 ? NODES : 9)));
}

static void pages_given_together_have_the_distances_they_have_one_by_one(void **state)
{
    struct fixture *f = *state;
    uint32_t page[64], found[NODES + 1], wanted[NODES + 1];
    uint64_t seed = 5;

    for (unsigned round = 0; round < 3000; round++) {
        unsigned n = 1 + test_random(&seed) % ARRAY_SIZE(page), fresh = 0;
        uint32_t at = (uint32_t)(test_random(&seed) % NODES), step = test_random(&seed) % 3 ? 1 : 5;
        if (round % 50 == 0) { /* no page was used before */
            lrudist_init(f->d, NODES);
            f->naive.size = 0;
        }
        for (unsigned i = 0; i < n; i++)
            page[i] = test_random(&seed) % 16 ? (at += step) % NODES : at % 7;
        memset(found, 0, sizeof found);
        memset(wanted, 0, sizeof wanted);
        unsigned not_used = lrudist_touch_all(f->d, page, n, (struct tally){found, NODES, 0});
        for (unsigned i = 0; i < n; i++) {
            uint32_t distance = naive_touch(&f->naive, page[i]);
            if (distance)
                wanted[distance - 1]++;
            else
                fresh++;
        }
        assert_int_equal(not_used, fresh);
        assert_memory_equal(found, wanted, sizeof found);
        check(f);
    }
}

static void every_page_in_a_loop_keeps_the_loops_distance_over_many_rows(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 100 * NODES; i++)
        assert_int_equal(lrudist_touch_for_test(f->d, i % NODES), i < NODES ? 0 : NODES);
}

static void a_grown_row_goes_on_where_it_was(void **state)
{
    for (unsigned before = 0; before < 300; before += 13) {
        struct fixture *f = *state;
        uint64_t seed = 11 + before;
        tear_down(state);
        set_up(state);
        f = *state;
        for (unsigned i = 0; i < before; i++)
            touch_any(f, &seed);
        struct lrudist *larger = malloc(lrudist_bytes(GROWN));
        memset(larger, 0x5a, lrudist_bytes(GROWN));
        memcpy(larger, f->d, lrudist_bytes(NODES));
        free(f->d);
        f->d = larger;
        lrudist_grow(f->d, GROWN);
        check(f);
        for (unsigned i = 0; i < 3000; i++)
            touch_any(f, &seed);
    }
}

/* Checked by the times of uses and marks; the row is given anew several times between marks, or the
 * other way round. */
static void pages_used_since_the_mark_before_the_last_are_recent(void **state)
{
    struct fixture *f = *state;
    uint32_t used[NODES] = {0}, mark[2] = {0}, last_at_mark[2] = {NODES, NODES}, last = NODES;
    uint64_t seed = 6;

    for (uint32_t now = 1; now < 20000; now++) {
        uint32_t page = (uint32_t)(test_random(&seed) % NODES);
        touch(f, page);
        used[page] = now;
        last = page;
        if (test_random(&seed) % (now < 10000 ? 30 : 3000) == 0) {
            lrudist_mark(f->d);
            mark[1] = mark[0];
            mark[0] = now;
            last_at_mark[1] = last_at_mark[0];
            last_at_mark[0] = last;
        }
        for (uint32_t i = 0; i < NODES; i++)
            assert_int_equal(lrudist_is_recent(f->d, i),
                             used[i] && (used[i] > mark[1] || i == last_at_mark[1]));
    }
}

static void nodes_out_of_range_are_a_broken_invariant(void **state)
{
    struct fixture *f = *state;

    EXPECT_PANIC(lrudist_touch_for_test(f->d, NODES));
    EXPECT_PANIC((void)lrudist_bytes(0));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_distance_counts_the_pages_used_since),
        TEST(distances_are_exact_for_any_accesses),
        TEST(pages_given_together_have_the_distances_they_have_one_by_one),
        TEST(every_page_in_a_loop_keeps_the_loops_distance_over_many_rows),
        TEST(a_grown_row_goes_on_where_it_was),
        TEST(pages_used_since_the_mark_before_the_last_are_recent),
        TEST(nodes_out_of_range_are_a_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
