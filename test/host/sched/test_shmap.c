/* shMaps and their filter against an oracle that remembers all samples; pictures of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "apps/common/prng.h"
#include "sched/sharing/policy/shmap.h"
#include "sched/sharing/policy/shmap_picture.h"

enum { THREADS = 6, ENTRIES = 16, LINE = 128, LINES = 200 };

void panic(const char *fmt, ...)
{
    (void)fmt;
    fail_msg("panic");
    abort();
}

struct fixture {
    struct shmap_table table;
    void *memory;
};

static void make_table(struct fixture *f, enum shmap_grant grant)
{
    struct shmap_config config = {
        .threads = THREADS, .entries = ENTRIES, .line_bytes = LINE, .grant = grant, .seed = 5};
    size_t bytes = shmap_bytes(&config);

    free(f->memory);
    f->memory = malloc(bytes);
    memset(f->memory, 0xa5, bytes);
    assert_int_equal(shmap_init(&f->table, &config, f->memory, bytes), 0);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    make_table(f, SHMAP_FIRST);
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

static enum shmap_outcome record(struct fixture *f, unsigned thread, uint64_t line)
{
    enum shmap_outcome outcome = shmap_record(&f->table, thread, thread, line * LINE + 24);
    const char *broken = shmap_check(&f->table);

    if (broken)
        fail_msg("%s", broken);
    return outcome;
}

/* Returns the entry that the line owns, or ENTRIES. */
static unsigned entry_of(const struct fixture *f, uint64_t line)
{
    unsigned e = 0;

    while (e < ENTRIES && f->table.owner[e] != line + 1)
        e++;
    return e;
}

static unsigned count_of(const struct fixture *f, unsigned thread, uint64_t line)
{
    unsigned e = entry_of(f, line);

    return e == ENTRIES ? 0 : f->table.count[thread * ENTRIES + e];
}

/* Returns a line other than the given one that hashes to the same entry, found by trying on a
 * scratch table. */
static uint64_t rival_of(uint64_t line, uint64_t above)
{
    struct fixture f = {.memory = NULL};
    uint64_t rival = above;

    do {
        assert_true(++rival < above + 10000);
        make_table(&f, SHMAP_FIRST);
        record(&f, 0, line);
    } while (rival == line || record(&f, 0, rival) != SHMAP_COLLIDED);
    free(f.memory);
    return rival;
}

static void the_first_line_owns_its_entry_and_others_are_dropped(void **state)
{
    struct fixture *f = *state;
    uint64_t rival = rival_of(7, 7);

    assert_int_equal(record(f, 0, 7), SHMAP_COUNTED);
    assert_int_equal(record(f, 1, rival), SHMAP_COLLIDED);
    assert_int_equal(record(f, 2, 7), SHMAP_COUNTED);
    assert_int_equal(count_of(f, 0, 7), 1);
    assert_int_equal(count_of(f, 1, 7), 0);
    assert_int_equal(count_of(f, 2, 7), 1);
    assert_int_equal(shmap_samples(&f->table), 3);
}

static void addresses_of_one_line_are_one(void **state)
{
    struct fixture *f = *state;

    shmap_record(&f->table, 0, 0, 7 * LINE);
    shmap_record(&f->table, 0, 0, 7 * LINE + LINE - 1);
    assert_int_equal(count_of(f, 0, 7), 2);
    shmap_record(&f->table, 0, 0, 0);
    assert_int_equal(count_of(f, 0, 0), 1);
}

static void counters_saturate(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 1000; i++)
        record(f, 0, 7);
    assert_int_equal(count_of(f, 0, 7), 255);
    assert_int_equal(f->table.sampled[0], 1000);
}

static void threads_of_one_side_make_no_owner(void **state)
{
    struct fixture *f = *state;

    make_table(f, SHMAP_SECOND);
    assert_int_equal(shmap_record(&f->table, 0, 100, 7 * LINE), SHMAP_PENDING);
    assert_int_equal(shmap_record(&f->table, 1, 100, 7 * LINE), SHMAP_PENDING);
    assert_int_equal(shmap_record(&f->table, 2, 101, 7 * LINE), SHMAP_COUNTED);
    assert_int_equal(shmap_record(&f->table, 0, 100, 7 * LINE), SHMAP_COUNTED);
    assert_int_equal(count_of(f, 0, 7), 1);
    assert_int_equal(count_of(f, 1, 7), 1); /* the last one before the second side */
    assert_int_equal(count_of(f, 2, 7), 1);
}

static void under_the_second_rule_two_threads_make_an_owner(void **state)
{
    struct fixture *f = *state;

    make_table(f, SHMAP_SECOND);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(record(f, 0, 7), SHMAP_PENDING);
    assert_int_equal(entry_of(f, 7), ENTRIES);
    assert_int_equal(record(f, 1, 7), SHMAP_COUNTED);
    assert_int_equal(count_of(f, 0, 7), 1);
    assert_int_equal(count_of(f, 1, 7), 1);
}

/* However often private lines hit the entry in between, two touches of a shared line get it. */
static void private_lines_never_block_an_entry(void **state)
{
    struct fixture *f = *state;
    uint64_t rivals[8] = {7};

    make_table(f, SHMAP_SECOND);
    for (unsigned i = 1; i < 8; i++)
        rivals[i] = rival_of(7, rivals[i - 1]);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 1; i < 8; i++)
            assert_int_equal(record(f, i % 2, rivals[i]), SHMAP_PENDING);
    }
    assert_int_equal(record(f, 2, 7), SHMAP_PENDING);
    for (unsigned i = 1; i < SHMAP_CANDIDATES; i++)
        record(f, i % 2, rivals[i]);
    assert_int_equal(record(f, 3, 7), SHMAP_COUNTED);
    assert_int_equal(record(f, 0, rivals[1]), SHMAP_COLLIDED);
}

static void the_candidate_not_hit_for_longest_gives_way(void **state)
{
    struct fixture *f = *state;
    uint64_t rivals[SHMAP_CANDIDATES + 1] = {7};

    make_table(f, SHMAP_SECOND);
    for (unsigned i = 1; i <= SHMAP_CANDIDATES; i++)
        rivals[i] = rival_of(7, rivals[i - 1]);
    for (unsigned i = 0; i < SHMAP_CANDIDATES; i++)
        record(f, 0, rivals[i]);
    record(f, 0, rivals[0]);                /* now rival 1 is the oldest */
    record(f, 0, rivals[SHMAP_CANDIDATES]); /* and it is dropped */
    assert_int_equal(record(f, 1, rivals[1]), SHMAP_PENDING);
    assert_int_equal(record(f, 1, rivals[0]), SHMAP_COUNTED);
}

static void a_new_table_has_no_samples_and_another_seed_other_rivals(void **state)
{
    struct fixture *f = *state;
    uint64_t rival = rival_of(7, 7);
    unsigned apart = 0;

    record(f, 0, 7);
    for (uint64_t seed = 100; seed < 120; seed++) {
        struct shmap_config config = f->table.config;
        config.seed = seed;
        assert_int_equal(shmap_init(&f->table, &config, f->memory, shmap_bytes(&config)), 0);
        assert_int_equal(shmap_samples(&f->table), 0);
        assert_int_equal(record(f, 0, 7), SHMAP_COUNTED);
        apart += record(f, 1, rival) == SHMAP_COUNTED;
    }
    assert_true(apart >= 10);
}

static void bad_configurations_are_refused(void **state)
{
    static const struct shmap_config bad[] = {
        {0, 256, 64, SHMAP_FIRST, 0},
        {SHMAP_THREADS_MAX + 1, 256, 64, SHMAP_FIRST, 0},
        {4, 100, 64, SHMAP_FIRST, 0},
        {4, 8, 64, SHMAP_FIRST, 0},
        {4, 2 * SHMAP_ENTRIES_MAX, 64, SHMAP_FIRST, 0},
        {4, 256, 0, SHMAP_FIRST, 0},
        {4, 256, 8, SHMAP_FIRST, 0},
        {4, 256, 64, SHMAP_GRANT_COUNT, 0},
    };
    struct shmap_config good = {4, 256, 64, SHMAP_SECOND, 0};
    struct shmap_table table;
    uint64_t memory[4];

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_int_equal(shmap_bytes(&bad[i]), 0);
        assert_int_equal(shmap_init(&table, &bad[i], memory, SIZE_MAX), -EINVAL);
    }
    assert_int_equal(shmap_init(&table, &good, memory, sizeof memory), -ENOMEM);
    assert_int_equal(shmap_init(&table, &good, (char *)memory + 1, SIZE_MAX), -EINVAL);
    assert_int_equal(shmap_entries_for(16), 1024);
    assert_int_equal(shmap_entries_for(64), 2048);
    assert_int_equal(shmap_entries_for(SHMAP_THREADS_MAX), SHMAP_ENTRIES_MAX);
}

/* ---- against the oracle ---------------------------------------------------------------------- */

struct oracle {
    unsigned hits[THREADS][LINES]; /* those that count */
    unsigned owner[ENTRIES];       /* line + 1 */
    unsigned waiting[ENTRIES][SHMAP_CANDIDATES], by[ENTRIES][SHMAP_CANDIDATES]; /* latest first */
};

static enum shmap_outcome oracle_record(struct oracle *o, enum shmap_grant grant, unsigned thread,
                                        unsigned line, unsigned entry)
{
    unsigned i = 0;

    if (o->owner[entry] == line + 1 || (o->owner[entry] == 0 && grant == SHMAP_FIRST)) {
        o->owner[entry] = line + 1;
        o->hits[thread][line]++;
        return SHMAP_COUNTED;
    }
    if (o->owner[entry])
        return SHMAP_COLLIDED;
    while (i < SHMAP_CANDIDATES && o->waiting[entry][i] != line + 1)
        i++;
    if (i < SHMAP_CANDIDATES && o->by[entry][i] != thread) {
        o->owner[entry] = line + 1;
        o->hits[o->by[entry][i]][line]++;
        o->hits[thread][line]++;
        return SHMAP_COUNTED;
    }
    for (i = MIN(i, SHMAP_CANDIDATES - 1u); i; i--) {
        o->waiting[entry][i] = o->waiting[entry][i - 1];
        o->by[entry][i] = o->by[entry][i - 1];
    }
    o->waiting[entry][0] = line + 1;
    o->by[entry][0] = thread;
    return SHMAP_PENDING;
}

/* Finds the entry of each line, each by a table that has seen only this line. */
static void learn_entries(unsigned *entry)
{
    struct fixture f = {.memory = NULL};

    for (unsigned line = 0; line < LINES; line++) {
        make_table(&f, SHMAP_FIRST);
        record(&f, 0, line);
        entry[line] = entry_of(&f, line);
    }
    free(f.memory);
}

static void random_samples_agree_with_the_oracle(void **state)
{
    struct fixture *f = *state;
    unsigned entry[LINES];

    learn_entries(entry);
    for (unsigned seed = 0; seed < 40; seed++) {
        struct prng prng = prng_seeded(seed, 1);
        struct oracle oracle = {0};
        enum shmap_grant grant = seed % 2 ? SHMAP_SECOND : SHMAP_FIRST;
        unsigned lines = 1 + prng_below(&prng, LINES);
        make_table(f, grant);
        for (unsigned i = 0; i < 1500; i++) {
            unsigned thread = prng_below(&prng, THREADS), line = prng_below(&prng, lines);
            assert_int_equal(record(f, thread, line),
                             oracle_record(&oracle, grant, thread, line, entry[line]));
        }
        for (unsigned t = 0; t < THREADS; t++) {
            for (unsigned line = 0; line < lines; line++)
                assert_int_equal(count_of(f, t, line), MIN(oracle.hits[t][line], 255u));
        }
    }
}

static void lines_spread_evenly_over_the_entries(void **state)
{
    unsigned entry[LINES], load[ENTRIES] = {0};

    (void)state;
    learn_entries(entry);
    for (unsigned line = 0; line < LINES; line++)
        load[entry[line]]++;
    for (unsigned e = 0; e < ENTRIES; e++)
        assert_in_range(load[e], 2, 3 * LINES / ENTRIES);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static const uint8_t picture_counts[4][6] = {
    {0, 9, 0, 50, 0, 200}, /* tid 10, cluster 1 */
    {4, 0, 1, 60, 0, 0},   /* tid 11, cluster 0 */
    {0, 4, 0, 70, 0, 100}, /* tid 12, cluster 1 */
    {0, 0, 0, 80, 0, 0},   /* tid 13, none */
};
static const uint32_t picture_tids[] = {10, 11, 12, 13};
static const int16_t picture_clusters[] = {1, 0, 1, -1};
static const uint8_t picture_global[] = {0, 0, 0, 1, 0, 0};
static const struct shmap_picture_input picture_input = {
    4, 6, picture_counts[0], picture_tids, picture_clusters, picture_global};

static void assert_picture(unsigned columns, const char *const *text, const char *const *counts)
{
    struct shmap_picture picture;
    uint16_t row[4];
    char line[SHMAP_PICTURE_LINE_MAX];

    shmap_picture_plan(&picture, &picture_input, columns, row);
    for (unsigned i = 0; i < 4; i++) {
        size_t length = shmap_picture_text(&picture, i, line);
        assert_int_equal(length, strlen(line));
        assert_string_equal(line, text[i]);
        length = shmap_picture_counts(&picture, i, line);
        assert_int_equal(length, strlen(line));
        assert_string_equal(line, counts[i]);
    }
}

static void a_picture_is_sorted_by_cluster_and_has_no_global_lines(void **state)
{
    (void)state;
    assert_picture(64,
                   (const char *const[]){"   0    11 |-.  |", "   1    10 |  @=|",
                                         "   1    12 |  #-|", "  --    13 |    |"},
                   (const char *const[]){"shmap: tid=11 cluster=0 counts=04010000",
                                         "shmap: tid=10 cluster=1 counts=0000c809",
                                         "shmap: tid=12 cluster=1 counts=00006404",
                                         "shmap: tid=13 cluster=-1 counts=00000000"});
}

static void a_narrow_picture_keeps_the_most_used_lines(void **state)
{
    (void)state;
    assert_picture(2,
                   (const char *const[]){"   0    11 |  |", "   1    10 |@=|", "   1    12 |#-|",
                                         "  --    13 |  |"},
                   (const char *const[]){"shmap: tid=11 cluster=0 counts=0000",
                                         "shmap: tid=10 cluster=1 counts=c809",
                                         "shmap: tid=12 cluster=1 counts=6404",
                                         "shmap: tid=13 cluster=-1 counts=0000"});
}

static void the_longest_lines_fit(void **state)
{
    enum { WIDE = 4 * SHMAP_PICTURE_COLUMNS_MAX };
    static uint8_t counts[WIDE], global[WIDE];
    uint32_t tid = UINT32_MAX;
    int16_t cluster = INT16_MAX;
    struct shmap_picture_input in = {1, WIDE, counts, &tid, &cluster, global};
    struct shmap_picture picture;
    uint16_t row[1];
    char *line = malloc(SHMAP_PICTURE_LINE_MAX);

    (void)state;
    memset(counts, 255, sizeof counts);
    shmap_picture_plan(&picture, &in, SHMAP_PICTURE_COLUMNS_MAX, row);
    assert_true(shmap_picture_text(&picture, 0, line) < SHMAP_PICTURE_LINE_MAX);
    assert_true(shmap_picture_counts(&picture, 0, line) < SHMAP_PICTURE_LINE_MAX);
    free(line);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_line_owns_its_entry_and_others_are_dropped),
        TEST(addresses_of_one_line_are_one),
        TEST(counters_saturate),
        TEST(threads_of_one_side_make_no_owner),
        TEST(under_the_second_rule_two_threads_make_an_owner),
        TEST(private_lines_never_block_an_entry),
        TEST(the_candidate_not_hit_for_longest_gives_way),
        TEST(a_new_table_has_no_samples_and_another_seed_other_rivals),
        TEST(bad_configurations_are_refused),
        TEST(random_samples_agree_with_the_oracle),
        TEST(lines_spread_evenly_over_the_entries),
        TEST(a_picture_is_sorted_by_cluster_and_has_no_global_lines),
        TEST(a_narrow_picture_keeps_the_most_used_lines),
        TEST(the_longest_lines_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
