/* The implicit solver, compared with elimination in the matrix of all points; and its
 * convergence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "apps/workloads/sp/sp.h"
#include "test/host/double/spmd_run.h"

enum { N = 5, POINTS = N * N * N };

static struct spmd_run run;
static double factor[SP_DIRECTIONS][POINTS][POINTS], product[POINTS][POINTS], other[POINTS][POINTS],
    solved[POINTS];

static void multiply(double out[POINTS][POINTS], double a[POINTS][POINTS], double b[POINTS][POINTS])
{
    memset(out, 0, sizeof product);
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t k = 0; k < POINTS; k++) {
            for (size_t j = 0; j < POINTS && a[i][k] != 0; j++)
                out[i][j] += a[i][k] * b[k][j];
        }
    }
}

static void build_factors(void)
{
    static const size_t stride[] = {1, N, N * N};

    memset(factor, 0, sizeof factor);
    for (unsigned d = 0; d < SP_DIRECTIONS; d++) {
        for (int i = 0; i < POINTS; i++) {
            struct sp_row row = sp_row(sp_state.kappa[i], d);
            for (int offset = -2; offset <= 2; offset++) {
                int place = i / (int)stride[d] % N + offset;
                if (place >= 0 && place < N)
                    factor[d][i][i + offset * (int)stride[d]] = row.band[offset + 2];
            }
        }
    }
}

/* Gauss-Jordan elimination on `product`, which is overwritten. */
static void eliminate(void)
{
    for (size_t k = 0; k < POINTS; k++) {
        for (size_t i = 0; i < POINTS; i++) {
            double times = i != k ? product[i][k] / product[k][k] : 0;
            for (size_t j = k; j < POINTS && times != 0; j++)
                product[i][j] -= times * product[k][j];
            solved[i] -= times * solved[k];
        }
    }
    for (size_t i = 0; i < POINTS; i++)
        solved[i] /= product[i][i];
}

/* The first step begins with u = 0: the right-hand side is the forcing, which is K u of the
 * solution. */
static void a_step_solves_the_product_of_the_factors(void **state)
{
    (void)state;
    for (unsigned v = 0; v < SP_VARIABLES; v++) {
        assert_int_equal(
            program_begin(&run, &sp_program,
                          v % 2 ? "n=5 steps=1 seed=3" : "n=5 steps=1 threads=4 seed=3"),
            0);
        spmd_work(&run);
        build_factors();
        for (size_t i = 0; i < POINTS; i++) {
            solved[i] = 0;
            for (size_t j = 0; j < POINTS; j++)
                solved[i] += (factor[0][i][j] + factor[1][i][j] + factor[2][i][j] - 3 * (i == j)) *
                             sp_solution(3, j, v);
        }
        multiply(other, factor[1], factor[2]);
        multiply(product, factor[0], other);
        eliminate();
        for (size_t i = 0; i < POINTS; i++)
            assert_true(fabs(sp_state.u[i * SP_VARIABLES + v] - solved[i]) < 1e-12);
        spmd_end(&run);
    }
}

static void steps_lead_to_the_solution(void **state)
{
    (void)state;
    program_run(&run, &sp_program, "n=8 steps=400 rounds=2 threads=3");
    assert_null(run.violation);
    spmd_end(&run);
    assert_int_equal(program_begin(&run, &sp_program, "n=8 steps=400 rounds=2"), 0);
    spmd_work(&run);
    for (size_t i = 0; i < 8 * 8 * 8 * SP_VARIABLES; i++)
        assert_true(fabs(sp_state.u[i] - sp_solution(1, i / SP_VARIABLES, i % SP_VARIABLES)) <
                    1e-9);
    spmd_end(&run);
}

static void a_changed_increment_is_seen(void **state)
{
    (void)state;
    assert_int_equal(program_begin(&run, &sp_program, "n=9"), 0);
    spmd_work(&run);
    sp_state.rhs[1000] += 1e-6;
    spmd_check(&run);
    assert_string_equal(run.violation, "factors_give_the_right_hand_side");
    spmd_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_solves_the_product_of_the_factors),
        cmocka_unit_test(steps_lead_to_the_solution),
        cmocka_unit_test(a_changed_increment_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
