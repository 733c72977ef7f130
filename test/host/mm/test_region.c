/* Replacement by regions: curves against brute force, the counter that changes a region's policy,
 * and the misses that are saved. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/replace_random.h"
#include "test/host/double/traces.h"
#include "mm/policy/replace/region_choice.h"
#include "tools/replay/simulate.h"

/* ---- Curves ---------------------------------------------------------------------------------- */

enum { PAGES = 200 };

struct counted {
    struct region_page page[PAGES];
    struct replace_links links;
    struct region_curves curves;
    uint32_t order[PAGES], size; /* latest first */
};

static const struct replace_links *pages(struct counted *c)
{
    return &c->links;
}

static void begin(struct counted *c, uint32_t group)
{
    const struct replace_layout row = {.at = 0, .stride = sizeof c->page[0]};

    memset(c, 0, sizeof *c);
    links_init(&c->links, c->page, &row, offsetof(struct region_page, link));
    region_curves_init(&c->curves, group);
}

/* Removes the page. Returns the index that it had, or PAGES. */
static uint32_t take_out(struct counted *c, uint32_t page)
{
    for (uint32_t i = 0; i < c->size; i++)
        if (c->order[i] == page) {
            memmove(c->order + i, c->order + i + 1, (--c->size - i) * sizeof *c->order);
            return i;
        }
    return PAGES;
}

static void lru_groups_are_those_of_a_searched_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct counted c;
        uint32_t group = 1 + (uint32_t)seed % 7;
        uint64_t random = seed;
        begin(&c, group);
        for (unsigned step = 0; step < 3000; step++) {
            uint32_t page = (uint32_t)(test_random(&random) % PAGES), counts[REGION_GROUPS + 1];
            memcpy(counts, c.curves.now[REGION_LRU], sizeof counts);
            uint32_t place = take_out(&c, page);
            if (test_random(&random) % 8 == 0) {
                region_curves_forget(&c.curves, pages(&c), page);
            } else {
                assert_int_equal(region_curves_use(&c.curves, pages(&c), page), place == PAGES);
                memmove(c.order + 1, c.order, c.size++ * sizeof *c.order);
                c.order[0] = page;
                if (place < PAGES)
                    counts[MIN(place / group, (uint32_t)REGION_GROUPS)]++;
            }
            assert_memory_equal(c.curves.now[REGION_LRU], counts, sizeof counts);
            const char *broken = region_curves_check(&c.curves, pages(&c), PAGES);
            if (broken)
                fail_msg("seed %u, step %u: %s", (unsigned)seed, step, broken);
            if (step % 1000 == 999)
                region_curves_regroup(&c.curves, pages(&c), group = 1 + (group + 2) % 9);
        }
    }
}

static uint64_t misses(const struct replace_ops *ops, const struct trace *t, uint32_t frames)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames, .seed = 1};
    struct access_trace seen = {.page = t->page, .length = t->length, .pages = t->pages};
    uint64_t n;

    assert_int_equal(simulate(ops, &config, &seen, &n), 0);
    return n;
}

/* Curves count no first uses. */
static void the_curves_predict_the_misses_of_lru_and_mru(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, PAGES, 20000, kind);
        struct counted c;
        uint64_t first = 0;
        begin(&c, 6);
        for (size_t i = 0; i < t.length; i++)
            first += region_curves_use(&c.curves, pages(&c), t.page[i]);
        region_curves_epoch(&c.curves);
        for (uint32_t frames = 6; frames < 192; frames += 30) {
            assert_int_equal(region_curves_lambda(&c.curves, REGION_LRU, frames) + first,
                             misses(&replace_lru, &t, frames));
            assert_int_equal(region_curves_lambda(&c.curves, REGION_MRU, frames) + first,
                             misses(&replace_mru, &t, frames));
        }
        trace_free(&t);
    }
}

/* ---- The choice ------------------------------------------------------------------------------ */

static void the_policy_changes_only_at_the_ends_of_the_counter(void **state)
{
    (void)state;
    struct region_choice c = {0};
    const uint64_t for_mru[] = {100, 50}, for_lru[] = {50, 100};

    assert_false(region_choose(&c, 1000, 200, for_mru));
    assert_false(region_choose(&c, 1000, 200, for_mru));
    assert_false(region_choose(&c, 1000, 200, for_lru));
    assert_false(region_choose(&c, 1000, 200, for_mru));
    assert_true(region_choose(&c, 1000, 200, for_mru));
    assert_int_equal(c.policy, REGION_MRU);
    for (int i = 0; i < 2 * REGION_COUNTER - 1; i++)
        assert_false(region_choose(&c, 1000, 200, for_lru));
    assert_true(region_choose(&c, 1000, 200, for_lru));
    assert_int_equal(c.policy, REGION_LRU);
}

static void few_capacity_misses_change_nothing(void **state)
{
    (void)state;
    struct region_choice c = {0};
    const uint64_t for_mru[] = {100, 50};

    for (int i = 0; i < 10; i++)
        assert_false(region_choose(&c, 6400, 100, for_mru));
    assert_int_equal(c.counter, 0);
}

/* ---- The policy ------------------------------------------------------------------------------ */

/* Pages of several regions: where each ends, in order. */
struct layout {
    uint32_t end[4];
};

static uint32_t region(const struct layout *l, uint32_t page)
{
    uint32_t r = 0;

    while (page >= l->end[r])
        r++;
    return r;
}

static uint64_t with_regions(const struct replace_ops *ops, const struct trace *t,
                             const struct layout *l, uint32_t frames)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames};
    void *state = calloc(1, ops->bytes(t->pages));
    uint64_t missed = 0;
    uint32_t resident = 0;

    assert_non_null(state);
    assert_int_equal(ops->init(state, &config), 0);
    for (size_t i = 0; i < t->length; i++) {
        uint32_t page = t->page[i];
        if (ops->resident(state, page)) {
            ops->touch(state, page);
            continue;
        }
        missed++;
        if (resident == frames)
            ops->leave(state, ops->victim(state, page));
        else
            resident++;
        ops->enter(state, page, region(l, page));
    }
    assert_null(ops->check(state));
    free(state);
    return missed;
}

/* MRU is the optimum on a loop. The region policy misses as often but for the epochs until its
 * counter reaches the end. */
static void a_loop_is_replaced_by_mru_after_three_epochs(void **state)
{
    (void)state;
    enum { FRAMES = 1800, LEARNING = (REGION_COUNTER + 1) * 2 * FRAMES };
    struct trace t = trace_make(TRACE_LOOP, 2000, 2000 * 100, 1);
    const struct layout one = {.end = {2000}};

    assert_true(with_regions(&replace_region, &t, &one, FRAMES) <
                misses(&replace_mru, &t, FRAMES) + LEARNING);
    trace_free(&t);
}

/* Blocked LU is a loop that becomes smaller. Pages that LRU has kept and MRU would not must be
 * evicted after the change. */
static void a_region_that_turns_to_mru_drops_pages_that_lru_kept(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LU, 2048, 2048 * 60, 1);
    uint64_t of_lru = misses(&replace_lru, &t, 2048 * 7 / 10),
             of_region = misses(&replace_region, &t, 2048 * 7 / 10);

    assert_true(of_region < of_lru - of_lru / 20);
    trace_free(&t);
}

/* A loop over an array larger than memory, and random accesses to another array, most of them to a
 * third of its pages. */
static void a_loop_gets_mru_and_its_neighbour_lru(void **state)
{
    (void)state;
    const struct trace_part part[] = {{TRACE_LOOP, 0, 3000}, {TRACE_ZIPF, 3000, 1000}};
    struct trace t = trace_turns(part, 2, 0, 4000, 600000, 1);
    const struct layout two = {.end = {3000, 4000}}, one = {.end = {4000}};
    uint64_t of_lru = misses(&replace_lru, &t, 2000),
             apart = with_regions(&replace_region, &t, &two, 2000);
    uint64_t together = with_regions(&replace_region, &t, &one, 2000);

    assert_true(apart < of_lru * 7 / 10);
    assert_true(apart < together * 9 / 10);
    trace_free(&t);
}

/* Both regions have half of the accesses; only the first fits in memory. */
static void memory_goes_to_the_region_where_it_saves_misses(void **state)
{
    (void)state;
    const struct trace_part part[] = {{TRACE_ZIGZAG, 0, 1000}, {TRACE_UNIFORM, 1000, 9000}};
    struct trace t = trace_turns(part, 2, 0, 10000, 400000, 1);
    const struct layout two = {.end = {1000, 10000}};

    uint64_t half = t.length / 2;
    uint64_t missed = with_regions(&replace_region, &t, &two, 1100);
    assert_true(missed < half + half / 5);
    trace_free(&t);
}

/* Two loops, both replaced by MRU. Victims that turn out to be in use stay, so each region must
 * remember its own, though another region is asked next. */
static void pages_that_stay_are_remembered_by_their_own_region(void **state)
{
    (void)state;
    enum { PAGES = 1200, FRAMES = 800 };
    struct replace_config config = {.nodes = PAGES, .frames = FRAMES};
    void *policy = calloc(1, replace_region.bytes(PAGES));
    uint64_t seed = 1;
    uint32_t resident = 0;

    assert_int_equal(replace_region.init(policy, &config), 0);
    for (unsigned i = 0; i < 100 * PAGES; i++) {
        uint32_t page = i % PAGES;
        if (replace_region.resident(policy, page)) {
            replace_region.touch(policy, page);
            continue;
        }
        for (unsigned stay = test_random(&seed) % 8; stay && resident == FRAMES; stay--)
            replace_region.touch(policy,
                                 replace_region.victim(policy, stay % 2 ? page : REPLACE_NONE));
        if (resident == FRAMES)
            replace_region.leave(policy, replace_region.victim(policy, page));
        else
            resident++;
        replace_region.enter(policy, page, page >= PAGES / 2);
        if (i % 1000 == 0)
            assert_null(replace_region.check(policy));
    }
    struct replace_report report;
    replace_region.report(policy, &report);
    assert_int_equal(report.mru_regions, 3);
    free(policy);
}

static void random_operations_in_regions_keep_its_invariants(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 130; seed++) {
        struct replace_random r = replace_random_start(&replace_region, 60, 150, 20, NULL, seed);
        for (unsigned step = 0; step < 2000; step++)
            replace_random_step(&r);
        replace_random_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_groups_are_those_of_a_searched_list),
        cmocka_unit_test(the_curves_predict_the_misses_of_lru_and_mru),
        cmocka_unit_test(the_policy_changes_only_at_the_ends_of_the_counter),
        cmocka_unit_test(few_capacity_misses_change_nothing),
        cmocka_unit_test(a_loop_is_replaced_by_mru_after_three_epochs),
        cmocka_unit_test(a_region_that_turns_to_mru_drops_pages_that_lru_kept),
        cmocka_unit_test(a_loop_gets_mru_and_its_neighbour_lru),
        cmocka_unit_test(memory_goes_to_the_region_where_it_saves_misses),
        cmocka_unit_test(pages_that_stay_are_remembered_by_their_own_region),
        cmocka_unit_test(random_operations_in_regions_keep_its_invariants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
