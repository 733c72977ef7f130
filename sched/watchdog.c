/*
 * Hang watchdog of debug builds. CPUs look at one another at their timer interrupts, idle ones
 * every few seconds. A CPU that runs a thread but takes no timer interrupt has interrupts off or is
 * dead. A CPU where a sleeper's time has passed has lost its timer. A CPU where a priority waits
 * for ever never reaches the scheduler. Each panics, which prints the backtraces of all CPUs. Where
 * a CPU itself has not looked for long the whole machine may have stood still: time counts anew.
 */
#include "kernel/core/printf.h"
#include "sched/runqueue.h"

#ifdef DEBUG
#define LIMIT_NS (30 * NS_PER_S)
#define EVERY_NS (1 * NS_PER_S)
#define IDLE_NS  (5 * NS_PER_S)

static uint64_t resumed_ns; /* atomic: time before is not counted */

/* Returns the later of a time and that at which the machine went on. */
static uint64_t counted_from(uint64_t since_ns)
{
    return MAX(since_ns, __atomic_load_n(&resumed_ns, __ATOMIC_RELAXED));
}

static void check_timers(uint64_t now_ns)
{
    cpu_for_each (cpu) {
        uint64_t last_ns = __atomic_load_n(&cpu->rq->last_timer_ns, __ATOMIC_RELAXED);
        const struct thread *t = __atomic_load_n(&cpu->current, __ATOMIC_RELAXED);
        if (cpu->online && t != cpu->idle && last_ns && now_ns > counted_from(last_ns) + LIMIT_NS)
            panic(
                "watchdog: CPU %u runs thread %u (%s) but has taken no timer interrupt for %llu ms",
                cpu->index, t->tid, t->name, (unsigned long long)((now_ns - last_ns) / NS_PER_MS));
        uint64_t wake_ns = __atomic_load_n(&cpu->rq->next_wake_ns, __ATOMIC_RELAXED);
        if (cpu->online && wake_ns < now_ns && now_ns > counted_from(wake_ns) + LIMIT_NS)
            panic("watchdog: CPU %u should have woken a sleeper %llu ms ago", cpu->index,
                  (unsigned long long)((now_ns - wake_ns) / NS_PER_MS));
    }
}

static void check_waiting(struct runqueue *rq, uint64_t now_ns)
{
    bool irq = spin_lock(&rq->lock);
    const struct thread *current = rq->cpu->current;

    for (unsigned prio = 0; prio < PRIO_COUNT; prio++) {
        const struct ready_thread *first = ready_first(&rq->ready, prio);
        uint64_t since_ns = rq->ready.level[prio].passed_over_ns;
        if (!first || now_ns <= counted_from(since_ns) + sched_starve_ms * NS_PER_MS + LIMIT_NS)
            continue;
        const struct thread *t = container_of(first, struct thread, ready);
        panic("watchdog: thread %u (%s) of priority %u has waited for CPU %u for %llu ms while "
              "thread %u "
              "(%s) runs",
              t->tid, t->name, prio, rq->cpu->index,
              (unsigned long long)((now_ns - since_ns) / NS_PER_MS), current->tid, current->name);
    }
    spin_unlock(&rq->lock, irq);
}

uint64_t watchdog_idle_ns(void)
{
    return arch_clock_ns() + IDLE_NS;
}

void watchdog_tick(uint64_t now_ns)
{
    static uint64_t next_ns[CPU_MAX];
    unsigned self = this_cpu()->index;

    if (now_ns < next_ns[self])
        return;
    if (next_ns[self] && now_ns - next_ns[self] > 2 * IDLE_NS)
        __atomic_store_n(&resumed_ns, now_ns, __ATOMIC_RELAXED);
    next_ns[self] = now_ns + EVERY_NS;
    check_timers(now_ns);
    cpu_for_each (cpu)
        check_waiting(cpu->rq, now_ns);
    /* Checks this CPU's own queue only: a check looks at all buckets (5,200 instructions) with
     * interrupts off. */
    rq_check(this_cpu()->rq);
}
#else
uint64_t watchdog_idle_ns(void)
{
    return UINT64_MAX;
}

void watchdog_tick(UNUSED uint64_t now_ns)
{
}
#endif
