/* The driver of Arm's activity monitors, against a double of their registers. */
#include "test/host/double/expect_panic.h"
#include "hpm/pmu/arm/amu_regs.h"
#include "hpm/pmu/frequency.h"

static uint64_t features, enabled, core, constant;
static unsigned touched; /* registers that exist only with the feature */

uint64_t arch_ticks_hz(void)
{
    return 24000000;
}

uint64_t amu_features(void)
{
    return features;
}

static void touch(void)
{
    assert_true(PFR0_AMU(features) != 0); /* UNDEFINED without */
    touched++;
}

uint64_t amu_enabled(void)
{
    touch();
    return enabled;
}

void amu_read_both(uint64_t *core_out, uint64_t *constant_out)
{
    touch();
    *core_out = core;
    *constant_out = constant;
}

static void no_monitors_no_frequency(void **state)
{
    struct frequency_caps caps;
    (void)state;

    features = ~(UINT64_C(15) << 44); /* every other feature */
    touched = 0;
    assert_int_equal(frequency_amu.probe(&caps), -ENODEV);
    assert_int_equal(touched, 0);
}

static void monitors_that_firmware_left_off_are_not_believed(void **state)
{
    struct frequency_caps caps;
    (void)state;

    features = UINT64_C(1) << 44;
    for (enabled = 0; enabled < 3; enabled++)
        assert_int_equal(frequency_amu.probe(&caps), -ENODEV);
}

static void cycles_against_the_system_counter_are_the_frequency(void **state)
{
    struct frequency_count a, b;
    struct frequency_caps caps;
    (void)state;

    features = UINT64_C(2) << 44;
    enabled = 0xf;
    assert_int_equal(frequency_amu.probe(&caps), 0);
    assert_true(caps.counts && !caps.by_pmu);
    assert_int_equal(caps.pstates, 0);
    assert_string_equal(caps.lacks, "firmware-chooses");
    core = UINT64_MAX - 100;
    constant = 5;
    frequency_amu.read(&a);
    core += 2600000; /* wraps */
    constant += 24000;
    frequency_amu.read(&b);
    assert_int_equal((b.core - a.core) * caps.reference_hz / (b.reference - a.reference),
                     2600000000);
    EXPECT_PANIC(frequency_amu.set(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_monitors_no_frequency),
        cmocka_unit_test(monitors_that_firmware_left_off_are_not_believed),
        cmocka_unit_test(cycles_against_the_system_counter_are_the_frequency),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
