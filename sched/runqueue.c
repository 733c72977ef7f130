/* The scheduler's operations on run queues, above policy/ready.c. Locking rules are in
 * runqueue.h. */
#include "sched/runqueue.h"

struct runqueue runqueues[CPU_MAX];

void rq_init(struct runqueue *rq, struct cpu *cpu)
{
    *rq = (struct runqueue){.cpu = cpu, .next_wake_ns = UINT64_MAX};
    spin_init(&rq->lock, LOCK_RUNQUEUE, "run queue");
    spin_init(&rq->timer_lock, LOCK_TIMER, "sleepers");
    list_init(&rq->sleepers);
    list_init(&rq->timers);
    ready_init(&rq->ready);
    cpu->rq = rq;
}

struct runqueue *rq_lock_thread(struct thread *t)
{
    for (;;) {
        struct runqueue *rq = &runqueues[__atomic_load_n(&t->cpu, __ATOMIC_RELAXED)];
        spin_lock_irqoff(&rq->lock);
        if (rq == &runqueues[t->cpu])
            return rq;
        spin_unlock_irqoff(&rq->lock);
    }
}

void rq_lock_two(struct runqueue *a, struct runqueue *b)
{
    spin_lock_irqoff(&MIN(a, b)->lock);
    if (a != b)
        spin_lock_irqoff(&MAX(a, b)->lock);
}

void rq_unlock_two(struct runqueue *a, struct runqueue *b)
{
    spin_unlock_irqoff(&a->lock);
    if (a != b)
        spin_unlock_irqoff(&b->lock);
}

static void change_queued(struct runqueue *rq, int change)
{
    rq->queued = (uint16_t)(rq->queued + change);
    __atomic_store_n(&rq->running, rq->queued + (rq->cpu->current != rq->cpu->idle),
                     __ATOMIC_RELAXED);
}

void rq_kick_locked(struct runqueue *rq)
{
    rq->cpu->resched = true;
    if (rq->cpu != this_cpu())
        spin_kick_later(rq->cpu);
}

void rq_account_locked(struct thread *t, uint64_t now_ns)
{
    /* The CPUs' clocks differ a little. */
    uint64_t ran_ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;

    ready_charge(&t->ready, ran_ns, t->slice_ns);
    t->run_ns += ran_ns;
    t->since_ns += ran_ns;
}

void rq_insert_locked(struct runqueue *rq, struct thread *t, enum ready_how how)
{
    ASSERT(t->state == THREAD_READY && &runqueues[t->cpu] == rq);
    if (how != READY_PREEMPTED)
        t->slice_left_ns = 0;
    ready_add(&rq->ready, &t->ready, how, t->since_ns);
    change_queued(rq, 1);
    if (rq->ready.running)
        rq_account_locked(rq->cpu->current, arch_clock_ns());
    if (ready_preempts(&rq->ready, &t->ready))
        rq_kick_locked(rq);
}

void rq_remove_locked(struct runqueue *rq, struct thread *t)
{
    ASSERT(t->state == THREAD_READY && &runqueues[t->cpu] == rq);
    ready_remove(&rq->ready, &t->ready);
    change_queued(rq, -1);
}

struct thread *rq_take_locked(struct runqueue *rq, uint64_t now_ns)
{
    struct ready_thread *next = ready_take(&rq->ready, now_ns, sched_starve_ms * NS_PER_MS);

    if (!next)
        return NULL;
    change_queued(rq, -1);
    return container_of(next, struct thread, ready);
}

void rq_recount_locked(struct runqueue *rq)
{
    change_queued(rq, 0);
}

void rq_assign_locked(struct runqueue *to, struct thread *t)
{
    unsigned cpu = to->cpu->index;

    t->migrate_to = CPU_ANY;
    if (t->cpu == cpu)
        return;
    ready_transfer(&runqueues[t->cpu].ready, &to->ready, &t->ready);
    t->migrations++;
    to->cpu->arrivals++;
    t->cpu = cpu;
}

void rq_move_locked(struct runqueue *from, struct runqueue *to, struct thread *t)
{
    rq_remove_locked(from, t);
    rq_assign_locked(to, t);
    rq_insert_locked(to, t, READY_WOKEN);
}

void rq_check(struct runqueue *rq)
{
    bool irq = spin_lock(&rq->lock);

    ASSERT(ready_check(&rq->ready) == rq->queued && rq->cpu->current->cpu == rq->cpu->index);
    for (struct ready_thread *it = ready_last(&rq->ready); it; it = ready_before(&rq->ready, it)) {
        const struct thread *t = container_of(it, struct thread, ready);
        ASSERT(t->state == THREAD_READY && &runqueues[t->cpu] == rq);
    }
    ASSERT(rq->running == rq->queued + (rq->cpu->current != rq->cpu->idle));
    spin_unlock(&rq->lock, irq);
}
