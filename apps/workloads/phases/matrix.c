/*
 * Products of square matrices.
 *
 * Phases: "fill"; "naive" multiplies a row by a column, with each element of the column on another
 * line; "blocked" does it in blocks that fit a first-level cache; "check". Elements are small
 * integers, so that all sums are exact in any order: with n = 1024 none exceeds 2^28, and none of
 * the check 2^43.
 *
 * Laws:
 * - both products are equal;
 * - A (B x) = C x for a random x (Freivalds, "Fast probabilistic algorithms", 1979).
 */
#include <string.h>
#include "apps/workloads/phases/job.h"

enum { BLOCK = 32, ELEMENT_BELOW = 16, VECTORS = 4 };

struct matrix {
    size_t n;
    double *a, *b, *naive, *blocked; /* by rows */
    double *x, *bx, *abx, *cx;
};

static void fill(struct phases_job *job, double *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        elements[i] = prng_below(&job->prng, ELEMENT_BELOW);
}

static void multiply_naive(const struct matrix *m, double *c)
{
    for (size_t i = 0; i < m->n; i++) {
        for (size_t j = 0; j < m->n; j++) {
            double sum = 0;
            for (size_t k = 0; k < m->n; k++)
                sum += m->a[i * m->n + k] * m->b[k * m->n + j];
            c[i * m->n + j] = sum;
        }
    }
}

static size_t end_of(size_t from, size_t n)
{
    return from + BLOCK < n ? from + BLOCK : n;
}

/* Adds block (i0, k0) of a times block (k0, j0) of b to c. */
static void multiply_block(const struct matrix *m, double *c, size_t i0, size_t k0, size_t j0)
{
    size_t i1 = end_of(i0, m->n), k1 = end_of(k0, m->n), j1 = end_of(j0, m->n);

    for (size_t i = i0; i < i1; i++) {
        for (size_t k = k0; k < k1; k++) {
            double factor = m->a[i * m->n + k];
            for (size_t j = j0; j < j1; j++)
                c[i * m->n + j] += factor * m->b[k * m->n + j];
        }
    }
}

static void multiply_blocked(const struct matrix *m, double *c)
{
    memset(c, 0, m->n * m->n * sizeof *c);
    for (size_t i = 0; i < m->n; i += BLOCK) {
        for (size_t k = 0; k < m->n; k += BLOCK) {
            for (size_t j = 0; j < m->n; j += BLOCK)
                multiply_block(m, c, i, k, j);
        }
    }
}

static void apply(size_t n, const double *matrix, const double *x, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t j = 0; j < n; j++)
            out[i] += matrix[i * n + j] * x[j];
    }
}

static const char *check(struct phases_job *job, struct matrix *m)
{
    if (memcmp(m->naive, m->blocked, m->n * m->n * sizeof(double)) != 0)
        return "both_products_alike";
    for (unsigned v = 0; v < VECTORS; v++) {
        fill(job, m->x, m->n);
        apply(m->n, m->b, m->x, m->bx);
        apply(m->n, m->a, m->bx, m->abx);
        apply(m->n, m->naive, m->x, m->cx);
        if (memcmp(m->abx, m->cx, m->n * sizeof(double)) != 0)
            return "product_applies_like_its_factors";
    }
    for (size_t i = 0; i < m->n * m->n; i++)
        phases_result(job, (uint64_t)m->naive[i]);
    return NULL;
}

static const char *round_of(struct phases_job *job)
{
    struct matrix *m = job->data;

    phases_enter(job, "fill");
    fill(job, m->a, m->n * m->n);
    fill(job, m->b, m->n * m->n);
    phases_enter(job, "naive");
    multiply_naive(m, m->naive);
    phases_enter(job, "blocked");
    multiply_blocked(m, m->blocked);
    phases_enter(job, "check");
    return check(job, m);
}

static void prepare(struct phases_job *job)
{
    struct matrix *m = phases_alloc(job, sizeof *m);
    double **square[] = {&m->a, &m->b, &m->naive, &m->blocked},
           **vector[] = {&m->x, &m->bx, &m->abx, &m->cx};

    m->n = job->size;
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        *square[i] = phases_alloc(job, m->n * m->n * sizeof(double));
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
        *vector[i] = phases_alloc(job, m->n * sizeof(double));
    job->data = m;
    job->product = m->blocked;
    job->product_bytes = m->n * m->n * sizeof(double);
}

const struct phases_kind phases_matrix = {"matrix", "rows", 192, 1, 1024, prepare, round_of};
