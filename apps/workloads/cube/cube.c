/*
 * A data cube: rows of facts are summed by every combination of their dimensions, 2^dimensions
 * group-bys, without cells that have fewer rows than the support (Gray et al., "Data cube", 1996).
 *
 * Computed as Beyer & Ramakrishnan do ("Bottom-up computation of sparse and iceberg cubes", 1999):
 * rows are partitioned by a dimension; each part with enough rows is a cell, and is partitioned by
 * each of the later dimensions. Row numbers are partitioned; facts stay in their columns. All
 * threads make the first partition of each dimension, and divide its parts among them. A cell's
 * slot is the index of its first row divided by the support, which is unique for any thread.
 *
 * Laws:
 * - rows in cells and rows left out are all rows, in number and sum, for each group-by;
 * - cells of rows chosen by seed are what a pass over the facts finds.
 */
#include "apps/workloads/cube/cube.h"
#include <stdio.h>
#include <string.h>

enum {
    STREAM_FACT = 0,
    STREAM_MEASURE = 100,
    STREAM_SAMPLE = 101,
    SAMPLES = 16,
    MEASURE_BELOW = 1000
};

struct cube cube_state = {.rows = 32768, .dimensions = 5, .values = 32, .support = 16};

static size_t group_bys(const struct cube *cube)
{
    return (size_t)1 << cube->dimensions;
}

static const uint8_t *column(const struct cube *cube, unsigned dimension)
{
    return cube->facts + dimension * cube->rows;
}

uint64_t cube_key(const struct cube *cube, size_t row, unsigned mask)
{
    uint64_t key = 0;

    for (unsigned d = 0; d < cube->dimensions; d++) {
        if (mask >> d & 1)
            key |= (uint64_t)column(cube, d)[row] << 8 * d;
    }
    return key;
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* Rows from..to-1 of the index, which are equal in the dimensions of `mask`. */
struct part {
    size_t from, to;
    unsigned mask;
    uint64_t key;
};

static void count_values(const struct cube *cube, unsigned dimension, size_t from, size_t to,
                         struct chunk_counts *c)
{
    const uint8_t *fact = column(cube, dimension);

    memset(c, 0, sizeof *c);
    for (size_t i = from; i < to; i++) {
        uint32_t row = cube->index[i];
        c->count[fact[row]]++;
        c->sum[fact[row]] += cube->measure[row];
    }
}

/* `next`: the place of the next row of each value. */
static void scatter(const struct cube *cube, unsigned dimension, size_t from, size_t to,
                    uint32_t *next)
{
    const uint8_t *fact = column(cube, dimension);

    for (size_t i = from; i < to; i++) {
        uint32_t row = cube->index[i];
        cube->sorting[next[fact[row]]++] = row;
    }
}

static void copy_back(const struct cube *cube, size_t from, size_t to)
{
    memcpy(cube->index + from, cube->sorting + from, (to - from) * sizeof *cube->index);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Writes the cell if it has the support. Returns whether it has. */
static bool has_cell(const struct cube *cube, const struct part *part, uint64_t sum,
                     struct below *below)
{
    size_t count = part->to - part->from;

    if (count >= cube->support) {
        cube->cells[part->mask * cube->slots + part->from / cube->support] =
            (struct cell){part->key, sum, count};
        return true;
    }
    below[part->mask].count += count;
    below[part->mask].sum += sum;
    return false;
}

static void divide(const struct cube *cube, const struct part *part, unsigned first,
                   struct below *below);

/* Makes a cell for each value of the dimension, and all inside it. Rows of `part` keep their order,
 * except in the last dimension, where it does not matter any more. */
static void take_values(const struct cube *cube, const struct part *part, unsigned dimension,
                        const struct chunk_counts *c, struct below *below)
{
    struct part inner = {part->from, part->from, part->mask | 1u << dimension, 0};

    for (unsigned value = 0; value < cube->values; value++) {
        if (!c->count[value])
            continue;
        inner.from = inner.to;
        inner.to += c->count[value];
        inner.key = part->key | (uint64_t)value << 8 * dimension;
        if (has_cell(cube, &inner, c->sum[value], below))
            divide(cube, &inner, dimension + 1, below);
    }
}

static void divide(const struct cube *cube, const struct part *part, unsigned first,
                   struct below *below)
{
    struct chunk_counts c;
    uint32_t next[CUBE_VALUES_MAX];

    for (unsigned d = first; d < cube->dimensions; d++) {
        count_values(cube, d, part->from, part->to, &c);
        next[0] = (uint32_t)part->from;
        for (unsigned value = 1; value < cube->values; value++)
            next[value] = next[value - 1] + c.count[value - 1];
        if (d + 1 < cube->dimensions) {
            scatter(cube, d, part->from, part->to, next);
            copy_back(cube, part->from, part->to);
        }
        take_values(cube, part, d, &c, below);
    }
}

/* ---- The work: all rows, by a first dimension ------------------------------------------------ */

static size_t chunk_start(const struct cube *cube, size_t chunk)
{
    return cube->rows * chunk / SPMD_CHUNKS;
}

/* Turns each chunk's counts of values into places of its next row of each value; `all` gets their
 * sums. */
static void add_chunks(const struct cube *cube, struct chunk_counts *all)
{
    uint32_t next = 0;

    memset(all, 0, sizeof *all);
    for (unsigned value = 0; value < cube->values; value++) {
        for (unsigned chunk = 0; chunk < SPMD_CHUNKS; chunk++) {
            struct chunk_counts *c = &cube->counts[chunk];
            uint32_t count = c->count[value];
            c->count[value] = next;
            next += count;
            all->count[value] += count;
            all->sum[value] += c->sum[value];
        }
    }
}

static void partition_all(struct spmd_thread *t, const struct cube *cube, unsigned dimension)
{
    size_t from, to;

    spmd_share(t, SPMD_CHUNKS, &from, &to);
    for (size_t chunk = from; chunk < to; chunk++)
        count_values(cube, dimension, chunk_start(cube, chunk), chunk_start(cube, chunk + 1),
                     &cube->counts[chunk]);
    spmd_barrier(t);
    if (t->index == 0)
        add_chunks(cube, &cube->counts[SPMD_CHUNKS]);
    spmd_barrier(t);
    for (size_t chunk = from; chunk < to; chunk++)
        scatter(cube, dimension, chunk_start(cube, chunk), chunk_start(cube, chunk + 1),
                cube->counts[chunk].count);
    spmd_barrier(t);
    copy_back(cube, chunk_start(cube, from), chunk_start(cube, to));
    spmd_barrier(t);
}

/* Takes the values of the first dimension with rows that begin in the thread's share. */
static void take_shares(const struct spmd_thread *t, const struct cube *cube, unsigned dimension)
{
    const struct chunk_counts *all = &cube->counts[SPMD_CHUNKS];
    struct below *below = cube->below + t->index * group_bys(cube);
    struct part part = {0, 0, 1u << dimension, 0};

    for (unsigned value = 0; value < cube->values; value++) {
        part.from = part.to;
        part.to += all->count[value];
        part.key = (uint64_t)value << 8 * dimension;
        if (all->count[value] && part.from * t->count / cube->rows == t->index &&
            has_cell(cube, &part, all->sum[value], below))
            divide(cube, &part, dimension + 1, below);
    }
}

static void start_over(const struct spmd_thread *t, const struct cube *cube)
{
    size_t from, to;

    spmd_share(t, cube->rows, &from, &to);
    for (size_t i = from; i < to; i++)
        cube->index[i] = (uint32_t)i;
    spmd_share(t, group_bys(cube) * cube->slots, &from, &to);
    memset(cube->cells + from, 0, (to - from) * sizeof *cube->cells);
    memset(cube->below + t->index * group_bys(cube), 0, group_bys(cube) * sizeof *cube->below);
}

static void round_of(struct spmd_thread *t)
{
    const struct cube *cube = &cube_state;
    struct part everything = {0, cube->rows, 0, 0};

    spmd_phase(t, "clear");
    start_over(t, cube);
    spmd_barrier(t);
    for (unsigned d = 0; d < cube->dimensions; d++) {
        spmd_phase(t, "partition");
        partition_all(t, cube, d);
        spmd_phase(t, "cells");
        take_shares(t, cube, d);
        spmd_barrier(t);
        if (t->index == 0 && d == 0) {
            uint64_t sum = 0;
            for (unsigned value = 0; value < cube->values; value++)
                sum += cube->counts[SPMD_CHUNKS].sum[value];
            has_cell(cube, &everything, sum, cube->below);
        }
    }
}

/* Small values are more frequent: half of all rows have the first quarter of the values. */
static void fill(struct spmd_thread *t)
{
    const struct cube *cube = &cube_state;
    size_t from, to;

    spmd_share(t, cube->rows, &from, &to);
    for (unsigned d = 0; d < cube->dimensions; d++) {
        for (size_t row = from; row < to; row++) {
            double chance = prng_unit(prng_at(t->run->seed, STREAM_FACT + d, row));
            cube->facts[d * cube->rows + row] = (uint8_t)(chance * chance * (double)cube->values);
        }
    }
    for (size_t row = from; row < to; row++)
        cube->measure[row] = (uint32_t)(prng_at(t->run->seed, STREAM_MEASURE, row) % MEASURE_BELOW);
    start_over(t, cube);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* Returns the rows without a cell in a group-by: left out there, or in a group-by with fewer of its
 * dimensions. */
static struct below left_out(const struct spmd_run *run, const struct cube *cube, unsigned mask)
{
    struct below all = {0, 0};

    for (unsigned d = 0; d < cube->dimensions; d++) {
        unsigned looked_at = mask & ((2u << d) - 1);
        for (size_t t = 0; t < run->threads && mask >> d & 1; t++) {
            const struct below *below = &cube->below[t * group_bys(cube) + looked_at];
            all.count += below->count;
            all.sum += below->sum;
        }
    }
    return all;
}

static bool all_rows_are_there(struct spmd_run *run, const struct cube *cube, unsigned mask,
                               uint64_t total)
{
    struct below rows = left_out(run, cube, mask);

    for (size_t slot = 0; slot < cube->slots; slot++) {
        const struct cell *cell = &cube->cells[mask * cube->slots + slot];
        rows.count += cell->count;
        rows.sum += cell->sum;
        if (!cell->count)
            continue;
        if (cell->count < cube->support)
            return false;
        spmd_result(run, cell->key);
        spmd_result(run, cell->sum);
    }
    return rows.count == cube->rows && rows.sum == total;
}

/* Checks that the row's cell is in the cube if and only if it has enough rows, with their number
 * and sum. */
static bool sample_is_right(const struct cube *cube, size_t row, unsigned mask)
{
    uint64_t key = cube_key(cube, row, mask), count = 0, sum = 0;

    for (size_t other = 0; other < cube->rows; other++) {
        if (cube_key(cube, other, mask) == key) {
            count++;
            sum += cube->measure[other];
        }
    }
    for (size_t slot = 0; slot < cube->slots; slot++) {
        const struct cell *cell = &cube->cells[mask * cube->slots + slot];
        if (cell->count && cell->key == key)
            return cell->count == count && cell->sum == sum;
    }
    return count < cube->support;
}

static const char *check(struct spmd_run *run)
{
    const struct cube *cube = &cube_state;
    uint64_t total = 0;

    for (size_t row = 0; row < cube->rows; row++)
        total += prng_at(run->seed, STREAM_MEASURE, row) % MEASURE_BELOW;
    for (unsigned mask = 0; mask < group_bys(cube); mask++) {
        if (!all_rows_are_there(run, cube, mask, total))
            return "cells_and_rows_left_out_are_all_rows";
    }
    for (unsigned s = 0; s < SAMPLES; s++) {
        uint64_t random = prng_at(run->seed, STREAM_SAMPLE, s);
        if (!sample_is_right(cube, (random >> 8) % cube->rows, random % group_bys(cube)))
            return "cells_are_those_of_the_facts";
    }
    return NULL;
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    const struct cube *cube = &cube_state;
    size_t slots = group_bys(cube) * cube->slots, at = prng_next(prng) % slots;

    (void)run;
    while (!cube->cells[at].count)
        at = (at + 1) % slots;
    cube->cells[at].sum++;
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run;
    if (cube_state.support <= cube_state.rows)
        return 0;
    snprintf(why, size,
             "argument=support reason=range: '%llu' is not accepted; use no more than there are "
             "rows, %llu",
             (unsigned long long)cube_state.support, (unsigned long long)cube_state.rows);
    return -1;
}

static void shape(struct cube *cube)
{
    cube->slots = cube->rows / cube->support + 1;
}

static uint64_t bytes(const struct spmd_run *run)
{
    const struct cube *cube = &cube_state;

    shape(&cube_state);
    return cube->rows * (cube->dimensions + 3 * sizeof(uint32_t)) +
           group_bys(cube) *
               (cube->slots * sizeof(struct cell) + run->threads * sizeof(struct below)) +
           (SPMD_CHUNKS + 1) * sizeof(struct chunk_counts);
}

static void prepare(struct spmd_run *run)
{
    struct cube *cube = &cube_state;

    shape(cube);
    cube->facts = spmd_array(run, "cube.facts", cube->rows * cube->dimensions);
    cube->measure = spmd_array(run, "cube.measure", cube->rows * sizeof *cube->measure);
    cube->index = spmd_array(run, "cube.index", cube->rows * sizeof *cube->index);
    cube->sorting = spmd_array(run, "cube.sorting", cube->rows * sizeof *cube->sorting);
    cube->cells =
        spmd_array(run, "cube.cells", group_bys(cube) * cube->slots * sizeof *cube->cells);
    cube->below =
        spmd_array(run, "cube.below", run->threads * group_bys(cube) * sizeof *cube->below);
    cube->counts = spmd_array(run, "cube.counts", (SPMD_CHUNKS + 1) * sizeof *cube->counts);
}

/* Counts rows, for each group-by. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return cube_state.rows * group_bys(&cube_state);
}

static const uint64_t step = 1;
static const struct args_entry entries[] = {
    {"rows", ARGS_NUMBER, &cube_state.rows, 64, 67108864, NULL,
     "of facts; dimensions + 12 + 24 x 2^dimensions / support bytes for each"},
    {"dimensions", ARGS_NUMBER, &cube_state.dimensions, 1, CUBE_DIMENSIONS_MAX, NULL, "of a row"},
    {"values", ARGS_NUMBER, &cube_state.values, 1, CUBE_VALUES_MAX, NULL, "of a dimension"},
    {"support", ARGS_NUMBER, &cube_state.support, 1, 1000000, NULL, "rows that a cell must have"},
};

SPMD_PROGRAM(cube, &step, "a data cube: rows summed up by every combination of dimensions");
