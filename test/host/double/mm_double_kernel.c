/* The rest of the kernel that mm calls, see mm_double.h: telemetry that is off, a clock, calls of
 * other CPUs, boot arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/mm_double.h"
#include "kernel/core/call.h"
#include "kernel/core/cpu.h"
#include "kernel/trace/telemetry.h"
#include "mm/mm.h"
#include "mm/track/track.h"

uint64_t telemetry_on; /* nothing is recorded */

bool telemetry_put(enum trace_event id, const uint64_t *values)
{
    (void)id, (void)values;
    abort();
}
uint64_t arch_clock_ns(void)
{
    return ++host_ticks;
}
uint64_t arch_ticks_ns(uint64_t ticks)
{
    return ticks;
}
uint64_t arch_ticks_hz(void)
{
    return NS_PER_S;
}
unsigned cpu_count(void)
{
    return FIBER_CPUS;
}

int call_cpu(struct cpu *cpu, void (*fn)(void *arg), void *arg, uint64_t wait_ns)
{
    struct cpu *caller = host_cpu;

    (void)wait_ns;
    INSIST(host_irqs_on && !host_cpu->spin_depth);
    host_cpu = cpu;
    host_irqs_on = false;
    fn(arg);
    host_irqs_on = true;
    host_cpu = caller;
    return 0;
}

static bool set_argument(const struct arg *a, const char *name, uint64_t value)
{
    while (a->name && strcmp(a->name, name))
        a++;
    if (a->name)
        *a->value = value;
    return a->name;
}

void mm_argument(const char *name, uint64_t value)
{
    INSIST(set_argument(mm_args, name, value) || set_argument(track_args, name, value));
}
