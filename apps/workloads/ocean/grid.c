/*
 * Multigrid for elliptic equations on the unit square (Briggs, Henson & McCormick, "A Multigrid
 * Tutorial", 2000): red-black Gauss-Seidel, full weighting, bilinear interpolation. Red points
 * depend on black ones only, so results do not depend on the distribution of points over threads.
 */
#include "apps/workloads/ocean/grid.h"

enum { SWEEPS = 2, COARSEST = 4 };

/* ---- Where points are ------------------------------------------------------------------------ */

static size_t ceiling(size_t n, size_t divisor)
{
    return (n + divisor - 1) / divisor;
}

void grid_arrange(struct grid_set *set, size_t n, size_t tiles, bool contiguous)
{
    size_t rows = 1;

    for (size_t i = 2; i * i <= tiles; i++) {
        if (tiles % i == 0)
            rows = i;
    }
    set->tiles = tiles;
    set->contiguous = contiguous;
    for (set->count = 0;; n /= 2) {
        struct grid_level *level = &set->level[set->count++];
        level->n = n;
        level->tile_rows = rows;
        level->tile_columns = tiles / rows;
        level->height = ceiling(n + 1, level->tile_rows);
        level->width = ceiling(n + 1, level->tile_columns);
        if (n % 2 || n <= COARSEST)
            break;
    }
}

size_t grid_doubles(const struct grid_level *level)
{
    return level->height * level->tile_rows * level->width * level->tile_columns;
}

size_t grid_offsets(const struct grid_set *set)
{
    size_t count = 0;

    for (unsigned l = 0; l < set->count; l++)
        count += 2 * (set->level[l].n + 1);
    return count;
}

/* By tiles: a tile's offset is a sum of one for its row of tiles and one for its column, as all
 * tiles have one size. */
void grid_index(struct grid_set *set, size_t *at)
{
    for (unsigned l = 0; l < set->count; l++) {
        struct grid_level *level = &set->level[l];
        size_t height = level->height, width = level->width, tile = height * width;
        level->row = at;
        level->column = at + level->n + 1;
        at = level->column + level->n + 1;
        for (size_t i = 0; i <= level->n; i++) {
            level->row[i] = set->contiguous
                                ? i / height * level->tile_columns * tile + i % height * width
                                : i * width * level->tile_columns;
            level->column[i] = set->contiguous ? i / width * tile + i % width : i;
        }
    }
}

/* Returns the tile's points first..first+count-1 that lie inside 1..n-1. */
static void inside(size_t first, size_t count, size_t n, size_t *from, size_t *to)
{
    *from = first ? first : 1;
    *to = first + count < n ? first + count : n;
}

void grid_each(const struct spmd_thread *t, const struct grid_set *set,
               const struct grid_level *level, grid_work *work, void *arg)
{
    for (size_t tile = 0; tile < set->tiles; tile++) {
        size_t i_from, i_to, from, to;
        if (tile * t->count / set->tiles != t->index)
            continue;
        inside(tile / level->tile_columns * level->height, level->height, level->n, &i_from, &i_to);
        inside(tile % level->tile_columns * level->width, level->width, level->n, &from, &to);
        for (size_t i = i_from; i < i_to && from < to; i++)
            work(level, i, from, to, arg);
    }
}

/* ---- Multigrid: the parts of a cycle, for a row ---------------------------------------------- */

struct equation {
    double lambda;
    double *solution;                /* of this level */
    const struct grid_level *coarse; /* the next coarser */
    unsigned colour;
};

static double four_neighbours(const struct grid_level *level, const double *x, size_t i, size_t j)
{
    return x[grid_at(level, i - 1, j)] + x[grid_at(level, i + 1, j)] + x[grid_at(level, i, j - 1)] +
           x[grid_at(level, i, j + 1)];
}

static void relax(const struct grid_level *level, size_t i, size_t from, size_t to, void *arg)
{
    const struct equation *e = arg;
    double square = 1 / ((double)level->n * (double)level->n),
           factor = 1 / (4 + e->lambda * square);

    for (size_t j = from + (i + from + e->colour) % 2; j < to; j += 2) {
        size_t here = grid_at(level, i, j);
        e->solution[here] =
            (four_neighbours(level, e->solution, i, j) - square * level->given[here]) * factor;
    }
}

static void find_residual(const struct grid_level *level, size_t i, size_t from, size_t to,
                          void *arg)
{
    const struct equation *e = arg;
    double inverse = (double)level->n * (double)level->n;

    for (size_t j = from; j < to; j++) {
        size_t here = grid_at(level, i, j);
        double laplacian =
            (four_neighbours(level, e->solution, i, j) - 4 * e->solution[here]) * inverse;
        level->residual[here] = level->given[here] - laplacian + e->lambda * e->solution[here];
    }
}

/* Restricts to a row of the coarse level, and clears its solution. */
static void restrict_row(const struct grid_level *coarse, size_t i, size_t from, size_t to,
                         void *arg)
{
    const struct grid_level *fine = arg;
    const double *r = fine->residual;

    for (size_t j = from; j < to; j++) {
        size_t a = 2 * i, b = 2 * j, here = grid_at(coarse, i, j);
        double corners = r[grid_at(fine, a - 1, b - 1)] + r[grid_at(fine, a - 1, b + 1)] +
                         r[grid_at(fine, a + 1, b - 1)] + r[grid_at(fine, a + 1, b + 1)];
        coarse->given[here] =
            (4 * r[grid_at(fine, a, b)] + 2 * four_neighbours(fine, r, a, b) + corners) / 16;
        coarse->solution[here] = 0;
    }
}

/* Adds the interpolated coarse solution to a row of the fine level. */
static void correct(const struct grid_level *fine, size_t i, size_t from, size_t to, void *arg)
{
    const struct equation *e = arg;
    const struct grid_level *coarse = e->coarse;
    const double *x = coarse->solution;
    size_t i0 = i / 2, i1 = (i + 1) / 2;

    for (size_t j = from; j < to; j++) {
        size_t j0 = j / 2, j1 = (j + 1) / 2;
        e->solution[grid_at(fine, i, j)] +=
            (x[grid_at(coarse, i0, j0)] + x[grid_at(coarse, i0, j1)] + x[grid_at(coarse, i1, j0)] +
             x[grid_at(coarse, i1, j1)]) /
            4;
    }
}

static void sweep(struct spmd_thread *t, const struct grid_set *set, const struct grid_level *level,
                  struct equation *e, size_t sweeps)
{
    for (size_t i = 0; i < 2 * sweeps; i++) {
        e->colour = i % 2;
        grid_each(t, set, level, relax, e);
        spmd_barrier(t);
    }
}

static void cycle(struct spmd_thread *t, const struct grid_set *set, double lambda,
                  double *solution)
{
    struct equation e[GRID_LEVELS_MAX];
    unsigned last = set->count - 1;

    for (unsigned l = 0; l < set->count; l++)
        e[l] =
            (struct equation){lambda, l ? set->level[l].solution : solution, &set->level[l + 1], 0};
    for (unsigned l = 0; l < last; l++) {
        sweep(t, set, &set->level[l], &e[l], SWEEPS);
        grid_each(t, set, &set->level[l], find_residual, &e[l]);
        spmd_barrier(t);
        grid_each(t, set, &set->level[l + 1], restrict_row, (void *)&set->level[l]);
        spmd_barrier(t);
    }
    sweep(t, set, &set->level[last], &e[last], 2 * set->level[last].n);
    for (unsigned l = last; l-- > 0;) {
        grid_each(t, set, &set->level[l], correct, &e[l]);
        spmd_barrier(t);
        sweep(t, set, &set->level[l], &e[l], SWEEPS);
    }
}

void grid_solve(struct spmd_thread *t, const struct grid_set *set, double lambda, double *solution,
                uint64_t cycles)
{
    for (uint64_t i = 0; i < cycles; i++)
        cycle(t, set, lambda, solution);
}
