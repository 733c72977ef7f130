/*
 * Conjugate gradients on a sparse symmetric matrix with random structure, as in the NAS parallel
 * benchmark CG (Bailey et al., "The NAS parallel benchmarks", 1991).
 *
 * Each round solves A z = x by a fixed number of steps (Hestenes & Stiefel, 1952) and continues
 * with x = z / |z|, an inverse power iteration.
 *
 * The matrix: degree / 2 random permutations; for each, row i has a random element of -1..1 at
 * permuted(i), and, for symmetry, the element of the row that is permuted to i. The diagonal is 2
 * degree, so that all eigenvalues lie in degree..3 degree and each step leaves less than 0.27 of
 * the error. Any row can be made by itself. Stored by rows, columns ascending.
 *
 * Laws:
 * - the residual, computed anew, is small;
 * - elements on both sides of the diagonal are equal.
 */
#include "apps/workloads/cg/cg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    DEGREE_MAX = 64,
    PASSES = 4,
    STREAM_PERMUTATION = 0,
    STREAM_VALUE = 100,
    STREAM_CHECK = 200
};
#define TOLERANCE 1e-9

struct cg cg_state = {.rows = 8192, .degree = 12, .steps = 25};

/* ---- Permutations: Feistel networks over the next power of 4, repeated until they come back into
 * range ---- */

static unsigned half_bits(uint64_t n)
{
    unsigned bits = 1;

    while ((uint64_t)1 << 2 * bits < n)
        bits++;
    return bits;
}

static uint64_t network(uint64_t seed, unsigned k, unsigned half, uint64_t i, bool back)
{
    uint64_t mask = ((uint64_t)1 << half) - 1, left = i >> half, right = i & mask;

    for (unsigned pass = 0; pass < PASSES; pass++) {
        unsigned key = back ? PASSES - 1 - pass : pass;
        uint64_t source = back ? left : right;
        uint64_t mixed = (back ? right : left) ^
                         (prng_at(seed, STREAM_PERMUTATION + k, source * PASSES + key) & mask);
        left = back ? mixed : source;
        right = back ? source : mixed;
    }
    return left << half | right;
}

static uint64_t walk(uint64_t seed, unsigned k, uint64_t n, uint64_t i, bool back)
{
    unsigned half = half_bits(n);

    do
        i = network(seed, k, half, i, back);
    while (i >= n);
    return i;
}

uint64_t cg_permuted(uint64_t seed, unsigned k, uint64_t n, uint64_t i)
{
    return walk(seed, k, n, i, false);
}

uint64_t cg_permuted_from(uint64_t seed, unsigned k, uint64_t n, uint64_t i)
{
    return walk(seed, k, n, i, true);
}

/* ---- The matrix ------------------------------------------------------------------------------ */

/* Returns the element of row i that permutation k gives. */
static double element(uint64_t seed, unsigned k, uint64_t i)
{
    return 2 * prng_unit(prng_at(seed, STREAM_VALUE + k, i)) - 1;
}

static void add_element(uint32_t *columns, double *values, size_t count, uint64_t column,
                        double value)
{
    size_t at = count;

    for (; at > 0 && columns[at - 1] > column; at--) {
        columns[at] = columns[at - 1];
        values[at] = values[at - 1];
    }
    columns[at] = (uint32_t)column;
    values[at] = value;
}

static void make_row(const struct cg *cg, uint64_t seed, uint64_t i)
{
    uint64_t start = i * (cg->degree + 1);
    uint32_t *columns = cg->columns + start;
    double *values = cg->values + start;
    size_t count = 0;

    cg->starts[i] = start;
    if (i + 1 == cg->rows)
        cg->starts[cg->rows] = start + cg->degree + 1;
    for (unsigned k = 0; k < cg->degree / 2; k++) {
        uint64_t from = cg_permuted_from(seed, k, cg->rows, i);
        add_element(columns, values, count++, cg_permuted(seed, k, cg->rows, i),
                    element(seed, k, i));
        add_element(columns, values, count++, from, element(seed, k, from));
    }
    add_element(columns, values, count, i, 2 * (double)cg->degree);
}

static void fill(struct spmd_thread *t)
{
    size_t from, to;

    spmd_share(t, cg_state.rows, &from, &to);
    for (size_t i = from; i < to; i++) {
        make_row(&cg_state, t->run->seed, i);
        cg_state.x[i] = 1;
    }
}

static double row_product(const struct cg *cg, size_t i, const double *vector)
{
    double sum = 0;

    for (uint64_t e = cg->starts[i]; e < cg->starts[i + 1]; e++)
        sum += cg->values[e] * vector[cg->columns[e]];
    return sum;
}

/* ---- The work: parts of sums, which compute what they add up as well ------------------------- */

static double square_of_z(void *arg, size_t from, size_t to)
{
    const struct cg *cg = arg;
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += cg->z[i] * cg->z[i];
    return sum;
}

static double begin(void *arg, size_t from, size_t to)
{
    struct cg *cg = arg;
    double sum = 0;

    for (size_t i = from; i < to; i++) {
        cg->z[i] = 0;
        cg->r[i] = cg->p[i] = cg->x[i];
        sum += cg->r[i] * cg->r[i];
    }
    return sum;
}

static double multiply(void *arg, size_t from, size_t to)
{
    struct cg *cg = arg;
    double sum = 0;

    for (size_t i = from; i < to; i++) {
        cg->q[i] = row_product(cg, i, cg->p);
        sum += cg->p[i] * cg->q[i];
    }
    return sum;
}

struct advance {
    struct cg *cg;
    double alpha;
};

static double advance(void *arg, size_t from, size_t to)
{
    const struct advance *a = arg;
    struct cg *cg = a->cg;
    double sum = 0;

    for (size_t i = from; i < to; i++) {
        cg->z[i] += a->alpha * cg->p[i];
        cg->r[i] -= a->alpha * cg->q[i];
        sum += cg->r[i] * cg->r[i];
    }
    return sum;
}

static void solve(struct spmd_thread *t, struct cg *cg)
{
    size_t from, to, n = cg->rows;
    double rho = spmd_sum(t, n, begin, cg);

    spmd_share(t, n, &from, &to);
    for (uint64_t step = 0; step < cg->steps && rho > 0; step++) {
        double alpha = rho / spmd_sum(t, n, multiply, cg), before = rho;
        rho = spmd_sum(t, n, advance, &(struct advance){cg, alpha});
        for (size_t i = from; i < to; i++)
            cg->p[i] = cg->r[i] + rho / before * cg->p[i];
        spmd_barrier(t);
    }
}

static void round_of(struct spmd_thread *t)
{
    struct cg *cg = &cg_state;
    size_t from, to;

    if (t->round) {
        double scale = 1 / sqrt(spmd_sum(t, cg->rows, square_of_z, cg));
        spmd_share(t, cg->rows, &from, &to);
        for (size_t i = from; i < to; i++)
            cg->x[i] = scale * cg->z[i];
    }
    spmd_phase(t, "solve");
    solve(t, cg);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Sums the elements on one side of the diagonal, independently of their order. */
static void add_side(const struct cg *cg, size_t i, uint64_t e, uint64_t side[2])
{
    uint64_t j = cg->columns[e], low = i < j ? i : j, high = i < j ? j : i, bits;

    memcpy(&bits, &cg->values[e], sizeof bits);
    if (i != j)
        side[i < j] += prng_at(bits, STREAM_CHECK + low, high);
}

static const char *check(struct spmd_run *run)
{
    const struct cg *cg = &cg_state;
    uint64_t side[2] = {0, 0};
    double remains = 0, given = 0;

    for (size_t i = 0; i < cg->rows; i++) {
        double difference = cg->x[i] - row_product(cg, i, cg->z);
        remains += difference * difference;
        given += cg->x[i] * cg->x[i];
        for (uint64_t e = cg->starts[i]; e < cg->starts[i + 1]; e++)
            add_side(cg, i, e, side);
    }
    spmd_results(run, cg->z, cg->rows);
    run->error = sqrt(remains / given);
    if (side[0] != side[1])
        return "matrix_is_symmetric";
    return run->error < TOLERANCE ? NULL : "residual_is_small";
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    (void)run;
    spmd_spoil(cg_state.z, cg_state.rows, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run;
    if (cg_state.degree % 2 == 0)
        return 0;
    snprintf(why, size, "argument=degree reason=value: '%u' is not accepted; use an even number",
             (unsigned)cg_state.degree);
    return -1;
}

static uint64_t elements(void)
{
    return cg_state.rows * (cg_state.degree + 1);
}

static uint64_t bytes(const struct spmd_run *run)
{
    (void)run;
    return elements() * (sizeof(double) + sizeof(uint32_t)) +
           (cg_state.rows + 1) * sizeof(uint64_t) + 5 * cg_state.rows * sizeof(double);
}

static void prepare(struct spmd_run *run)
{
    double **vector[] = {&cg_state.x, &cg_state.z, &cg_state.p, &cg_state.q, &cg_state.r};
    static const char *const names[] = {"cg.x", "cg.z", "cg.p", "cg.q", "cg.r"};

    cg_state.values = spmd_array(run, "cg.matrix", elements() * sizeof(double));
    cg_state.columns = spmd_array(run, "cg.columns", elements() * sizeof(uint32_t));
    cg_state.starts = spmd_array(run, "cg.starts", (cg_state.rows + 1) * sizeof(uint64_t));
    for (unsigned v = 0; v < 5; v++)
        *vector[v] = spmd_array(run, names[v], cg_state.rows * sizeof(double));
}

static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return cg_state.steps * 2 * (elements() + 5 * cg_state.rows);
}

static const uint64_t step = 1;
static const struct args_entry entries[] = {
    {"rows", ARGS_NUMBER, &cg_state.rows, 64, 16777216, NULL,
     "of the matrix; 12 degree + 60 bytes for each"},
    {"degree", ARGS_NUMBER, &cg_state.degree, 2, DEGREE_MAX, NULL,
     "elements of a row beside the diagonal, even"},
    {"steps", ARGS_NUMBER, &cg_state.steps, 20, 1000, NULL, "of a solution"},
};

SPMD_PROGRAM(cg, &step, "conjugate gradients on a sparse random matrix");
