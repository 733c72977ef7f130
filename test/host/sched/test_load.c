/* Load averages: against the exponentials in floating point, and what stays reaches its value. */
#include <math.h>
#include "test/host/double/expect_panic.h"
#include "sched/policy/load.h"

static void as_exponentials(void **state)
{
    static const double minutes[LOADS] = {1, 5, 15};
    struct loads l = {0};
    double exact[LOADS] = {0};
    uint64_t seed = 3;
    (void)state;

    for (unsigned step = 0; step < 100000; step++) {
        unsigned threads = test_random(&seed) % 8 ? test_random(&seed) % 5 : 4096;
        loads_note(&l, threads);
        for (unsigned i = 0; i < LOADS; i++) {
            double stays = exp(-LOAD_SECONDS / (60 * minutes[i]));
            exact[i] = exact[i] * stays + threads * (1 - stays);
            double got = l.average[i] / (double)(1 << LOAD_SHIFT);
            assert_true(fabs(got - exact[i]) < 0.01 + exact[i] / 100);
        }
    }
}

static void a_constant_load_is_reached(void **state)
{
    struct loads l = {0};
    (void)state;

    for (unsigned step = 0; step < 5000; step++)
        loads_note(&l, 3);
    for (unsigned i = 0; i < LOADS; i++)
        assert_int_equal(l.average[i], 3u << LOAD_SHIFT);
    for (unsigned step = 0; step < 5000; step++)
        loads_note(&l, 0);
    for (unsigned i = 0; i < LOADS; i++)
        assert_int_equal(l.average[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_exponentials),
        cmocka_unit_test(a_constant_load_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
