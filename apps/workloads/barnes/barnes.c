/*
 * Bodies that attract one another, as in SPLASH-2's Barnes (Woo et al., 1995).
 *
 * Each step moves the bodies (leapfrog), sorts them by position, builds the tree over them and
 * computes the force on each (tree.c). They begin as a cluster after Plummer, made in the manner of
 * Aarseth, Henon & Wielen (Astronomy and Astrophysics 37, 1974).
 *
 * Laws:
 * - those of the tree;
 * - forces on bodies chosen by seed are near the sum over all single bodies.
 */
#include "apps/workloads/barnes/barnes.h"
#include <math.h>
#include <stdio.h>
#include "apps/common/real.h"

enum { SAMPLES = 16, STREAM_SAMPLE = 1 };
#define TIME_STEP  0.01
#define RADIUS_MAX 10.0
#define TOLERANCE  0.2 /* of the mean force, at opening 1; falls with its cube */

struct barnes barnes_state = {.bodies = 8192, .steps = 2, .opening = 80};

/* ---- The cluster ----------------------------------------------------------------------------- */

static double unit(struct prng *prng)
{
    return prng_unit(prng_next(prng));
}

/* Makes a vector of this length in a random direction. */
static void direct(struct prng *prng, double length, double out[3])
{
    double square;

    do {
        square = 0;
        for (unsigned d = 0; d < 3; d++) {
            out[d] = 2 * unit(prng) - 1;
            square += out[d] * out[d];
        }
    } while (square > 1 || square < 1e-6);
    for (unsigned d = 0; d < 3; d++)
        out[d] *= length / sqrt(square);
}

/* Returns a random part of the escape velocity, by von Neumann's rejection. */
static double part_of_escape(struct prng *prng)
{
    double x, rest;

    do {
        x = unit(prng);
        rest = 1 - x * x;
    } while (0.1 * unit(prng) > x * x * rest * rest * rest * sqrt(rest));
    return x;
}

static void make_body(uint64_t seed, size_t n, size_t i, struct body *body)
{
    struct prng prng = prng_seeded(seed, i);
    double radius;

    do
        radius = 1 / sqrt(real_exp(real_log(unit(&prng) + 0x1p-60) * (-2.0 / 3)) - 1);
    while (!(radius < RADIUS_MAX));
    direct(&prng, radius, body->position);
    direct(&prng, part_of_escape(&prng) * sqrt(2 / sqrt(1 + radius * radius)), body->velocity);
    body->mass = (0.5 + unit(&prng)) / (double)n;
    for (unsigned d = 0; d < 3; d++)
        body->acceleration[d] = 0;
}

/* ---- The work -------------------------------------------------------------------------------- */

static void fill(struct spmd_thread *t)
{
    size_t from, to;

    spmd_share(t, barnes_state.bodies, &from, &to);
    for (size_t i = from; i < to; i++)
        make_body(t->run->seed, barnes_state.bodies, i, &barnes_state.tree.body[i]);
}

static void move(const struct spmd_thread *t, const struct tree *tree)
{
    size_t from, to;

    spmd_share(t, tree->n, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct body *body = &tree->body[i];
        for (unsigned d = 0; d < 3; d++) {
            body->velocity[d] += TIME_STEP * body->acceleration[d];
            body->position[d] += TIME_STEP * body->velocity[d];
        }
    }
}

static double opening(const struct barnes *barnes)
{
    return (double)barnes->opening / 100;
}

/* Goes in the order of positions, as neighbours use the same cells. */
static void find_forces(const struct spmd_thread *t, const struct tree *tree)
{
    size_t from, to;

    spmd_share(t, tree->n, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct body *body = &tree->body[tree->order[0][i].body];
        tree_pull(tree, body, opening(&barnes_state), body->acceleration);
    }
}

static void round_of(struct spmd_thread *t)
{
    struct tree *tree = &barnes_state.tree;

    for (uint64_t step = 0; step < barnes_state.steps; step++) {
        spmd_phase(t, "move");
        move(t, tree);
        spmd_phase(t, "sort");
        tree_sort(t, tree);
        spmd_phase(t, "build");
        if (t->index == 0)
            tree_build(tree);
        spmd_phase(t, "force");
        find_forces(t, tree);
    }
}

/* ---- The check ------------------------------------------------------------------------------- */

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Returns the largest difference from exact forces, as part of their mean. */
static double sample_forces(struct spmd_run *run, const struct tree *tree)
{
    double worst = 0, mean = 0;

    for (unsigned s = 0; s < SAMPLES; s++) {
        const struct body *body = &tree->body[prng_at(run->seed, STREAM_SAMPLE, s) % tree->n];
        double exact[3], difference[3];
        tree_pull_exactly(tree, body, exact);
        for (unsigned d = 0; d < 3; d++)
            difference[d] = body->acceleration[d] - exact[d];
        worst = fmax(worst, length(difference));
        mean += length(exact) / SAMPLES;
    }
    return worst / mean;
}

static const char *check(struct spmd_run *run)
{
    const struct tree *tree = &barnes_state.tree;
    const char *violation = tree_check(tree);

    for (size_t i = 0; i < tree->n; i++) {
        spmd_results(run, tree->body[i].position, 3);
        spmd_results(run, tree->body[i].acceleration, 3);
    }
    if (violation)
        return violation;
    run->error = sample_forces(run, tree);
    double open = opening(&barnes_state);
    return run->error < TOLERANCE * open * open * open ? NULL : "forces_are_near_exact_ones";
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    const struct tree *tree = &barnes_state.tree;

    (void)run;
    spmd_spoil(&tree->node[prng_next(prng) % tree->nodes].mass, 1, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

enum { COUNTS_BYTES = SPMD_CHUNKS * TREE_DIGITS * sizeof(uint32_t) };

static uint64_t bytes(const struct spmd_run *run)
{
    (void)run;
    return barnes_state.bodies *
               (sizeof(struct body) + 2 * sizeof(struct place) + sizeof(struct node)) +
           COUNTS_BYTES;
}

static void prepare(struct spmd_run *run)
{
    struct tree *tree = &barnes_state.tree;

    tree->n = barnes_state.bodies;
    tree->body = spmd_array(run, "barnes.bodies", tree->n * sizeof *tree->body);
    tree->order[0] = spmd_array(run, "barnes.order", tree->n * sizeof(struct place));
    tree->order[1] = spmd_array(run, "barnes.sorting", tree->n * sizeof(struct place));
    tree->node = spmd_array(run, "barnes.tree", tree->n * sizeof *tree->node);
    tree->counts = spmd_array(run, "barnes.counts", COUNTS_BYTES);
}

/* Counts the forces computed. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return barnes_state.bodies * barnes_state.steps;
}

static const uint64_t step = 1;
static const struct args_entry entries[] = {
    {"bodies", ARGS_NUMBER, &barnes_state.bodies, 64, 16777216, NULL,
     "in the cluster; 168 bytes for each"},
    {"steps", ARGS_NUMBER, &barnes_state.steps, 1, 10000, NULL, "of time, in a round"},
    {"opening", ARGS_NUMBER, &barnes_state.opening, 10, 120, NULL,
     "side of a cell taken as one mass, in percent of its distance"},
};

SPMD_PROGRAM(barnes, &step, "bodies that attract one another, by a tree of cells");
