/* Currents of a basin in two layers; see ocean.c. */
#pragma once
#include "apps/workloads/ocean/grid.h"

enum { OCEAN_LAYERS = 2 };

enum ocean_layout { OCEAN_CONTIGUOUS, OCEAN_ROWS };

struct ocean {
    /* intervals; time steps of a round; of a grid, 0: one a thread; of a solution */
    uint64_t n, steps, tiles, cycles;
    unsigned layout;
    struct grid_set grids;
    double *psi[OCEAN_LAYERS], *pv[OCEAN_LAYERS]; /* stream function, potential vorticity */
    double *tendency[OCEAN_LAYERS][2];            /* of pv, now and a step ago, in turns */
    double *mode[OCEAN_LAYERS];                   /* sum and difference of the layers' psi */
    uint64_t done;                                /* steps */
};

extern const struct spmd_program ocean_program;
extern struct ocean ocean_state;

/* What moves pv at a point, but for forcing and friction: Arakawa's Jacobian of psi and pv, with
 * intervals 1/n long. */
double ocean_jacobian(const struct grid_level *grid, const double *psi, const double *pv, size_t i,
                      size_t j);
/* By how much psi misses its equation at a point. */
double ocean_defect(const struct ocean *ocean, unsigned layer, size_t i, size_t j);
