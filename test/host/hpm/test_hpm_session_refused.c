/* Sessions that are refused: each refusal says why, changes nothing and keeps nothing. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_sessions.h"

static int set_up(void **state)
{
    (void)state;
    double_machine_present = true;
    double_boot();
    threads_begin(3);
    return 0;
}

/* Checks that a session is refused for `why`, that nothing changes, and that no memory is kept. */
static void assert_refused(const char *names, int error, const char *why)
{
    const struct hpm_plan *plan = hpm_state.plan;
    uint32_t generation = plan->mux.generation;
    unsigned frames = double_frames();
    struct hpm_session *s;
    char said[160] = "";

    assert_int_equal(hpm_session_open(names, &s, said, sizeof said), error);
    if (!strstr(said, why))
        fail_msg("%s: said '%s', not '%s'", names, said, why);
    assert_ptr_equal(hpm_state.plan, plan);
    assert_int_equal(plan->mux.generation, generation);
    assert_int_equal(double_frames(), frames);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        assert_ptr_equal(cpus[c].hpm->plan, plan);
}

static void names_that_mean_nothing_are_refused(void **state)
{
    char too_long[400];

    (void)state;
    struct hpm_session *s = open_names("instructions");
    assert_refused("l1d.mis", -ENOENT, "l1d.miss");
    assert_refused("cycles,LOADZ", -ENOENT, "'LOADZ' is no event of model; nearest: load");
    assert_refused("llc.miss", -ENOTSUP, "llc.miss");
    assert_refused("cycles:x", -EINVAL, "x");
    assert_refused("", -EINVAL, "no event or metric is named");
    assert_refused(" , ,,", -EINVAL, "no event or metric is named");
    memset(too_long, 'x', sizeof too_long);
    too_long[399] = '\0';
    assert_refused(too_long, -EINVAL, "too long");
    switch_to(0, 0);
    double_execute(1234, 100000);
    switch_to(0, -1);
    assert_int_equal(value_of_thread(s, 0, 0).estimate.count, 1234);
    hpm_session_close(s);
}

/* The breakdown's pinned stalls take two of the four counters. */
static void a_metric_with_too_few_counters_is_named(void **state)
{
    (void)state;
    assert_refused("LOADS:u,remote_pct", -ENOSPC, "remote_pct: there are fewer counters");
    struct hpm_session *s = open_names("ipc");
    assert_refused("cpi,LOADS:u,remote_pct", -ENOSPC, "remote_pct: there are fewer counters");
    hpm_session_close(s);
}

static void sessions_and_memory_come_to_an_end(void **state)
{
    struct hpm_session *s[16];

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(s); i++)
        s[i] = open_names(i % 2 ? "LOADS,cycles" : "cycles");
    assert_refused("cycles", -ENOSPC, "too many sessions");
    hpm_session_close(s[7]);
    double_frames_max = double_frames();
    assert_refused("cycles", -ENOMEM, "no memory");
    double_frames_max = DOUBLE_FRAMES;
    s[7] = open_names("cycles");
    uint64_t all = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(s); i++) {
        assert_int_equal(all & hpm_session_counts(s[i]), 0);
        all |= hpm_session_counts(s[i]);
        hpm_session_close(s[i]);
    }
    assert_int_equal(hpm_state.plan->mux.events & all, 0);
}

static void events_come_to_an_end_and_metrics_do_not_for_them(void **state)
{
    struct hpm_session *s[3];
    char loads[512] = "";

    (void)state;
    for (unsigned i = 0; i < 64; i++)
        strcat(loads, "LOADS,");
    s[0] = open_names("ipc,cpi");
    s[1] = open_names(loads); /* 64 names are 64 values of one event */
    assert_int_equal(hpm_session_values(s[1]), 64);
    assert_int_equal(__builtin_popcountll(hpm_session_counts(s[1])), 1);
    strcat(loads, "LOADS");
    assert_refused(loads, -ENOSPC, "too many events and metrics");
    s[2] = open_names(
        "LOADS:u,STORES:u,L1D_MISSES:u,L1I_MISSES:u,MISPREDICTS:u,TLB_MISSES:u,COMPLETION:u,"
        "EXCEPTIONS:u,IDLE:u,CYCLES:u,INSTRUCTIONS:u,STALL:TLB:u,STALL:OTHER:u,STALL:BRANCH:u,"
        "LOADS:k,STORES:k,L1D_MISSES:k,L1I_MISSES:k,MISPREDICTS:k,TLB_MISSES:k,COMPLETION:k,"
        "EXCEPTIONS:k,IDLE:k,CYCLES:k,INSTRUCTIONS:k,STALL:TLB:k,STALL:OTHER:k,STALL:BRANCH:k");
    assert_refused(
        "LOADS,STORES,COMPLETION,IDLE,EXCEPTIONS,STALL:TLB,STALL:DCACHE:u,STALL:DCACHE:k,"
        "MISPREDICTS,TLB_MISSES,L1D_MISSES,L1I_MISSES,DCACHE:LOCAL_L2:u,DCACHE:LOCAL_L2:k",
        -ENOSPC, "too many events at a time");
    hpm_session_close(s[2]);
    loads[0] = '\0';
    for (unsigned i = 0; i < 31; i++)
        strcat(loads, "ipc,");
    assert_refused(loads, -ENOSPC, "too many metrics at a time");
    loads[30 * strlen("ipc,")] = 0;
    s[2] = open_names(loads); /* 30 and 2 */
    hpm_session_close(s[0]);
    hpm_session_close(s[1]);
    hpm_session_close(s[2]);
}

static void without_counters_there_are_no_sessions(void **state)
{
    struct hpm_session *s;
    struct hpm_sums sums = {0};
    char why[160];

    (void)state;
    double_machine_present = false;
    kernel_reset();
    kernel_start_hpm();
    assert_int_equal(hpm_session_open("cycles", &s, why, sizeof why), -ENODEV);
    assert_non_null(strstr(why, "no performance counters"));
    hpm_sum_machine(UINT64_MAX, &sums);
    assert_int_equal(sums.cycles, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_that_mean_nothing_are_refused),
        TEST(a_metric_with_too_few_counters_is_named),
        TEST(sessions_and_memory_come_to_an_end),
        TEST(events_come_to_an_end_and_metrics_do_not_for_them),
        TEST(without_counters_there_are_no_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
