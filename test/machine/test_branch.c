/* The branch predictor on sequences of known predictability. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "test/machine/branch.h"

/* Returns the address of block i; a block has 16 bytes. */
static vaddr_t block(unsigned i)
{
    return 0x400000 + i * 16;
}

static struct branch *predictor(void)
{
    struct branch *b = malloc(sizeof(*b));
    assert_non_null(b);
    branch_reset(b);
    return b;
}

/* Returns whether block `to` after block `from` was mispredicted. */
static unsigned go(struct branch *b, unsigned from, unsigned to)
{
    return branch_predict_update(b, block(from), block(from + 1), block(to));
}

static void straight_code_is_never_mispredicted(void **state)
{
    (void)state;
    struct branch *b = predictor();
    for (unsigned i = 0; i < 100000; i++)
        assert_false(go(b, i, i + 1));
    free(b);
}

static void an_unconditional_jump_is_mispredicted_once(void **state)
{
    (void)state;
    struct branch *b = predictor();
    unsigned wrong = 0;
    for (unsigned i = 0; i < 1000; i++)
        wrong += go(b, 5, 90);
    assert_int_equal(wrong, 1);
    free(b);
}

static void a_loop_much_longer_than_the_history_costs_its_exit(void **state)
{
    (void)state;
    struct branch *b = predictor();
    unsigned wrong = 0;
    for (unsigned run = 0; run < 100; run++)
        for (unsigned i = 0; i < 100; i++)
            wrong += go(b, 7, i < 99 ? 3 : 8);
    assert_in_range(wrong, 95, 130);
    free(b);
}

static void a_pattern_shorter_than_the_history_is_learnt(void **state)
{
    static const char *const patterns[] = {"TN", "TTN", "TTTTTTTN", "TNNTN", "TTNTNNTNTN"};
    (void)state;
    struct branch *b = predictor();
    for (size_t p = 0; p < ARRAY_SIZE(patterns); p++) {
        unsigned late = 0;
        const char *s = patterns[p];
        for (unsigned i = 0; i < 4000; i++, s = s[1] ? s + 1 : patterns[p]) {
            bool wrong = go(b, 7, *s == 'T' ? 3 : 8);
            late += wrong && i >= 200;
        }
        assert_int_equal(late, 0);
    }
    free(b);
}

static void a_branch_that_repeats_another_is_predicted_from_it(void **state)
{
    (void)state;
    struct branch *b = predictor();
    unsigned first = 0, second = 0, x = 12345;
    for (unsigned i = 0; i < 20000; i++) {
        x = x * 1103515245 + 12345;
        bool taken = x >> 16 & 1;
        first += go(b, 7, taken ? 3 : 8);
        second += go(b, 20, taken ? 2 : 21);
    }
    /* The first branch is random. */
    assert_in_range(first, 8500, 11500);
    assert_in_range(second, 0, 5000);
    free(b);
}

static void returns_are_predicted_by_the_path_to_them(void **state)
{
    (void)state;
    struct branch *b = predictor();
    unsigned late = 0;
    for (unsigned i = 0; i < 6000; i++) {
        unsigned caller = 100 + i % 3 * 10;
        go(b, caller, 500);
        bool wrong = go(b, 500, caller + 1);
        late += wrong && i >= 100;
    }
    assert_int_equal(late, 0);
    free(b);
}

static void random_targets_are_mostly_mispredicted(void **state)
{
    (void)state;
    struct branch *b = predictor();
    unsigned wrong = 0, x = 99;
    for (unsigned i = 0; i < 10000; i++) {
        x = x * 1103515245 + 12345;
        wrong += go(b, 7, 100 + (x >> 16) % 8);
    }
    assert_in_range(wrong, 8000, 9500);
    free(b);
}

static void more_jumps_than_entries_evict_each_other(void **state)
{
    (void)state;
    struct branch *b = predictor();
    unsigned few = 0, many = 0;
    for (unsigned i = 0; i < 10 * BRANCH_BLOCKS / 8; i++)
        few += go(b, i % (BRANCH_BLOCKS / 8) * 2, 100000);
    for (unsigned i = 0; i < 10 * BRANCH_BLOCKS * 8; i++)
        many += go(b, i % (BRANCH_BLOCKS * 8) * 2, 100000);
    /* Ten rounds each. The few are learnt in the first round, but for those that hash to one
     * entry. */
    assert_in_range(few, BRANCH_BLOCKS / 8, 3 * BRANCH_BLOCKS / 8);
    assert_true(many > 9 * BRANCH_BLOCKS * 8);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_is_never_mispredicted),
        cmocka_unit_test(an_unconditional_jump_is_mispredicted_once),
        cmocka_unit_test(a_loop_much_longer_than_the_history_costs_its_exit),
        cmocka_unit_test(a_pattern_shorter_than_the_history_is_learnt),
        cmocka_unit_test(a_branch_that_repeats_another_is_predicted_from_it),
        cmocka_unit_test(returns_are_predicted_by_the_path_to_them),
        cmocka_unit_test(random_targets_are_mostly_mispredicted),
        cmocka_unit_test(more_jumps_than_entries_evict_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
