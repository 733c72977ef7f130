/* The warehouse's B-tree, compared with a sorted array. Every invariant is checked after every
 * change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "apps/common/prng.h"
#include "apps/common/btree.h"

enum { KEY_SPACE = 700 };

struct fixture {
    struct arena arena;
    struct btree tree;
    uintptr_t expected[KEY_SPACE]; /* value of each key; 0: absent */
    size_t count;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->arena.block_size = 1 << 16;
    btree_init(&f->tree, &f->arena);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_free(&f->arena);
    free(f);
    return 0;
}

static void assert_sound(const struct btree *tree)
{
    const char *broken = btree_check(tree);

    if (broken)
        fail_msg("%s", broken);
}

static void insert(struct fixture *f, uint64_t key, uintptr_t value)
{
    bool absent = f->expected[key] == 0;

    assert_int_equal(btree_insert(&f->tree, key, (void *)value), absent);
    if (absent) {
        f->expected[key] = value;
        f->count++;
    }
    assert_sound(&f->tree);
}

static void take_out(struct fixture *f, uint64_t key)
{
    assert_ptr_equal(btree_remove(&f->tree, key), (void *)f->expected[key]);
    f->count -= f->expected[key] != 0;
    f->expected[key] = 0;
    assert_sound(&f->tree);
}

/* Every key is found or missing as expected, and a scan from any key visits exactly the rest. */
static void assert_same(const struct fixture *f)
{
    struct btree_cursor cursor;

    assert_int_equal(f->tree.count, f->count);
    for (uint64_t from = 0; from < KEY_SPACE; from++) {
        assert_ptr_equal(btree_find(&f->tree, from), (void *)f->expected[from]);
        bool more = btree_seek(&f->tree, from, &cursor);
        for (uint64_t key = from; key < KEY_SPACE && key < from + 40; key++) {
            if (!f->expected[key])
                continue;
            assert_true(more);
            assert_int_equal(btree_key(&cursor), key);
            assert_ptr_equal(btree_value(&cursor), (void *)f->expected[key]);
            more = btree_next(&cursor);
        }
    }
    if (f->count == 0)
        assert_false(btree_seek(&f->tree, 0, &cursor));
}

static void an_empty_tree_finds_and_removes_nothing(void **state)
{
    struct fixture *f = *state;

    assert_sound(&f->tree);
    assert_null(btree_remove(&f->tree, 5));
    assert_same(f);
}

static void random_changes_agree_with_an_array(void **state)
{
    struct fixture *f = *state;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct prng prng = prng_seeded(seed, 0);
        for (unsigned step = 0; step < 4000; step++) {
            uint32_t growing = step < 1500 ? 70 : step < 3000 ? 40 : 20;
            uint64_t key = prng_below(&prng, KEY_SPACE);
            if (prng_below(&prng, 100) < growing)
                insert(f, key, (uintptr_t)prng_next(&prng) | 1);
            else
                take_out(f, key);
            if (step % 500 == 0)
                assert_same(f);
        }
        assert_same(f);
        for (uint64_t key = 0; key < KEY_SPACE; key++)
            take_out(f, key);
        assert_same(f);
    }
}

static void a_queue_taken_from_the_front_stays_sound_and_recycles_its_nodes(void **state)
{
    struct fixture *f = *state;
    size_t used = 0;

    for (uint64_t key = 0; key < 100000; key++) {
        assert_true(btree_insert(&f->tree, key, f));
        if (key >= 100)
            assert_ptr_equal(btree_remove(&f->tree, key - 100), f);
        if (key % 97 == 0)
            assert_sound(&f->tree);
        if (key == 1000)
            used = f->arena.used;
    }
    assert_int_equal(f->tree.count, 100);
    assert_int_equal(f->arena.used, used);
}

static void keys_added_in_order_fill_the_nodes(void **state)
{
    struct fixture *f = *state;
    enum { COUNT = 14 * 1000, NODE = 256 };

    f->arena.block_size = 1 << 24;
    arena_free(&f->arena);
    btree_init(&f->tree, &f->arena);
    for (uint64_t key = 0; key < COUNT; key++)
        assert_true(btree_insert(&f->tree, key, f));
    assert_sound(&f->tree);
    assert_in_range(f->arena.used, 1000 * NODE, 1100 * NODE);
    assert_int_equal(f->tree.height, 4);
}

static void keys_added_backwards_and_removed_from_the_end_stay_sound(void **state)
{
    struct fixture *f = *state;

    for (uint64_t key = KEY_SPACE; key-- > 0;)
        insert(f, key, key + 1);
    assert_same(f);
    for (uint64_t key = KEY_SPACE; key-- > 0;)
        take_out(f, key);
    assert_same(f);
}

static void the_whole_range_of_keys_is_usable(void **state)
{
    struct fixture *f = *state;
    struct btree_cursor cursor;

    assert_true(btree_insert(&f->tree, UINT64_MAX, f));
    assert_true(btree_insert(&f->tree, 0, f));
    assert_sound(&f->tree);
    assert_true(btree_seek(&f->tree, 1, &cursor));
    assert_int_equal(btree_key(&cursor), UINT64_MAX);
    assert_false(btree_next(&cursor));
}

static void the_check_notices_a_wrong_count(void **state)
{
    struct fixture *f = *state;

    insert(f, 1, 1);
    f->tree.count++;
    assert_string_equal(btree_check(&f->tree), "count wrong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_tree_finds_and_removes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_changes_agree_with_an_array, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_queue_taken_from_the_front_stays_sound_and_recycles_its_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_added_in_order_fill_the_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_added_backwards_and_removed_from_the_end_stay_sound,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_whole_range_of_keys_is_usable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_check_notices_a_wrong_count, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
