/* How rounds are cut, and the order of turns in them. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/mux_config.h"

static struct mux_rounds rounds_of(unsigned groups, unsigned passes, const uint8_t *share)
{
    struct mux_config c = config_of(passes, share);
    struct mux_rounds r;

    assert_int_equal(mux_rounds_init(&r, &c, groups), 0);
    return r;
}

static void rounds_are_cut_into_passes_and_slices(void **state)
{
    static const uint8_t share[GROUPS] = {1, 2, 3, 1};
    struct mux_rounds r = rounds_of(GROUPS, 5, share);

    (void)state;
    assert_int_equal(r.slots, 7);
    assert_int_equal(r.pass, ROUND / 5);
    assert_int_equal(r.slice, ROUND / 5 / 7);
    struct mux_config c = config_of(5, share);
    c.published = true;
    assert_int_equal(mux_rounds_init(&r, &c, GROUPS), 0);
    assert_int_equal(r.passes, 1);
    assert_int_equal(r.slots, GROUPS);
    assert_int_equal(r.slice, ROUND / GROUPS);
}

static void rounds_that_cannot_be_cut_are_refused(void **state)
{
    struct mux_config good = config_of(1, NULL), c;
    struct mux_rounds r;

    (void)state;
    good.round = GROUP_MAX * MUX_SLICE_MIN;
    assert_int_equal(mux_rounds_init(&r, &good, GROUP_MAX), 0);
    assert_int_equal(mux_rounds_init(&r, &good, 0), -EINVAL);
    assert_int_equal(mux_rounds_init(&r, &good, GROUP_MAX + 1), -EINVAL);
    c = good;
    c.round--;
    assert_int_equal(mux_rounds_init(&r, &c, GROUP_MAX), -ERANGE);
    c.round = 0;
    assert_int_equal(mux_rounds_init(&r, &c, 1), -EINVAL);
    c.round = MUX_ROUND_MAX + 1;
    assert_int_equal(mux_rounds_init(&r, &c, 1), -EINVAL);
    c = good;
    c.passes = 0;
    assert_int_equal(mux_rounds_init(&r, &c, 1), -EINVAL);
    c.passes = MUX_PASSES_MAX + 1;
    assert_int_equal(mux_rounds_init(&r, &c, 1), -EINVAL);
    c = good;
    c.unit = MUX_INSTRUCTIONS + 1;
    assert_int_equal(mux_rounds_init(&r, &c, 1), -EINVAL);
    c = good;
    c.share[3] = 0;
    assert_int_equal(mux_rounds_init(&r, &c, 3), 0);
    assert_int_equal(mux_rounds_init(&r, &c, 4), -EINVAL);
    c.share[3] = MUX_SHARE_MAX + 1;
    assert_int_equal(mux_rounds_init(&r, &c, 4), -EINVAL);
    c.round = MUX_ROUND_MAX;
    memset(c.share, 5, sizeof c.share);
    assert_int_equal(mux_rounds_init(&r, &c, MUX_SLOTS_MAX / 5), 0);
    assert_int_equal(mux_rounds_init(&r, &c, MUX_SLOTS_MAX / 5 + 1), -EINVAL);
}

static void each_group_has_its_share_of_every_pass_and_orders_differ(void **state)
{
    static const uint8_t share[GROUPS] = {1, 2, 3, 1};
    struct mux_rounds r = rounds_of(GROUPS, 3, share);
    struct mux_turns t;
    uint8_t before[MUX_SLOTS_MAX];
    unsigned same = 0;

    (void)state;
    mux_turns_init(&t, &r, 1);
    for (unsigned pass = 0; pass < 300; pass++) {
        unsigned slices[GROUPS] = {0};
        memcpy(before, t.order, sizeof before);
        for (unsigned i = 0; i < r.slots; i++) {
            assert_null(mux_turns_check(&t, &r));
            slices[mux_turns_group(&t)]++;
            enum mux_step expected = i + 1 < r.slots ? MUX_SLICE_ENDS
                                     : pass % 3 < 2  ? MUX_PASS_ENDS
                                                     : MUX_ROUND_ENDS;
            assert_int_equal(mux_turns_next(&t, &r), expected);
        }
        for (unsigned g = 0; g < GROUPS; g++)
            assert_int_equal(slices[g], share[g]);
        same += !memcmp(before, t.order, r.slots);
    }
    assert_in_range(same, 0, 6); /* of 420 orders that look different */
}

/* Chi-squared over 4 x 4 cells with 9 degrees of freedom: beyond 28 once in a thousand. */
static void every_group_is_as_likely_in_every_place(void **state)
{
    struct mux_rounds r = rounds_of(GROUPS, 1, NULL);
    struct mux_turns t;
    unsigned times[GROUPS][GROUPS] = {{0}}, passes = 8000;
    double chi2 = 0;

    (void)state;
    mux_turns_init(&t, &r, 7);
    for (unsigned i = 0; i < passes * GROUPS; i++) {
        times[t.position][mux_turns_group(&t)]++;
        mux_turns_next(&t, &r);
    }
    for (unsigned i = 0; i < GROUPS * GROUPS; i++) {
        double expected = (double)passes / GROUPS, off = times[i / GROUPS][i % GROUPS] - expected;
        chi2 += off * off / expected;
    }
    assert_true(chi2 < 28);
}

static void turns_of_different_seeds_differ(void **state)
{
    struct mux_rounds r = rounds_of(16, 1, NULL);
    struct mux_turns a, b;

    (void)state;
    for (uint64_t s = 0; s < 100; s++) {
        mux_turns_init(&a, &r, s);
        mux_turns_init(&b, &r, s + 1);
        mux_turns_next(&a, &r);
        assert_null(mux_turns_check(&a, &r));
        assert_memory_not_equal(a.order, b.order, 16);
    }
}

static void a_slice_ends_when_it_is_spent_in_whatever_pieces(void **state)
{
    struct mux_rounds r = rounds_of(GROUPS, 4, NULL);
    struct mux_turns t;

    (void)state;
    mux_turns_init(&t, &r, 3);
    for (unsigned slice = 0; slice < 1000; slice++) {
        uint64_t spent = 0;
        unsigned group = mux_turns_group(&t);
        enum mux_step step = MUX_STAYS;
        while (step == MUX_STAYS) {
            assert_int_equal(mux_turns_group(&t), group);
            assert_int_equal(t.left, r.slice - spent);
            uint64_t piece = below(r.slice);
            spent += piece;
            step = mux_turns_spend(&t, &r, piece);
            assert_null(mux_turns_check(&t, &r));
        }
        assert_true(spent >= r.slice);
        assert_int_equal(t.left, r.slice); /* an overrun shortens no other slice */
    }
}

static void a_cut_says_which_groups_had_no_part_of_the_pass(void **state)
{
    struct mux_rounds r = rounds_of(GROUPS, 2, NULL);
    struct mux_turns t;

    (void)state;
    mux_turns_init(&t, &r, 9);
    for (unsigned i = 0; i < 500; i++) {
        uint64_t unseen = (1u << GROUPS) - 1;
        unsigned slices = (unsigned)below(GROUPS);
        for (unsigned s = 0; s < slices; s++) {
            unseen &= ~(1ull << mux_turns_group(&t));
            mux_turns_next(&t, &r);
        }
        if (below(2)) {
            unseen &= ~(1ull << mux_turns_group(&t));
            mux_turns_spend(&t, &r, 1);
        }
        assert_int_equal(mux_turns_cut(&t, &r), unseen);
        assert_null(mux_turns_check(&t, &r));
        assert_int_equal(t.position + t.pass, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rounds_are_cut_into_passes_and_slices, mux_set_up),
        cmocka_unit_test_setup(rounds_that_cannot_be_cut_are_refused, mux_set_up),
        cmocka_unit_test_setup(each_group_has_its_share_of_every_pass_and_orders_differ,
                               mux_set_up),
        cmocka_unit_test_setup(every_group_is_as_likely_in_every_place, mux_set_up),
        cmocka_unit_test_setup(turns_of_different_seeds_differ, mux_set_up),
        cmocka_unit_test_setup(a_slice_ends_when_it_is_spent_in_whatever_pieces, mux_set_up),
        cmocka_unit_test_setup(a_cut_says_which_groups_had_no_part_of_the_pass, mux_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
