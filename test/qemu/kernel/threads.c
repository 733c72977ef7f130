/* See threads.h. */
#include "test/qemu/kernel/threads.h"
#include "kernel/core/cpu.h"
#include "sched/runqueue.h"

static unsigned ended; /* atomic */

struct thread *make_thread(struct thread_params p)
{
    struct thread *t;

    p.name = "test";
    p.group = GROUP_NONE;
    p.prio = p.prio ? p.prio : PRIO_NORMAL;
    if (thread_create(&p, &t))
        panic("no memory for a test's thread");
    return t;
}

void start_thread(struct thread_params p)
{
    struct thread *t = make_thread(p);

    thread_start(t);
    thread_put(t);
}

void start_thread_on(unsigned cpu, struct thread_params p)
{
    const struct cpuset only = cpuset_one(cpu % cpu_count());

    p.affinity = &only;
    start_thread(p);
}

void threads_begin(void)
{
    ended = 0;
}

unsigned threads_ended(void)
{
    return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}

void note_end(void)
{
    thread_leave_space();
    __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
}

void wait_for_ends(unsigned n)
{
    while (threads_ended() < n)
        nap(NS_PER_MS);
}

bool is_dead(const struct thread *t)
{
    return __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == THREAD_DEAD;
}

void wait_until_dead(const struct thread *t)
{
    while (!is_dead(t))
        nap(NS_PER_MS);
    nap(NS_PER_MS); /* for the switch away from it */
}

void check_queues(void)
{
    cpu_for_each (cpu)
        rq_check(cpu->rq);
}

void nap(uint64_t ns)
{
    sched_sleep_until(arch_clock_ns() + ns);
}
