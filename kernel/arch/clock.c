/* Converts arch_ticks() to nanoseconds, and keeps deadlines with the ISA's timer. See clock.h. */
#include "kernel/arch/clock.h"
#include "kernel/core/cpu.h"

#define FROM_NS_SHIFT 30

static uint64_t ticks_hz, ticks_base, ticks_to_ns; /* the last: a fixed-point factor */

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
        cpu->deadline_ns = UINT64_MAX;
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

static void start_timer(uint64_t until_ns)
{
    uint64_t now_ns = arch_clock_ns();

    clock_timer_start(until_ns > now_ns ? MIN(until_ns - now_ns, CLOCK_WAIT_MAX_NS) : 0);
}

void arch_timer_arm(uint64_t until_ns)
{
    this_cpu()->deadline_ns = until_ns;
    if (until_ns == UINT64_MAX)
        clock_timer_stop();
    else
        start_timer(until_ns);
}

bool clock_timer_fired(void)
{
    struct cpu *cpu = this_cpu();

    if (cpu->deadline_ns == UINT64_MAX)
        return false;
    if (arch_clock_ns() < cpu->deadline_ns) {
        start_timer(cpu->deadline_ns);
        return false;
    }
    cpu->deadline_ns = UINT64_MAX;
    return true;
}
