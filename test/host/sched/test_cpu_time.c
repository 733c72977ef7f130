/* Time in the kernel, by looks: both parts grow, and are right on average. */
#include "test/host/double/expect_panic.h"
#include "sched/policy/cpu_time.h"

static void a_look_holds_to_the_next(void **state)
{
    struct cpu_mode m = {0};
    (void)state;

    assert_int_equal(cpu_mode_system_ns(&m, 500), 0);
    cpu_mode_look(&m, 500, true);
    assert_int_equal(cpu_mode_system_ns(&m, 500), 0);
    assert_int_equal(cpu_mode_system_ns(&m, 800), 300);
    cpu_mode_look(&m, 900, false);
    assert_int_equal(cpu_mode_system_ns(&m, 2000), 400);
    assert_int_equal(cpu_mode_system_ns(&m, 100), 400); /* another CPU's clock */
}

/* A program that is in the kernel for a third of its time in stretches of 1 to 20, looked at every
 * 75 to 125. */
static void parts_grow_and_are_right(void **state)
{
    struct cpu_mode m = {0};
    uint64_t seed = 5, true_ns = 0, at = 0, look = 100, last_system = 0, last_user = 0;
    (void)state;

    while (at < 3000000) {
        bool in_kernel = test_random(&seed) % 3 == 0;
        for (uint64_t left = 1 + test_random(&seed) % 20; left; left--, at++) {
            uint64_t system = cpu_mode_system_ns(&m, at);
            true_ns += in_kernel;
            assert_true(system >= last_system && at - system >= last_user);
            last_system = system;
            last_user = at - system;
            if (at == look) {
                cpu_mode_look(&m, at, in_kernel);
                look += 75 + test_random(&seed) % 50;
            }
        }
    }
    /* 30,000 looks: three deviations are 0.8 % of the whole. */
    uint64_t system = cpu_mode_system_ns(&m, at);
    assert_in_range(system, true_ns - at / 100, true_ns + at / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_holds_to_the_next),
        cmocka_unit_test(parts_grow_and_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
