/* MRU's stack, against memories of every size that replace by MRU. */
#include "test/host/double/expect_panic.h"
#include "mm/policy/curve/mrustack.h"

enum { NODES = 40, GROWN = 71, NONE = UINT32_MAX };

/* For each size a memory. */
struct memory {
    bool holds[GROWN];
    unsigned size, used;
    uint32_t last; /* the page used last, NONE: none */
};

struct fixture {
    struct mrustack *s;
    struct memory memory[GROWN + 1]; /* [0] is not used */
    bool seen[GROWN];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->s = malloc(mrustack_bytes(NODES));
    memset(f->s, 0xa5, mrustack_bytes(NODES));
    mrustack_init(f->s, NODES);
    for (unsigned size = 0; size <= GROWN; size++) {
        f->memory[size].size = size;
        f->memory[size].last = NONE;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->s);
    free(f);
    return 0;
}

static void check(const struct fixture *f)
{
    const char *broken = mrustack_check(f->s);

    if (broken)
        fail_msg("%s", broken);
}

/* Returns whether the page is found. */
static bool memory_touch(struct memory *m, uint32_t page)
{
    bool found = m->holds[page];

    if (!found) {
        if (m->used == m->size) {
            assert_true(m->last != NONE);
            m->holds[m->last] = false;
        } else {
            m->used++;
        }
        m->holds[page] = true;
    }
    m->last = page;
    return found;
}

static void touch(struct fixture *f, uint32_t page)
{
    uint32_t least = mrustack_touch(f->s, page);

    check(f);
    assert_int_equal(least != 0, f->seen[page]);
    for (unsigned size = 1; size <= GROWN; size++)
        assert_int_equal(memory_touch(&f->memory[size], page), least != 0 && size >= least);
    f->seen[page] = true;
}

static void a_loop_misses_by_the_part_that_does_not_fit(void **state)
{
    struct fixture *f = *state;
    enum { ROUNDS = 390 };
    unsigned hits[NODES + 1] = {0};

    for (unsigned i = 0; i < (1 + ROUNDS) * NODES; i++) {
        uint32_t least = mrustack_touch(f->s, i % NODES);
        for (unsigned size = least; i >= NODES && size <= NODES; size++)
            hits[size]++;
    }
    /* (N - M) / (N - 1) of the accesses miss. The pattern repeats after N (N - 1) accesses. */
    for (unsigned size = 1; size <= NODES; size++)
        assert_int_equal(ROUNDS * NODES - hits[size],
                         ROUNDS * NODES * (NODES - size) / (NODES - 1));
}

static void random_accesses_hit_as_in_memories_of_each_size(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 3;

    for (unsigned i = 0; i < 5000; i++)
        touch(f, (uint32_t)(test_random(&seed) % (i % 1000 < 500 ? NODES : 12)));
}

static void a_grown_stack_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 9;

    for (unsigned i = 0; i < 300; i++)
        touch(f, (uint32_t)(test_random(&seed) % f->s->nodes));
    struct mrustack *larger = malloc(mrustack_bytes(GROWN));
    memset(larger, 0x5a, mrustack_bytes(GROWN));
    memcpy(larger, f->s, mrustack_bytes(NODES));
    free(f->s);
    f->s = larger;
    mrustack_grow(f->s, GROWN);
    check(f);
    for (unsigned i = 0; i < 5000; i++)
        touch(f, (uint32_t)(test_random(&seed) % f->s->nodes));
}

static void nodes_out_of_range_are_a_broken_invariant(void **state)
{
    struct fixture *f = *state;

    EXPECT_PANIC(mrustack_touch(f->s, NODES));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_loop_misses_by_the_part_that_does_not_fit),
        TEST(random_accesses_hit_as_in_memories_of_each_size),
        TEST(a_grown_stack_goes_on_where_it_was),
        TEST(nodes_out_of_range_are_a_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
