/*
 * An implicit solver in three dimensions by approximate factorisation, in the manner of the NAS
 * parallel benchmark SP (Bailey et al., "The NAS parallel benchmarks", 1991; Beam & Warming, 1978):
 * five quantities on a cube diffuse, are carried along and are damped by fourth differences. With
 * K_d the operator's part in direction d, a time step solves
 *
 *     (1 + K_x) (1 + K_y) (1 + K_z) delta = forcing - (K_x + K_y + K_z) u
 *
 * by pentadiagonal systems along all lines of each direction in turn, and adds delta to u.
 * Diffusion differs from point to point, so the factors do not commute. The forcing makes u
 * converge to a known random solution; outside the cube all is 0. Lines along x are contiguous;
 * lines along y and z are solved by planes, a row of x at a time.
 *
 * Laws:
 * - the factors, applied to the last delta one after the other, give the right-hand side of the
 *   last u;
 * - the error falls.
 */
#include "apps/workloads/sp/sp.h"
#include <math.h>
#include <stdio.h>

enum { STREAM_SOLUTION = 0, STREAM_KAPPA = 1, V = SP_VARIABLES };
#define TOLERANCE 1e-11

struct sp sp_state = {.n = 24, .steps = 4};

/* Of all directions: diffusion (times kappa), damping. Of each direction: speed. */
static const double diffusion = 1.0, damping = 0.02, speed[SP_DIRECTIONS] = {0.3, 0.2, 0.1};

double sp_solution(uint64_t seed, size_t point, unsigned variable)
{
    return prng_unit(prng_at(seed, STREAM_SOLUTION, point * V + variable));
}

struct sp_row sp_row(double kappa, unsigned direction)
{
    double near = -diffusion * kappa - 4 * damping;

    return (struct sp_row){{damping, near - speed[direction],
                            1 + 2 * diffusion * kappa + 6 * damping, near + speed[direction],
                            damping}};
}

static size_t points(const struct sp *sp)
{
    return sp->n * sp->n * sp->n;
}

/* ---- The right-hand side ---- */

/* Subtracts K in a direction, applied to all variables of a point at this place of its line, from
 * `out`. */
static void subtract_direction(const struct sp *sp, size_t point, unsigned direction, size_t place,
                               double out[V])
{
    struct sp_row row = sp_row(sp->kappa[point], direction);
    const double *u = sp->u + point * V;

    row.band[2] -= 1;
    for (int offset = -2; offset <= 2; offset++) {
        if ((offset < 0 && place < (size_t)-offset) || place + (size_t)offset >= sp->n)
            continue;
        const double *at = u + (ptrdiff_t)(sp->stride[direction] * V) * offset;
        for (unsigned v = 0; v < V; v++)
            out[v] -= row.band[offset + 2] * at[v];
    }
}

static void right_hand_side(const struct sp *sp, size_t z, size_t y, size_t x, double out[V])
{
    size_t point = (z * sp->n + y) * sp->n + x;
    const size_t place[SP_DIRECTIONS] = {x, y, z};

    for (unsigned v = 0; v < V; v++)
        out[v] = sp->forcing[point * V + v];
    for (unsigned d = 0; d < SP_DIRECTIONS; d++)
        subtract_direction(sp, point, d, place[d], out);
}

/* Computes the right-hand side of this thread's planes into `to`; with sign -1 and no forcing, the
 * forcing itself. */
static void evaluate(const struct spmd_thread *t, const struct sp *sp, double *to, double sign)
{
    size_t from, end;

    spmd_share(t, sp->n, &from, &end);
    for (size_t z = from; z < end; z++) {
        for (size_t i = 0; i < sp->n * sp->n; i++) {
            double value[V];
            right_hand_side(sp, z, i / sp->n, i % sp->n, value);
            for (unsigned v = 0; v < V; v++)
                to[(z * sp->n * sp->n + i) * V + v] = sign * value[v];
        }
    }
}

/* ---- Pentadiagonal systems ------------------------------------------------------------------- */

/* A plane of lines, each n points long. */
struct plane {
    const struct sp *sp;
    unsigned direction;
    /* In points: the first; from one point of a line to the next; from a line to the next. */
    size_t origin, along, across;
    double *upper[2]; /* bands 1 and 2 after elimination, with a diagonal of 1: [place][line] */
};

static size_t point_of(const struct plane *p, size_t place, size_t line)
{
    return p->origin + place * p->along + line * p->across;
}

/* Eliminates what is left of the diagonal in a row, and scales the diagonal to 1. */
static void eliminate(const struct plane *p, size_t place, size_t line)
{
    size_t n = p->sp->n, here = place * n + line, point = point_of(p, place, line);
    struct sp_row row = sp_row(p->sp->kappa[point], p->direction);
    double *r = p->sp->rhs + point * V, *m = row.band;

    if (place >= 2) {
        const double *second = r - 2 * p->along * V;
        m[1] -= m[0] * p->upper[0][here - 2 * n];
        m[2] -= m[0] * p->upper[1][here - 2 * n];
        for (unsigned v = 0; v < V; v++)
            r[v] -= m[0] * second[v];
    }
    if (place >= 1) {
        const double *before = r - p->along * V;
        m[2] -= m[1] * p->upper[0][here - n];
        m[3] -= m[1] * p->upper[1][here - n];
        for (unsigned v = 0; v < V; v++)
            r[v] -= m[1] * before[v];
    }
    p->upper[0][here] = m[3] / m[2];
    p->upper[1][here] = m[4] / m[2];
    for (unsigned v = 0; v < V; v++)
        r[v] /= m[2];
}

static void substitute(const struct plane *p, size_t place, size_t line)
{
    size_t n = p->sp->n, here = place * n + line;
    double *r = p->sp->rhs + point_of(p, place, line) * V;

    for (size_t next = 1; next <= 2 && place + next < n; next++) {
        for (unsigned v = 0; v < V; v++)
            r[v] -= p->upper[next - 1][here] * r[next * p->along * V + v];
    }
}

/* Solves line by line if a line's points are contiguous, else place by place for all lines. */
static void solve_plane(const struct plane *p)
{
    size_t n = p->sp->n;
    bool by_line = p->along < p->across;

    for (size_t i = 0; i < n * n; i++)
        eliminate(p, by_line ? i % n : i / n, by_line ? i / n : i % n);
    for (size_t i = 0; i < n * n; i++)
        substitute(p, n - 1 - (by_line ? i % n : i / n), by_line ? i / n : i % n);
}

/* Solves this thread's planes: those of z for directions x and y, those of y for z. */
static void solve(const struct spmd_thread *t, const struct sp *sp, unsigned direction)
{
    double *lhs = sp->lhs + t->index * 2 * sp->n * sp->n;
    size_t between = direction == 2 ? sp->stride[1] : sp->stride[2], from, to;

    spmd_share(t, sp->n, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct plane plane = {.sp = sp,
                              .direction = direction,
                              .origin = i * between,
                              .along = sp->stride[direction],
                              .across = direction == 0 ? sp->stride[1] : sp->stride[0],
                              .upper = {lhs, lhs + sp->n * sp->n}};
        solve_plane(&plane);
    }
}

/* ---- The work -------------------------------------------------------------------------------- */

static void add(const struct spmd_thread *t, const struct sp *sp)
{
    size_t from, to;

    spmd_share(t, sp->n, &from, &to);
    for (size_t i = from * sp->stride[2] * V; i < to * sp->stride[2] * V; i++)
        sp->u[i] += sp->rhs[i];
}

static void round_of(struct spmd_thread *t)
{
    static const char *const names[SP_DIRECTIONS] = {"x", "y", "z"};
    const struct sp *sp = &sp_state;

    for (uint64_t step = 0; step < sp->steps; step++) {
        spmd_phase(t, "rhs");
        evaluate(t, sp, sp->rhs, 1);
        for (unsigned d = 0; d < SP_DIRECTIONS; d++) {
            spmd_phase(t, names[d]);
            solve(t, sp, d);
        }
        spmd_phase(t, "add");
        add(t, sp);
    }
}

/* u is the solution first, to compute the forcing. */
static void fill(struct spmd_thread *t)
{
    const struct sp *sp = &sp_state;
    size_t from, to;

    spmd_share(t, sp->n, &from, &to);
    for (size_t i = from * sp->stride[2]; i < to * sp->stride[2]; i++) {
        sp->kappa[i] = 0.5 + prng_unit(prng_at(t->run->seed, STREAM_KAPPA, i));
        for (unsigned v = 0; v < V; v++) {
            sp->u[i * V + v] = sp_solution(t->run->seed, i, v);
            sp->forcing[i * V + v] = 0;
        }
    }
    spmd_barrier(t);
    evaluate(t, sp, sp->rhs, -1);
    spmd_barrier(t);
    for (size_t i = from * sp->stride[2] * V; i < to * sp->stride[2] * V; i++) {
        sp->forcing[i] = sp->rhs[i];
        sp->u[i] = 0;
    }
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Computes rhs = (1 + K) rhs along a line. */
static void apply_line(const struct sp *sp, unsigned direction, size_t origin)
{
    static double line[SP_N_MAX][V];
    size_t n = sp->n, stride = sp->stride[direction];

    for (size_t place = 0; place < n; place++) {
        for (unsigned v = 0; v < V; v++)
            line[place][v] = sp->rhs[(origin + place * stride) * V + v];
    }
    for (size_t place = 0; place < n; place++) {
        size_t point = origin + place * stride;
        struct sp_row row = sp_row(sp->kappa[point], direction);
        for (unsigned v = 0; v < V; v++) {
            double sum = 0;
            for (size_t i = place < 2 ? 0 : place - 2; i < n && i <= place + 2; i++)
                sum += row.band[i + 2 - place] * line[i][v];
            sp->rhs[point * V + v] = sum;
        }
    }
}

static void apply(const struct sp *sp, unsigned direction)
{
    for (size_t i = 0; i < points(sp); i++) {
        if (i / sp->stride[direction] % sp->n == 0)
            apply_line(sp, direction, i);
    }
}

static double distance_to_solution(struct spmd_run *run, const struct sp *sp)
{
    double left = 0, all = 0;

    for (size_t i = 0; i < points(sp) * V; i++) {
        double exact = sp_solution(run->seed, i / V, i % V);
        left += (sp->u[i] - exact) * (sp->u[i] - exact);
        all += exact * exact;
    }
    return sqrt(left / all);
}

/* Goes back to the last step's u, which rhs belongs to. */
static const char *check(struct spmd_run *run)
{
    const struct sp *sp = &sp_state;
    double worst = 0, distance = distance_to_solution(run, sp);

    spmd_results(run, sp->u, points(sp) * V);
    for (size_t i = 0; i < points(sp) * V; i++)
        sp->u[i] -= sp->rhs[i];
    for (unsigned d = SP_DIRECTIONS; d-- > 0;)
        apply(sp, d);
    for (size_t i = 0; i < points(sp); i++) {
        double exact[V];
        right_hand_side(sp, i / (sp->n * sp->n), i / sp->n % sp->n, i % sp->n, exact);
        for (unsigned v = 0; v < V; v++)
            worst = fmax(worst, fabs(sp->rhs[i * V + v] - exact[v]));
    }
    run->error = worst;
    if (!(worst < TOLERANCE))
        return "factors_give_the_right_hand_side";
    return distance < 1 ? NULL : "error_falls";
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    (void)run;
    spmd_spoil(sp_state.u, points(&sp_state) * V, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

static uint64_t bytes(const struct spmd_run *run)
{
    return (points(&sp_state) * (3 * V + 1) + run->threads * 2 * sp_state.n * sp_state.n) *
           sizeof(double);
}

static void prepare(struct spmd_run *run)
{
    struct sp *sp = &sp_state;

    for (unsigned d = 0; d < SP_DIRECTIONS; d++)
        sp->stride[d] = d ? sp->stride[d - 1] * sp->n : 1;
    sp->u = spmd_array(run, "sp.u", points(sp) * V * sizeof(double));
    sp->rhs = spmd_array(run, "sp.rhs", points(sp) * V * sizeof(double));
    sp->forcing = spmd_array(run, "sp.forcing", points(sp) * V * sizeof(double));
    sp->kappa = spmd_array(run, "sp.kappa", points(sp) * sizeof(double));
    sp->lhs = spmd_array(run, "sp.lhs", run->threads * 2 * sp->n * sp->n * sizeof(double));
}

/* Right-hand side: 13 elements for 5 variables. Systems: 15 for the matrix and 45 for the variables
 * in each direction. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return (13 * 2 * V + 3 * 60) * sp_state.steps * points(&sp_state);
}

static const uint64_t step = 1;
static const struct args_entry entries[] = {
    {"n", ARGS_NUMBER, &sp_state.n, 5, SP_N_MAX, NULL,
     "points in each direction; 128 bytes for each of n n n"},
    {"steps", ARGS_NUMBER, &sp_state.steps, 1, 1000, NULL, "time steps of a round"},
};

SPMD_PROGRAM(sp, &step, "an implicit solver by pentadiagonal systems in three directions");
