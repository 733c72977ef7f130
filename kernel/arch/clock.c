/* Converts arch_ticks() to nanoseconds, and keeps deadlines with the ISA's timer. See clock.h. */
#include "kernel/arch/clock.h"
#include "kernel/core/cpu.h"

#define FROM_NS_SHIFT 30

static uint64_t ticks_hz, ticks_base, ticks_to_ns; /* the last: a fixed-point factor */

/* A timer that is set to at most this long before a deadline stays as it is: one interrupt that
 * comes too early costs less than setting the timer at each switch of threads. Longer than a
 * slice. */
#define EARLY_NS (5 * NS_PER_MS)

static uint64_t scale(uint64_t v, uint64_t factor, unsigned shift)
{
    return (uint64_t)((unsigned __int128)v * factor >> shift);
}

void clock_start(uint64_t hz)
{
    ticks_hz = hz;
    ticks_to_ns = (NS_PER_S << ARCH_CLOCK_SHIFT) / hz;
    ticks_base = arch_ticks();
    for (struct cpu *cpu = cpus; cpu < cpus + CPU_MAX; cpu++)
        cpu->deadline_ns = cpu->timer_set_ns = UINT64_MAX;
}

uint64_t clock_ticks_of(uint64_t ns, uint64_t hz)
{
    return scale(ns, (hz << FROM_NS_SHIFT) / NS_PER_S, FROM_NS_SHIFT);
}

uint64_t arch_ticks_ns(uint64_t ticks)
{
    return scale(ticks - ticks_base, ticks_to_ns, ARCH_CLOCK_SHIFT);
}

void arch_clock_scale(uint64_t *base, uint64_t *to_ns)
{
    *base = ticks_base;
    *to_ns = ticks_to_ns;
}

uint64_t arch_clock_ns(void)
{
    return arch_ticks_ns(arch_ticks());
}

uint64_t arch_ticks_hz(void)
{
    return ticks_hz;
}

void clock_wait_ns(uint64_t ns)
{
    uint64_t from = arch_clock_ns();

    while (arch_clock_ns() - from < ns)
        arch_cpu_relax();
}

static void start_timer(struct cpu *cpu)
{
    uint64_t now_ns = arch_clock_ns(),
             wait_ns =
                 cpu->deadline_ns > now_ns ? MIN(cpu->deadline_ns - now_ns, CLOCK_WAIT_MAX_NS) : 0;

    cpu->timer_set_ns = now_ns + wait_ns;
    clock_timer_start(wait_ns);
}

void arch_timer_arm(uint64_t until_ns)
{
    struct cpu *cpu = this_cpu();

    cpu->deadline_ns = until_ns;
    if (until_ns == UINT64_MAX) {
        cpu->timer_set_ns = UINT64_MAX;
        clock_timer_stop();
    } else if (until_ns < cpu->timer_set_ns || until_ns - cpu->timer_set_ns > EARLY_NS) {
        start_timer(cpu);
    }
}

bool clock_timer_fired(void)
{
    struct cpu *cpu = this_cpu();

    if (cpu->deadline_ns == UINT64_MAX)
        return false;
    if (arch_clock_ns() < cpu->deadline_ns) {
        start_timer(cpu);
        return false;
    }
    cpu->deadline_ns = cpu->timer_set_ns = UINT64_MAX;
    return true;
}
