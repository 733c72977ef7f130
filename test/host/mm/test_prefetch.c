/* Prefetching: which pages are fetched, and how policies learn from fetched pages that are used or
 * not. */
#include "test/host/double/changed.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/paging.h"
#include "test/host/double/programs.h"

enum { NODES = 600, FRAMES = 400 };

struct fixture {
    struct prefetch *p;
    struct lrustack *order[PREFETCH_ORDERS];
    struct prefetch_list list;
};

static void use_policy(struct fixture *f, const struct prefetch_ops *ops)
{
    free(f->p);
    f->p = calloc(1, prefetch_bytes(ops, NODES));
    prefetch_init(f->p, ops, NODES, FRAMES);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    for (unsigned i = 0; i < PREFETCH_ORDERS; i++) {
        f->order[i] = calloc(1, lrustack_bytes(NODES));
        lrustack_init(f->order[i], NODES);
    }
    use_policy(f, &prefetch_ppg);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->p);
    for (unsigned i = 0; i < PREFETCH_ORDERS; i++)
        free(f->order[i]);
    free(f);
    return 0;
}

static void check(const struct fixture *f)
{
    const char *broken = prefetch_check(f->p);

    if (broken)
        fail_msg("%s", broken);
}

static void hit(struct fixture *f, uint32_t page)
{
    lrustack_touch(f->order[PREFETCH_BY_USE], page);
}

static void fault(struct fixture *f, uint32_t page)
{
    struct prefetch_use use = {.node = page, .page = page, .order = {f->order[0], f->order[1]}};

    prefetch_fault(f->p, &use, &f->list);
    prefetch_decide(f->p, &f->list);
    check(f);
    hit(f, page);
    lrustack_touch(f->order[PREFETCH_BY_MISS], page);
}

static void first_use(struct fixture *f, uint32_t page)
{
    struct prefetch_use use = {.node = page, .page = page, .order = {f->order[0], f->order[1]}};

    prefetch_first_use(f->p, &use, &f->list);
    prefetch_decide(f->p, &f->list);
    check(f);
    hit(f, page);
    lrustack_touch(f->order[PREFETCH_BY_MISS], page);
}

static void fetch(struct fixture *f, uint32_t page)
{
    prefetch_fetched(f->p, page);
    check(f);
}

static bool listed(const struct fixture *f, uint64_t page)
{
    for (unsigned i = 0; i < f->list.length; i++) {
        if (f->list.page[i] == page)
            return true;
    }
    return false;
}

/* Fetches a page `n` times; each time it is used at once, or evicted unused. */
static void outcomes(struct fixture *f, unsigned n, bool used)
{
    for (unsigned i = 0; i < n; i++) {
        fetch(f, 1);
        if (used)
            first_use(f, 1);
        else
            prefetch_wasted(f->p, 1);
        check(f);
    }
}

static void the_spatial_policy_fetches_the_next_pages(void **state)
{
    struct fixture *f = *state;

    use_policy(f, &prefetch_spatial);
    prefetch_resize(f->p, 1000);
    fault(f, 7);
    assert_int_equal(f->list.length, 64);
    assert_int_equal(f->list.fetch, 64);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(f->list.page[i], 8 + i);
}

static void the_window_shrinks_by_unused_pages_and_grows_by_used_ones(void **state)
{
    struct fixture *f = *state;

    use_policy(f, &prefetch_spatial);
    for (unsigned window = 64; window > 1; window /= 2) {
        fault(f, 7);
        assert_int_equal(f->list.length, window);
        outcomes(f, 64, false);
    }
    fault(f, 7);
    assert_int_equal(f->list.length, 1);
    for (unsigned window = 2; window <= 64; window *= 2) {
        outcomes(f, 64, true);
        fault(f, 7);
        assert_int_equal(f->list.length, window);
    }
}

static void without_spatial_locality_one_fault_in_128_fetches(void **state)
{
    struct fixture *f = *state;
    unsigned asked = 0;

    use_policy(f, &prefetch_spatial);
    outcomes(f, 64 * 12, false);
    for (unsigned i = 0; i < 1280; i++) {
        fault(f, 7);
        asked += f->list.length;
    }
    assert_int_equal(asked, 10);
}

static void pages_used_after_one_another_are_fetched_together(void **state)
{
    struct fixture *f = *state;

    for (uint32_t page = 0; page < 50; page++)
        hit(f, page * 11 % 50);
    fault(f, 0);
    /* The ten pages used after page 0. */
    assert_int_equal(f->list.length, 10);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(f->list.page[i], (i + 1) * 11 % 50);
    assert_true(f->list.touch);
}

static void a_walk_goes_three_edges_far(void **state)
{
    struct fixture *f = *state;

    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t page = 0; page < 100; page++)
            fault(f, page);
    }
    fault(f, 0);
    assert_int_equal(f->list.length, 30);
    for (uint32_t i = 0; i < 30; i++)
        assert_true(listed(f, i + 1));
}

static void a_page_without_history_leads_nowhere(void **state)
{
    struct fixture *f = *state;

    for (uint32_t page = 0; page < 50; page++)
        hit(f, page);
    fault(f, 80);
    assert_int_equal(f->list.length, 0);
}

static void the_first_use_of_a_fetched_page_learns_and_goes_on(void **state)
{
    struct fixture *f = *state;

    for (uint32_t page = 0; page < 50; page++)
        hit(f, page);
    fetch(f, 0);
    first_use(f, 0);
    assert_int_equal(f->list.length, 10);
    assert_true(listed(f, 1));
    assert_false(f->list.touch);
}

static void as_published_a_fetched_page_gets_no_edges(void **state)
{
    struct fixture *f = *state;

    use_policy(f, &prefetch_ppg_published);
    for (uint32_t page = 0; page < 50; page++)
        hit(f, page);
    fetch(f, 0);
    first_use(f, 0);
    assert_int_equal(f->list.length, 0);
    fault(f, 48);
    assert_true(listed(f, 49));
    assert_false(listed(f, 1));
}

static void an_edge_not_seen_again_is_dropped(void **state)
{
    struct fixture *f = *state;

    hit(f, 5);
    hit(f, 6);
    fault(f, 5); /* 5 -> 6 */
    assert_true(listed(f, 6));
    fault(f, 5); /* nothing was used since */
    assert_int_equal(f->list.length, 0);
}

static void an_edge_seen_often_outlasts_a_change(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 4; i++) {
        hit(f, 5);
        hit(f, 6);
        fault(f, 5);
    }
    for (unsigned i = 0; i < 3; i++) {
        fault(f, 5);
        assert_true(listed(f, 6));
    }
    fault(f, 5);
    assert_false(listed(f, 6));
}

static void an_edge_seen_once_is_not_followed_beside_one_seen_every_time(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 6; i++) {
        hit(f, 5);
        hit(f, 6);
        if (i == 5)
            hit(f, 7);
        fault(f, 5);
    }
    assert_int_equal(f->list.length, 1);
    assert_true(listed(f, 6));
}

static void a_new_habit_soon_outweighs_an_old_one(void **state)
{
    struct fixture *f = *state;
    unsigned times = 0;

    for (unsigned i = 0; i < 100; i++) {
        hit(f, 5);
        hit(f, 6);
        fault(f, 5);
    }
    for (f->list.length = 0; !listed(f, 7) && times < 10; times++) {
        hit(f, 5);
        hit(f, 7);
        fault(f, 5);
    }
    assert_in_range(times, 1, 4);
}

static void a_new_habit_has_room_before_an_old_one(void **state)
{
    struct fixture *f = *state;

    for (uint32_t habit = 100; habit <= 200; habit += 100) {
        for (unsigned i = 0; i < 8; i++) {
            hit(f, 5);
            for (uint32_t page = habit; page < habit + 10; page++)
                hit(f, page);
            fault(f, 5);
            for (uint32_t page = habit; page < habit + 10; page++)
                assert_true(listed(f, page));
            assert_int_equal(f->list.length, 10);
        }
    }
}

/* First, pages miss in order and hit in the opposite order, so the order of misses predicts. Then
 * the order of misses changes from pass to pass, and the order of uses predicts. */
static void the_order_that_predicts_better_is_followed(void **state)
{
    enum { PAGES = 100 };
    struct fixture *f = *state;
    unsigned right = 0;

    for (unsigned round = 0; round < 4; round++) {
        for (uint32_t page = 0; page < PAGES; page++) {
            fault(f, page);
            right += round == 3 && page < PAGES - 10 && listed(f, page + 1) &&
                     (!page || !listed(f, page - 1));
        }
        for (uint32_t page = PAGES; page-- > 0;)
            hit(f, page);
    }
    assert_int_equal(right, PAGES - 10);
    for (unsigned round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < PAGES; i++) {
            uint32_t page = i * (round % 2 ? 37 : 63) % PAGES;
            fault(f, page);
            right += round == 3 && listed(f, (i + 1) * 37 % PAGES);
            for (uint32_t other = 0; other < PAGES; other++)
                if (round % 2 == 0 && i == PAGES - 1)
                    hit(f, other * 37 % PAGES);
        }
    }
    assert_in_range(right, PAGES - 10 + PAGES * 8 / 10, 2 * PAGES);
}

static void unused_pages_are_never_more_than_a_tenth_of_memory(void **state)
{
    struct fixture *f = *state;

    use_policy(f, &prefetch_spatial);
    for (uint32_t i = 0; i < FRAMES / 10 - 3; i++)
        fetch(f, i);
    fault(f, 300);
    assert_int_equal(f->list.fetch, 3);
    for (uint32_t i = 0; i < 3; i++)
        fetch(f, 400 + i);
    fault(f, 310);
    assert_int_equal(f->list.fetch, 0);
    assert_int_equal(f->p->stopped, 1);
    first_use(f, 401);
    fault(f, 320);
    assert_int_equal(f->list.fetch, 1);
}

/* Fetches 32 pages and uses them after `faults` other faults, twice: in the second round the pages
 * must not count as fetched in the first. Returns the level then. */
static unsigned level_where_all_are_used_after(struct fixture *f, uint32_t frames, unsigned faults)
{
    use_policy(f, &prefetch_spatial);
    prefetch_resize(f->p, frames);
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 32; i++)
            fetch(f, i);
        for (unsigned i = 0; i < faults; i++)
            fault(f, 500);
        for (uint32_t i = 0; i < 32; i++)
            first_use(f, i);
    }
    return f->p->ops->level(f->p->state);
}

static void a_page_not_used_soon_was_not_predicted(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(level_where_all_are_used_after(f, 10000, PREFETCH_SOON - 32), 64);
    assert_int_equal(level_where_all_are_used_after(f, 10000, PREFETCH_SOON + 1), 32);
}

static void in_a_small_memory_pages_must_be_used_earlier(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(level_where_all_are_used_after(f, 400, 100 - 32), 64);
    assert_int_equal(level_where_all_are_used_after(f, 400, 101), 32);
}

static void edges_seen_once_are_not_followed_after_unused_pages(void **state)
{
    struct fixture *f = *state;

    hit(f, 5);
    hit(f, 6);
    fault(f, 5);
    assert_true(listed(f, 6));
    outcomes(f, 64, false);
    hit(f, 7);
    hit(f, 8);
    fault(f, 7);
    assert_int_equal(f->list.length, 0);
    assert_int_equal(f->p->ops->level(f->p->state), 2);
    hit(f, 8);
    fault(f, 7); /* 7 -> 8 was seen twice */
    assert_true(listed(f, 8));
}

/* Has 64 fetched pages evicted unused and 199 pages used in order, then faults on every `stride`th
 * of these. Returns the level. */
static unsigned level_after(struct fixture *f, uint32_t stride)
{
    const uint32_t pages = 199; /* a prime */

    outcomes(f, 64, false);
    for (uint32_t page = 0; page < pages; page++)
        hit(f, page);
    for (uint32_t i = 0; i < 70; i++)
        fault(f, i * stride % pages);
    return f->p->ops->level(f->p->state);
}

static void edges_that_would_have_been_right_are_followed_again(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(level_after(f, 1), 1);
    assert_true(listed(f, 70));
}

static void edges_that_would_have_been_wrong_are_not(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(level_after(f, 7), 2);
    assert_int_equal(f->list.length, 0);
}

static void pages_that_threads_wait_for_are_fetched_earlier(void **state)
{
    /* At most a quarter of the tenth of memory that may be unused, and two to eight edges. */
    static const uint32_t memory[] = {8000, 1200, 10}, most[] = {80, 30, 20};
    struct fixture *f = *state;
    struct prefetch_use use = {.node = 0, .order = {f->order[0], f->order[1]}};

    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t page = 0; page < 100; page++)
            fault(f, page);
    }
    for (unsigned m = 0; m < ARRAY_SIZE(memory); m++) {
        prefetch_resize(f->p, memory[m]);
        use.late = true;
        for (unsigned far = 2; far <= 9; far++) {
            fetch(f, 0);
            prefetch_first_use(f->p, &use, &f->list);
            prefetch_decide(f->p, &f->list);
            check(f);
            assert_int_equal(f->list.length, MIN(10 * far, most[m]));
        }
        assert_int_equal(f->p->late, 8 * (m + 1));
        use.late = false; /* after many uses without a wait, fetching is as late as before */
        for (unsigned i = 0; i < (most[m] - 10) / 10 * 512; i++) {
            assert_true(f->list.length > 10);
            fetch(f, 0);
            prefetch_first_use(f->p, &use, &f->list);
            prefetch_decide(f->p, &f->list);
        }
        assert_int_equal(f->list.length, 10);
    }
}

static void an_unmapped_page_leads_nowhere(void **state)
{
    struct fixture *f = *state;

    hit(f, 5);
    hit(f, 6);
    fault(f, 5);
    fetch(f, 5);
    prefetch_wasted(f->p, 5);
    prefetch_forget(f->p, 5);
    for (unsigned i = 0; i < PREFETCH_ORDERS; i++)
        lrustack_remove(f->order[i], 5);
    fault(f, 5);
    assert_int_equal(f->list.length, 0);
}

static void a_grown_state_goes_on_where_it_was_and_moves_nothing(void **state)
{
    struct fixture *f = *state;
    const uint32_t grown = NODES + 333;

    for (uint32_t page = 0; page < 50; page++)
        hit(f, page);
    fault(f, 0);
    fetch(f, 1);
    struct prefetch *larger = calloc(1, prefetch_bytes(&prefetch_ppg, grown));
    memcpy(larger, f->p, prefetch_bytes(&prefetch_ppg, NODES));
    prefetch_grow(larger, grown);
    assert_in_range(bytes_changed(f->p, larger, prefetch_bytes(&prefetch_ppg, NODES)), 1,
                    2 * sizeof grown);
    free(f->p);
    f->p = larger;
    check(f);
    first_use(f, 1);
    assert_int_equal(f->list.length, 10);
    fetch(f, grown - 1);
    prefetch_wasted(f->p, grown - 1);
    check(f);
}

static struct trace small(enum program_kind kind)
{
    struct program p = {
        .kind = kind, .side = 128, .pages = 96, .length = 3000, .filter = 4, .seed = 3};

    return program_run(&p);
}

static void random_programs_keep_every_policys_invariants(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < PROGRAM_KINDS; kind++) {
        struct trace t = small(kind);
        t.length = MIN(t.length, (size_t)3000);
        for (const struct prefetch_ops *const *ops = prefetch_policies; *ops; ops++) {
            struct paging_result r = paging_run(*ops, &t, t.pages / 2, 20, true);
            assert_true(r.used + r.wasted <= r.fetched);
        }
        trace_free(&t);
    }
}

static void blocked_lu_is_predicted(void **state)
{
    struct program p = {.kind = PROGRAM_LU, .side = 512, .filter = 64};
    struct trace t = program_run(&p);
    struct paging_result without = paging_run(&prefetch_none, &t, t.pages / 2, 0, false),
                         with = paging_run(&prefetch_ppg, &t, t.pages / 2, 0, false);

    (void)state;
    assert_true(without.faults > 1000);
    assert_true(with.faults * 20 < without.faults);
    assert_true(with.used * 20 >= 19 * (with.used + with.wasted));
    trace_free(&t);
}

/* In a small memory some prefetched pages are used by chance, again and again. */
static void random_accesses_cost_little(void **state)
{
    static const struct prefetch_ops *const ours[] = {&prefetch_spatial, &prefetch_ppg};
    static const uint32_t pages[] = {2000, 256};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
        struct program p = {.kind = PROGRAM_RANDOM, .pages = pages[i], .length = 200000, .seed = 3};
        struct trace t = program_run(&p);
        uint64_t without = paging_run(&prefetch_none, &t, t.pages / 2, 0, false).faults;
        for (unsigned j = 0; j < ARRAY_SIZE(ours); j++) {
            struct paging_result r = paging_run(ours[j], &t, t.pages / 2, 0, false);
            assert_true((r.faults + r.fetched) * 100 <= without * 102);
        }
        trace_free(&t);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_spatial_policy_fetches_the_next_pages),
        TEST(the_window_shrinks_by_unused_pages_and_grows_by_used_ones),
        TEST(without_spatial_locality_one_fault_in_128_fetches),
        TEST(pages_used_after_one_another_are_fetched_together),
        TEST(a_walk_goes_three_edges_far),
        TEST(a_page_without_history_leads_nowhere),
        TEST(the_first_use_of_a_fetched_page_learns_and_goes_on),
        TEST(as_published_a_fetched_page_gets_no_edges),
        TEST(an_edge_not_seen_again_is_dropped),
        TEST(an_edge_seen_often_outlasts_a_change),
        TEST(an_edge_seen_once_is_not_followed_beside_one_seen_every_time),
        TEST(a_new_habit_soon_outweighs_an_old_one),
        TEST(a_new_habit_has_room_before_an_old_one),
        TEST(the_order_that_predicts_better_is_followed),
        TEST(unused_pages_are_never_more_than_a_tenth_of_memory),
        TEST(a_page_not_used_soon_was_not_predicted),
        TEST(in_a_small_memory_pages_must_be_used_earlier),
        TEST(edges_seen_once_are_not_followed_after_unused_pages),
        TEST(edges_that_would_have_been_right_are_followed_again),
        TEST(edges_that_would_have_been_wrong_are_not),
        TEST(pages_that_threads_wait_for_are_fetched_earlier),
        TEST(an_unmapped_page_leads_nowhere),
        TEST(a_grown_state_goes_on_where_it_was_and_moves_nothing),
        TEST(random_programs_keep_every_policys_invariants),
        TEST(blocked_lu_is_predicted),
        TEST(random_accesses_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
