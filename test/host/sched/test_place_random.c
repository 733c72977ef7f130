/* Placement by sharing: random shapes against rules and an exhaustive search. */
#include <string.h>
#include "apps/common/prng.h"
#include "test/host/double/placing.h"

/* Returns the fewest migrations of any assignment of whole equal groups to chips, by trying all. */
static unsigned fewest_migrations(const struct placing *f, unsigned groups, unsigned group,
                                  unsigned *room)
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
    struct placing *f = *state;
    uint64_t needed = 0, made = 0;

    placing_build_machine(f, 4, 2, 2);
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
        placing_plant(f, text, cpus);
        placing_run(f, &assign_cluster);
        for (int c = 0; c < 8; c++)
            assert_true(placing_is_whole(f, c) && placing_cores_of(f, c) == 1);
        unsigned best = fewest_migrations(f, 8, 0, room);
        assert_true(f->placement.migrations >= best);
        assert_true(f->placement.migrations <= best + 4);
        needed += best;
        made += f->placement.migrations;
    }
    assert_true(made * 100 <= needed * 103);
}

/* One thread is in the wrong place. Loads differ a little, as measured ones do. */
static void loads_that_hardly_differ_do_not_exchange_clusters(void **state)
{
    struct placing *f = *state;

    for (unsigned seed = 0; seed < 200; seed++) {
        struct prng prng = prng_seeded(seed, 4);
        unsigned cpus[16] = {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 0};
        placing_plant(f, "aaaabbbbccccdddd", cpus);
        for (unsigned t = 0; t < 16; t++)
            f->thread[t].load = ASSIGN_LOAD_FULL - prng_below(&prng, 100);
        placing_run(f, &assign_cluster);
        assert_int_equal(f->placement.migrations, 1);
    }
}

/* Threads just created have hardly used any time. */
static void young_groups_are_spread_over_the_chips_too(void **state)
{
    struct placing *f = *state;

    for (unsigned seed = 0; seed < 200; seed++) {
        struct prng prng = prng_seeded(seed, 5);
        unsigned cpus[16];
        for (unsigned t = 0; t < 16; t++)
            cpus[t] = prng_below(&prng, 8);
        placing_plant(f, "aaaaaaaabbbbbbbb", cpus);
        for (unsigned t = 0; t < 16; t++)
            f->thread[t].load = 1 + prng_below(&prng, 2);
        placing_run(f, &assign_cluster);
        assert_true(placing_is_whole(f, 0) && placing_is_whole(f, 1));
        assert_int_not_equal(f->placement.choice[0].chip, f->placement.choice[8].chip);
    }
}

static void randomise(struct placing *f, struct prng *prng)
{
    static char text[PLACING_THREADS + 1];
    static unsigned cpus[PLACING_THREADS];
    unsigned threads = 1 + prng_below(prng, 96), groups = 1 + prng_below(prng, 12);

    placing_build_machine(f, 1 + prng_below(prng, PLACING_CHIPS), 1 + prng_below(prng, 3),
                          1 + prng_below(prng, 2));
    for (unsigned t = 0; t < threads; t++) {
        unsigned kind = prng_below(prng, 10);
        text[t] = kind == 0 ? '.' : kind == 1 ? '-' : (char)('a' + prng_below(prng, groups));
        cpus[t] = prng_below(prng, f->topology.cpus);
    }
    text[threads] = 0;
    placing_plant(f, text, cpus);
    for (unsigned t = 0; t < threads; t++) {
        f->thread[t].last_cluster = (int)prng_below(prng, 4) - 1;
        f->thread[t].load = 1 + prng_below(prng, ASSIGN_LOAD_FULL);
        f->weight[t] = 1 + prng_below(prng, 100000);
        f->mask[t] = (uint64_t)prng_next(prng) | 1ull << f->thread[t].cpu;
        f->thread[t].allowed = prng_below(prng, 8) ? NULL : &f->mask[t];
    }
    f->in.weight = prng_below(prng, 2) ? f->weight : NULL;
}

static void random_shapes_keep_the_rules(void **state)
{
    struct placing *f = *state;
    struct assign_choice first[PLACING_THREADS];

    for (unsigned seed = 0; seed < 2000; seed++) {
        struct prng prng = prng_seeded(seed, 11);
        randomise(f, &prng);
        placing_run(f, &assign_cluster);
        if (f->placement.verdict == ASSIGN_MOVE)
            assert_true(f->placement.together_after >=
                        f->placement.together_before + ASSIGN_MIN_GAIN_PERMILLE);
        memcpy(first, f->placement.choice, f->in.threads * sizeof *first);
        placing_run(f, &assign_cluster);
        assert_memory_equal(first, f->placement.choice, f->in.threads * sizeof *first);
    }
}

/* Clusters are small compared to a chip and all threads may move: no chip gets more than its fair
 * part, the slack and one thread. */
static void random_small_groups_leave_the_chips_in_balance(void **state)
{
    struct placing *f = *state;

    for (unsigned seed = 0; seed < 500; seed++) {
        struct prng prng = prng_seeded(seed, 12);
        randomise(f, &prng);
        for (unsigned t = 0; t < f->in.threads; t++) {
            f->thread[t].allowed = NULL;
            f->thread[t].load = ASSIGN_LOAD_FULL;
        }
        placing_run(f, &assign_cluster);
        if (f->placement.verdict != ASSIGN_MOVE)
            continue;
        unsigned cpus = f->topology.cpus / f->topology.chips;
        uint64_t fair = (uint64_t)f->in.threads * ASSIGN_LOAD_FULL / f->topology.chips;
        uint64_t limit = fair + fair * ASSIGN_SLACK_PERMILLE / 1000 + ASSIGN_LOAD_FULL;
        for (unsigned k = 0; k < f->topology.chips; k++)
            assert_true(placing_on_chip(f, k) * (uint64_t)ASSIGN_LOAD_FULL <= limit ||
                        placing_on_chip(f, k) <= cpus);
        placing_assert_even(f);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, placing_set_up, placing_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_groups_move_hardly_more_than_they_must),
        TEST(loads_that_hardly_differ_do_not_exchange_clusters),
        TEST(young_groups_are_spread_over_the_chips_too),
        TEST(random_shapes_keep_the_rules),
        TEST(random_small_groups_leave_the_chips_in_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
