/* Currents of a basin in two layers; see ocean.c. */
#pragma once
#include "apps/workloads/ocean/grid.h"

enum { OCEAN_LAYERS = 2 };

enum ocean_layout { OCEAN_CONTIGUOUS, OCEAN_ROWS };

struct ocean {
    /* Intervals; time steps of a round; tiles of a grid, 0: one a thread; cycles of a solution. */
    uint64_t n, steps, tiles, cycles;
    unsigned layout;
    struct grid_set grids;
    double *psi[OCEAN_LAYERS], *pv[OCEAN_LAYERS]; /* stream function, potential vorticity */
    double *tendency[OCEAN_LAYERS][2];            /* of pv, now and a step ago, alternating */
    double *mode[OCEAN_LAYERS];                   /* sum and difference of the layers' psi */
    uint64_t done;                                /* steps done */
};

extern const struct spmd_program ocean_program;
extern struct ocean ocean_state;

/* Returns Arakawa's Jacobian of psi and pv at a point, with intervals 1/n long: the change of pv
 * without forcing and friction. */
double ocean_jacobian(const struct grid_level *grid, const double *psi, const double *pv, size_t i,
                      size_t j);
/* Returns the residual of psi's equation at a point. */
double ocean_defect(const struct ocean *ocean, unsigned layer, size_t i, size_t j);
