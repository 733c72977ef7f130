/* Placement by sharing: shapes worked out by hand, and random ones against rules and an exhaustive search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/prng.h"
#include "sched/place.h"

enum { THREADS = 256, CPUS = 64, CHIPS = 8 };

void panic(const char *fmt, ...)
{
    (void)fmt;
    fail_msg("panic");
    abort();
}

struct fixture {
    struct place_cpu cpu[CPUS];
    struct place_topology topology;
    struct place_thread thread[THREADS];
    uint64_t weight[THREADS];
    uint64_t mask[THREADS];
    struct place_input in;
    struct placement placement;
    void *memory;
};

/* chips x cores x hardware threads, CPUs numbered in that order. */
static void build_machine(struct fixture *f, unsigned chips, unsigned cores, unsigned hw)
{
    f->topology = (struct place_topology){
        .cpus = chips * cores * hw, .chips = chips, .cores = chips * cores, .cpu = f->cpu};
    for (unsigned i = 0; i < f->topology.cpus; i++)
        f->cpu[i] = (struct place_cpu){.chip = (uint16_t)(i / (cores * hw)), .core = (uint16_t)(i / hw)};
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    size_t bytes = place_bytes(THREADS, CPUS, CHIPS);

    f->memory = malloc(bytes);
    assert_int_equal(place_init(&f->placement, THREADS, CPUS, CHIPS, f->memory, bytes), 0);
    build_machine(f, 2, 2, 2);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->memory);
    free(f);
    return 0;
}

/* Clusters as a text, a letter a thread, '.' for one that shares with nobody, '-' for a silent one; and the CPU of
 * thread i is cpus[i]. */
static void plant(struct fixture *f, const char *clusters, const unsigned *cpus)
{
    f->in = (struct place_input){.topology = &f->topology,
                                 .thread = f->thread,
                                 .threads = (unsigned)strlen(clusters),
                                 .slack_permille = PLACE_SLACK_PERMILLE,
                                 .min_gain_permille = PLACE_MIN_GAIN_PERMILLE};
    for (unsigned t = 0; t < f->in.threads; t++) {
        char letter = clusters[t];
        int cluster = letter >= 'a' ? letter - 'a' : PLACE_NONE;
        f->thread[t] = (struct place_thread){.cpu = cpus[t],
                                             .cluster = cluster,
                                             .last_cluster = PLACE_NONE,
                                             .stated = PLACE_NONE,
                                             .silent = letter == '-',
                                             .load = PLACE_LOAD_FULL};
        if (cluster != PLACE_NONE && (unsigned)cluster >= f->in.clusters)
            f->in.clusters = (unsigned)cluster + 1;
    }
}

static void run(struct fixture *f, const struct place_policy *policy)
{
    const char *broken;

    policy->place(&f->placement, &f->in);
    broken = place_check(&f->placement, &f->in);
    if (broken)
        fail_msg("%s", broken);
}

static unsigned chip_of(const struct fixture *f, unsigned t)
{
    return f->placement.choice[t].chip;
}

static unsigned on_chip(const struct fixture *f, unsigned chip)
{
    unsigned n = 0;

    for (unsigned t = 0; t < f->in.threads; t++)
        n += chip_of(f, t) == chip;
    return n;
}

static bool is_whole(const struct fixture *f, int cluster)
{
    int chip = -1;

    for (unsigned t = 0; t < f->in.threads; t++) {
        if (f->thread[t].cluster != cluster)
            continue;
        if (chip >= 0 && (int)chip_of(f, t) != chip)
            return false;
        chip = (int)chip_of(f, t);
    }
    return true;
}

static void assert_even_within_chips(const struct fixture *f)
{
    unsigned core[CPUS] = {0}, cpu[CPUS] = {0};

    for (unsigned t = 0; t < f->in.threads; t++) {
        cpu[f->placement.choice[t].cpu]++;
        core[f->cpu[f->placement.choice[t].cpu].core]++;
    }
    for (unsigned a = 0; a < f->topology.cpus; a++) {
        for (unsigned b = 0; b < f->topology.cpus; b++) {
            if (f->cpu[a].chip == f->cpu[b].chip)
                assert_true(core[f->cpu[a].core] <= core[f->cpu[b].core] + 1);
            if (f->cpu[a].core == f->cpu[b].core)
                assert_true(cpu[a] <= cpu[b] + 1);
        }
    }
}

static const unsigned in_turn[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};

static void equal_groups_come_together_in_balance(void **state)
{
    struct fixture *f = *state;

    plant(f, "abcdabcdabcdabcd", (const unsigned[]){0, 4, 1, 5, 4, 0, 5, 1, 2, 6, 3, 7, 6, 2, 7, 3});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
    for (int c = 0; c < 4; c++)
        assert_true(is_whole(f, c));
    assert_int_equal(on_chip(f, 0), 8);
    assert_int_equal(f->placement.together_after, 1000);
    assert_int_equal(f->placement.migrations, 8);
    assert_even_within_chips(f);
}

/* Two groups with 7 + 1 and 1 + 7 members on the chips: two migrations put that right, sixteen minus two would too. */
static void groups_go_where_most_of_them_are(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaaaaabbbbbbbba", (const unsigned[]){4, 5, 6, 7, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3});
    run(f, &place_cluster);
    assert_int_equal(f->placement.migrations, 2);
    assert_int_equal(chip_of(f, 0), 1);
    assert_int_equal(chip_of(f, 15), 1);
    assert_int_equal(f->placement.choice[15].why, PLACE_JOINS);
    assert_int_equal(f->placement.choice[0].why, PLACE_STAYS);
    for (unsigned t = 0; t < 16; t++) {
        if (t != 7 && t != 15)
            assert_int_equal(f->placement.choice[t].cpu, f->thread[t].cpu);
    }
    assert_true(is_whole(f, 0) && is_whole(f, 1));
}

static void unequal_groups_fill_the_chips_evenly(void **state)
{
    struct fixture *f = *state;

    plant(f, "aabbbcccccdddddd", in_turn);
    run(f, &place_cluster);
    for (int c = 0; c < 4; c++)
        assert_true(is_whole(f, c));
    assert_int_equal(on_chip(f, 0), 8);
    assert_even_within_chips(f);
}

static void a_chip_may_have_a_thread_more_than_its_part(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaabbbcccdddeee", in_turn);
    run(f, &place_cluster);
    for (int c = 0; c < 5; c++)
        assert_true(is_whole(f, c));
    assert_in_range(on_chip(f, 0), 7, 9);
}

static void a_group_larger_than_a_chip_is_left_alone(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaaaaaaaaaaaaaa", in_turn);
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_RIGHT);
    assert_int_equal(f->placement.migrations, 0);
    assert_int_equal(f->placement.cluster_chip[0], PLACE_NONE);
}

static void beside_a_group_that_fits_nowhere_a_small_one_still_comes_together(void **state)
{
    struct fixture *f = *state;

    plant(f, "abaaabaaabaaabaa", (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 5, 6, 7});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
    assert_true(is_whole(f, 1));
    assert_in_range(on_chip(f, 0), 7, 9);
}

static void groups_that_are_together_are_not_moved(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaabbbbccccdddd", (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 3, 2, 1, 0, 7, 6, 5, 4});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_RIGHT);
    assert_int_equal(f->placement.migrations, 0);
}

static void balance_alone_moves_no_group(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaabbbbccccdddd", (const unsigned[]){0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 7, 6, 5, 4});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_RIGHT);
    assert_int_equal(f->placement.migrations, 0);
}

/* Groups on one chip give no samples: here c and d of the chips 0 and 1, silent.  a and b change places around them. */
static void silent_groups_are_not_torn_apart(void **state)
{
    struct fixture *f = *state;

    plant(f, "abab----ababab----ab",
          (const unsigned[]){0, 1, 4, 5, 0, 1, 2, 3, 6, 7, 2, 3, 5, 4, 4, 5, 6, 7, 0, 1});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
    assert_true(is_whole(f, 0) && is_whole(f, 1));
    for (unsigned t = 0; t < f->in.threads; t++) {
        if (f->thread[t].silent)
            assert_int_equal(f->placement.choice[t].cpu / 4, f->thread[t].cpu / 4);
    }
}

/* Eight that share fill a chip; the silent four there change chips as one, not one by one. */
static void a_silent_group_moves_whole_if_it_must(void **state)
{
    struct fixture *f = *state;
    unsigned silent_on[2] = {0};

    plant(f, "aaaa----aaaa....", (const unsigned[]){0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7});
    run(f, &place_cluster);
    assert_true(is_whole(f, 0));
    for (unsigned t = 4; t < 8; t++)
        silent_on[chip_of(f, t)]++;
    assert_true(silent_on[0] == 0 || silent_on[1] == 0);
    assert_int_equal(on_chip(f, 0), 8);
}

/* Without the memory of the last detection chip 1 would do as well: one of the two that give samples is there. */
static void silent_partners_of_before_pull_a_group_to_their_chip(void **state)
{
    struct fixture *f = *state;

    for (unsigned home = 0; home < 2; home++) {
        unsigned other = 1 - home;
        unsigned cpus[] = {home * 4, home * 4 + 1, home * 4 + 2, other * 4, other * 4 + 1, other * 4 + 2};
        plant(f, "--aa..", cpus);
        for (unsigned t = 0; t < 4; t++)
            f->thread[t].last_cluster = 0;
        run(f, &place_cluster);
        for (unsigned t = 0; t < 4; t++)
            assert_int_equal(chip_of(f, t), home);
        assert_int_equal(f->placement.migrations, 1);
    }
}

static void single_threads_give_way_last_and_only_for_balance(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaaaaaa........", (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
    run(f, &place_cluster);
    assert_true(is_whole(f, 0));
    assert_in_range(on_chip(f, 0), 7, 9);
    for (unsigned t = 8; t < 16; t++)
        assert_true(f->placement.choice[t].why == PLACE_STAYS ||
                    f->placement.choice[t].why == PLACE_BALANCES);
    plant(f, "aabb....", (const unsigned[]){0, 4, 1, 5, 2, 3, 6, 7});
    run(f, &place_cluster);
    for (unsigned t = 4; t < 8; t++)
        assert_int_equal(f->placement.choice[t].why, PLACE_STAYS);
}

static void without_clusters_nobody_moves_even_out_of_balance(void **state)
{
    struct fixture *f = *state;

    plant(f, "......--", (const unsigned[]){0, 1, 2, 3, 0, 1, 2, 3});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_NO_CLUSTERS);
    assert_int_equal(f->placement.migrations, 0);
}

static void on_one_chip_nobody_moves(void **state)
{
    struct fixture *f = *state;

    build_machine(f, 1, 4, 2);
    plant(f, "abababab", in_turn);
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_ONE_CHIP);
}

static void a_small_gain_moves_nobody(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaabbbbccccccdd", (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 4, 0});
    f->in.weight = f->weight;
    f->weight[0] = f->weight[1] = f->weight[2] = 1000;
    f->weight[3] = 10;
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_NO_GAIN);
    assert_int_equal(f->placement.migrations, 0);
    assert_true(f->placement.together_after > f->placement.together_before);
    f->weight[3] = 1000;
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
}

static void after_a_placement_the_next_moves_nobody(void **state)
{
    struct fixture *f = *state;

    plant(f, "abcddcbaabcdabcd", in_turn);
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
    for (unsigned t = 0; t < 16; t++)
        f->thread[t].cpu = f->placement.choice[t].cpu;
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_RIGHT);
}

static void new_partners_are_brought_together_anew(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaabbbbccccdddd", in_turn);
    run(f, &place_cluster);
    for (unsigned t = 0; t < 16; t++) {
        f->thread[t].cpu = f->placement.choice[t].cpu;
        f->thread[t].last_cluster = f->thread[t].cluster;
        f->thread[t].cluster = (int)(t % 4);
    }
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
    for (int c = 0; c < 4; c++)
        assert_true(is_whole(f, c));
    assert_int_equal(on_chip(f, 0), 8);
}

static void a_pinned_thread_stays_and_draws_its_group(void **state)
{
    struct fixture *f = *state;

    plant(f, "aabb....", (const unsigned[]){0, 4, 1, 5, 2, 3, 6, 7});
    f->mask[1] = 1 << 4;
    f->thread[1].allowed = &f->mask[1];
    f->mask[0] = 1 << 0 | 1 << 1;
    f->thread[0].allowed = &f->mask[0];
    run(f, &place_cluster);
    assert_int_equal(f->placement.choice[1].cpu, 4);
    assert_int_equal(chip_of(f, 0), 0);
    assert_true(is_whole(f, 1));
    assert_true(f->placement.choice[0].why == PLACE_FORBIDDEN ||
                f->placement.choice[1].why == PLACE_FORBIDDEN);
}

static void a_group_goes_where_most_of_it_may_run(void **state)
{
    struct fixture *f = *state;

    plant(f, "aaaabbbb........", (const unsigned[]){4, 5, 6, 0, 7, 4, 5, 1, 0, 1, 2, 3, 2, 3, 6, 7});
    for (unsigned t = 4; t < 7; t++) {
        f->mask[t] = 0xf0;
        f->thread[t].allowed = &f->mask[t];
    }
    run(f, &place_cluster);
    assert_int_equal(f->placement.cluster_chip[1], 1);
    assert_true(is_whole(f, 0) && is_whole(f, 1));
}

static void within_a_chip_cores_come_before_hardware_threads(void **state)
{
    struct fixture *f = *state;

    plant(f, "aabb", (const unsigned[]){0, 4, 1, 5});
    run(f, &place_cluster);
    assert_int_equal(f->placement.verdict, PLACE_MOVE);
    assert_true(is_whole(f, 0) && is_whole(f, 1));
    assert_int_equal(on_chip(f, 0), 2);
    assert_even_within_chips(f);
}

static void sixteen_groups_find_eight_chips(void **state)
{
    struct fixture *f = *state;
    char text[65] = {0};
    unsigned cpus[64];

    build_machine(f, 8, 2, 2);
    for (unsigned t = 0; t < 64; t++) {
        text[t] = (char)('a' + t % 16);
        cpus[t] = t % 32;
    }
    plant(f, text, cpus);
    run(f, &place_cluster);
    for (int c = 0; c < 16; c++)
        assert_true(is_whole(f, c));
    for (unsigned k = 0; k < 8; k++)
        assert_int_equal(on_chip(f, k), 8);
    assert_even_within_chips(f);
}

static void round_robin_goes_by_creation_and_respects_affinity(void **state)
{
    struct fixture *f = *state;

    plant(f, "..........", (const unsigned[]){7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
    f->mask[2] = 1 << 5;
    f->thread[2].allowed = &f->mask[2];
    run(f, &place_roundrobin);
    for (unsigned t = 0; t < 10; t++)
        assert_int_equal(f->placement.choice[t].cpu, t == 2 ? 5 : t % 8);
}

static void hand_placement_goes_by_what_the_application_states(void **state)
{
    struct fixture *f = *state;

    plant(f, "abababababababab", in_turn);
    for (unsigned t = 0; t < 16; t++) {
        f->thread[t].cluster = PLACE_NONE;
        f->thread[t].stated = (int)(t / 8);
    }
    run(f, &place_hand);
    for (unsigned t = 0; t < 16; t++)
        assert_int_equal(chip_of(f, t), chip_of(f, t / 8 * 8));
    assert_int_equal(on_chip(f, 0), 8);
    run(f, &place_default);
    assert_int_equal(f->placement.migrations, 0);
}

/* ---- random shapes ---- */

/* Fewest migrations of any assignment of whole equal groups to chips, by trying all. */
static unsigned fewest_migrations(const struct fixture *f, unsigned groups, unsigned group, unsigned *room)
{
    unsigned best = UINT32_MAX;

    if (group == groups)
        return 0;
    for (unsigned k = 0; k < f->topology.chips; k++) {
        unsigned moves = 0, rest;
        if (room[k] == 0)
            continue;
        for (unsigned t = 0; t < f->in.threads; t++)
            moves += f->thread[t].cluster == (int)group && f->cpu[f->thread[t].cpu].chip != k;
        room[k]--;
        rest = fewest_migrations(f, groups, group + 1, room);
        room[k]++;
        if (rest != UINT32_MAX && moves + rest < best)
            best = moves + rest;
    }
    return best;
}

static void equal_groups_move_hardly_more_than_they_must(void **state)
{
    struct fixture *f = *state;
    uint64_t needed = 0, made = 0;

    build_machine(f, 4, 2, 2);
    for (unsigned seed = 0; seed < 200; seed++) {
        struct prng prng = prng_seeded(seed, 3);
        unsigned room[4] = {2, 2, 2, 2}, cpus[32];
        char text[33] = {0};
        for (unsigned t = 0; t < 32; t++) {
            text[t] = (char)('a' + t % 8);
            cpus[t] = t % 16;
        }
        for (unsigned t = 32; t > 1; t--) {
            unsigned u = prng_below(&prng, t), was = cpus[u];
            cpus[u] = cpus[t - 1];
            cpus[t - 1] = was;
        }
        plant(f, text, cpus);
        run(f, &place_cluster);
        for (int c = 0; c < 8; c++)
            assert_true(is_whole(f, c));
        unsigned best = fewest_migrations(f, 8, 0, room);
        assert_true(f->placement.migrations >= best);
        assert_true(f->placement.migrations <= best + 4);
        needed += best;
        made += f->placement.migrations;
    }
    assert_true(made * 100 <= needed * 103);
}

/* One thread is in the wrong place; loads are as measured, a little apart. */
static void loads_that_hardly_differ_do_not_exchange_clusters(void **state)
{
    struct fixture *f = *state;

    for (unsigned seed = 0; seed < 200; seed++) {
        struct prng prng = prng_seeded(seed, 4);
        unsigned cpus[16] = {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 0};
        plant(f, "aaaabbbbccccdddd", cpus);
        for (unsigned t = 0; t < 16; t++)
            f->thread[t].load = PLACE_LOAD_FULL - prng_below(&prng, 100);
        run(f, &place_cluster);
        assert_int_equal(f->placement.migrations, 1);
    }
}

/* Threads that have just been created have hardly used any time. */
static void young_groups_are_spread_over_the_chips_too(void **state)
{
    struct fixture *f = *state;

    for (unsigned seed = 0; seed < 200; seed++) {
        struct prng prng = prng_seeded(seed, 5);
        unsigned cpus[16];
        for (unsigned t = 0; t < 16; t++)
            cpus[t] = prng_below(&prng, 8);
        plant(f, "aaaaaaaabbbbbbbb", cpus);
        for (unsigned t = 0; t < 16; t++)
            f->thread[t].load = 1 + prng_below(&prng, 2);
        run(f, &place_cluster);
        assert_true(is_whole(f, 0) && is_whole(f, 1));
        assert_int_not_equal(f->placement.choice[0].chip, f->placement.choice[8].chip);
    }
}

static void randomise(struct fixture *f, struct prng *prng)
{
    static char text[THREADS + 1];
    static unsigned cpus[THREADS];
    unsigned threads = 1 + prng_below(prng, 96), groups = 1 + prng_below(prng, 12);

    build_machine(f, 1 + prng_below(prng, CHIPS), 1 + prng_below(prng, 3), 1 + prng_below(prng, 2));
    for (unsigned t = 0; t < threads; t++) {
        unsigned kind = prng_below(prng, 10);
        text[t] = kind == 0 ? '.' : kind == 1 ? '-' : (char)('a' + prng_below(prng, groups));
        cpus[t] = prng_below(prng, f->topology.cpus);
    }
    text[threads] = 0;
    plant(f, text, cpus);
    for (unsigned t = 0; t < threads; t++) {
        f->thread[t].last_cluster = (int)prng_below(prng, 4) - 1;
        f->thread[t].load = 1 + prng_below(prng, PLACE_LOAD_FULL);
        f->weight[t] = 1 + prng_below(prng, 100000);
        f->mask[t] = (uint64_t)prng_next(prng) | 1ull << f->thread[t].cpu;
        f->thread[t].allowed = prng_below(prng, 8) ? NULL : &f->mask[t];
    }
    f->in.weight = prng_below(prng, 2) ? f->weight : NULL;
}

static void random_shapes_keep_the_rules(void **state)
{
    struct fixture *f = *state;
    struct place_choice first[THREADS];

    for (unsigned seed = 0; seed < 2000; seed++) {
        struct prng prng = prng_seeded(seed, 11);
        randomise(f, &prng);
        run(f, &place_cluster);
        if (f->placement.verdict == PLACE_MOVE)
            assert_true(f->placement.together_after >=
                        f->placement.together_before + PLACE_MIN_GAIN_PERMILLE);
        memcpy(first, f->placement.choice, f->in.threads * sizeof *first);
        run(f, &place_cluster);
        assert_memory_equal(first, f->placement.choice, f->in.threads * sizeof *first);
    }
}

/* Clusters small against a chip, everybody free to move: no chip gets more than its fair part, the slack and one. */
static void random_small_groups_leave_the_chips_in_balance(void **state)
{
    struct fixture *f = *state;

    for (unsigned seed = 0; seed < 500; seed++) {
        struct prng prng = prng_seeded(seed, 12);
        randomise(f, &prng);
        for (unsigned t = 0; t < f->in.threads; t++) {
            f->thread[t].allowed = NULL;
            f->thread[t].load = PLACE_LOAD_FULL;
        }
        run(f, &place_cluster);
        if (f->placement.verdict != PLACE_MOVE)
            continue;
        unsigned cpus = f->topology.cpus / f->topology.chips;
        uint64_t fair = (uint64_t)f->in.threads * PLACE_LOAD_FULL / f->topology.chips;
        uint64_t limit = fair + fair * PLACE_SLACK_PERMILLE / 1000 + PLACE_LOAD_FULL;
        for (unsigned k = 0; k < f->topology.chips; k++)
            assert_true(on_chip(f, k) * (uint64_t)PLACE_LOAD_FULL <= limit || on_chip(f, k) <= cpus);
        assert_even_within_chips(f);
    }
}

static void bad_sizes_are_refused(void **state)
{
    struct placement p;
    uint64_t memory[8];

    (void)state;
    assert_int_equal(place_bytes(0, 1, 1), 0);
    assert_int_equal(place_bytes(1, 1, PLACE_CHIPS_MAX + 1), 0);
    assert_int_equal(place_init(&p, 0, 1, 1, memory, sizeof memory), -EINVAL);
    assert_int_equal(place_init(&p, 4, 4, 1, (char *)memory + 1, sizeof memory), -EINVAL);
    assert_int_equal(place_init(&p, 4, 4, 1, memory, sizeof memory), -ENOMEM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

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
        TEST(without_clusters_nobody_moves_even_out_of_balance),
        TEST(on_one_chip_nobody_moves),
        TEST(a_small_gain_moves_nobody),
        TEST(after_a_placement_the_next_moves_nobody),
        TEST(new_partners_are_brought_together_anew),
        TEST(a_pinned_thread_stays_and_draws_its_group),
        TEST(within_a_chip_cores_come_before_hardware_threads),
        TEST(sixteen_groups_find_eight_chips),
        TEST(round_robin_goes_by_creation_and_respects_affinity),
        TEST(hand_placement_goes_by_what_the_application_states),
        TEST(equal_groups_move_hardly_more_than_they_must),
        TEST(loads_that_hardly_differ_do_not_exchange_clusters),
        TEST(young_groups_are_spread_over_the_chips_too),
        TEST(random_shapes_keep_the_rules),
        TEST(random_small_groups_leave_the_chips_in_balance),
        TEST(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
