/* Dense LU factorisation in blocks; see lu.c. */
#pragma once
#include "apps/common/spmd.h"

enum lu_layout { LU_CONTIGUOUS, LU_ROWS };

struct lu {
    uint64_t n, block; /* of the matrix; of a block */
    unsigned layout;
    double *a;                      /* the matrix, then both factors */
    size_t blocks;                  /* in a row of blocks */
    size_t grid_rows, grid_columns; /* of threads */
    double *vector[3];              /* of the check */
};

extern const struct spmd_program lu_program;
extern struct lu lu_state;

/* Returns an element of the matrix by seed, before it is factored. */
double lu_element(uint64_t seed, uint64_t n, size_t row, size_t column);
/* Returns the place of an element. */
double *lu_at(const struct lu *lu, size_t row, size_t column);
