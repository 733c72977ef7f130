/* A multigrid solver in three dimensions; see mg.c. */
#pragma once
#include "apps/common/spmd.h"

enum { MG_LEVELS_MAX = 10, MG_N_MAX = 512 };

/* n x n x n points, periodic; x runs fastest. */
struct mg_grid {
    double *at;
    size_t n;
};

struct mg {
    uint64_t n, cycles; /* points of the finest grid in a direction; cycles of a round */
    unsigned levels;
    /* Solution and residual of each level, the finest first. */
    struct mg_grid u[MG_LEVELS_MAX], r[MG_LEVELS_MAX];
    struct mg_grid v;    /* the right-hand side */
    struct mg_grid left; /* residual of the coarsest level while it is solved */
};

extern const struct spmd_program mg_program;
extern struct mg mg_state;

/* Applies the operator A at a point by definition: the sum over its 27 neighbours. */
double mg_operator_at(const struct mg_grid *u, size_t z, size_t y, size_t x);
