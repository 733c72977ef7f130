/*
 * Square grids whose points are stored by rows, or by tiles, and the elliptic equations on them. A
 * point is at row[i] + column[j] whatever the layout.
 */
#pragma once
#include "apps/common/spmd.h"

enum { GRID_LEVELS_MAX = 12 };

/* All grids of a size: points 0..n in both directions, those at the edge always 0. */
struct grid_level {
    size_t n;
    size_t *row, *column;                          /* n + 1 offsets each */
    size_t tile_rows, tile_columns, height, width; /* tiles, and points of a tile */
    /* of the equation; solution: of the coarser ones only */
    double *solution, *given, *residual;
};

struct grid_set {
    bool contiguous; /* points are stored by tiles, else by rows */
    unsigned count;  /* the finest is first, each has half the intervals */
    size_t tiles;
    struct grid_level level[GRID_LEVELS_MAX];
};

/* How many levels and tiles there are, and their sizes. No memory yet. */
void grid_arrange(struct grid_set *set, size_t n, size_t tiles, bool contiguous);
/* Of a grid, in doubles: tiles are all of one size, so a few are not used. */
size_t grid_doubles(const struct grid_level *level);
/* Of all offsets. */
size_t grid_offsets(const struct grid_set *set);
/* at: room for so many. */
void grid_index(struct grid_set *set, size_t *at);

static inline size_t grid_at(const struct grid_level *level, size_t i, size_t j)
{
    return level->row[i] + level->column[j];
}

/* Calls work for each row of each of the thread's tiles: inner points (i, from..to-1). */
typedef void grid_work(const struct grid_level *level, size_t i, size_t from, size_t to, void *arg);
void grid_each(const struct spmd_thread *t, const struct grid_set *set,
               const struct grid_level *level, grid_work *work, void *arg);

/* (Laplace - lambda) solution = level[0].given, from the solution there is, by so many V-cycles;
 * intervals are 1/n long. All threads; ends with a barrier. */
void grid_solve(struct spmd_thread *t, const struct grid_set *set, double lambda, double *solution,
                uint64_t cycles);
