/* The Fourier transform, compared with the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "apps/workloads/fft/fft.h"
#include "test/host/double/spmd_run.h"

enum { N_MAX = 4096 };

static struct spmd_run run;
static struct complex_number transformed[N_MAX];

static void forward_only(struct spmd_thread *t)
{
    fft_forward(t);
}

/* Transforms 2^log2n elements into `transformed`. */
static void transform(unsigned log2n, unsigned threads, unsigned block)
{
    struct spmd_program once = fft_program;
    char arguments[80];

    once.round = forward_only;
    snprintf(arguments, sizeof arguments, "log2n=%u threads=%u block=%u seed=9", log2n, threads,
             block);
    assert_int_equal(program_begin(&run, &once, arguments), 0);
    spmd_work(&run);
    for (size_t k = 0; k < fft_state.n; k++)
        transformed[k] = fft_state.other[k];
    spmd_end(&run);
}

static struct complex_number by_definition(size_t n, size_t k)
{
    long double re = 0, im = 0;

    for (size_t j = 0; j < n; j++) {
        struct complex_number x = fft_element(9, j);
        long double angle = -2 * 3.141592653589793238462643383279502884L *
                            (long double)(j * k % n) / (long double)n;
        re += x.re * cosl(angle) - x.im * sinl(angle);
        im += x.re * sinl(angle) + x.im * cosl(angle);
    }
    return (struct complex_number){(double)re, (double)im};
}

static void every_element_is_as_defined(void **state)
{
    (void)state;
    for (unsigned log2n = 4; log2n <= 10; log2n++) {
        transform(log2n, 1 + log2n % 3, 1 + 7 * (log2n % 4));
        for (size_t k = 0; k < (size_t)1 << log2n; k++) {
            struct complex_number exact = by_definition((size_t)1 << log2n, k);
            assert_true(fabs(transformed[k].re - exact.re) < 1e-11 &&
                        fabs(transformed[k].im - exact.im) < 1e-11);
        }
    }
}

static void energy_is_kept(void **state)
{
    (void)state;
    for (unsigned log2n = 4; log2n <= 12; log2n++) {
        double before = 0, after = 0, n = (double)(1 << log2n);
        transform(log2n, 4, 16);
        for (size_t j = 0; j < (size_t)1 << log2n; j++) {
            struct complex_number x = fft_element(9, j), y = transformed[j];
            before += x.re * x.re + x.im * x.im;
            after += (y.re * y.re + y.im * y.im) / n;
        }
        assert_true(fabs(after / before - 1) < 1e-13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_as_defined),
        cmocka_unit_test(energy_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
