/* The LRU stack with boundaries, which `make bench-mrc` compares curves with, against an array that
 * is searched and shifted. */
#include "test/host/double/bounded_stack.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/naive_stack.h"

enum { NODES = 97 };

struct fixture {
    struct bounded_stack *s;
    struct naive_stack naive;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->s = calloc(1, bounded_bytes(NODES));
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

/* Makes the stack an empty one with these boundaries. */
static void start_with(struct fixture *f, const uint32_t *at, unsigned bounds)
{
    memset(f->s, 0, bounded_bytes(NODES));
    f->naive.size = 0;
    bounded_init(f->s, NODES, at, bounds);
}

static void start_with_every(struct fixture *f, uint32_t group, uint32_t pages)
{
    uint32_t at[BOUNDED_MAX];

    start_with(f, at, bounded_every(at, group, pages));
}

static unsigned expected_group(const struct fixture *f, uint32_t page)
{
    unsigned depth = naive_depth(&f->naive, page), group = 0;

    if (depth == 0)
        return BOUNDED_COLD;
    while (group < f->s->bounds && depth > f->s->at[group])
        group++;
    return group;
}

static void touch(struct fixture *f, uint32_t page)
{
    assert_int_equal(bounded_touch(f->s, page), expected_group(f, page));
    naive_touch(&f->naive, page);
    assert_int_equal(f->s->size, f->naive.size);
    assert_int_equal(f->s->top, page);
}

static void a_group_says_how_deep_a_page_was(void **state)
{
    struct fixture *f = *state;

    start_with_every(f, 4, 40);
    for (uint32_t page = 0; page < 12; page++)
        touch(f, page);
    assert_int_equal(bounded_group(f->s, 11), 0);
    assert_int_equal(bounded_group(f->s, 8), 0);
    assert_int_equal(bounded_group(f->s, 7), 1);
    assert_int_equal(bounded_touch(f->s, 0), 2);
    assert_int_equal(bounded_touch(f->s, 50), BOUNDED_COLD);
}

static void four_groups_lie_around_the_memory_a_program_has(void **state)
{
    struct fixture *f = *state;
    uint32_t at[BOUNDED_MAX];

    assert_int_equal(bounded_around(at, 10, 30), 3);
    start_with(f, at, 3);
    for (uint32_t page = 0; page < 60; page++)
        touch(f, page);
    assert_int_equal(bounded_group(f->s, 59 - 19), 0);
    assert_int_equal(bounded_group(f->s, 59 - 20), 1);
    assert_int_equal(bounded_group(f->s, 59 - 30), 2);
    assert_int_equal(bounded_group(f->s, 59 - 40), 3);
}

static void memory_of_one_group_has_no_boundary_above_it(void **state)
{
    uint32_t at[BOUNDED_MAX];

    (void)state;
    assert_int_equal(bounded_around(at, 10, 10), 2);
    assert_int_equal(at[0], 10);
    assert_int_equal(at[1], 20);
}

static void boundaries_end_at_the_pages_or_at_their_largest_number(void **state)
{
    uint32_t at[BOUNDED_MAX];

    (void)state;
    assert_int_equal(bounded_every(at, 7, 21), 3);
    assert_int_equal(at[2], 21);
    assert_int_equal(bounded_every(at, 7, 6), 0);
    assert_int_equal(bounded_every(at, 1, UINT32_MAX), BOUNDED_MAX);
    assert_int_equal(bounded_every(at, UINT32_MAX, UINT32_MAX), 1);
}

static void boundaries_that_do_not_rise_are_refused(void **state)
{
    struct fixture *f = *state;

    EXPECT_PANIC(bounded_init(f->s, NODES, (uint32_t[]){0, 4}, 2));
    EXPECT_PANIC(bounded_init(f->s, NODES, (uint32_t[]){4, 4}, 2));
}

static void random_accesses_find_every_page_in_its_group(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 7;

    for (unsigned i = 0; i < 20000; i++) {
        uint32_t at[BOUNDED_MAX];
        if (i % 1000 == 0)
            start_with_every(f, 1 + (uint32_t)(test_random(&seed) % 20),
                             (uint32_t)(test_random(&seed) % 160));
        else if (i % 1000 == 500)
            start_with(f, at,
                       bounded_around(at, 1 + (uint32_t)(test_random(&seed) % 30),
                                      1 + (uint32_t)(test_random(&seed) % 90)));
        touch(f, (uint32_t)(test_random(&seed) % NODES));
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_group_says_how_deep_a_page_was),
        TEST(four_groups_lie_around_the_memory_a_program_has),
        TEST(memory_of_one_group_has_no_boundary_above_it),
        TEST(boundaries_end_at_the_pages_or_at_their_largest_number),
        TEST(boundaries_that_do_not_rise_are_refused),
        TEST(random_accesses_find_every_page_in_its_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
