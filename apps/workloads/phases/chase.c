/*
 * Pointer chasing over footprints that grow by four until they exceed each cache in turn.
 *
 * For each footprint there are two phases: "build" links its lines to one random cycle (Sattolo);
 * "NK" walks it, each load waiting for the one before. Then "check".
 *
 * Law: after whole laps a walk is back where it began, and has visited every line once a lap.
 */
#include <stdio.h>
#include "apps/workloads/phases/job.h"

enum {
    SMALLEST_KIB = 16,
    GROWTH = 4,
    FOOTPRINTS_MAX = 8,
    STEPS = 1 << 17,
    KIB = 1024,
    NAME_BYTES = 16
};

struct node {
    alignas(ARENA_LINE) struct node *next;
    uint64_t number;
};

/* The result of a walk. */
struct walk {
    uint64_t sum; /* of the numbers of its lines */
    uint64_t end; /* number of the line at which it ended */
};

struct chase {
    struct node *nodes;
    unsigned footprints;
    uint64_t kib[FOOTPRINTS_MAX]; /* ascending; the last is the job's size */
    struct walk walk[FOOTPRINTS_MAX];
};

static uint64_t nodes_of(const struct chase *chase, unsigned footprint)
{
    return chase->kib[footprint] * KIB / sizeof(struct node);
}

/* Returns whole laps: at least one, and at least STEPS steps together. */
static uint64_t laps_of(uint64_t nodes)
{
    return (STEPS + nodes - 1) / nodes;
}

/* Sattolo's shuffle: a node is swapped with an earlier one only, so that a single cycle results. */
static void build(struct phases_job *job, struct node *nodes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        nodes[i] = (struct node){.next = &nodes[i], .number = i};
    for (uint64_t i = count - 1; i > 0; i--) {
        uint64_t other = prng_below(&job->prng, (uint32_t)i);
        struct node *next = nodes[i].next;
        nodes[i].next = nodes[other].next;
        nodes[other].next = next;
    }
}

static struct walk walk(const struct node *from, uint64_t steps)
{
    struct walk walk = {0};

    for (; steps; steps--) {
        walk.sum += from->number;
        from = from->next;
    }
    walk.end = from->number;
    return walk;
}

static const char *check(struct phases_job *job, const struct chase *chase)
{
    for (unsigned f = 0; f < chase->footprints; f++) {
        uint64_t nodes = nodes_of(chase, f);
        if (chase->walk[f].end != 0)
            return "walk_returns";
        if (chase->walk[f].sum != laps_of(nodes) * (nodes * (nodes - 1) / 2))
            return "walk_meets_every_line";
    }
    /* The last cycle's order, which no sum contains. */
    for (uint64_t i = 0; i < nodes_of(chase, chase->footprints - 1); i++)
        phases_result(job, chase->nodes[i].next->number);
    return NULL;
}

static const char *round_of(struct phases_job *job)
{
    struct chase *chase = job->data;
    char name[NAME_BYTES];

    for (unsigned f = 0; f < chase->footprints; f++) {
        uint64_t nodes = nodes_of(chase, f);
        phases_enter(job, "build");
        build(job, chase->nodes, nodes);
        snprintf(name, sizeof name, "%uK", (unsigned)chase->kib[f]);
        phases_enter(job, name);
        chase->walk[f] = walk(chase->nodes, nodes * laps_of(nodes));
    }
    phases_enter(job, "check");
    return check(job, chase);
}

static void prepare(struct phases_job *job)
{
    struct chase *chase = phases_alloc(job, sizeof *chase);

    for (uint64_t kib = SMALLEST_KIB; kib < job->size; kib *= GROWTH)
        chase->kib[chase->footprints++] = kib;
    chase->kib[chase->footprints++] = job->size;
    chase->nodes = phases_alloc(job, job->size * KIB);
    job->data = chase;
    job->product = chase->walk;
    job->product_bytes = chase->footprints * sizeof chase->walk[0];
}

const struct phases_kind phases_chase = {"chase", "KiB",   4096,    SMALLEST_KIB,
                                         131072,  prepare, round_of};
