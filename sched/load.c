/* Notes the load of all CPUs every few seconds. See policy/load.h. */
#include "sched/runqueue.h"

static struct ktimer timer;
static struct loads loads; /* written by the timer; each average is read whole */

static void note(struct ktimer *k)
{
    struct loads now = loads;
    unsigned threads = 0;

    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        threads += rq_running(cpu);
    loads_note(&now, threads);
    for (unsigned i = 0; i < LOADS; i++)
        __atomic_store_n(&loads.average[i], now.average[i], __ATOMIC_RELAXED);
    ktimer_set(k, arch_clock_ns() + LOAD_SECONDS * NS_PER_S);
}

void sched_load_start(void)
{
    ktimer_init(&timer, note);
    ktimer_set(&timer, arch_clock_ns() + LOAD_SECONDS * NS_PER_S);
}

struct loads sched_loads(void)
{
    struct loads out;

    for (unsigned i = 0; i < LOADS; i++)
        out.average[i] = __atomic_load_n(&loads.average[i], __ATOMIC_RELAXED);
    return out;
}
