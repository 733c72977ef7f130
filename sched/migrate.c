/*
 * Moves threads on request: by affinity, home chip, and the sharing placer's decision. A queued
 * thread moves at once; a running one is asked, and its own CPU hands it over when it switches; a
 * blocked one notes the CPU for its wake-up.
 */
#include "sched/cpuset.h"
#include "sched/runqueue.h"

struct cpuset thread_allowed(const struct thread *t)
{
    const struct sched_topology *topo = sched_topology();
    struct cpuset online = cpuset_first(cpu_count());
    struct cpuset all = cpuset_and(&t->affinity, &online);

    if (t->chip_home >= topo->chips)
        return all;
    struct cpuset home = cpuset_and(&all, &topo->chip_cpus[t->chip_home]);
    return cpuset_empty(&home) ? all : home;
}

/* Moves the thread, as its state allows. Returns false if it has left `from` meanwhile. Both run
 * queues locked. */
static bool move_locked(struct runqueue *from, struct runqueue *to, struct thread *t)
{
    if (&runqueues[t->cpu] != from)
        return false;
    if (t->state == THREAD_READY && from != to) {
        telemetry_sched_migrate(t->tid, from->cpu->index, to->cpu->index, TRACE_REQUESTED);
        rq_move_locked(from, to, t);
    } else if (t->state == THREAD_RUNNING || t->state == THREAD_BLOCKED || t->state == THREAD_NEW) {
        t->migrate_to = to->cpu->index;
        if (t->state == THREAD_RUNNING && from != to)
            rq_kick_locked(from);
    }
    return true;
}

int sched_migrate(struct thread *t, unsigned cpu)
{
    bool irq = arch_irq_save(), allowed, done;

    do {
        struct runqueue *to = cpu < cpu_count() ? &runqueues[cpu] : NULL;
        struct runqueue *from = &runqueues[__atomic_load_n(&t->cpu, __ATOMIC_RELAXED)];
        rq_lock_two(from, to ? to : from);
        allowed = to && cpuset_has(&t->affinity, cpu);
        done = !allowed || move_locked(from, to, t);
        rq_unlock_two(from, to ? to : from);
    } while (!done);
    arch_irq_restore(irq);
    return allowed ? 0 : -EINVAL;
}

int sched_set_affinity(struct thread *t, const struct cpuset *set)
{
    struct cpuset online = cpuset_first(cpu_count());
    struct cpuset usable = cpuset_and(set, &online);

    if (cpuset_empty(&usable))
        return -EINVAL;
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);
    t->affinity = usable;
    if (t->migrate_to != CPU_ANY && !cpuset_has(&usable, t->migrate_to))
        t->migrate_to = CPU_ANY;
    bool placed = t->state == THREAD_READY || t->state == THREAD_RUNNING;
    bool must_move = placed && !cpuset_has(&usable, t->cpu);
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
    /* If another call has changed the affinity meanwhile, that call has moved the thread. */
    if (must_move)
        sched_migrate(t, balance_cpu_for_new(t));
    return 0;
}

/* Sets the thread's effective priority: its own, or the kernel's while it is lent. Run queue
 * locked. */
static void obey_priority_locked(struct runqueue *rq, struct thread *t)
{
    uint8_t prio = t->lent ? MAX(t->own_prio, (uint8_t)PRIO_KERNEL) : t->own_prio;

    if (prio == t->ready.prio)
        return;
    if (t->state == THREAD_READY) {
        rq_remove_locked(rq, t);
        ready_set_priority(&rq->ready, &t->ready, prio);
        rq_insert_locked(rq, t, READY_WOKEN);
    } else {
        ready_set_priority(&rq->ready, &t->ready, prio);
        if (t->state == THREAD_RUNNING)
            rq_kick_locked(rq); /* another thread may have priority now */
    }
}

void sched_set_priority(struct thread *t, uint8_t prio)
{
    ASSERT(prio < PRIO_COUNT);
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);

    t->own_prio = prio;
    obey_priority_locked(rq, t);
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
}

static void lend(struct thread *t, int change)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);

    t->lent = (uint8_t)(t->lent + change);
    obey_priority_locked(rq, t);
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
}

void sched_lend_priority(struct thread *t)
{
    lend(t, 1);
}

void sched_return_priority(struct thread *t)
{
    lend(t, -1);
}

void sched_set_home(struct thread *t, unsigned chip)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);

    t->chip_home = chip;
    spin_unlock_irqoff(&rq->lock);
    arch_irq_restore(irq);
}
