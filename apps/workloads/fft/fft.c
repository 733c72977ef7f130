/*
 * A Fourier transform of n = rows x columns complex numbers in six steps: transpose, transform the
 * rows, multiply by roots of unity, transpose, transform the rows, transpose; the result is in
 * natural order (Bailey, "FFTs in external or hierarchical memory", 1990; Woo et al., "The SPLASH-2
 * programs", 1995).
 *
 * Transposes go block by block. Each thread begins with another block of its rows, so that not all
 * threads read from one place. Rows are transformed in place, radix 2. A round is a transform and
 * its inverse, which uses conjugated roots.
 *
 * Laws:
 * - the data comes back;
 * - two elements of the last transform, chosen by seed, are as defined.
 */
#include "apps/workloads/fft/fft.h"
#include <math.h>
#include <stdio.h>

enum { BLOCK_MAX = 64, STREAM_RE = 0, STREAM_IM = 1, STREAM_CHECK = 2 };
#define TOLERANCE 1e-12 /* of an element, which is up to 1, and for each factor 2 of n */

struct fft fft_state = {.log2n = 16, .block = 16};
struct complex_number fft_element(uint64_t seed, uint64_t j)
{
    return (struct complex_number){2 * prng_unit(prng_at(seed, STREAM_RE, j)) - 1,
                                   2 * prng_unit(prng_at(seed, STREAM_IM, j)) - 1};
}

/* ---- The six steps' parts -------------------------------------------------------------------- */

/* Rows from..to-1 of `to`, which has as many rows as `from` has columns. */
struct transposition {
    struct complex_number *to;
    const struct complex_number *from;
    size_t rows, columns, block; /* of `from` */
};

static void transpose_block(const struct transposition *m, size_t row, size_t column,
                            size_t column_end)
{
    size_t row_end = row + m->block < m->rows ? row + m->block : m->rows;

    for (size_t j = column; j < column_end; j++) {
        for (size_t i = row; i < row_end; i++)
            m->to[j * m->rows + i] = m->from[i * m->columns + j];
    }
}

static void transpose(const struct spmd_thread *t, const struct transposition *m)
{
    size_t first, end, strips = (m->rows + m->block - 1) / m->block;

    spmd_share(t, m->columns, &first, &end);
    for (size_t j = first; j < end; j += m->block) {
        size_t j_end = j + m->block < end ? j + m->block : end;
        for (size_t s = 0; s < strips; s++)
            transpose_block(m, (s + strips * t->index / t->count) % strips * m->block, j, j_end);
    }
}

static void bit_reverse(struct complex_number *row, unsigned log2n)
{
    size_t n = (size_t)1 << log2n;

    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            struct complex_number swap = row[i];
            row[i] = row[j];
            row[j] = swap;
        }
    }
}

/* Roots are those of order 2^log2_roots >= 2^log2n; sign -1 conjugates them. */
static void transform_row(struct complex_number *row, unsigned log2n,
                          const struct complex_number *roots, unsigned log2_roots, double sign)
{
    size_t n = (size_t)1 << log2n;

    bit_reverse(row, log2n);
    for (unsigned stage = 1; stage <= log2n; stage++) {
        size_t half = (size_t)1 << (stage - 1);
        unsigned shift = log2_roots - stage;
        for (size_t base = 0; base < n; base += 2 * half) {
            for (size_t i = 0; i < half; i++) {
                struct complex_number root = roots[i << shift], *a = &row[base + i], *b = a + half;
                root.im *= sign;
                struct complex_number product = complex_product(*b, root);
                *b = (struct complex_number){a->re - product.re, a->im - product.im};
                *a = (struct complex_number){a->re + product.re, a->im + product.im};
            }
        }
    }
}

/* This thread's share of `count` rows of 2^log2n elements. */
struct row_pass {
    struct complex_number *data;
    size_t count;
    unsigned log2n;
    double sign;
    const struct complex_number *twiddles; /* factors, or NULL */
    double scale;                          /* if there are no twiddles */
};

static void finish_row(const struct row_pass *pass, struct complex_number *row, size_t index)
{
    size_t n = (size_t)1 << pass->log2n;

    for (size_t i = 0; i < n; i++) {
        if (pass->twiddles) {
            struct complex_number root = pass->twiddles[index * n + i];
            root.im *= pass->sign;
            row[i] = complex_product(row[i], root);
        } else {
            row[i].re *= pass->scale;
            row[i].im *= pass->scale;
        }
    }
}

static void transform_rows(const struct spmd_thread *t, const struct fft *fft,
                           const struct row_pass *pass)
{
    size_t first, end;

    spmd_share(t, pass->count, &first, &end);
    for (size_t i = first; i < end; i++) {
        struct complex_number *row = pass->data + (i << pass->log2n);
        transform_row(row, pass->log2n, fft->roots, fft->log2_columns, pass->sign);
        finish_row(pass, row, i);
    }
}

/* Transforms `from` to `to`, and overwrites `from`. sign 1: the transform; -1: its inverse. */
static void transform(struct spmd_thread *t, const struct fft *fft, struct complex_number *from,
                      struct complex_number *to, double sign)
{
    const struct row_pass short_rows = {to, fft->columns, fft->log2_rows, sign, fft->twiddles, 1};
    const struct row_pass long_rows = {from, fft->rows, fft->log2_columns,
                                       sign, NULL,      sign > 0 ? 1 : 1 / (double)fft->n};

    spmd_phase(t, "transpose");
    transpose(t, &(struct transposition){to, from, fft->rows, fft->columns, fft->block});
    spmd_phase(t, "rows");
    transform_rows(t, fft, &short_rows);
    spmd_phase(t, "transpose");
    transpose(t, &(struct transposition){from, to, fft->columns, fft->rows, fft->block});
    spmd_phase(t, "rows");
    transform_rows(t, fft, &long_rows);
    spmd_phase(t, "transpose");
    transpose(t, &(struct transposition){to, from, fft->rows, fft->columns, fft->block});
    spmd_barrier(t);
}

void fft_forward(struct spmd_thread *t)
{
    transform(t, &fft_state, fft_state.x, fft_state.other, 1);
}

void fft_back(struct spmd_thread *t)
{
    transform(t, &fft_state, fft_state.other, fft_state.x, -1);
}

static void round_of(struct spmd_thread *t)
{
    fft_forward(t);
    if (t->index == 0) {
        for (unsigned s = 0; s < FFT_SAMPLES; s++) {
            fft_state.sample[s].k = prng_at(t->run->seed, STREAM_CHECK, s) % fft_state.n;
            fft_state.sample[s].value = fft_state.other[fft_state.sample[s].k];
        }
    }
    fft_back(t);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static void fill_roots(struct spmd_thread *t, struct fft *fft)
{
    size_t first, end;

    spmd_share(t, fft->columns, &first, &end);
    for (size_t i = first; i < end; i++)
        fft->roots[i] = real_root(&fft->primitive, fft->log2_columns, i);
    spmd_share(t, fft->rows, &first, &end);
    for (size_t i = first; i < end; i++)
        fft->fine[i] = real_root(&fft->primitive, (unsigned)fft->log2n, i);
}

/* Factors of order n: element (j, k) is the root's power j k, a coarse one times a fine one. */
static void fill_twiddles(struct spmd_thread *t, struct fft *fft)
{
    size_t first, end;

    spmd_share(t, fft->columns, &first, &end);
    for (size_t j = first; j < end; j++) {
        for (size_t k = 0; k < fft->rows; k++)
            fft->twiddles[j * fft->rows + k] =
                complex_product(fft->roots[j * k / fft->rows], fft->fine[j * k % fft->rows]);
    }
}

static void fill(struct spmd_thread *t)
{
    size_t first, end;

    fill_roots(t, &fft_state);
    spmd_barrier(t);
    fill_twiddles(t, &fft_state);
    spmd_share(t, fft_state.n, &first, &end);
    for (size_t j = first; j < end; j++)
        fft_state.x[j] = fft_element(t->run->seed, j);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Horner's rule on the definition. */
static struct complex_number by_definition(const struct spmd_run *run, uint64_t k)
{
    struct complex_number root = real_root(&fft_state.primitive, (unsigned)fft_state.log2n, k),
                          sum = {0, 0};

    for (size_t j = fft_state.n; j-- > 0;) {
        struct complex_number element = fft_element(run->seed, j);
        sum = complex_product(sum, root);
        sum.re += element.re;
        sum.im += element.im;
    }
    return sum;
}

static double distance(struct complex_number a, struct complex_number b)
{
    return fmax(fabs(a.re - b.re), fabs(a.im - b.im));
}

static const char *check(struct spmd_run *run)
{
    double tolerance = TOLERANCE * (double)(fft_state.log2n * run->rounds), worst = 0;

    for (size_t j = 0; j < fft_state.n; j++) {
        worst = fmax(worst, distance(fft_state.x[j], fft_element(run->seed, j)));
        spmd_results(run, &fft_state.x[j].re, 2);
    }
    run->error = worst;
    if (!(worst < tolerance))
        return "data_comes_back";
    for (unsigned s = 0; s < FFT_SAMPLES; s++) {
        double error =
            distance(fft_state.sample[s].value, by_definition(run, fft_state.sample[s].k)) /
            (double)fft_state.n;
        run->error = fmax(run->error, error);
        if (!(error < tolerance))
            return "transform_is_as_defined";
    }
    return NULL;
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    (void)run;
    spmd_spoil(&fft_state.x->re, 2 * fft_state.n, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

static void shape(struct fft *fft)
{
    fft->log2_rows = (unsigned)fft->log2n / 2;
    fft->log2_columns = (unsigned)fft->log2n - fft->log2_rows;
    fft->n = (size_t)1 << fft->log2n;
    fft->rows = (size_t)1 << fft->log2_rows;
    fft->columns = (size_t)1 << fft->log2_columns;
}

static uint64_t bytes(const struct spmd_run *run)
{
    (void)run;
    shape(&fft_state);
    return (3 * fft_state.n + fft_state.rows + fft_state.columns) * sizeof(struct complex_number);
}

static void prepare(struct spmd_run *run)
{
    const size_t each = sizeof(struct complex_number);

    shape(&fft_state);
    real_roots_init(&fft_state.primitive);
    fft_state.x = spmd_array(run, "fft.x", fft_state.n * each);
    fft_state.other = spmd_array(run, "fft.other", fft_state.n * each);
    fft_state.twiddles = spmd_array(run, "fft.twiddles", fft_state.n * each);
    fft_state.roots = spmd_array(run, "fft.roots", fft_state.columns * each);
    fft_state.fine = spmd_array(run, "fft.fine", fft_state.rows * each);
}

/* 5 n log2 n, in both directions. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return 2 * 5 * fft_state.n * fft_state.log2n;
}

static const uint64_t step = 1;
static const struct args_entry entries[] = {
    {"log2n", ARGS_NUMBER, &fft_state.log2n, 4, 26, NULL,
     "powers of 2 of elements; 48 bytes for each"},
    {"block", ARGS_NUMBER, &fft_state.block, 1, BLOCK_MAX, NULL,
     "rows and columns that are transposed at a time"},
};

SPMD_PROGRAM(fft, &step, "a Fourier transform in six steps, and back");
