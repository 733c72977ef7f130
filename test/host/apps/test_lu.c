/* LU factorisation in blocks, compared with an element-wise one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "apps/workloads/lu/lu.h"
#include "test/host/double/spmd_run.h"

enum { N_MAX = 96 };

static struct spmd_run run;
static double factors[N_MAX][N_MAX];

/* Golub & Van Loan, algorithm 3.2.1. */
static void factor_plainly(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            factors[i][j] = lu_element(4, n, i, j);
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k + 1; i < n; i++) {
            factors[i][k] /= factors[k][k];
            for (size_t j = k + 1; j < n; j++)
                factors[i][j] -= factors[i][k] * factors[k][j];
        }
    }
}

static void every_element_is_that_of_plain_elimination(void **state)
{
    static const char *const shapes[] = {"n=16 block=16",
                                         "n=16 block=4 layout=rows",
                                         "n=60 block=5 threads=6",
                                         "n=96 block=8 threads=4",
                                         "n=96 block=12 threads=64",
                                         "n=96 block=16 layout=rows threads=3",
                                         "n=77 block=7 threads=2",
                                         "n=96 block=4 layout=rows threads=8"};

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        char arguments[80];
        snprintf(arguments, sizeof arguments, "%s seed=4", shapes[s]);
        program_run(&run, &lu_program, arguments);
        assert_null(run.violation);
        factor_plainly(lu_state.n);
        for (size_t i = 0; i < lu_state.n; i++) {
            for (size_t j = 0; j < lu_state.n; j++)
                assert_true(fabs(*lu_at(&lu_state, i, j) - factors[i][j]) <
                            1e-12 * (double)lu_state.n);
        }
        spmd_end(&run);
    }
}

/* layout=contiguous: a block is in one piece, and so are the blocks of a thread. */
static void a_threads_blocks_follow_one_another(void **state)
{
    enum { N = 60, BLOCK = 5, BLOCKS = N / BLOCK };
    unsigned owner[BLOCKS * BLOCKS];

    (void)state;
    program_run(&run, &lu_program, "n=60 block=5 threads=6 layout=contiguous");
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            size_t offset = (size_t)(lu_at(&lu_state, i, j) - lu_state.a);
            assert_true(offset < N * N &&
                        offset % (BLOCK * BLOCK) == i % BLOCK * BLOCK + j % BLOCK);
            owner[offset / (BLOCK * BLOCK)] = (unsigned)(i / BLOCK % 2 * 3 + j / BLOCK % 3);
        }
    }
    for (unsigned b = 1; b < BLOCKS * BLOCKS; b++)
        assert_true(owner[b] == owner[b - 1] || owner[b] == owner[b - 1] + 1);
    spmd_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_that_of_plain_elimination),
        cmocka_unit_test(a_threads_blocks_follow_one_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
