/* The LRU stack, against an array that is searched and shifted. */
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
    uint32_t node = f->s->top;
    for (unsigned i = 0; i < f->naive.size; i++, node = f->s->link[node].down)
        assert_int_equal(node, f->naive.page[i]);
}

static void touch(struct fixture *f, uint32_t page)
{
    lrustack_touch(f->s, page);
    naive_touch(&f->naive, page);
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

static void the_page_used_last_is_on_top(void **state)
{
    struct fixture *f = *state;

    for (uint32_t page = 0; page < 5; page++)
        touch(f, page);
    touch(f, 2);
    assert_int_equal(f->s->bottom, 0);
    assert_int_equal(f->naive.page[1], 4);
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
    uint32_t page = (uint32_t)(test_random(seed) % f->s->nodes);

    if (test_random(seed) % 8)
        touch(f, page);
    else
        forget(f, page);
}

static void any_order_of_steps_keeps_the_order_of_use(void **state)
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
        TEST(the_window_goes_from_a_page_to_those_used_after_it),
        TEST(the_last_page_unmapped_leaves_an_empty_stack),
        TEST(any_order_of_steps_keeps_the_order_of_use),
        TEST(a_grown_stack_goes_on_where_it_was_and_moves_nothing),
        TEST(nodes_out_of_range_are_a_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
