/* Functions of real numbers, compared with the host's library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "apps/common/prng.h"
#include "apps/common/real.h"

enum { TRIALS = 200000 };

static void near(double got, double exact, double scale)
{
    if (!(fabs(got - exact) <= 1e-14 * scale))
        fail_msg("%.17g in place of %.17g", got, exact);
}

static void roots_of_unity_are_where_they_should_be(void **state)
{
    struct real_roots roots;

    (void)state;
    real_roots_init(&roots);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        unsigned k = trial % REAL_ROOTS_MAX;
        uint64_t e = prng_at(1, 0, trial) & (((uint64_t)1 << k) - 1);
        long double angle = 2 * 3.141592653589793238462643383279502884L * (long double)e /
                            (long double)((uint64_t)1 << k);
        struct complex_number root = real_root(&roots, k, e);
        near(root.re, (double)cosl(angle), 1);
        near(root.im, (double)-sinl(angle), 1);
    }
}

static void exponentials_are_exact_to_fourteen_digits(void **state)
{
    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        double range = trial % 2 ? 1400 : 4, x = (prng_unit(prng_at(2, 0, trial)) - 0.5) * range;
        near(real_exp(x), exp(x), exp(x));
    }
    near(real_exp(0), 1, 1);
    near(real_exp(700), exp(700), exp(700));
    near(real_exp(-700), exp(-700), exp(-700));
}

static void logarithms_undo_exponentials(void **state)
{
    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        double x = exp((prng_unit(prng_at(3, 0, trial)) - 0.5) * (trial % 2 ? 1400 : 4));
        near(real_log(x), log(x), fmax(1, fabs(log(x))));
    }
    near(real_log(1), 0, 0);
    near(real_log(0x1p-1022), log(0x1p-1022), 708);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_unity_are_where_they_should_be),
        cmocka_unit_test(exponentials_are_exact_to_fourteen_digits),
        cmocka_unit_test(logarithms_undo_exponentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
