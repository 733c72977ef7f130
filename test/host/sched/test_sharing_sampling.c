/* The detector's sampling: when its period changes no sample is lost, and each counts with the
 * period it was taken with. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_threads.h"
#include "sched/sharing/internal.h"
#include "hpm/sampling.h"

enum { FIRST = 500, LATE = 100 };

struct spinlock sharing_lock = SPINLOCK(LOCK_SHARING, "sharing");
static struct sharing_process process;
static struct thread member[THREADS];

struct sharing_process *sharing_find_locked(uint32_t pid)
{
    return pid == process.pid ? &process : NULL;
}

/* A process in detection: its thread 0 runs on CPU 0, which is the detector's, thread 1 on CPU 1.
 * Sampling begins with a period of 1. */
static int set_up(void **state)
{
    (void)state;
    double_machine_present = true;
    sched_cost_permille = 1;
    double_boot();
    threads_begin(THREADS);
    process = (struct sharing_process){.pid = threads[0].pid, .count = THREADS};
    list_init(&process.members);
    for (unsigned i = 0; i < THREADS; i++) {
        member[i].tid = threads[i].tid;
        list_push_back(&process.members, &member[i].sharing.link);
    }
    assert_int_equal(detection_create(&process, &process.detection), 0);
    switch_to(1, 1);
    switch_to(0, 0);
    assert_int_equal(sharing_sampling_open(), 0);
    assert_int_equal(sharing_sampling_start(arch_clock_ns(), 0, false), 0);
    assert_int_equal(sharing_sampling_period(), 1);
    tick(1);
    return 0;
}

static int tear_down(void **state)
{
    detection_free(process.detection);
    double_run_on(0);
    sharing_sampling_stop();
    return threads_end(state);
}

static void access_remote(unsigned cpu, unsigned accesses)
{
    double_run_on(cpu);
    for (unsigned i = 0; i < accesses; i++)
        double_access(MACHINE_REMOTE_L2, 0x1000, true);
}

/* Has CPU 1 take FIRST samples at a period of 1, which wait in its buffer while the detector
 * lengthens the period. */
static void lengthen_period_while_samples_wait(void)
{
    access_remote(1, FIRST);
    tick(1);
    double_run_on(0);
    host_ticks += 2 * NS_PER_MS;
    sharing_sampling_adapt(arch_clock_ns(), false);
    assert_true(sharing_sampling_period() > 10);
}

static void samples_that_wait_outlive_a_change_of_the_period(void **state)
{
    uint64_t lost = sharing_sampling_cost().lost;

    (void)state;
    lengthen_period_while_samples_wait();
    sharing_sampling_take();
    assert_int_equal(shmap_samples(&process.detection->table), FIRST);
    assert_int_equal(sharing_sampling_cost().lost, lost);
}

static void samples_count_with_the_period_they_were_taken_with(void **state)
{
    const struct detection *d = process.detection;
    uint64_t accounted = 0;

    (void)state;
    lengthen_period_while_samples_wait();
    access_remote(1, LATE); /* CPU 1 has not followed yet */
    tick(1);
    double_run_on(0);
    sharing_sampling_take();
    assert_int_equal(d->accesses, FIRST + LATE);

    uint64_t period = sharing_sampling_period();
    access_remote(1, 100 * (unsigned)period);
    tick(1);
    double_run_on(0);
    sharing_sampling_take();
    assert_in_range(d->accesses, FIRST + LATE + 90 * period, FIRST + LATE + 110 * period);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        accounted += cpus[c].hpm->sampler.of[0].accesses;
    assert_int_equal(accounted, d->accesses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_that_wait_outlive_a_change_of_the_period, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(samples_count_with_the_period_they_were_taken_with, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
