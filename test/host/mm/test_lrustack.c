/* The LRU stack against an array that is searched and shifted. */
#include "test/host/double/changed.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/naive_stack.h"
#include "mm/policy/curve/lrustack.h"

enum { NODES = 97, GROWN = 160 };

struct fixture {
    struct lrustack *s;
    struct naive_stack naive;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->s = calloc(1, lrustack_bytes(NODES));
    lrustack_init(f->s, NODES);
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
    const char *broken = lrustack_check(f->s);

    if (broken)
        fail_msg("%s", broken);
    assert_int_equal(f->s->size, f->naive.size);
}

static unsigned group_of(const struct lrustack *s, unsigned depth)
{
    unsigned group = 0;

    if (depth == 0)
        return LRUSTACK_COLD;
    while (group < s->bounds && depth > s->at[group])
        group++;
    return group;
}

static void touch(struct fixture *f, uint32_t page)
{
    unsigned expected = group_of(f->s, naive_touch(&f->naive, page));

    assert_int_equal(lrustack_touch(f->s, page), expected);
    check(f);
    assert_int_equal(f->s->top, page);
}

static void forget(struct fixture *f, uint32_t page)
{
    lrustack_remove(f->s, page);
    naive_remove(&f->naive, page);
    check(f);
    assert_false(lrustack_holds(f->s, page));
}

static void bound(struct fixture *f, const uint32_t *at, unsigned bounds)
{
    assert_int_equal(lrustack_set_bounds_for_test(f->s, at, bounds), 0);
    check(f);
}

static void bound_every(struct fixture *f, uint32_t group, uint32_t pages)
{
    uint32_t at[LRUSTACK_BOUNDS_MAX];

    bound(f, at, lrustack_bounds_every_for_test(at, group, pages));
}

static void the_page_used_last_is_on_top(void **state)
{
    struct fixture *f = *state;

    for (uint32_t page = 0; page < 5; page++)
        touch(f, page);
    touch(f, 2);
    assert_int_equal(f->s->bottom, 0);
    assert_int_equal(f->naive.page[1], 4);
}

static void a_group_says_how_deep_a_page_lay(void **state)
{
    struct fixture *f = *state;

    bound_every(f, 4, 40);
    for (uint32_t page = 0; page < 12; page++)
        touch(f, page);
    assert_int_equal(lrustack_group(f->s, 11), 0);
    assert_int_equal(lrustack_group(f->s, 8), 0);
    assert_int_equal(lrustack_group(f->s, 7), 1);
    assert_int_equal(lrustack_touch(f->s, 0), 2);
    assert_int_equal(lrustack_touch(f->s, 50), LRUSTACK_COLD);
}

static void four_groups_lie_around_the_memory_a_program_has(void **state)
{
    struct fixture *f = *state;
    uint32_t at[LRUSTACK_BOUNDS_MAX];

    assert_int_equal(lrustack_bounds_around_for_test(at, 10, 30), 3);
    bound(f, at, 3);
    for (uint32_t page = 0; page < 60; page++)
        touch(f, page);
    assert_int_equal(lrustack_group(f->s, 59 - 19), 0);
    assert_int_equal(lrustack_group(f->s, 59 - 20), 1);
    assert_int_equal(lrustack_group(f->s, 59 - 30), 2);
    assert_int_equal(lrustack_group(f->s, 59 - 40), 3);
}

static void memory_below_a_group_has_no_group_above_it(void **state)
{
    uint32_t at[LRUSTACK_BOUNDS_MAX];

    (void)state;
    assert_int_equal(lrustack_bounds_around_for_test(at, 10, 10), 2);
    assert_int_equal(at[0], 10);
    assert_int_equal(at[1], 20);
}

static void boundaries_go_no_further_than_asked_for(void **state)
{
    uint32_t at[LRUSTACK_BOUNDS_MAX];

    (void)state;
    assert_int_equal(lrustack_bounds_every_for_test(at, 7, 21), 3);
    assert_int_equal(at[2], 21);
    assert_int_equal(lrustack_bounds_every_for_test(at, 7, 6), 0);
    assert_int_equal(lrustack_bounds_every_for_test(at, 1, UINT32_MAX), LRUSTACK_BOUNDS_MAX);
    assert_int_equal(lrustack_bounds_every_for_test(at, UINT32_MAX, UINT32_MAX), 1);
}

static void boundaries_that_do_not_rise_are_refused(void **state)
{
    struct fixture *f = *state;
    uint32_t many[LRUSTACK_BOUNDS_MAX + 1];

    for (unsigned i = 0; i <= LRUSTACK_BOUNDS_MAX; i++)
        many[i] = i + 1;
    bound_every(f, 4, 40);
    assert_int_equal(lrustack_set_bounds_for_test(f->s, (uint32_t[]){0, 4}, 2), -EINVAL);
    assert_int_equal(lrustack_set_bounds_for_test(f->s, (uint32_t[]){4, 4}, 2), -EINVAL);
    assert_int_equal(lrustack_set_bounds_for_test(f->s, many, LRUSTACK_BOUNDS_MAX + 1), -EINVAL);
    assert_int_equal(f->s->bounds, 10);
    check(f);
}

static void the_window_goes_from_a_page_to_those_used_after_it(void **state)
{
    struct fixture *f = *state;
    uint32_t out[8];

    for (uint32_t page = 0; page < 20; page++)
        touch(f, page);
    assert_int_equal(lrustack_used_after(f->s, 3, out, 4), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out[i], 4 + i);
    assert_int_equal(lrustack_used_after(f->s, 17, out, 8), 2);
    assert_int_equal(lrustack_used_after(f->s, 19, out, 8), 0);
    assert_int_equal(lrustack_used_after(f->s, 60, out, 8), 0);
}

static void the_last_page_unmapped_leaves_an_empty_stack(void **state)
{
    struct fixture *f = *state;

    bound_every(f, 1, 3);
    touch(f, 8);
    forget(f, 8);
    forget(f, 8);
    assert_int_equal(f->s->top, LRUSTACK_NONE);
    assert_int_equal(f->s->bottom, LRUSTACK_NONE);
    touch(f, 8);
}

/* Does one random operation. */
static void step(struct fixture *f, uint64_t *seed)
{
    uint32_t page = (uint32_t)(test_random(seed) % f->s->nodes), at[LRUSTACK_BOUNDS_MAX];

    switch (test_random(seed) % 64) {
    case 0:
        bound_every(f, 1 + (uint32_t)(test_random(seed) % 20),
                    (uint32_t)(test_random(seed) % GROWN));
        break;
    case 1:
        bound(f, at,
              lrustack_bounds_around_for_test(at, 1 + (uint32_t)(test_random(seed) % 30),
                                              1 + (uint32_t)(test_random(seed) % 90)));
        break;
    case 2 ... 8:
        forget(f, page);
        break;
    default:
        touch(f, page);
    }
}

static void any_order_of_steps_keeps_every_page_in_its_group(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 7;

    for (unsigned i = 0; i < 20000; i++)
        step(f, &seed);
}

static void a_grown_stack_goes_on_where_it_was_and_moves_nothing(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 11;

    for (unsigned i = 0; i < 500; i++)
        step(f, &seed);
    struct lrustack *larger = calloc(1, lrustack_bytes(GROWN));
    memcpy(larger, f->s, lrustack_bytes(NODES));
    lrustack_grow(larger, GROWN);
    assert_in_range(bytes_changed(f->s, larger, lrustack_bytes(NODES)), 1, sizeof larger->nodes);
    free(f->s);
    f->s = larger;
    check(f);
    for (unsigned i = 0; i < 5000; i++)
        step(f, &seed);
}

static void nodes_out_of_range_are_a_broken_invariant(void **state)
{
    struct fixture *f = *state;

    EXPECT_PANIC(lrustack_touch(f->s, NODES));
    EXPECT_PANIC(lrustack_remove(f->s, NODES));
    EXPECT_PANIC(lrustack_init(f->s, 0));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_page_used_last_is_on_top),
        TEST(a_group_says_how_deep_a_page_lay),
        TEST(four_groups_lie_around_the_memory_a_program_has),
        TEST(memory_below_a_group_has_no_group_above_it),
        TEST(boundaries_go_no_further_than_asked_for),
        TEST(boundaries_that_do_not_rise_are_refused),
        TEST(the_window_goes_from_a_page_to_those_used_after_it),
        TEST(the_last_page_unmapped_leaves_an_empty_stack),
        TEST(any_order_of_steps_keeps_every_page_in_its_group),
        TEST(a_grown_stack_goes_on_where_it_was_and_moves_nothing),
        TEST(nodes_out_of_range_are_a_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
