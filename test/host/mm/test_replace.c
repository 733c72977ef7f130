/* Page replacement: LRU and CLOCK against brute force, and rules for every policy. */
#include "test/host/double/changed.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/replace_random.h"
#include "test/host/double/traces.h"
#include "tools/replay/simulate.h"

static struct access_trace view(const struct trace *t)
{
    return (struct access_trace){.page = t->page, .length = t->length, .pages = t->pages};
}

static uint64_t misses(const struct replace_ops *ops, const struct trace *t, uint32_t frames)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames, .seed = 1};
    struct access_trace seen = view(t);
    uint64_t n;

    assert_int_equal(simulate(ops, &config, &seen, &n), 0);
    return n;
}

static uint64_t least(const struct trace *t, uint32_t frames)
{
    struct access_trace seen = view(t);
    uint64_t n;

    assert_int_equal(belady(&seen, frames, &n), 0);
    return n;
}

/* ---- Oracles, by brute force ----------------------------------------------------------------- */

struct oracle {
    uint32_t frames, count;
    uint32_t page[64]; /* by age or by latest use; the first is evicted first */
    bool used[64];
};

static uint32_t place(const struct oracle *o, uint32_t page)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (o->page[i] == page)
            return i;
    return o->count;
}

static void take_out(struct oracle *o, uint32_t at)
{
    o->count--;
    memmove(o->page + at, o->page + at + 1, (o->count - at) * sizeof *o->page);
    memmove(o->used + at, o->used + at + 1, (o->count - at) * sizeof *o->used);
}

static void put_last(struct oracle *o, uint32_t page, bool used)
{
    o->page[o->count] = page;
    o->used[o->count++] = used;
}

static bool lru_hit(struct oracle *o, uint32_t page)
{
    uint32_t at = place(o, page);
    bool hit = at < o->count;

    if (hit)
        take_out(o, at);
    else if (o->count == o->frames)
        take_out(o, 0);
    put_last(o, page, true);
    return hit;
}

static bool clock_hit(struct oracle *o, uint32_t page)
{
    uint32_t at = place(o, page);

    if (at < o->count)
        return o->used[at] = true;
    while (o->count == o->frames) {
        uint32_t oldest = o->page[0];
        bool used = o->used[0];
        take_out(o, 0);
        if (used)
            put_last(o, oldest, false);
    }
    put_last(o, page, true);
    return false;
}

static void compare(const struct replace_ops *ops, bool (*hit)(struct oracle *, uint32_t))
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct trace t = trace_make(seed % TRACE_KINDS, 48, 3000, seed);
        struct oracle o = {.frames = 1 + (uint32_t)(seed * 7 % 48)};
        uint64_t n = 0;
        for (size_t i = 0; i < t.length; i++)
            n += !hit(&o, t.page[i]);
        assert_int_equal(misses(ops, &t, o.frames), n);
        trace_free(&t);
    }
}

static void lru_misses_as_a_list_by_latest_use(void **state)
{
    (void)state;
    compare(&replace_lru, lru_hit);
}

static void clock_misses_as_a_hand_on_a_ring(void **state)
{
    (void)state;
    compare(&replace_clock, clock_hit);
}

/* ---- Every policy ---------------------------------------------------------------------------- */

static void random_operations_keep_every_policys_invariants(void **state)
{
    (void)state;
    for (const struct replace_ops *const *p = replace_policies; *p; p++)
        for (uint64_t seed = 0; seed < 30; seed++) {
            uint32_t nodes = 1 + (uint32_t)(seed * 5 % 60);
            struct replace_random r =
                replace_random_start(*p, nodes, 150, 1 + (uint32_t)seed % 17, NULL, seed);
            for (unsigned step = 0; step < 2000; step++)
                replace_random_step(&r);
            replace_random_end(&r);
        }
}

static void no_policy_misses_less_than_the_optimum(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, 300, 9000, kind);
        for (uint32_t frames = 1; frames <= 300; frames += 37) {
            uint64_t bound = least(&t, frames);
            for (const struct replace_ops *const *p = replace_policies; *p; p++)
                assert_true(misses(*p, &t, frames) >= bound);
        }
        trace_free(&t);
    }
}

static void every_policy_misses_each_page_once_when_all_fit(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LOOP, 500, 5000, 1);

    for (const struct replace_ops *const *p = replace_policies; *p; p++)
        assert_int_equal(misses(*p, &t, 500), 500);
    assert_int_equal(least(&t, 500), 500);
    trace_free(&t);
}

/* On a loop of n pages in m frames the optimum keeps m - 1 pages for a round: (n - m) / (n - 1) of
 * the accesses miss. */
static void the_optimum_of_a_loop_is_that_of_the_formula(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LOOP, 100, 100000, 1);

    for (uint32_t frames = 1; frames < 100; frames += 7) {
        uint64_t should = 100000ull * (100 - frames) / 99;
        assert_in_range(least(&t, frames), should - 100, should + 100);
    }
    trace_free(&t);
}

static void state_per_node_is_what_the_table_says(void **state)
{
    (void)state;
    for (const struct replace_ops *const *p = replace_policies; *p; p++) {
        size_t more = (*p)->bytes(1 << 20) - (*p)->bytes(1 << 19);
        assert_in_range(more, 1, (*p)->per_node << 19);
        assert_int_equal((*p)->bytes(1000) % 8, 0);
        assert_int_equal((*p)->bytes(0), 0);
        assert_int_equal((*p)->bytes(REPLACE_NODES_MAX + 1u), 0);
    }
}

/* Growth happens under a lock: it changes a few numbers of the state, whatever the nodes. */
static void growth_moves_nothing(void **state)
{
    enum { NODES = 1000, FRAMES = 100, CHANGED_MAX = 7 * sizeof(uint32_t) };

    (void)state;
    for (const struct replace_ops *const *p = replace_policies; *p; p++) {
        struct replace_random r = replace_random_start(*p, NODES, NODES, FRAMES, NULL, 1);
        size_t bytes = (*p)->bytes(2 * NODES);
        for (unsigned i = 0; i < 500; i++)
            replace_random_step(&r);
        uint8_t *before = calloc(1, bytes), *after = calloc(1, bytes);
        memcpy(before, r.state, (*p)->bytes(NODES));
        memcpy(after, r.state, (*p)->bytes(NODES));
        (*p)->grow(after, 2 * NODES);
        assert_in_range(bytes_changed(before, after, bytes), 1, CHANGED_MAX);
        free(before);
        free(after);
        replace_random_end(&r);
    }
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static uint64_t memory[1 << 15];
    const struct replace_config none = {.nodes = 0, .frames = 1},
                                many = {.nodes = UINT32_MAX, .frames = 1},
                                no_frames = {.nodes = 16, .frames = 0};

    for (const struct replace_ops *const *p = replace_policies; *p; p++) {
        assert_true((*p)->bytes(16) <= sizeof memory);
        assert_int_equal((*p)->init(memory, &none), -EINVAL);
        assert_int_equal((*p)->init(memory, &many), -EINVAL);
        assert_int_equal((*p)->init(memory, &no_frames), -EINVAL);
    }
}

static void misuse(const struct replace_ops *ops, uint64_t *memory)
{
    EXPECT_PANIC(ops->touch(memory, 3));
    EXPECT_PANIC(ops->touch(memory, 16));
    EXPECT_PANIC(ops->leave(memory, 3));
    ops->enter(memory, 3, 0);
    EXPECT_PANIC(ops->enter(memory, 3, 0));
}

static void calls_for_pages_in_the_wrong_state_panic(void **state)
{
    (void)state;
    static uint64_t memory[1 << 15];
    const struct replace_config config = {.nodes = 16, .frames = 4};

    for (const struct replace_ops *const *p = replace_policies; *p; p++) {
        memset(memory, 0, sizeof memory);
        assert_int_equal((*p)->init(memory, &config), 0);
        misuse(*p, memory);
    }
}

static void policies_are_found_by_name(void **state)
{
    (void)state;
    for (const struct replace_ops *const *p = replace_policies; *p; p++)
        assert_ptr_equal(replace_find((*p)->name), *p);
    assert_null(replace_find("lr"));
    assert_null(replace_find("lru "));
    assert_null(replace_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_misses_as_a_list_by_latest_use),
        cmocka_unit_test(clock_misses_as_a_hand_on_a_ring),
        cmocka_unit_test(random_operations_keep_every_policys_invariants),
        cmocka_unit_test(no_policy_misses_less_than_the_optimum),
        cmocka_unit_test(every_policy_misses_each_page_once_when_all_fit),
        cmocka_unit_test(the_optimum_of_a_loop_is_that_of_the_formula),
        cmocka_unit_test(state_per_node_is_what_the_table_says),
        cmocka_unit_test(growth_moves_nothing),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(calls_for_pages_in_the_wrong_state_panic),
        cmocka_unit_test(policies_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
