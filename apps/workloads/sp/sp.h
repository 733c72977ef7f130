/* An implicit solver, direction by direction; see sp.c. */
#pragma once
#include "apps/common/spmd.h"

enum { SP_N_MAX = 256, SP_VARIABLES = 5, SP_DIRECTIONS = 3 };

struct sp {
    uint64_t n, steps; /* points in each direction; time steps of a round */
    /* SP_VARIABLES for each point. After a step rhs is the change of u. */
    double *u, *rhs, *forcing;
    double *kappa;                /* of each point */
    double *lhs;                  /* of each thread: two upper bands of a plane of lines */
    size_t stride[SP_DIRECTIONS]; /* in points */
};

/* The row of a direction's matrix at a point: elements at -2..2 from the diagonal. */
struct sp_row {
    double band[5];
};

extern const struct spmd_program sp_program;
extern struct sp sp_state;

struct sp_row sp_row(double kappa, unsigned direction);
/* Returns the solution that the forcing leads to. */
double sp_solution(uint64_t seed, size_t point, unsigned variable);
