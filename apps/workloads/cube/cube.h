/* A data cube; see cube.c. */
#pragma once
#include "apps/common/spmd.h"

enum { CUBE_DIMENSIONS_MAX = 8, CUBE_VALUES_MAX = 256 };

/* The sums of rows that are equal in some dimensions. */
struct cell {
    uint64_t key; /* a byte for each dimension, 0 for those that do not count */
    uint64_t sum;
    uint64_t count; /* 0: there is no cell */
};

/* Rows of cells below the support, by group-by. */
struct below {
    uint64_t sum, count;
};

/* The counts of a chunk of rows, by value, while it is partitioned. */
struct chunk_counts {
    uint32_t count[CUBE_VALUES_MAX];
    uint64_t sum[CUBE_VALUES_MAX];
};

struct cube {
    /* Number of values of a dimension; rows that a cell must have. */
    uint64_t rows, dimensions, values, support;
    uint8_t *facts;    /* columns of all dimensions */
    uint32_t *measure; /* of each row */
    /* Row numbers, in the order of partition; room for that. */
    uint32_t *index, *sorting;
    struct cell *cells; /* `slots` for each group-by */
    size_t slots;
    struct below *below;         /* of each thread: by group-by */
    struct chunk_counts *counts; /* of each chunk */
};

extern const struct spmd_program cube_program;
extern struct cube cube_state;

/* Returns the key of a row in the dimensions of a mask. */
uint64_t cube_key(const struct cube *cube, size_t row, unsigned mask);
