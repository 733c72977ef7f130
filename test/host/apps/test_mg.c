/* Multigrid: the operator, by waves with known images; and the convergence of cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "apps/workloads/mg/mg.h"
#include "test/host/double/spmd_run.h"

enum { N = 12 };

static struct spmd_run run;
static double points[N * N * N];

static double angle(size_t wave, size_t at)
{
    return 2 * 3.14159265358979323846 * (double)(wave * at % N) / N;
}

/* The weights of a wave's neighbours add up to cosines. */
static double eigenvalue(const size_t wave[3])
{
    double c[3];

    for (unsigned d = 0; d < 3; d++)
        c[d] = cos(angle(wave[d], 1));
    return -8.0 / 3 + 4 * (c[0] * c[1] + c[1] * c[2] + c[2] * c[0]) / 6 +
           8 * c[0] * c[1] * c[2] / 12;
}

static void waves_are_stretched_as_known(void **state)
{
    const struct mg_grid grid = {points, N};
    static const size_t waves[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0},
                                      {0, 0, 5}, {1, 2, 3}, {6, 6, 6}};

    (void)state;
    for (unsigned w = 0; w < sizeof waves / sizeof *waves; w++) {
        for (size_t i = 0; i < N * N * N; i++)
            points[i] = cos(angle(waves[w][0], i / (N * N)) + angle(waves[w][1], i / N % N) +
                            angle(waves[w][2], i % N));
        for (size_t i = 0; i < N * N * N; i++)
            assert_true(fabs(mg_operator_at(&grid, i / (N * N), i / N % N, i % N) -
                             eigenvalue(waves[w]) * points[i]) < 1e-13);
    }
}

static void cycles_lead_to_the_solution(void **state)
{
    static const char *const shapes[] = {"n=8 cycles=40", "n=16 cycles=40 threads=3",
                                         "n=32 cycles=20 rounds=2", "n=24 cycles=40",
                                         "n=72 cycles=30 threads=2"};

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        double largest = 0;
        program_run(&run, &mg_program, shapes[s]);
        assert_null(run.violation);
        for (size_t i = 0; i < mg_state.n * mg_state.n * mg_state.n; i++)
            largest = fmax(largest, fabs(mg_state.r[0].at[i]));
        assert_true(largest < 1e-14);
        spmd_end(&run);
    }
}

static void a_changed_right_hand_side_is_seen(void **state)
{
    (void)state;
    assert_int_equal(program_begin(&run, &mg_program, "n=16"), 0);
    spmd_work(&run);
    mg_state.v.at[99] += 1e-9;
    spmd_check(&run);
    assert_string_equal(run.violation, "residual_is_what_is_missing");
    spmd_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_are_stretched_as_known),
        cmocka_unit_test(cycles_lead_to_the_solution),
        cmocka_unit_test(a_changed_right_hand_side_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
