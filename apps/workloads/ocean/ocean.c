/*
 * Wind-driven currents of a square basin, two layers deep, in the manner of SPLASH-2's Ocean (Woo
 * et al., 1995). In each step quasi-geostrophic potential vorticity q is carried along by the
 * stream function psi, and psi follows from q by an elliptic equation (Pedlosky, "Geophysical Fluid
 * Dynamics", 6.16):
 *
 *     dq_i/dt = -J(psi_i, q_i) - BETA dpsi_i/dx + wind_1 - FRICTION Laplace psi_i
 *     Laplace psi_1 + F (psi_2 - psi_1) = q_1
 *     Laplace psi_2 + F (psi_1 - psi_2) = q_2
 *     psi = 0 at the edge
 *
 * J is Arakawa's (1966), which conserves energy and enstrophy. Time steps are Adams and
 * Bashforth's. Sum and difference of both layers obey equations of their own, which multigrid
 * (grid.c) solves from the last step's solution.
 *
 * Laws: psi obeys its equations at every point.
 */
#include "apps/workloads/ocean/ocean.h"
#include <math.h>
#include <stdio.h>

enum { STREAM_PV = 0, FIRST_CYCLES = 15, TILES_MAX = 256 };
#define BETA      1.0
#define COUPLING  25.0
#define FRICTION  0.1
#define STEP      0.25 /* of the time in which a speed of 1 passes an interval */
#define TOLERANCE 1e-4 /* of the largest pv */

struct ocean ocean_state = {.n = 128, .steps = 4, .cycles = 3};

static const struct grid_level *finest(const struct ocean *ocean)
{
    return &ocean->grids.level[0];
}

/* ---- Equations, by points -------------------------------------------------------------------- */

double ocean_jacobian(const struct grid_level *g, const double *p, const double *q, size_t i,
                      size_t j)
{
    size_t n = grid_at(g, i + 1, j), s = grid_at(g, i - 1, j), e = grid_at(g, i, j + 1),
           w = grid_at(g, i, j - 1);
    size_t ne = grid_at(g, i + 1, j + 1), nw = grid_at(g, i + 1, j - 1),
           se = grid_at(g, i - 1, j + 1), sw = grid_at(g, i - 1, j - 1);
    double both = (p[e] - p[w]) * (q[n] - q[s]) - (p[n] - p[s]) * (q[e] - q[w]);
    double by_p = p[e] * (q[ne] - q[se]) - p[w] * (q[nw] - q[sw]) - p[n] * (q[ne] - q[nw]) +
                  p[s] * (q[se] - q[sw]);
    double by_q = q[n] * (p[ne] - p[nw]) - q[s] * (p[se] - p[sw]) - q[e] * (p[ne] - p[se]) +
                  q[w] * (p[nw] - p[sw]);

    return (both + by_p + by_q) * (double)g->n * (double)g->n / 12;
}

static double laplacian(const struct grid_level *g, const double *p, size_t i, size_t j)
{
    return (p[grid_at(g, i + 1, j)] + p[grid_at(g, i - 1, j)] + p[grid_at(g, i, j + 1)] +
            p[grid_at(g, i, j - 1)] - 4 * p[grid_at(g, i, j)]) *
           (double)g->n * (double)g->n;
}

double ocean_defect(const struct ocean *ocean, unsigned layer, size_t i, size_t j)
{
    const struct grid_level *g = finest(ocean);
    const double *psi = ocean->psi[layer], *other = ocean->psi[!layer];
    size_t here = grid_at(g, i, j);

    return laplacian(g, psi, i, j) + COUPLING * (other[here] - psi[here]) - ocean->pv[layer][here];
}

/* Returns the curl of a wind that blows one way in the middle and the other way at both shores. */
static double wind(const struct grid_level *g, unsigned layer, size_t i)
{
    double y = (double)i / (double)g->n;

    return layer == 0 ? 8 * y * (1 - y) * (1 - 2 * y) : 0;
}

/* ---- The work, by rows ----------------------------------------------------------------------- */

static void find_tendency(const struct grid_level *g, size_t i, size_t from, size_t to, void *arg)
{
    struct ocean *ocean = arg;

    for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++) {
        const double *psi = ocean->psi[layer], *pv = ocean->pv[layer];
        double *out = ocean->tendency[layer][ocean->done % 2];
        for (size_t j = from; j < to; j++) {
            double slope =
                (psi[grid_at(g, i, j + 1)] - psi[grid_at(g, i, j - 1)]) * (double)g->n / 2;
            out[grid_at(g, i, j)] = wind(g, layer, i) - ocean_jacobian(g, psi, pv, i, j) -
                                    BETA * slope - FRICTION * laplacian(g, psi, i, j);
        }
    }
}

static void step_pv(const struct grid_level *g, size_t i, size_t from, size_t to, void *arg)
{
    struct ocean *ocean = arg;
    double now = STEP / (double)g->n * (ocean->done ? 1.5 : 1),
           before = STEP / (double)g->n * (ocean->done ? -0.5 : 0);

    for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++) {
        double *pv = ocean->pv[layer];
        const double *new = ocean->tendency[layer][ocean->done % 2],
                     *old = ocean->tendency[layer][(ocean->done + 1) % 2];
        for (size_t j = from; j < to; j++) {
            size_t here = grid_at(g, i, j);
            pv[here] += now * new[here] + before *old[here];
        }
    }
}

static void give_sum(const struct grid_level *g, size_t i, size_t from, size_t to, void *arg)
{
    const struct ocean *ocean = arg;

    for (size_t j = from; j < to; j++) {
        size_t here = grid_at(g, i, j);
        g->given[here] = ocean->pv[0][here] + ocean->pv[1][here];
    }
}

static void give_difference(const struct grid_level *g, size_t i, size_t from, size_t to, void *arg)
{
    const struct ocean *ocean = arg;

    for (size_t j = from; j < to; j++) {
        size_t here = grid_at(g, i, j);
        g->given[here] = ocean->pv[0][here] - ocean->pv[1][here];
    }
}

static void find_layers(const struct grid_level *g, size_t i, size_t from, size_t to, void *arg)
{
    const struct ocean *ocean = arg;

    for (size_t j = from; j < to; j++) {
        size_t here = grid_at(g, i, j);
        ocean->psi[0][here] = (ocean->mode[0][here] + ocean->mode[1][here]) / 2;
        ocean->psi[1][here] = (ocean->mode[0][here] - ocean->mode[1][here]) / 2;
    }
}

static void find_psi(struct spmd_thread *t, struct ocean *ocean, uint64_t cycles)
{
    const struct grid_set *grids = &ocean->grids;

    spmd_phase(t, "solve");
    grid_each(t, grids, finest(ocean), give_sum, ocean);
    spmd_barrier(t);
    grid_solve(t, grids, 0, ocean->mode[0], cycles);
    grid_each(t, grids, finest(ocean), give_difference, ocean);
    spmd_barrier(t);
    grid_solve(t, grids, 2 * COUPLING, ocean->mode[1], cycles);
    grid_each(t, grids, finest(ocean), find_layers, ocean);
    spmd_barrier(t);
}

static void round_of(struct spmd_thread *t)
{
    struct ocean *ocean = &ocean_state;

    for (uint64_t step = 0; step < ocean->steps; step++) {
        spmd_phase(t, "advance");
        grid_each(t, &ocean->grids, finest(ocean), find_tendency, ocean);
        spmd_barrier(t);
        grid_each(t, &ocean->grids, finest(ocean), step_pv, ocean);
        find_psi(t, ocean, ocean->cycles);
        if (t->index == 0)
            ocean->done++;
    }
}

/* Eddies of a few sizes: random numbers on coarse lattices, smoothed by the first solution. */
static void set_pv(const struct grid_level *g, size_t i, size_t from, size_t to, void *arg)
{
    const struct spmd_thread *t = arg;

    for (size_t j = from; j < to; j++) {
        uint64_t lattice = i * 16 / g->n * 16 + j * 16 / g->n;
        for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++)
            ocean_state.pv[layer][grid_at(g, i, j)] =
                2 * prng_unit(prng_at(t->run->seed, STREAM_PV + layer, lattice)) - 1;
    }
}

static void fill(struct spmd_thread *t)
{
    grid_each(t, &ocean_state.grids, finest(&ocean_state), set_pv, t);
    find_psi(t, &ocean_state, FIRST_CYCLES);
}

/* ---- The check ------------------------------------------------------------------------------- */

static const char *check(struct spmd_run *run)
{
    const struct ocean *ocean = &ocean_state;
    double worst = 0, largest = 0;

    for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++) {
        for (size_t i = 1; i < ocean->n; i++) {
            for (size_t j = 1; j < ocean->n; j++) {
                size_t here = grid_at(finest(ocean), i, j);
                worst = fmax(worst, fabs(ocean_defect(ocean, layer, i, j)));
                largest = fmax(largest, fabs(ocean->pv[layer][here]));
                spmd_results(run, &ocean->psi[layer][here], 1);
                spmd_results(run, &ocean->pv[layer][here], 1);
            }
        }
    }
    run->error = worst / largest;
    return run->error < TOLERANCE ? NULL : "currents_obey_their_equations";
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    size_t inner = ocean_state.n - 1, i = 1 + prng_next(prng) % inner,
           j = 1 + prng_next(prng) % inner;

    (void)run;
    spmd_spoil(&ocean_state.psi[i % OCEAN_LAYERS][grid_at(finest(&ocean_state), i, j)], 1, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

static void arrange(const struct spmd_run *run, struct ocean *ocean)
{
    grid_arrange(&ocean->grids, ocean->n, ocean->tiles ? ocean->tiles : run->threads,
                 ocean->layout == OCEAN_CONTIGUOUS);
}

/* Returns the doubles of the solver; levels below the finest have a solution of their own. */
static size_t solver_doubles(const struct grid_set *grids)
{
    size_t count = 0;

    for (unsigned l = 0; l < grids->count; l++)
        count += (l ? 3 : 2) * grid_doubles(&grids->level[l]);
    return count;
}

static uint64_t bytes(const struct spmd_run *run)
{
    const struct grid_set *grids = &ocean_state.grids;

    arrange(run, &ocean_state);
    return (5 * OCEAN_LAYERS * grid_doubles(&grids->level[0]) + solver_doubles(grids)) *
               sizeof(double) +
           grid_offsets(grids) * sizeof(size_t);
}

static double *layers(struct spmd_run *run, const char *name, const struct ocean *ocean,
                      unsigned count)
{
    return spmd_array(run, name, count * grid_doubles(finest(ocean)) * sizeof(double));
}

static void prepare(struct spmd_run *run)
{
    struct ocean *ocean = &ocean_state;

    arrange(run, ocean);
    size_t each = grid_doubles(finest(ocean));
    double *psi = layers(run, "ocean.psi", ocean, 2), *pv = layers(run, "ocean.pv", ocean, 2),
           *mode = layers(run, "ocean.modes", ocean, 2),
           *tendency = layers(run, "ocean.tendency", ocean, 4);
    for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++) {
        ocean->psi[layer] = psi + layer * each;
        ocean->pv[layer] = pv + layer * each;
        ocean->mode[layer] = mode + layer * each;
        for (unsigned turn = 0; turn < 2; turn++)
            ocean->tendency[layer][turn] = tendency + (2 * layer + turn) * each;
    }
    double *solver =
        spmd_array(run, "ocean.solver", solver_doubles(&ocean->grids) * sizeof(double));
    for (unsigned l = 0; l < ocean->grids.count; l++) {
        struct grid_level *level = &ocean->grids.level[l];
        level->given = solver;
        level->residual = solver + grid_doubles(level);
        level->solution = l ? level->residual + grid_doubles(level) : NULL;
        solver += (l ? 3 : 2) * grid_doubles(level);
    }
    grid_index(&ocean->grids,
               spmd_array(run, "ocean.index", grid_offsets(&ocean->grids) * sizeof(size_t)));
}

/* For each point: 80 for both tendencies, 10 for the step; for each cycle of each mode 6 for each
 * of 4 sweeps, 8 for the residual and 8 for coarser levels, and a third more for those. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return ocean_state.steps * (90 + 2 * ocean_state.cycles * 40 * 4 / 3) * ocean_state.n *
           ocean_state.n;
}

static const uint64_t step = 16;
static const char *const layouts[] = {"contiguous", "rows", NULL};
static const struct args_entry entries[] = {
    {"n", ARGS_NUMBER, &ocean_state.n, 16, 8192, NULL,
     "intervals in each direction, a multiple of 16; about 104 bytes for each of n n"},
    {"steps", ARGS_NUMBER, &ocean_state.steps, 1, 10000, NULL, "time steps of a round"},
    {"layout", ARGS_CHOICE, &ocean_state.layout, 0, 0, layouts,
     "a thread's points in one piece, or as parts of rows"},
    {"tiles", ARGS_NUMBER, &ocean_state.tiles, 0, TILES_MAX, NULL,
     "pieces that a grid is divided into; 0: one for each thread"},
    {"cycles", ARGS_NUMBER, &ocean_state.cycles, 2, 100, NULL, "V-cycles of a solution"},
};

SPMD_PROGRAM(ocean, &step, "currents of a basin, by stencils and multigrid");
