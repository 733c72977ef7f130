/* Conjugate gradients, compared with elimination; and the matrix's structure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "apps/workloads/cg/cg.h"
#include "test/host/double/spmd_run.h"

enum { N_MAX = 200 };

static struct spmd_run run;
static double matrix[N_MAX][N_MAX], solution[N_MAX];

static void permutations_meet_each_number_once(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 64, 65, 1000, 4096};
    static unsigned char met[4096];

    (void)state;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned k = 0; k < 5; k++) {
            memset(met, 0, sizeof met);
            for (uint64_t i = 0; i < sizes[s]; i++) {
                uint64_t there = cg_permuted(8, k, sizes[s], i);
                assert_true(there < sizes[s] && !met[there]++);
                assert_int_equal(cg_permuted_from(8, k, sizes[s], there), i);
            }
        }
    }
}

static void expand(void)
{
    memset(matrix, 0, sizeof matrix);
    for (size_t i = 0; i < cg_state.rows; i++) {
        assert_int_equal(cg_state.starts[i + 1] - cg_state.starts[i], cg_state.degree + 1);
        for (uint64_t e = cg_state.starts[i]; e < cg_state.starts[i + 1]; e++) {
            assert_true(e == cg_state.starts[i] || cg_state.columns[e] >= cg_state.columns[e - 1]);
            matrix[i][cg_state.columns[e]] += cg_state.values[e];
        }
    }
}

static void rows_are_symmetric_and_dominated_by_the_diagonal(void **state)
{
    (void)state;
    program_run(&run, &cg_program, "rows=200 degree=8 threads=3");
    expand();
    for (size_t i = 0; i < cg_state.rows; i++) {
        double others = 0;
        for (size_t j = 0; j < cg_state.rows; j++) {
            assert_true(fabs(matrix[i][j] - matrix[j][i]) < 1e-14);
            others += i != j ? fabs(matrix[i][j]) : 0;
        }
        assert_true(matrix[i][i] >= 8 && matrix[i][i] >= others - 1e-12);
    }
    spmd_end(&run);
}

/* Gauss-Jordan elimination; the diagonal dominates. */
static void eliminate(size_t n)
{
    for (size_t i = 0; i < n; i++)
        solution[i] = cg_state.x[i];
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) {
            double factor = i != k ? matrix[i][k] / matrix[k][k] : 0;
            for (size_t j = k; j < n && factor != 0; j++)
                matrix[i][j] -= factor * matrix[k][j];
            solution[i] -= factor * solution[k];
        }
    }
    for (size_t i = 0; i < n; i++)
        solution[i] /= matrix[i][i];
}

static void solutions_are_those_of_elimination(void **state)
{
    static const char *const shapes[] = {"rows=64 degree=2", "rows=200 degree=12 rounds=4",
                                         "rows=111 degree=6 threads=5 rounds=2"};

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        program_run(&run, &cg_program, shapes[s]);
        assert_null(run.violation);
        expand();
        eliminate(cg_state.rows);
        for (size_t i = 0; i < cg_state.rows; i++)
            assert_true(fabs(cg_state.z[i] - solution[i]) < 1e-9);
        spmd_end(&run);
    }
}

static void a_changed_matrix_element_is_seen(void **state)
{
    (void)state;
    assert_int_equal(program_begin(&run, &cg_program, "rows=300"), 0);
    spmd_work(&run);
    cg_state.values[1234] += 1e-15;
    cg_state.values[1234] *= 1.5;
    spmd_check(&run);
    assert_string_equal(run.violation, "matrix_is_symmetric");
    spmd_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permutations_meet_each_number_once),
        cmocka_unit_test(rows_are_symmetric_and_dominated_by_the_diagonal),
        cmocka_unit_test(solutions_are_those_of_elimination),
        cmocka_unit_test(a_changed_matrix_element_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
