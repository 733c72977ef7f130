/*
 * Prints the counters at regular intervals: each table covers the time since the one before.
 */
#include "kernel/report/report.h"
#include "hpm/count.h"
#include "hpm/hpm.h"
#include "hpm/policy/breakdown.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"

static void print_since(struct hpm_breakdown *before, uint64_t *own_before)
{
    static struct hpm_breakdown now, since; /* there is one monitor thread */
    uint64_t own = hpm_own_cycles();
    char title[48];

    hpm_read_machine(&now);
    since = now;
    hpm_breakdown_sub(&since, before);
    ksnprintf(title, sizeof title, "machine at %llu ms",
              (unsigned long long)(arch_clock_ns() / NS_PER_MS));
    hpm_breakdown_print(title, &since);
    uint64_t per_10000 = since.cycles ? (own - *own_before) * 10000 / since.cycles : 0;
    kprintf("  monitoring itself took %llu.%02llu %% of the cycles\n",
            (unsigned long long)(per_10000 / 100), (unsigned long long)(per_10000 % 100));
    *before = now;
    *own_before = own;
}

static void monitor(UNUSED void *arg)
{
    static struct hpm_breakdown before;
    uint64_t own = hpm_own_cycles(), at_ns = arch_clock_ns();

    hpm_read_machine(&before);
    for (;;) {
        at_ns += hpm_print_ms * NS_PER_MS;
        sched_sleep_until(at_ns);
        print_since(&before, &own);
    }
}

void monitor_start(void)
{
    if (!hpm_print_ms)
        return;
    if (!hpm_caps()->present) {
        kprintf(
            "monitor: argument=hpm.print_ms reason=no-device: there are no performance counters\n");
        return;
    }
    if (thread_create_kernel("monitor", monitor, NULL, NULL))
        kprintf(
            "monitor: argument=hpm.print_ms reason=memory: no memory for the thread that prints\n");
}
