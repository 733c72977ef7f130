/* When samples are written because a program is told of each (kernel/proc/perf_signal.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "kernel/core/cpu.h"
#include "kernel/proc/perf_internal.h"
#include "kernel/proc/signal.h"
#include "test/host/double/fs_kernel.h"

struct cpu cpus[CPU_MAX], *host_cpu = cpus;
bool host_irqs_on = true;
struct spinlock perf_lock = SPINLOCK(LOCK_FILE, "perf");
struct mutex perf_rings;
static uint64_t sampled[CPU_MAX]; /* interrupts of each CPU that have taken samples */
static unsigned written, come_meanwhile;

/* ---- The kernel ------------------------------------------------------------------------------ */

uint64_t hpm_sampled_here(void)
{
    return sampled[host_cpu->index];
}

void perf_pump_locked(void)
{
    assert_true(mutex_held(&perf_rings));
    written++;
    sampled[host_cpu->index] += come_meanwhile;
}

struct file_owner file_owner(UNUSED struct file *f)
{
    fail();
    return (struct file_owner){0};
}

struct process *process_find(UNUSED uint32_t pid)
{
    return NULL;
}

void process_put(UNUSED struct process *p)
{
    fail();
}

int signal_send(UNUSED struct process *p, UNUSED const siginfo_t *info)
{
    fail();
    return 0;
}

int signal_send_thread(UNUSED struct process *p, UNUSED uint32_t tid, UNUSED const siginfo_t *info)
{
    fail();
    return 0;
}

void signal_send_group(UNUSED uint32_t group, UNUSED const siginfo_t *info)
{
    fail();
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static struct perf_sampler *const some_sampler = (struct perf_sampler *)(uintptr_t)64;
static struct perf_event event;

static int begin(UNUSED void **state)
{
    event = (struct perf_event){.sampler = some_sampler, .told = {.id = 1}};
    perf_hasten(&event, false);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        cpus[cpu].index = cpu;
        host_cpu = &cpus[cpu];
        perf_is_due();
    }
    host_cpu = &cpus[0];
    written = come_meanwhile = 0;
    return 0;
}

static int end(UNUSED void **state)
{
    perf_hasten(&event, true);
    return 0;
}

static void a_sample_is_due_once(UNUSED void **state)
{
    assert_false(perf_is_due());
    sampled[0]++;
    assert_true(perf_is_due());
    perf_deliver();
    assert_false(perf_is_due());
}

static void samples_of_another_cpu_are_not_due(UNUSED void **state)
{
    sampled[1]++;
    assert_false(perf_is_due());
    host_cpu = &cpus[1];
    assert_true(perf_is_due());
}

static void nothing_is_due_while_no_event_is_hastened(UNUSED void **state)
{
    perf_hasten(&event, true);
    sampled[0]++;
    assert_false(perf_is_due());
}

/* As in a return to user mode, which looks again until nothing is due. */
static void samples_that_come_while_others_are_written_let_the_program_go_on(UNUSED void **state)
{
    come_meanwhile = 1;
    sampled[0]++;
    while (perf_is_due() && written < 10)
        perf_deliver();
    assert_int_equal(written, 1);
    sampled[0]++;
    assert_true(perf_is_due());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sample_is_due_once, begin, end),
        cmocka_unit_test_setup_teardown(samples_of_another_cpu_are_not_due, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_due_while_no_event_is_hastened, begin, end),
        cmocka_unit_test_setup_teardown(
            samples_that_come_while_others_are_written_let_the_program_go_on, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
