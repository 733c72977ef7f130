/*
 * The caches: exact counts of small access patterns on a real machine's geometry, and long random
 * runs on tiny geometries, where everything is evicted all the time, against an independent model.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include "test/machine/cache.h"
#include "test/machine/cache_reference.h"

static struct cache *caches(const char *machine)
{
    struct cache *c = cache_create(topology_find(machine));
    assert_non_null(c);
    return c;
}

static void assert_consistent(const struct cache *c)
{
    const char *wrong = cache_check(c);
    if (wrong)
        fail_msg("%s", wrong);
}

struct counts {
    uint64_t by[CACHE_SOURCES];
    uint64_t upgrades;
    uint64_t cycles;
};

static void count_result(struct counts *n, struct cache_result r)
{
    n->by[r.source]++;
    n->upgrades += r.upgrade;
    n->cycles += r.latency;
}

static struct counts walk(struct cache *c, unsigned core, paddr_t from, uint64_t bytes,
                          unsigned step)
{
    struct counts n = {0};
    for (paddr_t pa = from; pa < from + bytes; pa += step)
        count_result(&n, cache_load(c, core, pa));
    return n;
}

#define assert_source(result, expected) assert_int_equal((result).source, expected)

static void a_second_walk_is_served_by_the_smallest_cache_that_holds_it(void **state)
{
    static const struct {
        uint64_t bytes;
        enum cache_source second;
    } sizes[] = {
        {64 * KIB, CACHE_L1},      {128 * KIB, CACHE_LOCAL_L2}, {1920 * KIB, CACHE_LOCAL_L2},
        {4 * MIB, CACHE_LOCAL_L3}, {36 * MIB, CACHE_LOCAL_L3},
    };
    (void)state;
    struct cache *c = caches("openpower720");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        uint64_t lines = sizes[i].bytes / 128;
        cache_reset(c);
        struct counts first = walk(c, 0, 0, sizes[i].bytes, 32);
        assert_int_equal(first.by[CACHE_LOCAL_MEMORY] + first.by[CACHE_REMOTE_MEMORY], lines);
        assert_int_equal(first.by[CACHE_L1], 3 * lines);
        struct counts second = walk(c, 0, 0, sizes[i].bytes, 128);
        assert_int_equal(second.by[sizes[i].second], lines);
        assert_int_equal(second.cycles, lines * c->topology->latency[sizes[i].second]);
    }
    assert_consistent(c);
    cache_destroy(c);
}

static void a_walk_beyond_all_caches_never_hits(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    for (int round = 0; round < 2; round++) {
        struct counts n = walk(c, 3, 0, 64 * MIB, 128);
        /* Cores 2 and 3 are chip 1, which has every other block of 16 MiB. */
        assert_int_equal(n.by[CACHE_LOCAL_MEMORY], 32 * MIB / 128);
        assert_int_equal(n.by[CACHE_REMOTE_MEMORY], 32 * MIB / 128);
    }
    cache_destroy(c);
}

static void the_highest_addresses_are_cached_like_the_lowest(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    paddr_t top = ((paddr_t)1 << 52) - 64 * KIB;
    assert_int_equal(walk(c, 0, top, 64 * KIB, 128).by[CACHE_L1], 0);
    assert_int_equal(walk(c, 0, top, 64 * KIB, 128).by[CACHE_L1], 512);
    assert_int_equal(walk(c, 1, top, 64 * KIB, 128).by[CACHE_LOCAL_L2], 512);
    assert_int_equal(walk(c, 2, top, 64 * KIB, 128).by[CACHE_REMOTE_L2], 512);
    assert_consistent(c);
    cache_destroy(c);
}

static void one_line_too_many_in_a_set_evicts_the_least_recent(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    uint64_t stride = 128 * 128; /* L1D sets x line */
    for (unsigned i = 0; i < 4; i++)
        cache_load(c, 0, i * stride);
    assert_source(cache_load(c, 0, 0), CACHE_L1);
    cache_load(c, 0, 4 * stride);
    assert_source(cache_load(c, 0, 0), CACHE_L1);
    assert_source(cache_load(c, 0, 2 * stride), CACHE_L1);
    assert_source(cache_load(c, 0, 1 * stride), CACHE_LOCAL_L2);
    assert_source(cache_load(c, 0, 4 * stride), CACHE_L1);
    assert_source(cache_load(c, 0, 3 * stride), CACHE_LOCAL_L2);
    assert_consistent(c);
    cache_destroy(c);
}

static void a_line_written_by_two_chips_in_turn_is_fetched_once_per_turn(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    struct counts n = {0};
    for (unsigned turn = 0; turn < 1000; turn++) {
        unsigned core = turn % 2 * 2;
        /* An increment, atomic or not, is one request: the second access hits. */
        count_result(&n, cache_store(c, core, 0x1000, 1 + core));
        count_result(&n, cache_load(c, core, 0x1000));
    }
    assert_int_equal(n.by[CACHE_LOCAL_MEMORY], 1);
    assert_int_equal(n.by[CACHE_REMOTE_L2], 999);
    assert_int_equal(n.by[CACHE_L1], 1000);
    assert_int_equal(n.upgrades, 0);
    assert_int_equal(n.cycles, 280 + 999 * 120);
    cache_destroy(c);
}

static void a_plain_increment_that_alternates_costs_a_read_and_an_upgrade(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    struct counts n = {0};
    for (unsigned turn = 0; turn < 1000; turn++) {
        unsigned core = turn % 2 * 2;
        count_result(&n, cache_load(c, core, 0x1000));
        count_result(&n, cache_store(c, core, 0x1000, 1 + core));
    }
    /* No cache has the line at the very first load, which gets it exclusively. */
    assert_int_equal(n.by[CACHE_LOCAL_MEMORY], 1);
    assert_int_equal(n.by[CACHE_L1], 1);
    assert_int_equal(n.by[CACHE_REMOTE_L2], 2 * 999);
    assert_int_equal(n.upgrades, 999);
    cache_destroy(c);
}

static void false_sharing_costs_what_sharing_costs_and_padding_ends_it(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    for (unsigned apart = 64; apart <= 128; apart += 64) {
        struct counts n = {0};
        cache_reset(c);
        for (unsigned turn = 0; turn < 1000; turn++)
            count_result(&n, cache_store(c, turn % 2 * 2, 0x2000 + turn % 2 * apart, 1));
        assert_int_equal(n.by[CACHE_REMOTE_L2], apart == 64 ? 999 : 0);
        assert_int_equal(n.by[CACHE_L1], apart == 64 ? 0 : 998);
    }
    cache_destroy(c);
}

static void readers_on_all_chips_share_a_line_until_one_writes(void **state)
{
    (void)state;
    struct cache *c = caches("openpower-8chip");
    unsigned cores = topology_cores(c->topology);
    struct counts n = {0};
    for (unsigned round = 0; round < 3; round++)
        for (unsigned core = 0; core < cores; core++)
            count_result(&n, cache_load(c, core, 0x3000));
    assert_int_equal(n.by[CACHE_LOCAL_MEMORY], 1);
    assert_int_equal(n.by[CACHE_REMOTE_L2], 7);
    assert_int_equal(n.by[CACHE_LOCAL_L2], 8);
    assert_int_equal(n.by[CACHE_L1], 2 * cores);

    struct cache_result w = cache_store(c, 5, 0x3000, 9);
    assert_source(w, CACHE_REMOTE_L2);
    assert_true(w.upgrade);
    assert_source(cache_store(c, 5, 0x3000, 9), CACHE_L1);
    assert_source(cache_load(c, 4, 0x3000), CACHE_LOCAL_L2);
    struct cache_result r = cache_load(c, 15, 0x3000);
    assert_source(r, CACHE_REMOTE_L2);
    assert_int_equal(r.writer, 9);
    assert_consistent(c);
    cache_destroy(c);
}

static void hardware_threads_of_a_core_share_its_l1(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    const struct topology *t = c->topology;
    cache_store(c, topology_core_of_cpu(t, 2), 0x4000, 1);
    assert_source(cache_store(c, topology_core_of_cpu(t, 3), 0x4000, 2), CACHE_L1);
    assert_source(cache_store(c, topology_core_of_cpu(t, 1), 0x4000, 3), CACHE_LOCAL_L2);
    assert_source(cache_store(c, topology_core_of_cpu(t, 4), 0x4000, 4), CACHE_REMOTE_L2);
    cache_destroy(c);
}

static void the_first_reader_writes_without_asking(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    assert_source(cache_load(c, 1, 0x5000), CACHE_LOCAL_MEMORY);
    assert_source(cache_store(c, 1, 0x5000, 7), CACHE_L1);
    struct cache_result r = cache_load(c, 2, 0x5000);
    assert_source(r, CACHE_REMOTE_L2);
    assert_true(r.modified);
    assert_int_equal(r.writer, 7);
    assert_false(cache_load(c, 3, 0x5000).modified);
    r = cache_store(c, 1, 0x5000, 8);
    assert_source(r, CACHE_REMOTE_L2);
    assert_true(r.upgrade);
    assert_int_equal(r.writer, 7);
    cache_destroy(c);
}

static void an_upgrade_nobody_contests_stays_on_the_chip(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    cache_load(c, 0, 0x6000);
    cache_load(c, 2, 0x6000);
    /* Chip 1 loses its copy to 40 MiB of other lines. */
    walk(c, 2, 16 * MIB, 40 * MIB, 128);
    struct cache_result r = cache_store(c, 0, 0x6000, 3);
    assert_true(r.upgrade);
    assert_source(r, CACHE_LOCAL_L2);
    cache_destroy(c);
}

static void the_l3_takes_what_the_l2_evicts_and_gives_it_back(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    uint64_t stride = 1536 * 128; /* L2 sets x line */
    for (unsigned i = 0; i < 11; i++)
        cache_store(c, 0, i * stride, 20 + i);
    /* The first line has left the L2 and so the L1. Its writer is still known. */
    assert_null(array_peek(&c->l2[0], 0));
    assert_non_null(array_peek(&c->l3[0], 0));
    struct cache_result r = cache_load(c, 2, 0);
    assert_source(r, CACHE_REMOTE_L3);
    assert_int_equal(r.writer, 20);
    r = cache_load(c, 1, 0);
    assert_source(r, CACHE_LOCAL_L3);
    assert_null(array_peek(&c->l3[0], 0));
    assert_source(cache_load(c, 0, 0), CACHE_LOCAL_L2);
    assert_consistent(c);
    cache_destroy(c);
}

static void the_last_writer_is_forgotten_with_the_line(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    cache_store(c, 0, 0x7000, 5);
    walk(c, 0, 16 * MIB, 64 * MIB, 128);
    struct cache_result r = cache_load(c, 2, 0x7000);
    assert_source(r, CACHE_REMOTE_MEMORY);
    assert_int_equal(r.writer, CACHE_NO_WRITER);
    cache_destroy(c);
}

static void a_store_takes_code_out_of_the_instruction_caches(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    cache_fetch(c, 0, 0x8000);
    cache_fetch(c, 1, 0x8000);
    cache_fetch(c, 3, 0x8000);
    assert_source(cache_fetch(c, 3, 0x8000), CACHE_L1);
    assert_true(cache_store(c, 0, 0x8040, 1).upgrade);
    assert_source(cache_fetch(c, 3, 0x8000), CACHE_REMOTE_L2);
    assert_source(cache_fetch(c, 0, 0x8000), CACHE_LOCAL_L2);
    assert_source(cache_load(c, 0, 0x8000), CACHE_L1);
    assert_consistent(c);
    cache_destroy(c);
}

static void what_a_device_wrote_comes_from_memory(void **state)
{
    (void)state;
    struct cache *c = caches("openpower720");
    for (unsigned i = 0; i < 4; i++)
        cache_store(c, i, 0x9000 + i * 128, 1);
    walk(c, 0, 0x9000, 512, 128);
    cache_discard(c, 0x9000 + 127, 2);
    cache_discard(c, 0x9000 + 256, 0);
    struct counts n = walk(c, 0, 0x9000, 512, 128);
    assert_int_equal(n.by[CACHE_LOCAL_MEMORY], 2);
    assert_int_equal(n.by[CACHE_L1], 2);
    assert_consistent(c);
    cache_destroy(c);
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static struct cache_result access_line(struct cache *c, unsigned core, enum reference_operation op,
                                       paddr_t pa, uint32_t writer)
{
    if (op == REFERENCE_STORE)
        return cache_store(c, core, pa, writer);
    return op == REFERENCE_FETCH ? cache_fetch(c, core, pa) : cache_load(c, core, pa);
}

static void assert_same(struct cache_result got, struct cache_result want, const char *machine,
                        unsigned step)
{
    bool same = got.source == want.source && got.latency == want.latency &&
                got.upgrade == want.upgrade && got.modified == want.modified &&
                got.writer == want.writer;
    if (!same)
        fail_msg("%s, step %u: source %u latency %u upgrade %d modified %d writer %u, reference %u "
                 "%u %d %d %u",
                 machine, step, got.source, got.latency, got.upgrade, got.modified, got.writer,
                 want.source, want.latency, want.upgrade, want.modified, want.writer);
}

/* Makes random accesses to lines 0 to lines - 1, with some locality for hits. */
static void compare_with_reference(const struct topology *t, unsigned lines, unsigned steps,
                                   uint64_t seed)
{
    static struct reference r;
    struct cache *c = cache_create(t);
    struct counts n = {0};

    assert_non_null(c);
    reference_init(&r, t);
    for (unsigned step = 0; step < steps; step++) {
        uint64_t x = next_random(&seed);
        unsigned core = (unsigned)(x % topology_cores(t));
        unsigned line = (unsigned)((x >> 8) % (x >> 20 & 3 ? MAX(lines / 4, 1u) : lines));
        unsigned kind = x >> 24 & 15;
        enum reference_operation op = kind < 8    ? REFERENCE_LOAD
                                      : kind < 13 ? REFERENCE_STORE
                                                  : REFERENCE_FETCH;
        paddr_t pa = (paddr_t)line * t->line_bytes + (x >> 32) % t->line_bytes;

        if ((x >> 40) % 512 == 0) {
            cache_discard(c, pa, 1);
            reference_discard(&r, line);
        }
        struct cache_result got = access_line(c, core, op, pa, step + 1);
        assert_same(got, reference_access(&r, core, op, line, step + 1), t->name, step);
        count_result(&n, got);
        if (step < 2000 || step % 128 == 0)
            assert_consistent(c);
    }
    cache_destroy(c);
    /* The run proves something only if it used every source that this machine has. */
    for (unsigned s = 0; s < CACHE_SOURCES; s++) {
        bool remote = s == CACHE_REMOTE_L2 || s == CACHE_REMOTE_L3 || s == CACHE_REMOTE_MEMORY;
        bool third = s == CACHE_LOCAL_L3 || s == CACHE_REMOTE_L3;
        if ((!remote || t->chips > 1) && (!third || t->l3.ways))
            assert_true(n.by[s] > 0);
    }
    assert_true(t->chips == 1 || n.upgrades > 0);
}

#define TINY .line_bytes = 64, .home_block_bytes = 512, .latency = {0, 10, 20, 30, 40, 50, 60}

static void random_accesses_agree_with_the_reference(void **state)
{
    static const struct {
        struct topology t;
        unsigned lines;
    } runs[] = {
        {{.name = "1x1",
          .chips = 1,
          .cores_per_chip = 1,
          .l1d = {2, 2},
          .l1i = {2, 1},
          .l2 = {4, 2},
          .l3 = {3, 3},
          TINY},
         40},
        {{.name = "2x2",
          .chips = 2,
          .cores_per_chip = 2,
          .l1d = {2, 2},
          .l1i = {2, 2},
          .l2 = {6, 3},
          .l3 = {4, 5},
          TINY},
         64},
        {{.name = "2x2 without L3",
          .chips = 2,
          .cores_per_chip = 2,
          .l1d = {4, 1},
          .l1i = {1, 2},
          .l2 = {5, 3},
          TINY},
         48},
        {{.name = "3x3 tight",
          .chips = 3,
          .cores_per_chip = 3,
          .l1d = {1, 3},
          .l1i = {2, 1},
          .l2 = {3, 5},
          .l3 = {1, 2},
          TINY},
         32},
        {{.name = "8x2",
          .chips = 8,
          .cores_per_chip = 2,
          .l1d = {2, 2},
          .l1i = {2, 2},
          .l2 = {3, 6},
          .l3 = {8, 1},
          TINY},
         100},
        {{.name = "4x1 one way",
          .chips = 4,
          .cores_per_chip = 1,
          .l1d = {4, 1},
          .l1i = {4, 1},
          .l2 = {8, 1},
          .l3 = {2, 4},
          TINY},
         60},
        {{.name = "2x16",
          .chips = 2,
          .cores_per_chip = 16,
          .l1d = {1, 1},
          .l1i = {1, 1},
          .l2 = {8, 4},
          .l3 = {4, 2},
          TINY},
         128},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            compare_with_reference(&runs[i].t, runs[i].lines, 100000, seed * 0x9e3779b97f4a7c15u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_walk_is_served_by_the_smallest_cache_that_holds_it),
        cmocka_unit_test(a_walk_beyond_all_caches_never_hits),
        cmocka_unit_test(the_highest_addresses_are_cached_like_the_lowest),
        cmocka_unit_test(one_line_too_many_in_a_set_evicts_the_least_recent),
        cmocka_unit_test(a_line_written_by_two_chips_in_turn_is_fetched_once_per_turn),
        cmocka_unit_test(a_plain_increment_that_alternates_costs_a_read_and_an_upgrade),
        cmocka_unit_test(false_sharing_costs_what_sharing_costs_and_padding_ends_it),
        cmocka_unit_test(readers_on_all_chips_share_a_line_until_one_writes),
        cmocka_unit_test(hardware_threads_of_a_core_share_its_l1),
        cmocka_unit_test(the_first_reader_writes_without_asking),
        cmocka_unit_test(an_upgrade_nobody_contests_stays_on_the_chip),
        cmocka_unit_test(the_l3_takes_what_the_l2_evicts_and_gives_it_back),
        cmocka_unit_test(the_last_writer_is_forgotten_with_the_line),
        cmocka_unit_test(a_store_takes_code_out_of_the_instruction_caches),
        cmocka_unit_test(what_a_device_wrote_comes_from_memory),
        cmocka_unit_test(random_accesses_agree_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
