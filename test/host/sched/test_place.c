/* Placement by sharing: shapes worked out by hand. */
#include "test/host/double/placing.h"

static const unsigned in_turn[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};

static void equal_groups_come_together_in_balance(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abcdabcdabcdabcd",
                  (const unsigned[]){0, 4, 1, 5, 4, 0, 5, 1, 2, 6, 3, 7, 6, 2, 7, 3});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    for (int c = 0; c < 4; c++)
        assert_true(placing_is_whole(f, c));
    assert_int_equal(placing_on_chip(f, 0), 8);
    assert_int_equal(f->placement.together_after, 1000);
    assert_int_equal(f->placement.migrations, 8);
    placing_assert_even(f);
}

/* Two groups with 7 + 1 and 1 + 7 members on the chips: two migrations put that right. Fourteen
 * would, too. */
static void groups_go_where_most_of_them_are(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaaaaabbbbbbbba",
                  (const unsigned[]){4, 5, 6, 7, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.migrations, 2);
    assert_int_equal(placing_chip_of(f, 0), 1);
    assert_int_equal(placing_chip_of(f, 15), 1);
    assert_int_equal(f->placement.choice[15].why, ASSIGN_JOINS);
    assert_int_equal(f->placement.choice[0].why, ASSIGN_STAYS);
    for (unsigned t = 0; t < 16; t++) {
        if (t != 7 && t != 15)
            assert_int_equal(f->placement.choice[t].cpu, f->thread[t].cpu);
    }
    assert_true(placing_is_whole(f, 0) && placing_is_whole(f, 1));
}

static void unequal_groups_fill_the_chips_evenly(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aabbbcccccdddddd", in_turn);
    placing_run(f, &assign_cluster);
    for (int c = 0; c < 4; c++)
        assert_true(placing_is_whole(f, c));
    assert_int_equal(placing_on_chip(f, 0), 8);
    placing_assert_even(f);
}

static void a_chip_may_have_a_thread_more_than_its_part(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaabbbcccdddeee", in_turn);
    placing_run(f, &assign_cluster);
    for (int c = 0; c < 5; c++)
        assert_true(placing_is_whole(f, c));
    assert_in_range(placing_on_chip(f, 0), 7, 9);
}

static void a_group_larger_than_a_chip_is_left_alone(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaaaaaaaaaaaaaa", in_turn);
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_RIGHT);
    assert_int_equal(f->placement.migrations, 0);
    assert_int_equal(f->placement.cluster_chip[0], ASSIGN_NONE);
}

static void beside_a_group_that_fits_nowhere_a_small_one_still_comes_together(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abaaabaaabaaabaa",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 5, 6, 7});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    assert_true(placing_is_whole(f, 1));
    assert_in_range(placing_on_chip(f, 0), 7, 9);
}

static void groups_that_are_together_are_not_moved(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaabbbbccccdddd",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 3, 2, 1, 0, 7, 6, 5, 4});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_RIGHT);
    assert_int_equal(f->placement.migrations, 0);
}

static void balance_alone_moves_no_group(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaabbbbccccdddd",
                  (const unsigned[]){0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 7, 6, 5, 4});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_RIGHT);
    assert_int_equal(f->placement.migrations, 0);
}

/* Groups on one chip give no samples: here the silent groups c and d, on chips 0 and 1. The
 * clusters a and b change chips around them. */
static void silent_groups_are_not_torn_apart(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abab----ababab----ab",
                  (const unsigned[]){0, 1, 4, 5, 0, 1, 2, 3, 6, 7, 2, 3, 5, 4, 4, 5, 6, 7, 0, 1});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    assert_true(placing_is_whole(f, 0) && placing_is_whole(f, 1));
    for (unsigned t = 0; t < f->in.threads; t++) {
        if (f->thread[t].silent)
            assert_int_equal(f->placement.choice[t].cpu / 4, f->thread[t].cpu / 4);
    }
}

/* Eight threads that share fill a chip. The four silent threads there change chips together. */
static void a_silent_group_moves_whole_if_it_must(void **state)
{
    struct placing *f = *state;
    unsigned silent_on[2] = {0};

    placing_plant(f, "aaaa----aaaa....",
                  (const unsigned[]){0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7});
    placing_run(f, &assign_cluster);
    assert_true(placing_is_whole(f, 0));
    for (unsigned t = 4; t < 8; t++)
        silent_on[placing_chip_of(f, t)]++;
    assert_true(silent_on[0] == 0 || silent_on[1] == 0);
    assert_int_equal(placing_on_chip(f, 0), 8);
}

/* Only the cluster of the last detection tells chip 0 from chip 1: one of the two threads with
 * samples is on each. */
static void silent_partners_of_before_pull_a_group_to_their_chip(void **state)
{
    struct placing *f = *state;

    for (unsigned home = 0; home < 2; home++) {
        unsigned other = 1 - home;
        unsigned cpus[] = {home * 4,  home * 4 + 1,  home * 4 + 2,
                           other * 4, other * 4 + 1, other * 4 + 2};
        placing_plant(f, "--aa..", cpus);
        for (unsigned t = 0; t < 4; t++)
            f->thread[t].last_cluster = 0;
        placing_run(f, &assign_cluster);
        for (unsigned t = 0; t < 4; t++)
            assert_int_equal(placing_chip_of(f, t), home);
        assert_int_equal(f->placement.migrations, 1);
    }
}

static void single_threads_give_way_last_and_only_for_balance(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaaaaaa........",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
    placing_run(f, &assign_cluster);
    assert_true(placing_is_whole(f, 0));
    assert_in_range(placing_on_chip(f, 0), 7, 9);
    for (unsigned t = 8; t < 16; t++)
        assert_true(f->placement.choice[t].why == ASSIGN_STAYS ||
                    f->placement.choice[t].why == ASSIGN_BALANCES);
    placing_plant(f, "aabb....", (const unsigned[]){0, 4, 1, 5, 2, 3, 6, 7});
    placing_run(f, &assign_cluster);
    for (unsigned t = 4; t < 8; t++)
        assert_int_equal(f->placement.choice[t].why, ASSIGN_STAYS);
}

static void without_clusters_no_thread_moves_even_out_of_balance(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "......--", (const unsigned[]){0, 1, 2, 3, 0, 1, 2, 3});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_NO_CLUSTERS);
    assert_int_equal(f->placement.migrations, 0);
}

static void on_one_chip_no_thread_moves(void **state)
{
    struct placing *f = *state;

    placing_build_machine(f, 1, 4, 2);
    placing_plant(f, "abababab", in_turn);
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_ONE_CHIP);
}

static void a_small_gain_moves_no_thread(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaabbbbccccccdd",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 4, 0});
    f->in.weight = f->weight;
    f->weight[0] = f->weight[1] = f->weight[2] = 1000;
    f->weight[3] = 10;
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_NO_GAIN);
    assert_int_equal(f->placement.migrations, 0);
    assert_true(f->placement.together_after > f->placement.together_before);
    f->weight[3] = 1000;
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
}

static void a_second_placement_moves_no_thread(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abcddcbaabcdabcd", in_turn);
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    for (unsigned t = 0; t < 16; t++)
        f->thread[t].cpu = f->placement.choice[t].cpu;
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_RIGHT);
}

static void new_partners_are_brought_together_anew(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaabbbbccccdddd", in_turn);
    placing_run(f, &assign_cluster);
    for (unsigned t = 0; t < 16; t++) {
        f->thread[t].cpu = f->placement.choice[t].cpu;
        f->thread[t].last_cluster = f->thread[t].cluster;
        f->thread[t].cluster = (int)(t % 4);
    }
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    for (int c = 0; c < 4; c++)
        assert_true(placing_is_whole(f, c));
    assert_int_equal(placing_on_chip(f, 0), 8);
}

static void a_pinned_thread_stays_and_draws_its_group(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aabb....", (const unsigned[]){0, 4, 1, 5, 2, 3, 6, 7});
    f->mask[1] = 1 << 4;
    f->thread[1].allowed = &f->mask[1];
    f->mask[0] = 1 << 0 | 1 << 1;
    f->thread[0].allowed = &f->mask[0];
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.choice[1].cpu, 4);
    assert_int_equal(placing_chip_of(f, 0), 0);
    assert_true(placing_is_whole(f, 1));
    assert_true(f->placement.choice[0].why == ASSIGN_FORBIDDEN ||
                f->placement.choice[1].why == ASSIGN_FORBIDDEN);
}

static void a_group_goes_where_most_of_it_may_run(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aaaabbbb........",
                  (const unsigned[]){4, 5, 6, 0, 7, 4, 5, 1, 0, 1, 2, 3, 2, 3, 6, 7});
    for (unsigned t = 4; t < 7; t++) {
        f->mask[t] = 0xf0;
        f->thread[t].allowed = &f->mask[t];
    }
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.cluster_chip[1], 1);
    assert_true(placing_is_whole(f, 0) && placing_is_whole(f, 1));
}

static void within_a_chip_cores_come_before_hardware_threads(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "aabb", (const unsigned[]){0, 4, 1, 5});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    assert_true(placing_is_whole(f, 0) && placing_is_whole(f, 1));
    assert_int_equal(placing_on_chip(f, 0), 2);
    placing_assert_even(f);
}

static void within_a_chip_clusters_keep_to_cores(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abcdabcdabcdabcd",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
    placing_run(f, &assign_cluster);
    for (int c = 0; c < 4; c++)
        assert_int_equal(placing_cores_of(f, c), 1);
    placing_assert_even(f);
}

static void a_cluster_larger_than_a_core_takes_all_of_one_and_leaves_the_rest(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "ccbbaaaaacccccbc",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    for (int c = 0; c < 3; c++) {
        assert_true(placing_is_whole(f, c));
        assert_int_equal(placing_cores_of(f, c), ((const unsigned[]){2, 1, 2})[c]);
    }
    placing_assert_even(f);
}

static void a_thread_that_shares_with_no_other_keeps_its_core(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abab.", (const unsigned[]){0, 4, 4, 0, 3});
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    assert_int_equal(f->placement.choice[4].cpu, 3);
    placing_assert_even(f);
}

/* Such as the first thread, which has started the others and waits for them. */
static void a_thread_that_hardly_runs_takes_no_room(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "-abbcabacba-ccabc",
                  (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 2, 3, 4, 5, 6, 7});
    f->thread[0].load = 20;
    placing_run(f, &assign_cluster);
    assert_int_equal(f->placement.verdict, ASSIGN_MOVE);
    unsigned on_core[4] = {0};
    for (unsigned t = 1; t < f->in.threads; t++)
        on_core[f->cpu[f->placement.choice[t].cpu].core]++;
    for (unsigned core = 0; core < 4; core++)
        assert_int_equal(on_core[core], 4);
}

static void sixteen_groups_find_eight_chips(void **state)
{
    struct placing *f = *state;
    char text[65] = {0};
    unsigned cpus[64];

    placing_build_machine(f, 8, 2, 2);
    for (unsigned t = 0; t < 64; t++) {
        text[t] = (char)('a' + t % 16);
        cpus[t] = t % 32;
    }
    placing_plant(f, text, cpus);
    placing_run(f, &assign_cluster);
    for (int c = 0; c < 16; c++)
        assert_true(placing_is_whole(f, c));
    for (unsigned k = 0; k < 8; k++)
        assert_int_equal(placing_on_chip(f, k), 8);
    placing_assert_even(f);
}

static void hand_placement_goes_by_what_the_application_states(void **state)
{
    struct placing *f = *state;

    placing_plant(f, "abababababababab", in_turn);
    for (unsigned t = 0; t < 16; t++) {
        f->thread[t].cluster = ASSIGN_NONE;
        f->thread[t].stated = (int)(t / 8);
    }
    placing_run(f, &assign_hand);
    for (unsigned t = 0; t < 16; t++)
        assert_int_equal(placing_chip_of(f, t), placing_chip_of(f, t / 8 * 8));
    assert_int_equal(placing_on_chip(f, 0), 8);
}

static void bad_sizes_are_refused(void **state)
{
    struct placement p;
    uint64_t memory[8];

    (void)state;
    assert_int_equal(assign_bytes(0, 1, 1), 0);
    assert_int_equal(assign_bytes(1, 1, ASSIGN_CHIPS_MAX + 1), 0);
    assert_int_equal(assign_init(&p, 0, 1, 1, memory, sizeof memory), -EINVAL);
    assert_int_equal(assign_init(&p, 4, 4, 1, (char *)memory + 1, sizeof memory), -EINVAL);
    assert_int_equal(assign_init(&p, 4, 4, 1, memory, sizeof memory), -ENOMEM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, placing_set_up, placing_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_groups_come_together_in_balance),
        TEST(groups_go_where_most_of_them_are),
        TEST(unequal_groups_fill_the_chips_evenly),
        TEST(a_chip_may_have_a_thread_more_than_its_part),
        TEST(balance_alone_moves_no_group),
        TEST(a_group_goes_where_most_of_it_may_run),
        TEST(a_group_larger_than_a_chip_is_left_alone),
        TEST(beside_a_group_that_fits_nowhere_a_small_one_still_comes_together),
        TEST(groups_that_are_together_are_not_moved),
        TEST(silent_groups_are_not_torn_apart),
        TEST(a_silent_group_moves_whole_if_it_must),
        TEST(silent_partners_of_before_pull_a_group_to_their_chip),
        TEST(single_threads_give_way_last_and_only_for_balance),
        TEST(without_clusters_no_thread_moves_even_out_of_balance),
        TEST(on_one_chip_no_thread_moves),
        TEST(a_small_gain_moves_no_thread),
        TEST(a_second_placement_moves_no_thread),
        TEST(new_partners_are_brought_together_anew),
        TEST(a_pinned_thread_stays_and_draws_its_group),
        TEST(within_a_chip_cores_come_before_hardware_threads),
        TEST(within_a_chip_clusters_keep_to_cores),
        TEST(a_cluster_larger_than_a_core_takes_all_of_one_and_leaves_the_rest),
        TEST(a_thread_that_shares_with_no_other_keeps_its_core),
        TEST(a_thread_that_hardly_runs_takes_no_room),
        TEST(sixteen_groups_find_eight_chips),
        TEST(hand_placement_goes_by_what_the_application_states),
        TEST(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
