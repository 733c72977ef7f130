/*
 * How right are the counts of a process with short-lived threads, and of a family of such
 * processes? A grid of number of threads x length of life, with 2 to 17 events that take turns,
 * against the true counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include "test/host/double/hpm_lives.h"

static const struct {
    unsigned processes, threads;
    uint64_t cycles;
} grid[] = {
    {1, 400, 7500},     {1, 4000, 7500},     {1, 1000, 27000},    {1, 4000, 27000},
    {1, 400, 70000},    {1, 2000, 50000},    {1, 400, 200000},    {1, 200, 1000000},
    {500, 4000, 27000}, {200, 1000, 200000}, {200, 200, 1000000}, {100, 100, 3000000},
};
static const unsigned numbers_of_events[] = {2, 5, 9, 13, 17};
static const uint64_t slices[] = {1000000, 50000};

void panic(const char *fmt, ...)
{
    fprintf(stderr, "sim_lives: panic: %s\n", fmt);
    exit(1);
}

struct tally {
    unsigned cases, unseen, intervals, held;
    double bias;   /* sum of the errors, as part of the truth */
    double *width; /* half of the interval, in percent of the count */
};

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_case(const struct lives_count *c, struct tally *t)
{
    const struct estimate *e = &c->estimate;

    if (e->sure == ESTIMATE_EXACT)
        return;
    if (e->sure == ESTIMATE_UNSEEN) {
        t->unseen++;
        return;
    }
    t->cases++;
    t->bias += ((double)e->count - (double)c->truth) / (double)c->truth;
    if (e->sure != ESTIMATE_INTERVAL)
        return;
    t->held += e->low <= c->truth && c->truth <= e->high;
    t->width[t->intervals++] =
        50.0 * (double)(e->high - e->low) / (double)(e->count ? e->count : 1);
}

static void print(const char *what, struct tally *t)
{
    printf("%s %6u %6u %+7.2f", what, t->cases, t->unseen, t->cases ? 100 * t->bias / t->cases : 0);
    if (t->intervals) {
        qsort(t->width, t->intervals, sizeof *t->width, by_value);
        printf(" %9u %6.1f %7.1f\n", t->intervals, 100.0 * t->held / t->intervals,
               t->width[t->intervals / 2]);
    } else {
        printf(" %9s %6s %7s\n", "-", "-", "-");
    }
}

static void add_tally(struct tally *sum, const struct tally *part)
{
    for (unsigned i = 0; i < part->intervals; i++)
        sum->width[sum->intervals + i] = part->width[i];
    sum->cases += part->cases;
    sum->unseen += part->unseen;
    sum->bias += part->bias;
    sum->intervals += part->intervals;
    sum->held += part->held;
}

static struct tally new_tally(size_t runs)
{
    return (struct tally){.width = calloc(runs * LIVES_EVENTS_MAX, sizeof(double))};
}

static const char explanation[] =
    "# Counts of a process whose threads are short, or of a family of P such processes, on the "
    "simulated\n"
    "# machine's double: N threads with this mean life in cycles, one after the other on "
    "each of\n"
    "# 1 or 4 CPUs, and the number of events, which take turns in slices of these cycles.  A third "
    "of "
    "the runs\n"
    "# has threads that are all alike, a third threads of three kinds, a third runs of some forty\n"
    "# threads of one kind.\n"
    "# cases: counts that are estimates; unseen: those of events whose turn did not come in all "
    "that\n"
    "# time, which are said to be that.  bias: the mean of (estimate - truth) / truth, in "
    "percent.\n"
    "# intervals: how many have one; held: with the truth in it, in percent; width: half of it, "
    "in\n"
    "# percent of the count, the median.\n";

/* Runs one cell of the grid often. A third of the runs is of each program, half of them on one
 * CPU. */
static void run_cell(unsigned cell, unsigned events, uint64_t slice, unsigned runs, struct tally *t)
{
    struct lives_count count[LIVES_EVENTS_MAX];
    char what[64];

    for (unsigned i = 0; i < runs; i++) {
        const struct lives l = {.threads = grid[cell].threads,
                                .processes = grid[cell].processes,
                                .cycles = grid[cell].cycles,
                                .cpus = i / LIVES_PROGRAMS % 2 ? 1 : DOUBLE_CPUS,
                                .events = events,
                                .slice = slice,
                                .program = i % LIVES_PROGRAMS,
                                .seed =
                                    (number("SEED", 1) * 1000 + cell) * 100000 + i * 100 + events};
        lives_run(&l, count);
        for (unsigned e = 0; e < events; e++)
            add_case(&count[e], t);
    }
    snprintf(what, sizeof what, "%-8llu %-6u %-6u %-8llu %-6u", (unsigned long long)slice,
             grid[cell].processes, grid[cell].threads, (unsigned long long)grid[cell].cycles,
             events);
    print(what, t);
    fflush(stdout);
}

int main(void)
{
    unsigned runs = (unsigned)number("TRIALS", number("QUICK", 0) ? 12 : 240);
    struct tally all = new_tally((size_t)runs * ARRAY_SIZE(grid) * ARRAY_SIZE(numbers_of_events) *
                                 ARRAY_SIZE(slices));

    if (!runs || !all.width) {
        fprintf(stderr, "sim_lives: TRIALS: must be a number from 1\n");
        return 2;
    }
    printf("# make bench-lives TRIALS=%u SEED=%lu\n%s", runs, number("SEED", 1), explanation);
    printf("%-8s %-6s %-6s %-8s %-6s %6s %6s %7s %9s %6s %7s\n", "#slice", "P", "N", "life",
           "events", "cases", "unseen", "bias", "intervals", "held", "width");
    for (unsigned s = 0; s < ARRAY_SIZE(slices); s++)
        for (unsigned g = 0; g < ARRAY_SIZE(grid); g++)
            for (unsigned n = 0; n < ARRAY_SIZE(numbers_of_events); n++) {
                struct tally t = new_tally(runs);
                run_cell(g, numbers_of_events[n], slices[s], runs, &t);
                add_tally(&all, &t);
                free(t.width);
            }
    print("all                                   ", &all);
    return 0;
}
