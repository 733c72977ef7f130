/*
 * Dense LU factorisation in blocks, right-looking, without pivoting, of a matrix with a dominant
 * diagonal.
 *
 * Each step factors the diagonal block, solves for the blocks below it and right of it, and
 * subtracts their products from the rest (Woo et al., "The SPLASH-2 programs", 1995, section 3;
 * Golub & Van Loan, "Matrix Computations", 3.2). Blocks are distributed over a grid of threads in
 * both directions. layout=contiguous: a block's elements are contiguous, and so are a thread's
 * blocks. layout=rows: the matrix is stored by rows, and a block is in as many pieces as it has
 * rows. Every element is computed in the same order for any layout and number of threads.
 *
 * Laws: L (U x) = A x for a random x (Freivalds), with A made anew from the seed.
 */
#include "apps/workloads/lu/lu.h"
#include <math.h>
#include <stdio.h>

enum { BLOCK_MAX = 256, STREAM_MATRIX = 0, STREAM_VECTOR = 1 };
#define TOLERANCE 1e-11

struct lu lu_state = {.n = 384, .block = 16, .layout = LU_CONTIGUOUS};

double lu_element(uint64_t seed, uint64_t n, size_t row, size_t column)
{
    double element = prng_unit(prng_at(seed, STREAM_MATRIX, (uint64_t)row * n + column));

    return row == column ? element + (double)n : element;
}

/* ---- Where a block is ------------------------------------------------------------------------ */

static size_t ceiling(size_t n, size_t divisor)
{
    return (n + divisor - 1) / divisor;
}

/* Returns the number of blocks in a row or column that belong to the first `first` rows or columns
 * of the grid. */
static size_t owned_before(size_t blocks, size_t grid, size_t first)
{
    size_t count = 0;

    for (size_t i = 0; i < first; i++)
        count += ceiling(blocks - i, grid);
    return count;
}

/* Contiguous: all blocks of the threads before this one in the grid come first. */
static size_t block_number(const struct lu *lu, size_t row, size_t column)
{
    size_t pr = row % lu->grid_rows, pc = column % lu->grid_columns;
    size_t rows = ceiling(lu->blocks - pr, lu->grid_rows),
           columns = ceiling(lu->blocks - pc, lu->grid_columns);

    return owned_before(lu->blocks, lu->grid_rows, pr) * lu->blocks +
           rows * owned_before(lu->blocks, lu->grid_columns, pc) + row / lu->grid_rows * columns +
           column / lu->grid_columns;
}

static double *block_at(const struct lu *lu, size_t row, size_t column)
{
    return lu->layout == LU_CONTIGUOUS
               ? lu->a + block_number(lu, row, column) * lu->block * lu->block
               : lu->a + row * lu->block * lu->n + column * lu->block;
}

/* Returns the elements from a row of a block to the next. */
static size_t stride(const struct lu *lu)
{
    return lu->layout == LU_CONTIGUOUS ? lu->block : lu->n;
}

double *lu_at(const struct lu *lu, size_t row, size_t column)
{
    return block_at(lu, row / lu->block, column / lu->block) + row % lu->block * stride(lu) +
           column % lu->block;
}

static bool owns(const struct spmd_thread *t, const struct lu *lu, size_t row, size_t column)
{
    return row % lu->grid_rows * lu->grid_columns + column % lu->grid_columns == t->index;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void factor_diagonal(double *a, size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            double factor = a[i * stride + k] / a[k * stride + k];
            a[i * stride + k] = factor;
            for (size_t j = k + 1; j < n; j++)
                a[i * stride + j] -= factor * a[k * stride + j];
        }
    }
}

/* Solves for `below`, the block of L below the diagonal one, which has U. */
static void solve_below(double *below, const double *diagonal, size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double factor = below[i * stride + k] / diagonal[k * stride + k];
            below[i * stride + k] = factor;
            for (size_t j = k + 1; j < n; j++)
                below[i * stride + j] -= factor * diagonal[k * stride + j];
        }
    }
}

/* Solves for `right`, the block of U right of the diagonal one, which has L. */
static void solve_right(double *right, const double *diagonal, size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            double factor = diagonal[i * stride + k];
            for (size_t j = 0; j < n; j++)
                right[i * stride + j] -= factor * right[k * stride + j];
        }
    }
}

static void subtract_product(double *restrict c, const double *restrict a, const double *restrict b,
                             size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double factor = a[i * stride + k];
            for (size_t j = 0; j < n; j++)
                c[i * stride + j] -= factor * b[k * stride + j];
        }
    }
}

/* ---- The work -------------------------------------------------------------------------------- */

static void perimeter(struct spmd_thread *t, const struct lu *lu, size_t k)
{
    const double *diagonal = block_at(lu, k, k);

    for (size_t i = k + 1; i < lu->blocks; i++) {
        if (owns(t, lu, i, k))
            solve_below(block_at(lu, i, k), diagonal, stride(lu), lu->block);
        if (owns(t, lu, k, i))
            solve_right(block_at(lu, k, i), diagonal, stride(lu), lu->block);
    }
}

static void interior(struct spmd_thread *t, const struct lu *lu, size_t k)
{
    for (size_t i = k + 1; i < lu->blocks; i++) {
        for (size_t j = k + 1; j < lu->blocks; j++) {
            if (owns(t, lu, i, j))
                subtract_product(block_at(lu, i, j), block_at(lu, i, k), block_at(lu, k, j),
                                 stride(lu), lu->block);
        }
    }
}

static void fill(struct spmd_thread *t)
{
    const struct lu *lu = &lu_state;

    for (size_t block = 0; block < lu->blocks * lu->blocks; block++) {
        size_t row = block / lu->blocks, column = block % lu->blocks;
        if (!owns(t, lu, row, column))
            continue;
        double *a = block_at(lu, row, column);
        for (size_t i = 0; i < lu->block; i++) {
            for (size_t j = 0; j < lu->block; j++)
                a[i * stride(lu) + j] =
                    lu_element(t->run->seed, lu->n, row * lu->block + i, column * lu->block + j);
        }
    }
}

static void round_of(struct spmd_thread *t)
{
    const struct lu *lu = &lu_state;

    if (t->round)
        fill(t);
    spmd_phase(t, "factor");
    for (size_t k = 0; k < lu->blocks; k++) {
        if (owns(t, lu, k, k))
            factor_diagonal(block_at(lu, k, k), stride(lu), lu->block);
        spmd_barrier(t);
        perimeter(t, lu, k);
        spmd_barrier(t);
        interior(t, lu, k);
        spmd_barrier(t);
    }
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Computes out = L (U x) by rows of the stored factors. */
static void apply_factors(const struct lu *lu, const double *x, double *ux, double *out)
{
    for (size_t i = 0; i < lu->n; i++) {
        ux[i] = 0;
        for (size_t j = i; j < lu->n; j++)
            ux[i] += *lu_at(lu, i, j) * x[j];
    }
    for (size_t i = 0; i < lu->n; i++) {
        out[i] = ux[i];
        for (size_t j = 0; j < i; j++)
            out[i] += *lu_at(lu, i, j) * ux[j];
    }
}

static const char *check(struct spmd_run *run)
{
    struct lu *lu = &lu_state;
    double *x = lu->vector[0], *out = lu->vector[2], worst = 0;

    for (size_t j = 0; j < lu->n; j++)
        x[j] = 2 * prng_unit(prng_at(run->seed, STREAM_VECTOR, j)) - 1;
    apply_factors(lu, x, lu->vector[1], out);
    for (size_t i = 0; i < lu->n; i++) {
        double exact = 0;
        for (size_t j = 0; j < lu->n; j++)
            exact += lu_element(run->seed, lu->n, i, j) * x[j];
        worst = fmax(worst, fabs(exact - out[i]) / (double)lu->n);
        spmd_results(run, &out[i], 1);
    }
    run->error = worst;
    return worst < TOLERANCE ? NULL : "factors_apply_like_the_matrix";
}

/* An error in an element of the lower factor has an effect of about 1/n, hence its size. */
static void spoil(struct spmd_run *run, struct prng *prng)
{
    (void)run;
    spmd_spoil(lu_state.a, lu_state.n * lu_state.n, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

static uint64_t bytes(const struct spmd_run *run)
{
    (void)run;
    return (lu_state.n * lu_state.n + 3 * lu_state.n) * sizeof(double);
}

/* Makes the grid as square as the number of threads allows. */
static void arrange(struct lu *lu, size_t threads)
{
    lu->grid_rows = 1;
    for (size_t rows = 2; rows * rows <= threads; rows++) {
        if (threads % rows == 0)
            lu->grid_rows = rows;
    }
    lu->grid_columns = threads / lu->grid_rows;
}

static void prepare(struct spmd_run *run)
{
    static const char *const names[] = {"lu.x", "lu.ux", "lu.lux"};

    lu_state.blocks = lu_state.n / lu_state.block;
    arrange(&lu_state, run->threads);
    lu_state.a = spmd_array(run, "lu.a", lu_state.n * lu_state.n * sizeof(double));
    for (unsigned v = 0; v < 3; v++)
        lu_state.vector[v] = spmd_array(run, names[v], lu_state.n * sizeof(double));
}

static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return lu_state.n * lu_state.n * lu_state.n / 3 * 2;
}

static const char *const layouts[] = {"contiguous", "rows", NULL};
static const struct args_entry entries[] = {
    {"n", ARGS_NUMBER, &lu_state.n, 16, 16384, NULL,
     "rows and columns, a multiple of block; 8 n n bytes"},
    {"block", ARGS_NUMBER, &lu_state.block, 4, BLOCK_MAX, NULL, "rows and columns of a block"},
    {"layout", ARGS_CHOICE, &lu_state.layout, 0, 0, layouts, "how blocks lie in memory"},
};

SPMD_PROGRAM(lu, &lu_state.block, "dense LU factorisation in blocks");
