/* Counts that are exact at every switch, against the truth of each thread, while sessions come and
 * go and groups take turns. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_sessions.h"
#include "hpm/internal.h"
#include "kernel/trace/telemetry.h"

static const enum machine_event event_of[HPM_EXACT_MAX] = {
    MACHINE_EVENT_CYCLES,       MACHINE_EVENT_INSTRUCTIONS, MACHINE_EVENT_STALL_ICACHE,
    MACHINE_EVENT_STALL_BRANCH, MACHINE_EVENT_STALL_DCACHE, MACHINE_EVENT_STALL_TLB};

static uint64_t truth[THREADS][HPM_EXACT_MAX], at[DOUBLE_CPUS][HPM_EXACT_MAX];

static void boot(bool topdown)
{
    double_quanta = true;
    trace_counts = topdown;
    double_machine_present = true;
    double_boot();
    threads_begin(3);
    memset(truth, 0, sizeof truth);
    memset(at, 0, sizeof at);
}

static int tear_down(void **state)
{
    double_quanta = false;
    trace_counts = 0;
    return threads_end(state);
}

/* Charges what the CPU counted since to the thread on it, as a reading does. */
static void charge(unsigned cpu)
{
    for (unsigned i = 0; i < HPM_EXACT_MAX; i++) {
        uint64_t now = i ? double_cpus[cpu].at_read[event_of[i]] : cpus[cpu].hpm->last.cycles;
        if (running[cpu] >= 0)
            truth[running[cpu]][i] += now - at[cpu][i];
        at[cpu][i] = now;
    }
}

/* The hardware is read at the switch, for the thread that leaves. */
static void change_to(unsigned cpu, int next)
{
    int before = running[cpu];

    switch_to(cpu, next);
    int after = running[cpu];
    running[cpu] = before;
    charge(cpu);
    running[cpu] = after;
}

static void work(uint64_t *seed)
{
    static const enum machine_event stalls[] = {MACHINE_EVENT_STALL_ICACHE,
                                                MACHINE_EVENT_STALL_BRANCH, MACHINE_EVENT_STALL_TLB,
                                                MACHINE_EVENT_STALL_OTHER};

    double_execute(test_random(seed) % 5000, test_random(seed) % 20000);
    double_stall(stalls[test_random(seed) % ARRAY_SIZE(stalls)], test_random(seed) % 3000);
    for (unsigned n = test_random(seed) % 20; n; n--)
        double_access(MACHINE_LOCAL_L2 + test_random(seed) % 6, test_random(seed), true);
}

static void check_threads(unsigned counts)
{
    for (int t = 0; t < THREADS; t++) {
        uint64_t count[HPM_EXACT_MAX];
        if (is_running(t))
            continue;
        hpm_exact_read(&threads[t], count);
        for (unsigned i = 0; i < HPM_EXACT_MAX; i++)
            assert_int_equal(count[i], i < counts ? truth[t][i] : 0);
    }
}

/* names: of a session that is opened and closed at random. */
static void live(uint64_t seed, unsigned counts, const char *names)
{
    struct hpm_session *s = NULL;

    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        change_to(cpu, -1);
    for (int step = 0; step < 5000; step++) {
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        int next = (int)(test_random(&seed) % (THREADS + 2)) - 2;
        double_run_on(cpu);
        if (running[cpu] < 0)
            double_idle(test_random(&seed) % 3000);
        work(&seed);
        if (test_random(&seed) % 5 == 0)
            tick(cpu);
        if (next < 0 || !is_running(next))
            change_to(cpu, next < 0 ? -1 : next);
        if (test_random(&seed) % 200 == 0) {
            if (s)
                hpm_session_close(s);
            s = s ? NULL : open_names(names);
        }
        if (step % 10 == 0)
            check_threads(counts);
    }
    if (s)
        hpm_session_close(s);
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        change_to(cpu, -1);
    check_threads(counts);
}

static void four_causes_are_exact_at_every_switch(void **state)
{
    char names[96], why[200] = "";
    struct hpm_session *s;
    (void)state;

    boot(true);
    hpm_exact_names(names, sizeof names);
    assert_string_equal(names,
                        "cycles instructions stall_icache stall_branch stall_dcache stall_tlb");
    assert_int_equal(exact_taken(), 4);
    assert_int_equal(hpm_caps()->remote, HPM_UNKNOWN);
    live(3, 6, "instructions,STALL:TLB");
    /* What takes a counter from them is refused, pinned or not. */
    assert_int_equal(hpm_session_open("L1D_MISSES", &s, why, sizeof why), -ENOSPC);
    assert_non_null(strstr(why, "trace.counts=topdown holds 4 counters"));
    assert_int_equal(hpm_session_open("L1D_MISSES!", &s, why, sizeof why), -ENOSPC);
    assert_non_null(strstr(why, "trace.counts=topdown holds 4 counters"));
    assert_int_equal(hpm_session_open("L1D_MISSES!", &s, why, 10), -ENOSPC);
    assert_int_equal(strlen(why), 9);
}

static void without_counters_of_their_own_the_rest_goes_on(void **state)
{
    char names[96];
    (void)state;

    boot(false);
    hpm_exact_names(names, sizeof names);
    assert_string_equal(names, "cycles instructions");
    assert_int_equal(exact_taken(), 0);
    assert_int_equal(hpm_caps()->remote, HPM_MEASURED);
    live(4, 2, "L1D_MISSES,STALL:TLB");
}

static void fewer_counters_have_fewer_causes(void **state)
{
    char names[96];
    (void)state;

    with_argument("hpm.counters", 2);
    boot(true);
    hpm_exact_names(names, sizeof names);
    assert_true(exact_taken() >= 1 && exact_taken() <= 2);
    uint64_t seed = 9;
    for (int step = 0; step < 200; step++) {
        double_run_on(0);
        work(&seed);
        change_to(0, step % 2);
    }
    uint64_t count[HPM_EXACT_MAX];
    hpm_exact_read(&threads[0], count);
    assert_true(count[1] && count[2]);
    assert_int_equal(count[HPM_EXACT_MAX - 1], 0);
    with_argument("hpm.counters", 4);
}

static void no_machine_no_counts(void **state)
{
    char names[96] = "x";
    uint64_t count[HPM_EXACT_MAX] = {1, 1, 1, 1, 1, 1, 1};
    static const struct hpm_thread thread;
    (void)state;

    double_quanta = true;
    trace_counts = 1;
    double_machine_present = false;
    double_boot();
    hpm_exact_names(names, sizeof names);
    assert_string_equal(names, "");
    hpm_exact_read(&thread, count);
    for (unsigned i = 0; i < HPM_EXACT_MAX; i++)
        assert_int_equal(count[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(four_causes_are_exact_at_every_switch, tear_down),
        cmocka_unit_test_teardown(without_counters_of_their_own_the_rest_goes_on, tear_down),
        cmocka_unit_test_teardown(fewer_counters_have_fewer_causes, tear_down),
        cmocka_unit_test_teardown(no_machine_no_counts, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
