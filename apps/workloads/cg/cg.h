/* Conjugate gradients on a sparse matrix; see cg.c. */
#pragma once
#include "apps/common/spmd.h"

struct cg {
    /* Of the matrix; elements beside the diagonal in a row; of a solution. */
    uint64_t rows, degree, steps;
    double *values;            /* by rows */
    uint32_t *columns;         /* of the values */
    uint64_t *starts;          /* first element of each row, and the end */
    double *x, *z, *p, *q, *r; /* A z = x; direction; A p; residual */
};

extern const struct spmd_program cg_program;
extern struct cg cg_state;

/* Returns element i of the kth permutation by seed of 0..n-1, and the position of i in it. */
uint64_t cg_permuted(uint64_t seed, unsigned k, uint64_t n, uint64_t i);
uint64_t cg_permuted_from(uint64_t seed, unsigned k, uint64_t n, uint64_t i);
