/* Samples by criteria: refusals and their causes. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_profiles.h"
#include "hpm/sampling.h"

static void what_cannot_be_is_refused_with_its_cause(void **state)
{
    static const struct {
        const char *criteria, *cause;
        int error;
    } bad[] = {
        {"L1D_MISSES,L1D_MISSES@5", "twice", -EINVAL},
        {"nonsense", "nonsense", -ENOENT},
        {"", "", -EINVAL},
        {"cycles@0", "cycles@0", -EINVAL},
        {"time@1ns", "time@1ns", -EINVAL},
    };
    unsigned frames = double_frames();
    char why[160];

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        why[0] = 0;
        assert_int_equal(open_error(bad[i].criteria, 0, why), bad[i].error);
        if (!strstr(why, bad[i].cause))
            fail_msg("%s: '%s' does not name '%s'", bad[i].criteria, why, bad[i].cause);
        assert_int_equal(double_frames(), frames);
    }
}

static void what_is_in_use_is_refused(void **state)
{
    static const char seven[] = "access.l2,access.l3,access.remote_l2,access.remote_l3,"
                                "access.local_memory,access.remote_memory,access.any";
    static const struct hpm_sampling other = {
        .sources = SOURCES_REMOTE_CACHE, .period = 1, .user = true};
    struct hpm_profile *first;
    unsigned frames;
    char why[160];

    (void)state;
    assert_int_equal(one_start(&other), 0);
    open_profile(seven, 0);
    first = profile;
    frames = double_frames();
    assert_int_equal(open_error("time,access.remote", 0, why), -EBUSY);
    assert_non_null(strstr(why, "access.remote: 8 others"));
    assert_int_equal(double_frames(), frames);
    hpm_profile_close(first);
    open_profile(seven, 0);
}

static void counters_that_cannot_interrupt_sample_no_events(void **state)
{
    char why[160];

    (void)state;
    hpm_state.pmu.arms = false;
    assert_int_equal(open_error("cycles", 0, why), -ENODEV);
    assert_non_null(strstr(why, "interrupt"));
    open_profile("time", 0);
}

static void too_little_memory_is_refused_and_nothing_is_kept(void **state)
{
    unsigned frames = double_frames(), most = double_frames_max;
    char why[160];

    (void)state;
    for (unsigned more = 0;; more++) {
        double_frames_max = frames + more;
        int error = open_error("L1D_MISSES,time,access.remote", 0, why);
        if (!error)
            break;
        assert_int_equal(error, -ENOMEM);
        assert_int_equal(double_frames(), frames);
    }
    double_frames_max = most;
    hpm_profile_close(profile);
    profile = NULL;
    assert_int_equal(double_frames(), frames);
    assert_int_equal(hpm_state.plan->programme[0].arms, 0);
}

static void rate_and_limit_have_ranges(void **state)
{
    char why[160];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct hpm_profiling what = {.criteria = "time", .rate = 1000, .permille = 10};
        *(i < 2 ? &what.rate : &what.permille) = i % 2 ? 2000000 : 0;
        assert_int_equal(hpm_profile_open(&what, &profile, why, sizeof why), -EINVAL);
        assert_non_null(strstr(why, i < 2 ? "1 to 1000000" : "1 to 1000"));
    }
}

static void what_needs_counters_is_refused_without_them(void **state)
{
    static const char *const needing[] = {"cycles", "time,L1D_MISSES", "access.any"};
    char why[160];

    (void)state;
    double_machine_present = false;
    double_boot();
    for (unsigned i = 0; i < ARRAY_SIZE(needing); i++) {
        assert_int_equal(open_error(needing[i], 0, why), -ENODEV);
        assert_non_null(strstr(
            why, ": this machine has no performance counters that are known, or hpm.pmu=none; "
                 "without them there are time and entries"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_cannot_be_is_refused_with_its_cause),
        TEST(what_is_in_use_is_refused),
        TEST(counters_that_cannot_interrupt_sample_no_events),
        TEST(too_little_memory_is_refused_and_nothing_is_kept),
        TEST(rate_and_limit_have_ranges),
        TEST(what_needs_counters_is_refused_without_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
