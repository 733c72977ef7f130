/* The data cube, compared with sorting the rows of every group-by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "apps/workloads/cube/cube.h"
#include "test/host/double/spmd_run.h"

enum { ROWS_MAX = 5000 };

struct keyed {
    uint64_t key, measure;
};

static struct spmd_run run;
static struct keyed sorted[ROWS_MAX];

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct keyed *)a)->key, y = ((const struct keyed *)b)->key;

    return (x > y) - (x < y);
}

static const struct cell *find(unsigned mask, uint64_t key)
{
    for (size_t slot = 0; slot < cube_state.slots; slot++) {
        const struct cell *cell = &cube_state.cells[mask * cube_state.slots + slot];
        if (cell->count && cell->key == key)
            return cell;
    }
    return NULL;
}

/* Returns the number of cells that the group-by must have; checks that it has each. */
static size_t compare(unsigned mask)
{
    size_t cells = 0;

    for (size_t row = 0; row < cube_state.rows; row++)
        sorted[row] = (struct keyed){cube_key(&cube_state, row, mask), cube_state.measure[row]};
    qsort(sorted, cube_state.rows, sizeof *sorted, by_key);
    for (size_t i = 0, end; i < cube_state.rows; i = end) {
        uint64_t sum = 0;
        for (end = i; end < cube_state.rows && sorted[end].key == sorted[i].key; end++)
            sum += sorted[end].measure;
        const struct cell *cell = find(mask, sorted[i].key);
        if (end - i < cube_state.support) {
            assert_null(cell);
            continue;
        }
        assert_non_null(cell);
        assert_int_equal(cell->count, end - i);
        assert_int_equal(cell->sum, sum);
        cells++;
    }
    return cells;
}

static void every_cell_is_that_of_the_sorted_rows(void **state)
{
    static const char *const shapes[] = {"rows=64 dimensions=1 values=1 support=1",
                                         "rows=64 dimensions=2 support=64",
                                         "rows=300 dimensions=3 values=4 support=1",
                                         "rows=1000 dimensions=5 values=7 support=3 threads=4",
                                         "rows=5000 dimensions=4 values=256 support=2",
                                         "rows=500 dimensions=8 values=3 support=5 threads=64",
                                         "rows=3000 dimensions=5 support=16 rounds=2"};

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        program_run(&run, &cube_program, shapes[s]);
        assert_null(run.violation);
        for (unsigned mask = 0; mask < 1u << cube_state.dimensions; mask++) {
            size_t wanted = compare(mask), there = 0;
            for (size_t slot = 0; slot < cube_state.slots; slot++)
                there += cube_state.cells[mask * cube_state.slots + slot].count != 0;
            assert_int_equal(there, wanted);
        }
        spmd_end(&run);
    }
}

static void what_is_changed_is_named(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 4; which++) {
        assert_int_equal(program_begin(&run, &cube_program, "rows=2000 values=4 support=2"), 0);
        spmd_work(&run);
        struct cell *cells = cube_state.cells;
        const char *wanted =
            which < 3 ? "cells_and_rows_left_out_are_all_rows" : "cells_are_those_of_the_facts";
        if (which == 0)
            cells[0].count--;
        else if (which == 1)
            cube_state.below[31].sum++;
        else if (which == 2)
            cube_state.measure[5]++, cells[0].sum++;
        else
            for (size_t i = 0; i < 32 * cube_state.slots; i++)
                cells[i].key ^= 1;
        spmd_check(&run);
        assert_non_null(run.violation);
        assert_string_equal(run.violation, wanted);
        spmd_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_is_that_of_the_sorted_rows),
        cmocka_unit_test(what_is_changed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
