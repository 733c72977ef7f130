/* The basin's currents: layout of points, conservation by the Jacobian, waves with a known
 * equation, and steps computed anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "apps/workloads/ocean/ocean.h"
#include "test/host/double/spmd_run.h"

enum { N = 32, POINTS = N + 1 };
typedef double field[POINTS][POINTS];

static struct spmd_run run;

static void begin(const char *arguments)
{
    assert_int_equal(program_begin(&run, &ocean_program, arguments), 0);
    spmd_work(&run);
}

static void every_point_has_a_place_of_its_own(void **state)
{
    static const char *const shapes[] = {"n=16", "n=48 layout=rows tiles=6", "n=48 tiles=6",
                                         "n=32 tiles=256", "n=80 threads=7"};

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        static unsigned char met[100000];
        begin(shapes[s]);
        for (unsigned l = 0; l < ocean_state.grids.count; l++) {
            const struct grid_level *level = &ocean_state.grids.level[l];
            memset(met, 0, sizeof met);
            for (size_t i = 0; i <= level->n; i++) {
                for (size_t j = 0; j <= level->n; j++)
                    assert_true(grid_at(level, i, j) < grid_doubles(level) &&
                                !met[grid_at(level, i, j)]++);
            }
        }
        spmd_end(&run);
    }
}

static void a_tile_is_in_one_piece(void **state)
{
    (void)state;
    begin("n=48 tiles=6 layout=contiguous");
    const struct grid_level *level = &ocean_state.grids.level[0];
    size_t tile = level->height * level->width;
    for (size_t i = 0; i <= level->n; i++) {
        for (size_t j = 0; j <= level->n; j++)
            assert_int_equal(grid_at(level, i, j) / tile,
                             i / level->height * level->tile_columns + j / level->width);
    }
    spmd_end(&run);
}

static void the_jacobian_makes_neither_energy_nor_enstrophy(void **state)
{
    double energy = 0, enstrophy = 0, size = 0;

    (void)state;
    begin("n=48 tiles=4 seed=3");
    const struct grid_level *g = &ocean_state.grids.level[0];
    for (size_t i = 1; i < g->n; i++) {
        for (size_t j = 1; j < g->n; j++) {
            double change = ocean_jacobian(g, ocean_state.psi[0], ocean_state.pv[0], i, j);
            energy += ocean_state.psi[0][grid_at(g, i, j)] * change;
            enstrophy += ocean_state.pv[0][grid_at(g, i, j)] * change;
            size += fabs(change);
        }
    }
    assert_true(size > 1 && fabs(energy) < 1e-12 * size && fabs(enstrophy) < 1e-12 * size);
    spmd_end(&run);
}

static const double lambda = 7;

static void solve_only(struct spmd_thread *t)
{
    grid_solve(t, &ocean_state.grids, lambda, ocean_state.mode[0], 30);
}

/* A product of sines is multiplied by -4 n^2 (sin^2 + sin^2) of half its angles, less lambda. */
static void waves_are_solved_as_known(void **state)
{
    struct spmd_program solver = ocean_program;

    (void)state;
    solver.round = solve_only;
    for (unsigned waves = 1; waves < 4; waves++) {
        assert_int_equal(program_begin(&run, &solver,
                                       waves == 2 ? "n=48 threads=4 tiles=9" : "n=32 layout=rows"),
                         0);
        solver.prepare(&run);
        const struct grid_level *g = &ocean_state.grids.level[0];
        double pi = 3.14159265358979323846, n = (double)g->n;
        double s = sin(waves * pi / n / 2), r = sin((waves + 1) * pi / n / 2),
               value = -4 * n * n * (s * s + r * r) - lambda;
        struct spmd_thread *t = &run.thread[0];
        *t = (struct spmd_thread){.run = &run, .count = 1};
        pthread_barrier_init(&run.barrier, NULL, 1);
        for (size_t i = 1; i < g->n; i++) {
            for (size_t j = 1; j < g->n; j++)
                g->given[grid_at(g, i, j)] =
                    value * sin(waves * pi * (double)i / n) * sin((waves + 1) * pi * (double)j / n);
        }
        solve_only(t);
        for (size_t i = 0; i <= g->n; i++) {
            for (size_t j = 0; j <= g->n; j++)
                assert_true(fabs(ocean_state.mode[0][grid_at(g, i, j)] -
                                 sin(waves * pi * (double)i / n) *
                                     sin((waves + 1) * pi * (double)j / n)) < 1e-11);
        }
        pthread_barrier_destroy(&run.barrier);
        spmd_end(&run);
    }
}

/* ---- Steps done anew, by Arakawa's three forms of the Jacobian written as derivatives -------- */

static field psi[3][OCEAN_LAYERS], pv[3][OCEAN_LAYERS];

static void keep(unsigned step)
{
    for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++) {
        for (size_t i = 0; i <= N; i++) {
            for (size_t j = 0; j <= N; j++) {
                size_t here = grid_at(&ocean_state.grids.level[0], i, j);
                psi[step][layer][i][j] = ocean_state.psi[layer][here];
                pv[step][layer][i][j] = ocean_state.pv[layer][here];
            }
        }
    }
}

static double along_x(double (*f)(field, size_t, size_t), field a, size_t i, size_t j)
{
    return (f(a, i, j + 1) - f(a, i, j - 1)) * N / 2;
}

static double along_y(double (*f)(field, size_t, size_t), field a, size_t i, size_t j)
{
    return (f(a, i + 1, j) - f(a, i - 1, j)) * N / 2;
}

static field *p_now, *q_now;
static double itself(field a, size_t i, size_t j)
{
    return a[i][j];
}
static double p_qx(field a, size_t i, size_t j)
{
    (void)a;
    return (*p_now)[i][j] * along_x(itself, *q_now, i, j);
}
static double p_qy(field a, size_t i, size_t j)
{
    (void)a;
    return (*p_now)[i][j] * along_y(itself, *q_now, i, j);
}
static double q_px(field a, size_t i, size_t j)
{
    (void)a;
    return (*q_now)[i][j] * along_x(itself, *p_now, i, j);
}
static double q_py(field a, size_t i, size_t j)
{
    (void)a;
    return (*q_now)[i][j] * along_y(itself, *p_now, i, j);
}

/* Each factor is 0 at the edge, so that derivatives there do not count. */
static double tendency(unsigned step, unsigned layer, size_t i, size_t j)
{
    field *p = &psi[step][layer], *q = &pv[step][layer];
    double y = (double)i / N;

    p_now = p;
    q_now = q;
    double plain = along_x(itself, *p, i, j) * along_y(itself, *q, i, j) -
                   along_y(itself, *p, i, j) * along_x(itself, *q, i, j);
    double by_p = along_x(p_qy, *p, i, j) - along_y(p_qx, *p, i, j);
    double by_q = along_y(q_px, *p, i, j) - along_x(q_py, *p, i, j);
    double laplacian =
        ((*p)[i + 1][j] + (*p)[i - 1][j] + (*p)[i][j + 1] + (*p)[i][j - 1] - 4 * (*p)[i][j]) * N *
        N;
    return (layer == 0 ? 8 * y * (1 - y) * (1 - 2 * y) : 0) - (plain + by_p + by_q) / 3 -
           along_x(itself, *p, i, j) - 0.1 * laplacian;
}

static void steps_are_those_of_the_equations(void **state)
{
    static const char *const steps[] = {"n=32 steps=1 threads=3", "n=32 steps=2 layout=rows"};
    struct spmd_program still = ocean_program;

    (void)state;
    still.round = spmd_barrier;
    assert_int_equal(program_begin(&run, &still, "n=32"), 0);
    spmd_work(&run);
    keep(0);
    spmd_end(&run);
    for (unsigned s = 0; s < 2; s++) {
        begin(steps[s]);
        keep(s + 1);
        spmd_end(&run);
    }
    for (unsigned layer = 0; layer < OCEAN_LAYERS; layer++) {
        for (size_t i = 2; i < N - 1; i++) {
            for (size_t j = 2; j < N - 1; j++) {
                double first = tendency(0, layer, i, j), second = tendency(1, layer, i, j);
                assert_true(fabs(pv[1][layer][i][j] - pv[0][layer][i][j] - first * 0.25 / N) <
                            1e-13);
                assert_true(fabs(pv[2][layer][i][j] - pv[1][layer][i][j] -
                                 (1.5 * second - 0.5 * first) * 0.25 / N) < 1e-13);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_has_a_place_of_its_own),
        cmocka_unit_test(a_tile_is_in_one_piece),
        cmocka_unit_test(the_jacobian_makes_neither_energy_nor_enstrophy),
        cmocka_unit_test(waves_are_solved_as_known),
        cmocka_unit_test(steps_are_those_of_the_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
