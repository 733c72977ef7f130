/* Conjugate gradients on a sparse matrix; see cg.c. */
#pragma once
#include "apps/common/spmd.h"

struct cg {
    /* of the matrix; elements beside the diagonal in a row; of a solution */
    uint64_t rows, degree, steps;
    double *values;            /* by rows */
    uint32_t *columns;         /* of the values */
    uint64_t *starts;          /* of the rows, and the end */
    double *x, *z, *p, *q, *r; /* A z = x; direction; A p; what remains */
};

extern const struct spmd_program cg_program;
extern struct cg cg_state;

/* Element i of the kth of the seed's permutations of 0..n-1, and where i is in it. */
uint64_t cg_permuted(uint64_t seed, unsigned k, uint64_t n, uint64_t i);
uint64_t cg_permuted_from(uint64_t seed, unsigned k, uint64_t n, uint64_t i);
