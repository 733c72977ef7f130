/*
 * Multigrid in three dimensions, as in the NAS parallel benchmark MG (Bailey et al., "The NAS
 * parallel benchmarks", 1991, 2.4): V-cycles for A u = v on a periodic cube, where v is 1 at ten
 * points, -1 at ten others and 0 elsewhere.
 *
 * A, the smoother, restriction and interpolation are stencils of 27 points. Their weights depend on
 * the distance only: the point itself, 6 faces, 12 edges, 8 corners. Each level has half the points
 * in each direction, down to an odd number or two. Rows of four face and four edge neighbours are
 * added up first, and used for three points each.
 *
 * Laws:
 * - the residual is v - A u, computed anew point by point;
 * - it falls to less than half in each cycle.
 */
#include "apps/workloads/mg/mg.h"
#include <math.h>
#include <stdio.h>

enum { STREAM_CHARGE = 0, CHARGES = 10, COARSEST = 4 };
#define TOLERANCE 1e-12

/* Weights by distance. */
struct stencil {
    double weight[4];
};
static const struct stencil operator_a = {{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}},
                            smoother = {{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}},
                            restriction = {{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16}};

struct mg mg_state = {.n = 40, .cycles = 4};

static double *row_at(const struct mg_grid *grid, size_t z, size_t y)
{
    return grid->at + (z * grid->n + y) * grid->n;
}

/* ---- Stencils -------------------------------------------------------------------------------- */

/* The rows around one: the sum of those that share a face with it, and of those that share an edge
 * only. */
struct around {
    /* Element x is at x + 1; both ends are wrapped. */
    double face[MG_N_MAX + 2], edge[MG_N_MAX + 2], row[MG_N_MAX + 2];
};

static void wrap(double *padded, size_t n)
{
    padded[0] = padded[n];
    padded[n + 1] = padded[1];
}

static void gather(const struct mg_grid *grid, size_t z, size_t y, struct around *a)
{
    size_t n = grid->n, up = (z + 1) % n, down = (z + n - 1) % n, north = (y + 1) % n,
           south = (y + n - 1) % n;
    const double *row = row_at(grid, z, y);
    const double *f0 = row_at(grid, up, y), *f1 = row_at(grid, down, y),
                 *f2 = row_at(grid, z, north), *f3 = row_at(grid, z, south);
    const double *e0 = row_at(grid, up, north), *e1 = row_at(grid, up, south),
                 *e2 = row_at(grid, down, north), *e3 = row_at(grid, down, south);

    for (size_t x = 0; x < n; x++) {
        a->row[x + 1] = row[x];
        a->face[x + 1] = f0[x] + f1[x] + f2[x] + f3[x];
        a->edge[x + 1] = e0[x] + e1[x] + e2[x] + e3[x];
    }
    wrap(a->row, n);
    wrap(a->face, n);
    wrap(a->edge, n);
}

static double weigh(const struct stencil *s, const struct around *a, size_t x)
{
    return s->weight[0] * a->row[x + 1] +
           s->weight[1] * (a->row[x] + a->row[x + 2] + a->face[x + 1]) +
           s->weight[2] * (a->edge[x + 1] + a->face[x] + a->face[x + 2]) +
           s->weight[3] * (a->edge[x] + a->edge[x + 2]);
}

/* Computes r = v - A u in this thread's planes; r may be v. */
static void residual(const struct spmd_thread *t, const struct mg_grid *u, const struct mg_grid *v,
                     const struct mg_grid *r)
{
    struct around a;
    size_t from, to;

    spmd_share(t, r->n, &from, &to);
    for (size_t z = from; z < to; z++) {
        for (size_t y = 0; y < r->n; y++) {
            const double *given = row_at(v, z, y);
            double *out = row_at(r, z, y);
            gather(u, z, y, &a);
            for (size_t x = 0; x < r->n; x++)
                out[x] = given[x] - weigh(&operator_a, &a, x);
        }
    }
}

/* Computes u += S r. */
static void smooth(const struct spmd_thread *t, const struct mg_grid *r, const struct mg_grid *u)
{
    struct around a;
    size_t from, to;

    spmd_share(t, u->n, &from, &to);
    for (size_t z = from; z < to; z++) {
        for (size_t y = 0; y < u->n; y++) {
            double *out = row_at(u, z, y);
            gather(r, z, y, &a);
            for (size_t x = 0; x < u->n; x++)
                out[x] += weigh(&smoother, &a, x);
        }
    }
}

static void restrict_to(const struct spmd_thread *t, const struct mg_grid *fine,
                        const struct mg_grid *coarse)
{
    struct around a;
    size_t from, to;

    spmd_share(t, coarse->n, &from, &to);
    for (size_t z = from; z < to; z++) {
        for (size_t y = 0; y < coarse->n; y++) {
            double *out = row_at(coarse, z, y);
            gather(fine, 2 * z, 2 * y, &a);
            for (size_t x = 0; x < coarse->n; x++)
                out[x] = weigh(&restriction, &a, 2 * x);
        }
    }
}

/* Adds interpolated coarse points to row (z, y) of `fine`. */
static void interpolate_row(const struct mg_grid *coarse, const struct mg_grid *fine, size_t z,
                            size_t y)
{
    size_t n = coarse->n, z1 = (z + 1) / 2 % n, y1 = (y + 1) / 2 % n;
    const double *r0 = row_at(coarse, z / 2, y / 2), *r1 = row_at(coarse, z / 2, y1),
                 *r2 = row_at(coarse, z1, y / 2), *r3 = row_at(coarse, z1, y1);
    double between[MG_N_MAX / 2 + 1], *out = row_at(fine, z, y);

    for (size_t x = 0; x < n; x++)
        between[x] = (r0[x] + r1[x] + r2[x] + r3[x]) / 4;
    between[n] = between[0];
    for (size_t x = 0; x < n; x++) {
        out[2 * x] += between[x];
        out[2 * x + 1] += (between[x] + between[x + 1]) / 2;
    }
}

static void interpolate(const struct spmd_thread *t, const struct mg_grid *coarse,
                        const struct mg_grid *fine)
{
    size_t from, to;

    spmd_share(t, fine->n, &from, &to);
    for (size_t z = from; z < to; z++) {
        for (size_t y = 0; y < fine->n; y++)
            interpolate_row(coarse, fine, z, y);
    }
}

static void clear(const struct spmd_thread *t, const struct mg_grid *grid)
{
    size_t from, to, plane = grid->n * grid->n;

    spmd_share(t, grid->n, &from, &to);
    for (size_t i = from * plane; i < to * plane; i++)
        grid->at[i] = 0;
}

/* ---- The work -------------------------------------------------------------------------------- */

/* Where an odd number of points is left on the coarsest level, a pass leaves all but 3/8 (2 pi /
 * n)^2 of the longest wave. Passes are repeated until less than a fifth is left. */
static void solve_coarsest(struct spmd_thread *t, const struct mg *mg)
{
    const struct mg_grid *r = &mg->r[mg->levels - 1], *u = &mg->u[mg->levels - 1];

    smooth(t, r, u);
    for (size_t passes = r->n * r->n / 8; passes > 1; passes--) {
        spmd_barrier(t);
        residual(t, u, r, &mg->left);
        spmd_barrier(t);
        smooth(t, &mg->left, u);
    }
}

/* Corrects the finest level's solution from its residual. */
static void cycle(struct spmd_thread *t, const struct mg *mg)
{
    unsigned last = mg->levels - 1;

    spmd_phase(t, "down");
    for (unsigned l = 0; l < last; l++) {
        restrict_to(t, &mg->r[l], &mg->r[l + 1]);
        clear(t, &mg->u[l + 1]);
        spmd_barrier(t);
    }
    solve_coarsest(t, mg);
    spmd_phase(t, "up");
    for (unsigned l = last; l-- > 0;) {
        interpolate(t, &mg->u[l + 1], &mg->u[l]);
        spmd_barrier(t);
        residual(t, &mg->u[l], l ? &mg->r[l] : &mg->v, &mg->r[l]);
        spmd_barrier(t);
        smooth(t, &mg->r[l], &mg->u[l]);
        spmd_barrier(t);
    }
    residual(t, &mg->u[0], &mg->v, &mg->r[0]);
}

static void round_of(struct spmd_thread *t)
{
    for (uint64_t i = 0; i < mg_state.cycles; i++)
        cycle(t, &mg_state);
}

static void fill(struct spmd_thread *t)
{
    const struct mg *mg = &mg_state;
    size_t points = mg->n * mg->n * mg->n;

    clear(t, &mg->u[0]);
    clear(t, &mg->v);
    spmd_barrier(t);
    if (t->index == 0) {
        for (unsigned i = 0; i < 2 * CHARGES; i++)
            mg->v.at[prng_at(t->run->seed, STREAM_CHARGE, i) % points] += i % 2 ? 1 : -1;
    }
    spmd_barrier(t);
    residual(t, &mg->u[0], &mg->v, &mg->r[0]);
}

/* ---- The check ------------------------------------------------------------------------------- */

double mg_operator_at(const struct mg_grid *u, size_t z, size_t y, size_t x)
{
    size_t n = u->n;
    double sum = 0;

    for (unsigned i = 0; i < 27; i++) {
        unsigned dz = i / 9, dy = i / 3 % 3, dx = i % 3; /* 1: the point's own */
        sum += operator_a.weight[(dz != 1) + (dy != 1) + (dx != 1)] *
               row_at(u, (z + n + dz - 1) % n, (y + n + dy - 1) % n)[(x + n + dx - 1) % n];
    }
    return sum;
}

static double norm(const struct mg_grid *grid)
{
    double sum = 0;

    for (size_t i = 0; i < grid->n * grid->n * grid->n; i++)
        sum += grid->at[i] * grid->at[i];
    return sqrt(sum);
}

static const char *check(struct spmd_run *run)
{
    const struct mg *mg = &mg_state;
    size_t n = mg->n;
    double worst = 0;

    for (size_t z = 0; z < n; z++) {
        for (size_t y = 0; y < n; y++) {
            for (size_t x = 0; x < n; x++) {
                double exact = row_at(&mg->v, z, y)[x] - mg_operator_at(&mg->u[0], z, y, x);
                worst = fmax(worst, fabs(row_at(&mg->r[0], z, y)[x] - exact));
            }
        }
    }
    spmd_results(run, mg->u[0].at, n * n * n);
    run->error = worst;
    if (!(worst < TOLERANCE))
        return "residual_is_what_is_missing";
    double bound = norm(&mg->v) * pow(0.5, (double)(mg->cycles * run->rounds));
    return norm(&mg->r[0]) <= fmax(bound, TOLERANCE) ? NULL : "residual_falls";
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    (void)run;
    spmd_spoil(mg_state.u[0].at, mg_state.n * mg_state.n * mg_state.n, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

/* Sets the number and sizes of levels. Returns the points of all. */
static size_t arrange(struct mg *mg)
{
    size_t n = mg->n, points = 0;

    for (mg->levels = 0;; n /= 2) {
        mg->u[mg->levels].n = mg->r[mg->levels].n = n;
        points += n * n * n;
        mg->levels++;
        if (n % 2 || n < COARSEST)
            break;
    }
    mg->v.n = mg->n;
    mg->left.n = mg->r[mg->levels - 1].n;
    return points;
}

static uint64_t bytes(const struct spmd_run *run)
{
    (void)run;
    size_t points = 2 * arrange(&mg_state), left = mg_state.left.n;
    return (points + left * left * left + mg_state.n * mg_state.n * mg_state.n) * sizeof(double);
}

static void prepare(struct spmd_run *run)
{
    struct mg *mg = &mg_state;
    size_t points = arrange(mg), left = mg->left.n;
    double *u = spmd_array(run, "mg.u", points * sizeof(double)),
           *r = spmd_array(run, "mg.r", (points + left * left * left) * sizeof(double));

    for (unsigned l = 0; l < mg->levels; l++) {
        size_t n = mg->u[l].n;
        mg->u[l].at = u;
        mg->r[l].at = r;
        u += n * n * n;
        r += n * n * n;
    }
    mg->left.at = r;
    mg->v.at = spmd_array(run, "mg.v", mg->n * mg->n * mg->n * sizeof(double));
}

/* Counts 58 for each point and cycle, as NPB does. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return 58 * mg_state.cycles * mg_state.n * mg_state.n * mg_state.n;
}

static const uint64_t step = 8;
static const struct args_entry entries[] = {
    {"n", ARGS_NUMBER, &mg_state.n, 8, MG_N_MAX, NULL,
     "points in each direction, a multiple of 8; about 26.3 bytes for each of n n n"},
    {"cycles", ARGS_NUMBER, &mg_state.cycles, 1, 100, NULL, "V-cycles of a round"},
};

SPMD_PROGRAM(mg, &step, "multigrid in three dimensions");
