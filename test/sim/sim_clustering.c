/*
 * How many samples do right clusters take? Planted sharing of several shapes (planted.h) goes
 * through the shMaps and the clustering policies at growing numbers of samples. One line per
 * policy, shape and number says in how many percent of the trials the clusters were those planted.
 * A second table is for sampling that stops when cluster_is_final says so.
 *
 * Every trial is one stream of samples, seen by all policies and filter rules.
 *
 * Environment: TRIALS (500), QUICK=1 (20 trials, few shapes), SHAPE=name (only this shape), SEED
 * (1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sched/sharing/policy/cluster.h"
#include "sched/sharing/policy/shmap.h"
#include "test/host/double/planted.h"

enum { LINE_BYTES = 128, SAMPLE_LIMIT = 128000 };

void panic(const char *fmt, ...)
{
    fprintf(stderr, "panic: %s\n", fmt);
    abort();
}

#define FOUR  4, 4, 4, 4
#define EIGHT 8, 8, 8, 8
static const struct planted_shape shapes[] = {
    {.name = "4x4-board-clean", .sizes = {FOUR}, .chips = 2, .popularity = PLANTED_BOARD},
    {.name = "2x8-board-clean", .sizes = {8, 8}, .chips = 2, .popularity = PLANTED_BOARD},
    {.name = "4x4-board-g10",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 10},
    {.name = "4x4-board",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "4x4-board-g50",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 50},
    {.name = "4x4-tree-g10",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 10},
    {.name = "4x4-tree", .sizes = {FOUR}, .chips = 2, .popularity = PLANTED_TREE, .global_pct = 30},
    {.name = "4x4-tree-g50",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 50},
    {.name = "4x4-flat", .sizes = {FOUR}, .chips = 2, .popularity = PLANTED_FLAT, .global_pct = 30},
    {.name = "4x4-board-private50",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 20,
     .private_pct = 50},
    {.name = "4x4-tree-settled2",
     .sizes = {FOUR},
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 30,
     .settled = 2},
    {.name = "2x8-board",
     .sizes = {8, 8},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "2x8-tree", .sizes = {8, 8}, .chips = 2, .popularity = PLANTED_TREE, .global_pct = 30},
    {.name = "2+3+5+6-tree",
     .sizes = {2, 3, 5, 6},
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 30},
    {.name = "10+3+3-board",
     .sizes = {10, 3, 3},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "10+3+3-tree",
     .sizes = {10, 3, 3},
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 30},
    {.name = "3+3+10-board-settled2",
     .sizes = {3, 3, 10},
     .settled = 2,
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "12+4-board",
     .sizes = {12, 4},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "3x4+4-alone-tree",
     .sizes = {4, 4, 4},
     .loners = 4,
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 30},
    {.name = "1x16-board",
     .sizes = {16},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "16-alone",
     .sizes = {0},
     .loners = 16,
     .chips = 2,
     .global_pct = 60,
     .private_pct = 30},
    {.name = "16x4-board",
     .sizes = {FOUR, FOUR, FOUR, FOUR},
     .chips = 8,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "16x4-tree",
     .sizes = {FOUR, FOUR, FOUR, FOUR},
     .chips = 8,
     .popularity = PLANTED_TREE,
     .global_pct = 30},
    {.name = "8x8-board",
     .sizes = {EIGHT, EIGHT},
     .chips = 8,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "8x8-tree",
     .sizes = {EIGHT, EIGHT},
     .chips = 8,
     .popularity = PLANTED_TREE,
     .global_pct = 30},
    {.name = "4x16-board",
     .sizes = {16, 16, 16, 16},
     .chips = 2,
     .popularity = PLANTED_BOARD,
     .global_pct = 30},
    {.name = "4x16-tree",
     .sizes = {16, 16, 16, 16},
     .chips = 2,
     .popularity = PLANTED_TREE,
     .global_pct = 30},
    {.name = "64-alone",
     .sizes = {0},
     .loners = 64,
     .chips = 8,
     .global_pct = 60,
     .private_pct = 30},
};
static const char *const quick_shapes[] = {"4x4-board", "4x4-tree", "2x8-tree", "16-alone",
                                           "16x4-board"};

static const unsigned checkpoints[] = {250,   500,   1000,  2000,  4000,  8000,
                                       16000, 20000, 32000, 64000, 128000};
enum { CHECKPOINTS = ARRAY_SIZE(checkpoints) };

static const struct filter {
    enum shmap_grant grant;
    unsigned entries; /* 0: by shmap_entries_for */
} filters[] = {
    {SHMAP_FIRST, SHMAP_ENTRIES_PUBLISHED},
    {SHMAP_SECOND, SHMAP_ENTRIES_PUBLISHED},
    {SHMAP_SECOND, 0},
};
enum { FILTERS = ARRAY_SIZE(filters), OUR_FILTER = FILTERS - 1 };

/* A filter and a policy under test. */
static const struct contender {
    const char *name;
    const struct cluster_policy *policy;
    unsigned filter;
} contenders[] = {
    {"published", &cluster_published, 0},     {"published-scaled", &cluster_published_scaled, 0},
    {"cosine/first-256", &cluster_cosine, 0}, {"cosine/second-256", &cluster_cosine, 1},
    {"cosine", &cluster_cosine, OUR_FILTER},
};
enum { CONTENDERS = ARRAY_SIZE(contenders), OURS = CONTENDERS - 1 };

/* A filter's table in a trial, and the clustering on it. */
struct stand {
    struct shmap_table table;
    struct clustering clustering;
    void *table_memory, *cluster_memory;
};

struct tally {
    unsigned trials;
    unsigned right[CONTENDERS][CHECKPOINTS];
    unsigned verdicts[CLUSTER_VERDICT_COUNT], right_at_stop;
    unsigned *stopped_at; /* [trials] number of samples */
};

static void stand_init(struct stand *s, const struct filter *f, unsigned threads, uint64_t seed)
{
    struct shmap_config config = {.threads = threads,
                                  .entries = f->entries ? f->entries : shmap_entries_for(threads),
                                  .line_bytes = LINE_BYTES,
                                  .grant = f->grant,
                                  .seed = seed};
    size_t table_bytes = shmap_bytes(&config), cluster = cluster_bytes(threads, config.entries);

    s->table_memory = malloc(table_bytes);
    s->cluster_memory = malloc(cluster);
    if (!s->table_memory || !s->cluster_memory ||
        shmap_init(&s->table, &config, s->table_memory, table_bytes) ||
        cluster_init(&s->clustering, threads, config.entries, s->cluster_memory, cluster))
        panic("no table");
}

static void stand_free(struct stand *s)
{
    free(s->table_memory);
    free(s->cluster_memory);
}

static bool is_right(struct stand *s, const struct contender *c, const struct planted *p)
{
    cluster_run(&s->clustering, c->policy, s->table.count, c->policy->threshold);
    return planted_right(p, s->clustering.of);
}

/* Runs our policy until its clusters are final. */
static void stop_when_sure(struct tally *tally, const struct planted_shape *shape, unsigned trial,
                           uint64_t seed)
{
    static struct planted p;
    struct stand s;
    struct cluster_watch watch;
    int16_t of[PLANTED_THREADS_MAX];
    bool right = false;

    planted_init(&p, shape, seed);
    stand_init(&s, &filters[OUR_FILTER], p.threads, seed);
    cluster_watch_start(&watch, p.threads, SAMPLE_LIMIT, of);
    do {
        while (shmap_samples(&s.table) < watch.next_check) {
            struct planted_sample sample = planted_next(&p);
            shmap_record(&s.table, sample.thread, sample.thread, sample.address);
        }
        right = is_right(&s, &contenders[OURS], &p);
    } while (!cluster_is_final(&watch, &s.clustering, shmap_samples(&s.table)));
    tally->verdicts[watch.verdict]++;
    tally->right_at_stop += right;
    tally->stopped_at[trial] = (unsigned)shmap_samples(&s.table);
    stand_free(&s);
    planted_free(&p);
}

static void sweep(struct tally *tally, const struct planted_shape *shape, uint64_t seed)
{
    static struct planted p;
    struct stand stands[FILTERS];
    unsigned samples = 0;

    planted_init(&p, shape, seed);
    for (unsigned f = 0; f < FILTERS; f++)
        stand_init(&stands[f], &filters[f], p.threads, seed);
    for (unsigned i = 0; i < CHECKPOINTS; i++) {
        for (; samples < checkpoints[i]; samples++) {
            struct planted_sample sample = planted_next(&p);
            for (unsigned f = 0; f < FILTERS; f++)
                shmap_record(&stands[f].table, sample.thread, sample.thread, sample.address);
        }
        for (unsigned c = 0; c < CONTENDERS; c++)
            tally->right[c][i] += is_right(&stands[contenders[c].filter], &contenders[c], &p);
    }
    for (unsigned f = 0; f < FILTERS; f++)
        stand_free(&stands[f]);
    planted_free(&p);
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static void report(const struct planted_shape *shape, struct tally *t)
{
    unsigned threads = planted_threads(shape), n = t->trials;

    printf("# %s\n# samples          ", shape->name);
    for (unsigned i = 0; i < CHECKPOINTS; i++)
        printf(" %6u", checkpoints[i]);
    printf("\n");
    for (unsigned c = 0; c < CONTENDERS; c++) {
        printf("# %-18s", contenders[c].name);
        for (unsigned i = 0; i < CHECKPOINTS; i++)
            printf(" %6.1f", 100.0 * t->right[c][i] / n);
        printf("\n");
    }
    for (unsigned c = 0; c < CONTENDERS; c++) {
        for (unsigned i = 0; i < CHECKPOINTS; i++)
            printf(
                "RESULT cluster algo=%s threads=%u shape=%s samples=%u trials=%u right_pct=%.1f\n",
                contenders[c].name, threads, shape->name, checkpoints[i], n,
                100.0 * t->right[c][i] / n);
    }
    qsort(t->stopped_at, n, sizeof *t->stopped_at, by_value);
    printf("RESULT cluster.stop algo=cosine threads=%u shape=%s trials=%u right_pct=%.1f "
           "samples_median=%u "
           "samples_p95=%u samples_max=%u stable=%u no_sharing=%u expired=%u\n",
           threads, shape->name, n, 100.0 * t->right_at_stop / n, t->stopped_at[n / 2],
           t->stopped_at[n * 95 / 100], t->stopped_at[n - 1], t->verdicts[CLUSTER_STABLE],
           t->verdicts[CLUSTER_NO_SHARING], t->verdicts[CLUSTER_EXPIRED]);
    fflush(stdout);
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void simulate(const struct planted_shape *plain, unsigned trials, uint64_t seed)
{
    struct planted_shape shape = *plain;
    struct tally tally = {.trials = trials, .stopped_at = calloc(trials, sizeof(unsigned))};

    if (shape.global_pct) {
        shape.private_pct = MAX(shape.private_pct, 5u);
        shape.stray_pct = 5;
        shape.cross_pct = 2;
        shape.uneven = true;
    }
    for (unsigned i = 0; i < trials; i++) {
        if (!number("STOP_ONLY", 0))
            sweep(&tally, &shape, seed * 1000003 + i);
        stop_when_sure(&tally, &shape, i, seed * 1000003 + 500000 + i);
    }
    report(&shape, &tally);
    free(tally.stopped_at);
}

static bool wanted(const char *name, bool quick, const char *only)
{
    if (only)
        return strcmp(only, name) == 0;
    for (unsigned i = 0; quick && i < ARRAY_SIZE(quick_shapes); i++) {
        if (strcmp(quick_shapes[i], name) == 0)
            return true;
    }
    return !quick;
}

static const char explanation[] =
    "# Right clusters in percent of the trials.\n"
    "# Groups: board 16 lines each, tree 1000, some hot, flat 1000 used alike; "
    "on 2 chips, 16x4, 8x8 and 64-alone\n"
    "# on 8.  Samples in all shapes but the clean ones: 30 percent on global "
    "lines, or as the name says (g10, g50;\n"
    "# 60 in *-alone), 5 on private ones, or as the name says, 5 on lines two "
    "threads meet on by accident, the rest\n"
    "# on the groups' lines; 2 percent of their uses are by strangers; "
    "threads' rates 1 to 3; random placement.\n"
    "# cosine: entries granted to the second thread, 1024 for 16 threads, 2048 "
    "for 64.  published: to the first, 256.\n"
    "# cluster.stop: cosine, sampling until the clusters are judged certain.\n";

int main(void)
{
    bool quick = number("QUICK", 0) != 0;
    unsigned trials = (unsigned)number("TRIALS", quick ? 20 : 500);

    if (trials == 0) {
        fprintf(stderr, "sim_sharing: TRIALS: must be a number from 1\n");
        return 2;
    }
    printf("# make bench-clustering TRIALS=%u SEED=%lu\n%s", trials, number("SEED", 1),
           explanation);
    for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
        if (wanted(shapes[i].name, quick, getenv("SHAPE")))
            simulate(&shapes[i], trials, number("SEED", 1));
    }
    return 0;
}
