/* When a placement is taken back: single rules, and random operations against an oracle that keeps
 * all looks of a trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "apps/common/prng.h"
#include "sched/sharing/policy/assign_trial.h"

enum { THRESHOLD = 50 };

static enum assign_trial_verdict look(struct assign_trial *t, unsigned permille)
{
    return assign_trial_look(t, permille, THRESHOLD);
}

static void two_worse_looks_in_succession_fail(void **state)
{
    struct assign_trial t;

    (void)state;
    assign_trial_begin(&t, 60);
    assert_true(assign_trial_is_on(&t));
    assert_int_equal(look(&t, 101), ASSIGN_TRIAL_GOES_ON);
    assert_int_equal(look(&t, 101), ASSIGN_TRIAL_FAILED);
    assert_false(assign_trial_is_on(&t));
}

static void one_worse_look_is_forgotten_by_a_better_one(void **state)
{
    struct assign_trial t;

    (void)state;
    assign_trial_begin(&t, 60);
    for (unsigned i = 0; i < ASSIGN_TRIAL_LOOKS - 1; i++)
        assert_int_equal(look(&t, i % 2 ? 10 : 900), ASSIGN_TRIAL_GOES_ON);
    assert_int_equal(look(&t, 10), ASSIGN_TRIAL_PASSED);
    assert_false(assign_trial_is_on(&t));
}

static void growth_by_half_and_ten_permille_is_not_worse(void **state)
{
    struct assign_trial t;

    (void)state;
    assign_trial_begin(&t, 60);
    for (unsigned i = 1; i < ASSIGN_TRIAL_LOOKS; i++)
        assert_int_equal(look(&t, 100), ASSIGN_TRIAL_GOES_ON);
    assert_int_equal(look(&t, 100), ASSIGN_TRIAL_PASSED);
}

static void stalls_below_the_threshold_are_not_worse(void **state)
{
    struct assign_trial t;

    (void)state;
    assign_trial_begin(&t, 1);
    for (unsigned i = 1; i < ASSIGN_TRIAL_LOOKS; i++)
        assert_int_equal(look(&t, THRESHOLD - 1), ASSIGN_TRIAL_GOES_ON);
    assert_int_equal(look(&t, THRESHOLD), ASSIGN_TRIAL_PASSED);
}

static void moving_more_threads_begins_the_looks_again(void **state)
{
    struct assign_trial t;

    (void)state;
    assign_trial_begin(&t, 60);
    assert_int_equal(look(&t, 200), ASSIGN_TRIAL_GOES_ON);
    assign_trial_extend(&t);
    assert_int_equal(look(&t, 200), ASSIGN_TRIAL_GOES_ON);
    assert_int_equal(look(&t, 200), ASSIGN_TRIAL_FAILED);
}

/* The looks of a trial, judged anew from all of them. */
struct oracle {
    unsigned before, looks, seen[ASSIGN_TRIAL_LOOKS];
};

static bool worse(const struct oracle *o, unsigned look)
{
    return o->seen[look] >= THRESHOLD && 2 * o->seen[look] > 3 * o->before + 20;
}

static enum assign_trial_verdict expected(const struct oracle *o)
{
    unsigned n = o->looks;

    if (n >= 2 && worse(o, n - 1) && worse(o, n - 2))
        return ASSIGN_TRIAL_FAILED;
    return n == ASSIGN_TRIAL_LOOKS ? ASSIGN_TRIAL_PASSED : ASSIGN_TRIAL_GOES_ON;
}

static void random_looks_are_judged_as_by_the_oracle(void **state)
{
    struct prng prng = prng_seeded(27, 0);
    struct assign_trial t = {0};
    struct oracle o = {0};
    unsigned seen[3] = {0};

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        if (!assign_trial_is_on(&t)) {
            o = (struct oracle){.before = prng_below(&prng, 200)};
            assign_trial_begin(&t, o.before);
        } else if (prng_below(&prng, 16) == 0) {
            o.looks = 0;
            assign_trial_extend(&t);
        }
        o.seen[o.looks++] = prng_below(&prng, prng_below(&prng, 2) ? 1000 : 3 * o.before + 20);
        enum assign_trial_verdict verdict = look(&t, o.seen[o.looks - 1]);
        assert_int_equal(verdict, expected(&o));
        assert_int_equal(assign_trial_is_on(&t), verdict == ASSIGN_TRIAL_GOES_ON);
        seen[verdict]++;
    }
    for (unsigned i = 0; i < 3; i++)
        assert_true(seen[i] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_worse_looks_in_succession_fail),
        cmocka_unit_test(one_worse_look_is_forgotten_by_a_better_one),
        cmocka_unit_test(growth_by_half_and_ten_permille_is_not_worse),
        cmocka_unit_test(stalls_below_the_threshold_are_not_worse),
        cmocka_unit_test(moving_more_threads_begins_the_looks_again),
        cmocka_unit_test(random_looks_are_judged_as_by_the_oracle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
