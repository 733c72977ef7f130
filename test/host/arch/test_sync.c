/* Invented clocks with known differences: the bounds contain the differences, and the corrections
 * make the clocks agree. */
#include "test/host/double/expect_panic.h"
#include "kernel/arch/sync.h"

#define ROUNDS 16

/* Makes rounds of up to 1000 ticks each way; the other clock is ahead by `offset`. */
static void make_rounds(struct sync_round *r, unsigned n, int64_t offset, uint64_t start,
                        uint64_t *seed)
{
    uint64_t now = start;

    for (unsigned i = 0; i < n; i++) {
        r[i].asked = now += test_random(seed) % 100;
        r[i].answered = (now += test_random(seed) % 1000) + (uint64_t)offset;
        r[i].heard = now += test_random(seed) % 1000;
    }
}

static void the_difference_lies_between_the_bounds(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        struct sync_round r[ROUNDS];
        int64_t offset = (int64_t)test_random(&seed) >> test_random(&seed) % 64;
        unsigned n = 1 + test_random(&seed) % ROUNDS;
        make_rounds(r, n, offset, test_random(&seed), &seed);
        struct sync_bounds b = sync_bounds(r, n);
        assert_true(b.low <= offset && offset <= b.high);
        assert_true(b.high - b.low <= 2000);
    }
}

static void equal_clocks_agree_and_are_never_corrected_for_nothing(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        struct sync_round r[ROUNDS];
        make_rounds(r, ROUNDS, 0, UINT64_MAX - 5000 + i, &seed); /* the clock passes zero, too */
        assert_true(sync_agrees(sync_bounds(r, ROUNDS)));
    }
}

static void a_difference_larger_than_any_round_is_seen_and_corrected(void **state)
{
    static const int64_t offsets[] = {2001, -2001, 1000000, -1000000, INT64_MAX / 2, INT64_MIN / 2};
    uint64_t seed = 11;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(offsets); i++) {
        struct sync_round r[ROUNDS];
        make_rounds(r, ROUNDS, offsets[i], 1 << 20, &seed);
        struct sync_bounds b = sync_bounds(r, ROUNDS);
        assert_false(sync_agrees(b));
        int64_t left = offsets[i] + sync_correction(b);
        assert_true(left >= -1000 && left <= 1000);
        make_rounds(r, ROUNDS, left, 1 << 21, &seed);
        b = sync_bounds(r, ROUNDS);
        assert_true(b.low <= left && left <= b.high);
    }
}

static void more_rounds_make_narrower_bounds(void **state)
{
    struct sync_round r[ROUNDS];
    uint64_t seed = 13;

    (void)state;
    make_rounds(r, ROUNDS, 5, 1000, &seed);
    for (unsigned n = 2; n <= ROUNDS; n++) {
        struct sync_bounds few = sync_bounds(r, n - 1), many = sync_bounds(r, n);
        assert_true(many.low >= few.low && many.high <= few.high);
    }
}

static void clocks_of_different_speed_contradict_themselves(void **state)
{
    static const struct sync_round r[] = {{100, 100, 110}, {1000, 2000, 1010}};

    (void)state;
    struct sync_bounds b = sync_bounds(r, ARRAY_SIZE(r));
    assert_true(b.low > b.high);
    assert_false(sync_agrees(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_difference_lies_between_the_bounds),
        cmocka_unit_test(equal_clocks_agree_and_are_never_corrected_for_nothing),
        cmocka_unit_test(a_difference_larger_than_any_round_is_seen_and_corrected),
        cmocka_unit_test(more_rounds_make_narrower_bounds),
        cmocka_unit_test(clocks_of_different_speed_contradict_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
