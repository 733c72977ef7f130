/* The chooser of prefetchers and its parts: streams, and pages that experts expect to be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "mm/policy/prefetch/shadow.h"
#include "mm/policy/prefetch/streams.h"
#include "test/host/double/paging.h"
#include "test/host/double/programs.h"
#include "test/host/double/random.h"

void panic(const char *fmt, ...)
{
    fail_msg("panic: %s", fmt);
    abort();
}

/* ---- Streams --------------------------------------------------------------------------------- */

static struct streams streams;
static struct prefetch_list list;

static struct stream *want(unsigned region, uint64_t page)
{
    struct prefetch_use use = {.page = page, .region = (uint8_t)region};
    struct stream *s = streams_event(&streams, &use, true);

    assert_null(streams_check(&streams));
    return s;
}

static int no_streams(void **state)
{
    (void)state;
    memset(&streams, 0, sizeof streams);
    list.length = 0;
    return 0;
}

static void the_third_page_as_far_from_the_second_begins_a_stream(void **state)
{
    static const int64_t strides[] = {1, -1, 7, -16, 5000};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(strides); i++) {
        uint64_t page = (uint64_t)(i + 1) << 33; /* page numbers have more than 32 bits */
        no_streams(NULL);
        assert_null(want(0, page));
        assert_null(want(0, page + (uint64_t)strides[i]));
        struct stream *s = want(0, page + (uint64_t)(2 * strides[i]));
        assert_non_null(s);
        assert_int_equal(s->stride, strides[i]);
        struct prefetch_use use = {.page = page + (uint64_t)(2 * strides[i])};
        list.length = 0;
        streams_list(s, &use, 4, &list);
        assert_int_equal(list.length, 4);
        for (unsigned k = 0; k < 4; k++)
            assert_int_equal(list.page[k], page + (uint64_t)((3 + k) * strides[i]));
    }
}

static void other_pages_may_come_between(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        for (unsigned reader = 0; reader < 4; reader++) {
            struct stream *s = want(0, 100000 * reader * reader + 3 * i);
            assert_true(i < 2 || (s && s->stride == 3));
            want(1, test_random(&seed) % 1000000);
        }
    }
}

static void pages_in_memory_are_passed_over(void **state)
{
    (void)state;
    for (uint64_t page = 0; page < 3; page++)
        want(0, page);
    struct stream *s = want(0, 2 + STREAMS_SKIP);
    assert_non_null(s);
    assert_int_equal(s->last, 2 + STREAMS_SKIP);
    assert_null(want(0, 5 + 2 * STREAMS_SKIP)); /* too far */
}

static void a_region_has_its_own_streams(void **state)
{
    (void)state;
    for (uint64_t page = 0; page < 3; page++)
        want(0, page);
    assert_null(want(1, 3));
}

static void pages_are_listed_once_and_many_together(void **state)
{
    struct prefetch_use use = {.page = 2};
    struct stream *s = NULL;

    (void)state;
    for (uint64_t page = 0; page < 3; page++)
        s = want(0, page);
    streams_list(s, &use, 8, &list);
    assert_int_equal(list.length, 8);
    for (use.page = 3; use.page < 7; use.page++) {
        list.length = 0;
        assert_ptr_equal(streams_event(&streams, &use, false), s);
        streams_list(s, &use, 8, &list);
        assert_int_equal(list.length, use.page == 6 ? 4 : 0);
    }
    assert_int_equal(list.page[0], 11);
    use.page = 7; /* a fault: not all listed pages were read */
    assert_ptr_equal(streams_event(&streams, &use, true), s);
    list.length = 0;
    streams_list(s, &use, 8, &list);
    assert_int_equal(list.length, 8);
}

/* ---- Pages expected to be used --------------------------------------------------------------- */

static struct shadow shadow;

static void put(uint32_t node, uint32_t since)
{
    shadow_put(&shadow, (struct shadow_mark){
                            .node = node, .since = (uint16_t)since, .region = 5, .rank = 3});
}

static void a_mark_is_taken_once(void **state)
{
    struct shadow_mark mark;

    (void)state;
    memset(&shadow, 0, sizeof shadow);
    for (uint32_t node = 0; node < 100; node++)
        put(node, node);
    put(7, 50); /* it is expected already */
    for (uint32_t node = 0; node < 100; node++) {
        assert_true(shadow_take(&shadow, node, &mark));
        assert_int_equal(mark.since, node);
        assert_int_equal(mark.region, 5);
        assert_int_equal(mark.rank, 3);
        assert_false(shadow_take(&shadow, node, &mark));
    }
}

/* Marks expire after LONGEST events and not before, whatever their number, also where the 16-bit
 * count of events wraps. */
static void marks_expire_after_the_longest_wait(void **state)
{
    enum { LONGEST = 300 };
    struct shadow_mark mark;
    unsigned gone = 0, put_in = 0;

    (void)state;
    memset(&shadow, 0, sizeof shadow);
    for (uint32_t now = 65000; now < 67000; now++) {
        put(now * 3, now);
        put_in++;
        while (shadow_expired(&shadow, now, LONGEST, &mark)) {
            uint32_t age = (uint16_t)(now - mark.since);
            assert_in_range(age, LONGEST + 1, LONGEST + SHADOW_SETS);
            gone++;
        }
    }
    assert_in_range(gone, put_in / 2, put_in - LONGEST);
}

/* ---- The chooser ----------------------------------------------------------------------------- */

enum { ROUNDS = 40 };

static struct trace rounds_of(enum program_kind kind, uint32_t pages, unsigned rounds,
                              uint64_t seed)
{
    struct program p = {
        .kind = kind, .pages = pages, .length = (size_t)rounds * pages, .filter = 64, .seed = seed};

    return program_run(&p);
}

static struct trace run_of(enum program_kind kind, uint32_t pages)
{
    return rounds_of(kind, pages, ROUNDS, 1);
}

/* Returns the time waited, in percent of that without prefetching. */
static double waited(const struct prefetch_ops *ops, const struct trace *t, uint32_t frames,
                     uint64_t without)
{
    return 100.0 * (double)paging_run(ops, t, frames, 140, false).waited / (double)without;
}

static void no_prefetcher_waits_three_points_less(void **state)
{
    static const struct {
        enum program_kind kind;
        unsigned memory_pct;
    } runs[] = {{PROGRAM_LOOP, 50},    {PROGRAM_STRIDED, 50},   {PROGRAM_BACKWARD, 50},
                {PROGRAM_STREAMS, 50}, {PROGRAM_STREAMS, 25},   {PROGRAM_TRANSPOSED, 50},
                {PROGRAM_BTREE, 50},   {PROGRAM_HASH_JOIN, 50}, {PROGRAM_HASH_JOIN, 75},
                {PROGRAM_SPARSE, 50},  {PROGRAM_LIST, 50},      {PROGRAM_EXTENTS, 50},
                {PROGRAM_RANDOM, 50}};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(runs); k++) {
        struct trace t = run_of(runs[k].kind, 2048);
        uint32_t frames = t.pages * runs[k].memory_pct / 100;
        uint64_t without = paging_run(&prefetch_none, &t, frames, 140, false).waited;
        double chosen = waited(&prefetch_chooser, &t, frames, without);
        for (const struct prefetch_ops *const *ops = prefetch_policies; *ops; ops++) {
            double other = *ops == &prefetch_chooser ? 100 : waited(*ops, &t, frames, without);
            if (chosen > other + 3)
                fail_msg("%s: waits are %.1f %%, %.1f %% by %s", program_names[runs[k].kind],
                         chosen, other, (*ops)->name);
        }
        trace_free(&t);
    }
}

/* Reads at most 2 % more pages than without prefetching, and waits at most 1 % longer. */
static void costs_little(const struct trace *t, unsigned memory_pct)
{
    uint32_t frames = t->pages * memory_pct / 100;
    struct paging_result none = paging_run(&prefetch_none, t, frames, 140, false);
    struct paging_result r = paging_run(&prefetch_chooser, t, frames, 140, false);

    if ((r.faults + r.fetched) * 100 > none.faults * 102 || r.waited * 100 > none.waited * 101)
        fail_msg("%u pages, %u %% in memory: %llu faults without, %llu and %llu fetched", t->pages,
                 memory_pct, (unsigned long long)none.faults, (unsigned long long)r.faults,
                 (unsigned long long)r.fetched);
}

static void random_accesses_cost_little(void **state)
{
    static const uint32_t memory_pct[] = {25, 50, 75, 90}, pages[] = {512, 2048};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(pages) * ARRAY_SIZE(memory_pct); i++) {
        struct trace t = run_of(PROGRAM_RANDOM, pages[i % 2]);
        costs_little(&t, memory_pct[i / 2]);
        trace_free(&t);
    }
}

/* Three rounds only: the chooser starts from its initial expectations. */
static void random_accesses_cost_little_at_first(void **state)
{
    static const uint32_t memory_pct[] = {25, 50, 75, 90}, pages[] = {512, 2048, 4096};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(pages) * ARRAY_SIZE(memory_pct); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct trace t = rounds_of(PROGRAM_RANDOM, pages[i % 3], 3, seed);
            costs_little(&t, memory_pct[i / 3]);
            trace_free(&t);
        }
}

/* Faults on pages at ever larger distances, and answers that all pages asked about are out of
 * memory, or none. Returns the largest number of questions at one fault. */
static unsigned most_asks(bool out)
{
    enum { FAULTS = 24, NODES = 2 * FAULTS };
    struct prefetch *p = calloc(1, prefetch_bytes(&prefetch_chooser, NODES));
    struct lrustack *order = calloc(1, lrustack_bytes(NODES));
    struct prefetch_ask *ask;
    unsigned most = 0;

    lrustack_init(order, NODES);
    prefetch_init(p, &prefetch_chooser, NODES, NODES);
    for (uint32_t n = 0; n < FAULTS; n++) {
        struct prefetch_use use = {
            .node = n, .page = 1000 + (128ull << n), .order = {order, order}};
        unsigned asks = 0;
        prefetch_fault(p, &use, &list);
        for (; (ask = prefetch_asks(p)); asks++) {
            assert_int_equal(ask->node, PREFETCH_NO_NODE);
            assert_in_range(ask->page, use.page + 1, use.page + 128);
            ask->node = FAULTS + asks;
            ask->out = out;
        }
        prefetch_decide(p, &list);
        assert_int_equal(list.length, 0);
        most = MAX(most, asks);
    }
    assert_null(prefetch_check(p));
    free(p);
    free(order);
    return most;
}

static void the_search_for_a_page_that_is_out_ends_with_the_first(void **state)
{
    (void)state;
    assert_int_equal(most_asks(true), 1);
    assert_int_equal(most_asks(false), 8);
}

/* One region is read in order, another at random. Each has weights of its own. */
static void a_region_has_experts_of_its_own(void **state)
{
    enum { EACH = 1024 };
    struct trace t = trace_room(2 * EACH, 40 * EACH);
    uint64_t seed = 3;

    (void)state;
    t.region[0] = EACH;
    for (size_t i = 0; i < t.length; i++)
        t.page[i] = i % 2 ? EACH + (uint32_t)(test_random(&seed) % EACH) : (uint32_t)(i / 2 % EACH);
    struct paging_result none = paging_run(&prefetch_none, &t, EACH, 140, false);
    struct paging_result both = paging_run(&prefetch_chooser, &t, EACH, 140, false);
    /* At least 18 of the 20 passes are predicted. */
    assert_true(both.faults < none.faults - 18 * EACH);
    trace_free(&t);
}

/* Two regions in turn. One is read in order. In the other, the page behind each used page is used,
 * too, but much later: fetching all of these would leave no room for pages of the first. */
static void pages_used_much_later_leave_room_for_others(void **state)
{
    enum { FIRST = 2048, LANES = 200, LANE = 16, FRAMES = 1024, EVENTS = 80000 };
    struct trace t = trace_room(FIRST + LANES * LANE, EVENTS);

    uint32_t lane[LANES];
    uint64_t seed = 5;

    (void)state;
    t.region[0] = FIRST;
    for (uint32_t i = 0; i < LANES; i++)
        lane[i] = i;
    for (uint32_t i = 0; i < EVENTS / 2; i++) {
        /* In random order, so that the graph of uses predicts nothing. */
        uint32_t *a = &lane[i % LANES], *b = a + test_random(&seed) % (LANES - i % LANES), was = *a;
        *a = *b, *b = was;
        t.page[2 * i] = i % FIRST;
        t.page[2 * i + 1] = FIRST + *a * LANE + i / LANES % LANE;
    }
    struct paging_result none = paging_run(&prefetch_none, &t, FRAMES, 140, false);
    struct paging_result r = paging_run(&prefetch_chooser, &t, FRAMES, 140, false);
    assert_true(r.waited * 1000 < none.waited * 225); /* 21.3 %; 23.9 % if all are fetched */
    trace_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_third_page_as_far_from_the_second_begins_a_stream, no_streams),
        cmocka_unit_test_setup(other_pages_may_come_between, no_streams),
        cmocka_unit_test_setup(pages_in_memory_are_passed_over, no_streams),
        cmocka_unit_test_setup(a_region_has_its_own_streams, no_streams),
        cmocka_unit_test_setup(pages_are_listed_once_and_many_together, no_streams),
        cmocka_unit_test(a_mark_is_taken_once),
        cmocka_unit_test(marks_expire_after_the_longest_wait),
        cmocka_unit_test(the_search_for_a_page_that_is_out_ends_with_the_first),
        cmocka_unit_test(no_prefetcher_waits_three_points_less),
        cmocka_unit_test(random_accesses_cost_little),
        cmocka_unit_test(random_accesses_cost_little_at_first),
        cmocka_unit_test(a_region_has_experts_of_its_own),
        cmocka_unit_test(pages_used_much_later_leave_room_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
