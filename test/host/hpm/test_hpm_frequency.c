/* Frequencies of CPUs on the simulated machine: what threads get of the reference, what is told of
 * changes, and which P-states are refused. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_threads.h"
#include "hpm/internal.h"
#include "kernel/trace/telemetry.h"

enum { KEEP = 255, EVENTS_MAX = 1000 };

static struct {
    uint64_t khz, pstate, how;
} told[EVENTS_MAX];
static unsigned events;

static void note(enum trace_event id, const uint64_t *v)
{
    assert_int_equal(id, TRACE_FREQUENCY);
    assert_true(events < EVENTS_MAX);
    told[events].khz = v[0];
    told[events].pstate = v[1];
    told[events++].how = v[2];
}

static void boot(bool machine)
{
    double_quanta = true;
    trace_frequency = 1;
    double_put = note;
    double_machine_present = machine;
    events = 0;
    double_boot();
    threads_begin(3);
    telemetry_on = TELEMETRY_QUANTA;
}

static int tear_down(void **state)
{
    double_quanta = false;
    trace_frequency = 0;
    telemetry_on = 0;
    double_put = NULL;
    with_argument("freq.pstate", KEEP);
    with_argument("freq.cpu", CPU_MAX);
    with_argument("freq.then", KEEP);
    with_modes(0);
    return threads_end(state);
}

static void set(uint64_t pstate)
{
    with_argument("freq.pstate", pstate);
    tick(0);
}

static uint64_t count_of(int thread, unsigned which)
{
    uint64_t count[HPM_EXACT_MAX];

    hpm_exact_read(&threads[thread], count);
    return count[which];
}

static bool says(const char *text)
{
    return strstr(double_output, text);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void a_threads_reference_is_the_time_it_ran_at_any_p_state(void **state)
{
    uint64_t seed = 5, truth[THREADS] = {0}, at = 0, by_pstate[THREADS] = {0}, cycles_at = 0;
    char names[112];
    (void)state;

    boot(true);
    hpm_exact_names(names, sizeof names);
    assert_string_equal(names, "cycles instructions reference");
    assert_int_equal(hpm_reference_hz(), NS_PER_S);
    double_late = true; /* so that the latest reading is the switch's */
    for (int step = 0; step < 3000; step++) {
        int before = running[0],
            next = step < 2999 ? (int)(test_random(&seed) % THREADS) - 1 : before;
        uint32_t scale = machine_id()->pstate_cycle_256[double_cpus[0].pstate];
        if (before >= 0)
            double_execute(test_random(&seed) % 3000, test_random(&seed) % 20000);
        else
            double_idle(test_random(&seed) % 20000);
        switch_to(0, next == before ? -1 : next);
        if (before >= 0) {
            truth[before] += double_cpus[0].time_at_read - at;
            by_pstate[before] += (cpus[0].hpm->last.cycles - cycles_at) * scale;
        }
        at = double_cpus[0].time_at_read;
        cycles_at = cpus[0].hpm->last.cycles;
        /* Of an idle CPU, which obeys when it gets a thread: between two stretches. */
        if (test_random(&seed) % 8 == 0 && running[0] < 0) {
            with_argument("freq.pstate", test_random(&seed) % MACHINE_PSTATES);
            switch_to(0, 0);
            at = double_cpus[0].time_at_read;
            cycles_at = cpus[0].hpm->last.cycles;
        }
    }
    for (int t = 1; t < THREADS - 1; t++) {
        assert_true(count_of(t, 0) > 1000000);
        assert_int_equal(count_of(t, 2), truth[t]);
        /* Cycles at their frequencies are the same time, but for 1/256 cycles of each stretch. */
        assert_in_range(by_pstate[t] / 256, truth[t] - 1000, truth[t] + 1000);
    }
    assert_true(events > 10);
}

static void without_the_argument_nothing_is_added(void **state)
{
    char names[112];
    (void)state;

    boot(true);
    trace_frequency = 0;
    double_boot();
    threads_begin(3);
    switch_to(0, 1);
    double_execute(1000, 100000);
    switch_to(0, -1);
    hpm_exact_names(names, sizeof names);
    assert_string_equal(names, "cycles instructions");
    assert_int_equal(threads[1].reference, 0);
    assert_int_equal(hpm_reference_hz(), 0);
    assert_false(says("frequency:"));
}

static void counts_of_one_mode_are_no_frequency(void **state)
{
    (void)state;

    with_modes(1);
    boot(true);
    assert_true(says("event=refused argument=trace.frequency reason=hpm.modes"));
    assert_int_equal(hpm_reference_hz(), 0);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void run_for(uint64_t cycles)
{
    for (; cycles; cycles -= 10000) {
        double_execute(5000, 10000);
        tick(0);
    }
}

static void changes_are_told_once(void **state)
{
    (void)state;

    boot(true);
    switch_to(0, 1);
    run_for(4000000);
    assert_int_equal(events, 1);
    assert_int_equal(told[0].khz, 1000000);
    assert_int_equal(told[0].how, TRACE_FREQUENCY_MEASURED);
    double_execute(5000, 50000); /* has the frequency before */
    set(2);
    assert_int_equal(events, 2);
    assert_int_equal(told[1].khz, 666666);
    assert_int_equal(told[1].pstate, 2);
    assert_int_equal(told[1].how, TRACE_FREQUENCY_SET);
    assert_int_equal(double_cpus[0].pstate, 2);
    run_for(4000000);
    assert_int_equal(events, 2);
    /* The hardware changes it: another thread of the core has asked. */
    machine_cpu(0)->pstate = double_cpus[0].pstate = 3;
    run_for(4000000);
    assert_in_range(events, 3, 4); /* one window may have both */
    assert_in_range(told[events - 1].khz, 496000, 504000);
    assert_int_equal(told[events - 1].how, TRACE_FREQUENCY_MEASURED);
    /* Idle time is no slow time. */
    unsigned before = events;
    switch_to(0, -1);
    double_idle(10000000);
    switch_to(0, 2);
    run_for(4000000);
    assert_int_equal(events, before);
}

static void the_argument_of_the_boot_holds_from_the_first_thread(void **state)
{
    (void)state;

    with_argument("freq.pstate", 1);
    boot(true);
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++) {
        double_run_on(cpu);
        switch_to(cpu, (int)cpu);
        assert_int_equal(double_cpus[cpu].pstate, 1);
    }
    assert_int_equal(events, DOUBLE_CPUS);
    assert_true(says("frequency: driver=model counts=yes reference_hz=1000000000 pstates=4 "
                     "khz=1000000,800000,666666,500000"));
}

static void one_cpu_alone_can_be_slow(void **state)
{
    (void)state;

    boot(true);
    with_argument("freq.cpu", 2);
    with_argument("freq.pstate", 3);
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        tick(cpu);
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        assert_int_equal(double_cpus[cpu].pstate, cpu == 2 ? 3 : 0);
    with_argument("freq.cpu", CPU_MAX);
    with_argument("freq.pstate", KEEP);
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        tick(cpu);
    assert_int_equal(double_cpus[2].pstate, 3);
}

static void it_changes_at_a_given_time(void **state)
{
    (void)state;

    with_argument("freq.then", 3);
    with_argument("freq.then_ms", host_ticks / NS_PER_MS + 2);
    boot(true);
    switch_to(0, 1);
    run_for(1000000);
    assert_int_equal(double_cpus[0].pstate, 0);
    run_for(1000000);
    assert_int_equal(double_cpus[0].pstate, 3);
    set(1); /* has the last word */
    run_for(1000000);
    assert_int_equal(double_cpus[0].pstate, 1);
}

static void a_p_state_that_is_none_is_refused_once(void **state)
{
    (void)state;

    boot(true);
    set(1);
    set(4);
    assert_true(says("event=refused argument=freq.pstate reason=value: the P-states of this "
                     "hardware are 0 to 3"));
    assert_int_equal(double_cpus[0].pstate, 1);
    double_output[0] = 0;
    for (unsigned cpu = 0; cpu < DOUBLE_CPUS; cpu++)
        tick(cpu);
    assert_false(says("refused"));
}

static void hardware_without_them_says_so(void **state)
{
    (void)state;

    with_argument("freq.pstate", 1);
    boot(false);
    assert_true(says("event=refused argument=trace.frequency reason=no-device"));
    switch_to(0, 1);
    assert_true(says("event=refused argument=freq.pstate reason=no-device"));
    assert_int_equal(events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_threads_reference_is_the_time_it_ran_at_any_p_state, tear_down),
        cmocka_unit_test_teardown(without_the_argument_nothing_is_added, tear_down),
        cmocka_unit_test_teardown(counts_of_one_mode_are_no_frequency, tear_down),
        cmocka_unit_test_teardown(changes_are_told_once, tear_down),
        cmocka_unit_test_teardown(the_argument_of_the_boot_holds_from_the_first_thread, tear_down),
        cmocka_unit_test_teardown(one_cpu_alone_can_be_slow, tear_down),
        cmocka_unit_test_teardown(it_changes_at_a_given_time, tear_down),
        cmocka_unit_test_teardown(a_p_state_that_is_none_is_refused_once, tear_down),
        cmocka_unit_test_teardown(hardware_without_them_says_so, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
