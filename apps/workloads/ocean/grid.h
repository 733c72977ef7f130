/*
 * Square grids with points stored by rows or by tiles, and the elliptic equations on them. A point
 * is at row[i] + column[j] in any layout.
 */
#pragma once
#include "apps/common/spmd.h"

enum { GRID_LEVELS_MAX = 12 };

/* All grids of a size: points 0..n in both directions; those at the edge are always 0. */
struct grid_level {
    size_t n;
    size_t *row, *column;                          /* n + 1 offsets each */
    size_t tile_rows, tile_columns, height, width; /* number of tiles, and points of a tile */
    /* Of the equation; `solution` of coarser levels only. */
    double *solution, *given, *residual;
};

struct grid_set {
    bool contiguous; /* points are stored by tiles, else by rows */
    unsigned count;  /* the finest is first; each has half the intervals */
    size_t tiles;
    struct grid_level level[GRID_LEVELS_MAX];
};

/* Sets the number and sizes of levels and tiles, without memory. */
void grid_arrange(struct grid_set *set, size_t n, size_t tiles, bool contiguous);
/* Returns the doubles that a grid takes. As tiles have one size, a few are not used. */
size_t grid_doubles(const struct grid_level *level);
/* Returns the offsets that all levels take. */
size_t grid_offsets(const struct grid_set *set);
/* Fills in the offsets at `at`, which has room for grid_offsets(). */
void grid_index(struct grid_set *set, size_t *at);

static inline size_t grid_at(const struct grid_level *level, size_t i, size_t j)
{
    return level->row[i] + level->column[j];
}

/* Called by grid_each() for each row of each of the thread's tiles: inner points (i,
 * from..to-1). */
typedef void grid_work(const struct grid_level *level, size_t i, size_t from, size_t to, void *arg);
void grid_each(const struct spmd_thread *t, const struct grid_set *set,
               const struct grid_level *level, grid_work *work, void *arg);

/* Solves (Laplace - lambda) solution = level[0].given, starting from the present solution, by
 * `cycles` V-cycles. Intervals are 1/n long. All threads; ends with a barrier. */
void grid_solve(struct spmd_thread *t, const struct grid_set *set, double lambda, double *solution,
                uint64_t cycles);
