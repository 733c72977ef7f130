/* Clustering: small cases worked out by hand, planted sharing, random counters, and when to stop
 * sampling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "sched/sharing/policy/cluster.h"
#include "sched/sharing/policy/shmap.h"
#include "test/host/double/planted.h"

enum { THREADS = 256, ENTRIES = 2048 };

void panic(const char *fmt, ...)
{
    (void)fmt;
    fail_msg("panic");
    abort();
}

struct fixture {
    struct clustering clustering;
    void *memory;
    uint8_t counts[THREADS * ENTRIES];
};

static void start_clustering(struct fixture *f, unsigned threads, unsigned entries)
{
    size_t bytes = cluster_bytes(threads, entries);

    free(f->memory);
    f->memory = malloc(bytes);
    memset(f->memory, 0x5a, bytes);
    assert_int_equal(cluster_init(&f->clustering, threads, entries, f->memory, bytes), 0);
    memset(f->counts, 0, (size_t)threads * entries);
}

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->memory);
    free(f);
    return 0;
}

static void run_with(struct fixture *f, const struct cluster_policy *policy, uint32_t threshold)
{
    const char *broken;

    cluster_run(&f->clustering, policy, f->counts, threshold);
    broken = cluster_check(&f->clustering);
    if (broken)
        fail_msg("%s", broken);
}

static void run(struct fixture *f, const struct cluster_policy *policy)
{
    run_with(f, policy, policy->threshold);
}

/* Sets the counts, a row for each thread: '0' to '9' tens of samples on line i, '.' none. */
static void plant(struct fixture *f, unsigned threads, const char *const *rows)
{
    unsigned entries = (unsigned)strlen(rows[0]);

    start_clustering(f, threads, entries);
    for (unsigned t = 0; t < threads; t++) {
        for (unsigned e = 0; e < entries; e++)
            f->counts[t * entries + e] = (uint8_t)(rows[t][e] == '.' ? 0 : 25 * (rows[t][e] - '0'));
    }
}

static void assert_clusters(const struct fixture *f, const char *expected)
{
    for (unsigned t = 0; t < f->clustering.threads; t++)
        assert_int_equal(f->clustering.of[t],
                         expected[t] == '-' ? CLUSTER_NONE : expected[t] - 'a');
}

/* Two pairs, a thread with lines of its own, one with global lines only, one without samples. Line
 * 0 is global. */
static const char *const village[] = {"599.....", "5..88...", "588.....", "5..99...",
                                      "5....99.", "5.......", "........"};

static void every_policy_finds_plain_groups(void **state)
{
    static const struct cluster_policy *const policies[] = {&cluster_cosine, &cluster_published,
                                                            &cluster_published_scaled};
    struct fixture *f = *state;

    for (unsigned i = 0; i < ARRAY_SIZE(policies); i++) {
        plant(f, 7, village);
        run(f, policies[i]);
        assert_clusters(f, "abab---");
        assert_int_equal(f->clustering.clusters, 2);
        assert_int_equal(f->clustering.group[0].size, 2);
        assert_int_equal(f->clustering.group[0].weight, 2 * (200 + 225));
        assert_int_equal(f->clustering.why[4], CLUSTER_ALONE);
        assert_int_equal(f->clustering.why[5], CLUSTER_GLOBAL);
        assert_int_equal(f->clustering.why[6], CLUSTER_SILENT);
        assert_int_equal(f->clustering.global[0], 1);
        assert_int_equal(f->clustering.global_samples, 6 * 125);
        assert_int_equal(f->clustering.local_samples, 2 * 425 + 2 * 425 + 450);
    }
}

static void a_line_shared_by_most_threads_joins_no_threads(void **state)
{
    struct fixture *f = *state;

    plant(f, 5, (const char *const[]){"9...", "9...", "9...", "9...", "...."});
    run(f, &cluster_cosine);
    assert_clusters(f, "-----");
    run(f, &cluster_published);
    assert_clusters(f, "-----");
}

/* With two groups of half of the threads each, neither group's line is global: a global line has
 * strictly more than half of the threads. */
static void a_line_shared_by_half_of_the_threads_joins_them(void **state)
{
    struct fixture *f = *state;

    plant(f, 6, (const char *const[]){"9.", "9.", "9.", ".9", ".9", ".9"});
    run(f, &cluster_cosine);
    assert_clusters(f, "aaabbb");
    run(f, &cluster_published);
    assert_clusters(f, "aaabbb");
}

static void the_published_policy_takes_counts_below_three_as_zero(void **state)
{
    struct fixture *f = *state;

    start_clustering(f, 4, 4);
    f->counts[0] = f->counts[4] = 2;
    run_with(f, &cluster_published, 0);
    assert_clusters(f, "----");
    f->counts[0] = f->counts[4] = 3;
    run_with(f, &cluster_published, 8);
    assert_clusters(f, "aa--");
    run_with(f, &cluster_published, 9);
    assert_clusters(f, "----");
}

static void the_published_policy_joins_the_first_similar_cluster(void **state)
{
    struct fixture *f = *state;

    plant(f, 9,
          (const char *const[]){"9...", ".9..", "89..", "....", "....", "....", "....", "....",
                                "...."});
    run(f, &cluster_published);
    assert_clusters(f, "a-a------");
}

static void the_scaled_threshold_follows_the_highest_counter(void **state)
{
    struct fixture *f = *state;

    start_clustering(f, 4, 4);
    for (unsigned t = 0; t < 2; t++)
        f->counts[t * 4] = f->counts[t * 4 + 1] = 20;
    run(f, &cluster_published);
    assert_clusters(f, "----");
    run(f, &cluster_published_scaled);
    assert_clusters(f, "aa--");
    f->counts[1] = f->counts[4] = 0;
    f->counts[2] = f->counts[6] = 15; /* 225 is less than 40000 x 20 x 20 / (255 x 255) */
    run(f, &cluster_published_scaled);
    assert_clusters(f, "----");
}

/* Five of eight threads use lines that the other three, busy elsewhere, stay away from. */
static void a_majority_is_told_from_global_lines_by_threads_that_stay_away(void **state)
{
    struct fixture *f = *state;

    plant(f, 8,
          (const char *const[]){"599..", "599..", "599..", "599..", "599..", "5..99", "5..99",
                                "5..99"});
    run(f, &cluster_cosine);
    assert_clusters(f, "aaaaabbb");
    assert_int_equal(f->clustering.global[0], 1);
    assert_int_equal(f->clustering.global[1], 0);
    run(f, &cluster_published);
    assert_clusters(f, "-----aaa");
}

/* The case after the small groups have been placed. A few samples do not show yet which threads
 * stay away. */
static void threads_without_samples_stay_away_once_there_are_enough_samples(void **state)
{
    struct fixture *f = *state;

    plant(f, 8,
          (const char *const[]){"99..", "99..", "99..", "99..", "99..", "....", "....", "...."});
    run(f, &cluster_cosine);
    assert_clusters(f, "aaaaa---");
    start_clustering(f, 8, 4);
    for (unsigned t = 0; t < 5; t++)
        f->counts[t * 4] = f->counts[t * 4 + 1] = 4;
    run(f, &cluster_cosine);
    assert_clusters(f, "--------");
}

/* Half of all threads are in a group. A few touches by strangers do not make its line global. */
static void touches_by_strangers_make_no_line_global(void **state)
{
    struct fixture *f = *state;

    start_clustering(f, 8, 8);
    for (unsigned t = 0; t < 8; t++) {
        for (unsigned e = 0; e < 8; e++)
            f->counts[t * 8 + e] = e / 4 == t / 4 ? 40 : 2;
    }
    run(f, &cluster_cosine);
    assert_clusters(f, "aaaabbbb");
}

static void cold_lines_of_all_threads_make_no_clusters(void **state)
{
    struct fixture *f = *state;

    for (unsigned seed = 0; seed < 50; seed++) {
        struct prng prng = prng_seeded(seed, 2);
        start_clustering(f, 16, 512);
        for (unsigned i = 0; i < 3000; i++)
            f->counts[prng_below(&prng, 16) * 512 + prng_below(&prng, 512)]++;
        run(f, &cluster_cosine);
        assert_int_equal(f->clustering.clusters, 0);
    }
}

/* ---- planted sharing ------------------------------------------------------------------------- */

struct stream {
    struct planted planted;
    struct shmap_table table;
    void *memory;
};

static void stream_open(struct stream *s, struct fixture *f, const struct planted_shape *shape,
                        uint64_t seed)
{
    struct shmap_config config = {.line_bytes = 128, .grant = SHMAP_SECOND, .seed = seed};
    size_t bytes;

    planted_init(&s->planted, shape, seed);
    config.threads = s->planted.threads;
    config.entries = shmap_entries_for(config.threads);
    bytes = shmap_bytes(&config);
    s->memory = malloc(bytes);
    assert_int_equal(shmap_init(&s->table, &config, s->memory, bytes), 0);
    start_clustering(f, config.threads, config.entries);
}

static void stream_close(struct stream *s)
{
    free(s->memory);
    planted_free(&s->planted);
}

static void take_samples(struct stream *s, struct fixture *f, uint64_t samples)
{
    while (shmap_samples(&s->table) < samples) {
        struct planted_sample sample = planted_next(&s->planted);
        shmap_record(&s->table, sample.thread, sample.thread, sample.address);
    }
    memcpy(f->counts, s->table.count, (size_t)s->table.config.threads * s->table.config.entries);
}

/* Returns the number of trials that end in the planted clusters. */
static unsigned right_in(struct fixture *f, const struct planted_shape *shape,
                         const struct cluster_policy *policy, unsigned samples, unsigned trials)
{
    static struct stream s;
    unsigned right = 0;

    for (unsigned i = 0; i < trials; i++) {
        stream_open(&s, f, shape, 77 + i);
        take_samples(&s, f, samples);
        run(f, policy);
        right += planted_right(&s.planted, f->clustering.of);
        stream_close(&s);
    }
    return right;
}

/* The samples that are not on the groups' lines, in percent. Threads work at different rates. */
#define NOISE(private) \
    .global_pct = 30, .private_pct = (private), .stray_pct = 5, .cross_pct = 2, .uneven = true
#define FOUR 4, 4, 4, 4
static const struct planted_shape boards = {
    .sizes = {FOUR}, .chips = 2, .popularity = PLANTED_BOARD, NOISE(10)};
static const struct planted_shape trees = {
    .sizes = {2, 3, 5, 6}, .chips = 2, .popularity = PLANTED_TREE, NOISE(5)};
static const struct planted_shape many = {
    .sizes = {FOUR, FOUR, FOUR, FOUR}, .chips = 8, .popularity = PLANTED_BOARD, NOISE(5)};
static const struct planted_shape lopsided = {
    .sizes = {10, 3, 3}, .chips = 2, .popularity = PLANTED_BOARD, NOISE(5)};
static const struct planted_shape settled = {
    .sizes = {FOUR}, .settled = 2, .chips = 2, .popularity = PLANTED_TREE, NOISE(5)};
static const struct planted_shape strangers = {
    .loners = 16, .chips = 2, .global_pct = 60, .private_pct = 30, .stray_pct = 10, .uneven = true};

static void planted_groups_are_found_in_few_samples(void **state)
{
    assert_in_range(right_in(*state, &boards, &cluster_cosine, 4000, 100), 97, 100);
    assert_in_range(right_in(*state, &trees, &cluster_cosine, 4000, 100), 97, 100);
    assert_in_range(right_in(*state, &settled, &cluster_cosine, 4000, 100), 97, 100);
    assert_in_range(right_in(*state, &lopsided, &cluster_cosine, 16000, 30), 28, 30);
    assert_in_range(right_in(*state, &many, &cluster_cosine, 20000, 8), 7, 8);
}

static void where_nothing_is_shared_nothing_is_found(void **state)
{
    assert_int_equal(right_in(*state, &strangers, &cluster_cosine, 1000, 40), 40);
    assert_int_equal(right_in(*state, &strangers, &cluster_cosine, 40000, 10), 10);
}

static void clusters_do_not_depend_on_the_order_of_the_threads(void **state)
{
    struct fixture *f = *state;
    static struct stream s;
    static uint8_t counts[16 * 1024];
    int16_t first[16];

    stream_open(&s, f, &trees, 5);
    take_samples(&s, f, 6000);
    run(f, &cluster_cosine);
    memcpy(first, f->clustering.of, sizeof first);
    memcpy(counts, f->counts, sizeof counts);
    for (unsigned t = 0; t < 16; t++)
        memcpy(f->counts + t * 1024, counts + (15 - t) * 1024, 1024);
    run(f, &cluster_cosine);
    for (unsigned a = 0; a < 16; a++) {
        for (unsigned b = 0; b < 16; b++)
            assert_int_equal(first[a] == first[b],
                             f->clustering.of[15 - a] == f->clustering.of[15 - b]);
    }
    stream_close(&s);
}

/* ---- when to stop ---------------------------------------------------------------------------- */

static enum cluster_verdict sample_until_final(struct fixture *f, const struct planted_shape *shape,
                                               uint64_t seed, uint64_t limit, uint64_t *samples,
                                               bool *right)
{
    static struct stream s;
    struct cluster_watch watch;
    int16_t of[THREADS];

    stream_open(&s, f, shape, seed);
    cluster_watch_start(&watch, s.planted.threads, limit, of);
    do {
        uint64_t before = shmap_samples(&s.table);
        assert_true(watch.next_check > before && watch.next_check <= limit);
        take_samples(&s, f, watch.next_check);
        run(f, &cluster_cosine);
    } while (!cluster_is_final(&watch, &f->clustering, shmap_samples(&s.table)));
    *samples = shmap_samples(&s.table);
    *right = planted_right(&s.planted, f->clustering.of);
    stream_close(&s);
    return watch.verdict;
}

static void sampling_stops_early_and_right(void **state)
{
    unsigned right = 0;
    uint64_t total = 0;

    for (uint64_t seed = 0; seed < 40; seed++) {
        uint64_t samples;
        bool is_right;
        assert_int_equal(sample_until_final(*state, &boards, seed, 128000, &samples, &is_right),
                         CLUSTER_STABLE);
        right += is_right;
        total += samples;
    }
    assert_in_range(right, 39, 40);
    assert_true(total / 40 <= 4000);
}

static void a_program_that_shares_nothing_is_called_so(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint64_t samples;
        bool right;
        assert_int_equal(sample_until_final(*state, &strangers, seed, 128000, &samples, &right),
                         CLUSTER_NO_SHARING);
        assert_true(right);
        assert_in_range(samples, 16 * 128, 16 * 256);
    }
}

static void too_few_samples_expire(void **state)
{
    uint64_t samples;
    bool right;

    assert_int_equal(sample_until_final(*state, &trees, 1, 600, &samples, &right), CLUSTER_EXPIRED);
    assert_int_equal(samples, 600);
}

static void doubt_about_a_thread_keeps_sampling_on(void **state)
{
    struct fixture *f = *state;
    struct cluster_watch watch;
    int16_t of[7];

    plant(f, 7, village);
    run(f, &cluster_cosine);
    cluster_watch_start(&watch, 7, 100000, of);
    for (unsigned i = 1; i <= 2; i++)
        assert_false(cluster_is_final(&watch, &f->clustering, 2000 * i));
    f->clustering.why[4] = CLUSTER_UNSURE;
    assert_false(cluster_is_final(&watch, &f->clustering, 6000));
    f->clustering.why[4] = CLUSTER_ALONE;
    assert_true(cluster_is_final(&watch, &f->clustering, 8000));
    assert_int_equal(watch.verdict, CLUSTER_STABLE);
    f->clustering.of[0] = CLUSTER_NONE;
    assert_false(cluster_is_final(&watch, &f->clustering, 9000));
}

static void agreement_outlasts_threads_that_come_and_go_but_not_other_partners(void **state)
{
    static const struct {
        int16_t of[6];
        unsigned agreed;
    } checks[] = {
        {{-1, -1, -1, -1, -1, -1}, 1}, {{0, 0, 1, 1, -1, -1}, 2}, {{0, 0, 1, 1, 1, -1}, 3},
        {{1, 1, 0, 0, -1, 0}, 4},      {{0, 1, 1, 0, -1, -1}, 1}, {{0, -1, -1, 0, -1, -1}, 2},
        {{0, 0, 0, 0, 0, 0}, 3},       {{0, 0, 0, 1, 1, 1}, 1},   {{0, 0, 0, 0, 0, 0}, 1},
    };
    struct fixture *f = *state;
    struct cluster_watch watch;
    int16_t of[6];

    start_clustering(f, 6, 8);
    cluster_watch_start(&watch, 6, 100000, of);
    for (unsigned i = 0; i < ARRAY_SIZE(checks); i++) {
        memcpy(f->clustering.of, checks[i].of, sizeof checks[i].of);
        cluster_is_final(&watch, &f->clustering, 100 * (i + 1));
        assert_int_equal(watch.agreed, checks[i].agreed);
    }
}

static void placed_threads_return_to_the_cluster_of_their_partners(void **state)
{
    static const int16_t earlier[] = {3, CLUSTER_NONE, 3, 5, 6, 5, 3};
    static const uint16_t chip[7] = {0};
    struct fixture *f = *state;

    plant(f, 7, village);
    run(f, &cluster_cosine);
    assert_clusters(f, "abab---");
    cluster_keep(&f->clustering, earlier, chip);
    assert_null(cluster_check(&f->clustering));
    assert_clusters(f, "abab-ba"); /* 5 was with 3; 6 with 0 and 2; 4 with no thread */
}

static void a_cluster_that_has_broken_up_is_put_together_again(void **state)
{
    static const int16_t earlier[] = {
        CLUSTER_NONE, CLUSTER_NONE, CLUSTER_NONE, CLUSTER_NONE, 1, 0, 1};
    static const uint16_t chip[7] = {0};
    struct fixture *f = *state;

    plant(f, 7, village);
    run(f, &cluster_cosine);
    cluster_keep(&f->clustering, earlier, chip);
    assert_null(cluster_check(&f->clustering));
    assert_clusters(f, "ababc-c");
    assert_int_equal(f->clustering.why[4], CLUSTER_MEMBER);
    assert_int_equal(f->clustering.why[5], CLUSTER_GLOBAL);
}

static void clusters_that_were_placed_on_one_chip_are_not_joined(void **state)
{
    static const int16_t joined[] = {0, 0, 0, 0, 0, 0, CLUSTER_NONE},
                         earlier[] = {2, 2, 1, 1, 3, 3, 1};
    static const uint16_t chip[] = {0, 0, 0, 0, 1, 1, 0};
    struct fixture *f = *state;

    start_clustering(f, 7, 8);
    memcpy(f->clustering.of, joined, sizeof joined);
    f->clustering.clusters = 1;
    cluster_keep(&f->clustering, earlier, chip);
    assert_null(cluster_check(&f->clustering));
    assert_clusters(f, "aabbaab"); /* the samples may be right about those of two chips */
}

/* ---- anything -------------------------------------------------------------------------------- */

static void random_counters_break_nothing(void **state)
{
    static const struct cluster_policy *const policies[] = {&cluster_cosine, &cluster_published,
                                                            &cluster_published_scaled};
    struct fixture *f = *state;

    for (unsigned seed = 0; seed < 300; seed++) {
        struct prng prng = prng_seeded(seed, 4);
        unsigned threads = 1 + prng_below(&prng, 40), entries = 1 + prng_below(&prng, 64),
                 sparse = prng_below(&prng, 12);
        start_clustering(f, threads, entries);
        for (unsigned i = 0; i < threads * entries; i++)
            f->counts[i] = prng_below(&prng, 12) < sparse ? 0 : (uint8_t)prng_next(&prng);
        run_with(f, policies[seed % 3], prng_below(&prng, 2000));
        int16_t earlier[40];
        uint16_t chip[40];
        for (unsigned t = 0; t < threads; t++) {
            earlier[t] = (int16_t)((int)prng_below(&prng, threads + 1) - 1);
            chip[t] = (uint16_t)prng_below(&prng, 3);
        }
        cluster_keep(&f->clustering, earlier, chip);
        assert_null(cluster_check(&f->clustering));
    }
}

static void full_counters_do_not_overflow(void **state)
{
    struct fixture *f = *state;

    start_clustering(f, THREADS, ENTRIES);
    for (unsigned t = 0; t < THREADS; t++)
        memset(f->counts + (size_t)t * ENTRIES + (t % 2) * (ENTRIES / 2), 255, ENTRIES / 2);
    run(f, &cluster_cosine);
    assert_int_equal(f->clustering.clusters, 2);
    for (unsigned t = 0; t < THREADS; t++)
        assert_int_equal(f->clustering.of[t], t % 2);
}

static void bad_sizes_are_refused(void **state)
{
    struct clustering c;
    uint64_t memory[4];

    (void)state;
    assert_int_equal(cluster_bytes(0, 16), 0);
    assert_int_equal(cluster_bytes(CLUSTER_THREADS_MAX + 1, 16), 0);
    assert_int_equal(cluster_bytes(4, CLUSTER_ENTRIES_MAX + 1), 0);
    assert_int_equal(cluster_init(&c, 0, 16, memory, SIZE_MAX), -EINVAL);
    assert_int_equal(cluster_init(&c, 4, 16, (char *)memory + 2, SIZE_MAX), -EINVAL);
    assert_int_equal(cluster_init(&c, 4, 16, memory, sizeof memory), -ENOMEM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_policy_finds_plain_groups),
        TEST(a_line_shared_by_most_threads_joins_no_threads),
        TEST(a_line_shared_by_half_of_the_threads_joins_them),
        TEST(the_published_policy_takes_counts_below_three_as_zero),
        TEST(the_published_policy_joins_the_first_similar_cluster),
        TEST(the_scaled_threshold_follows_the_highest_counter),
        TEST(a_majority_is_told_from_global_lines_by_threads_that_stay_away),
        TEST(threads_without_samples_stay_away_once_there_are_enough_samples),
        TEST(touches_by_strangers_make_no_line_global),
        TEST(cold_lines_of_all_threads_make_no_clusters),
        TEST(planted_groups_are_found_in_few_samples),
        TEST(where_nothing_is_shared_nothing_is_found),
        TEST(clusters_do_not_depend_on_the_order_of_the_threads),
        TEST(sampling_stops_early_and_right),
        TEST(a_program_that_shares_nothing_is_called_so),
        TEST(too_few_samples_expire),
        TEST(doubt_about_a_thread_keeps_sampling_on),
        TEST(agreement_outlasts_threads_that_come_and_go_but_not_other_partners),
        TEST(placed_threads_return_to_the_cluster_of_their_partners),
        TEST(a_cluster_that_has_broken_up_is_put_together_again),
        TEST(clusters_that_were_placed_on_one_chip_are_not_joined),
        TEST(random_counters_break_nothing),
        TEST(full_counters_do_not_overflow),
        TEST(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
