/* See hpm_session_truth.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "test/host/double/hpm_session_truth.h"
#include "test/host/double/random.h"

int sessions_set_up(void **state)
{
    (void)state;
    double_machine_present = true;
    double_boot();
    threads_begin(3);
    return 0;
}

static uint64_t of_thread[THREADS][MACHINE_EVENTS], at_switch[DOUBLE_CPUS][MACHINE_EVENTS];

uint64_t truth_of(int thread, enum machine_event e)
{
    uint64_t truth = of_thread[thread][e];

    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        if (running[c] == thread)
            truth += double_cpus[c].at_read[e] - at_switch[c][e];
    return truth;
}

uint64_t truth_of_machine(enum machine_event e)
{
    uint64_t truth = 0;

    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        truth += double_cpus[c].at_read[e];
    return truth;
}

void begin_truth(void)
{
    memset(of_thread, 0, sizeof of_thread);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        memcpy(at_switch[c], double_cpus[c].at_read, sizeof at_switch[c]);
}

void move_to(unsigned cpu, int next)
{
    int before = running[cpu];

    double_late = true;
    switch_to(cpu, next);
    for (unsigned e = 0; e < MACHINE_EVENTS; e++) {
        if (before >= 0)
            of_thread[before][e] += double_cpus[cpu].at_read[e] - at_switch[cpu][e];
        at_switch[cpu][e] = double_cpus[cpu].at_read[e];
    }
    double_late = false;
    double_deliver();
}

uint64_t truth_of_stretches(int thread, enum machine_event e)
{
    return of_thread[thread][e];
}

void forget_truth(int thread)
{
    memset(of_thread[thread], 0, sizeof of_thread[thread]);
}

void assert_exact(const struct hpm_value *v, uint64_t count)
{
    assert_null(v->unit);
    assert_int_equal(v->estimate.count, count);
    assert_int_equal(v->estimate.sure, ESTIMATE_EXACT);
}

const char *const always_names = "instructions,cycles,DCACHE:REMOTE_L2,DCACHE:REMOTE_L3";
const enum machine_event always_events[ALWAYS] = {MACHINE_EVENT_INSTRUCTIONS, MACHINE_EVENT_CYCLES,
                                                  MACHINE_EVENT_DCACHE_REMOTE_L2,
                                                  MACHINE_EVENT_DCACHE_REMOTE_L3};

static void steady_work(uint64_t *seed)
{
    double_execute(500, 2000 + test_random(seed) % 1000);
    double_count(MACHINE_EVENT_STORES, 20 + test_random(seed) % 20);
    double_count(MACHINE_EVENT_MISPREDICTS, 10 + test_random(seed) % 9);
    double_count(MACHINE_EVENT_STALL_TLB, test_random(seed) % 100);
    double_count(MACHINE_EVENT_L1D_MISSES, test_random(seed) % 8);
    double_count(MACHINE_EVENT_COMPLETION, test_random(seed) % 300);
    double_access(MACHINE_LOCAL_L2 + test_random(seed) % 6, 0, true);
}

void run_threads(unsigned slices, uint64_t *seed)
{
    uint64_t end = double_cpus[0].time + slices * (uint64_t)SLICE;

    while (double_cpus[0].time < end) {
        for (unsigned c = 0; c < 2; c++) {
            double_run_on(c);
            for (unsigned n = 0; n < 20; n++)
                steady_work(seed);
            move_to(c, (int)(2 * (test_random(seed) % 2) + c));
        }
    }
}
