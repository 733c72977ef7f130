/*
 * The queues themselves: priorities as an array of lists with a bitmap, round robin inside a priority.  Locking rules in
 * runqueue.h.
 */
#include "sched/runqueue.h"

struct runqueue runqueues[CPU_MAX];

void rq_init(struct runqueue *rq, struct cpu *cpu)
{
    *rq = (struct runqueue){.cpu = cpu, .next_wake_ns = UINT64_MAX};
    spin_init(&rq->lock, LOCK_RUNQUEUE, "run queue");
    spin_init(&rq->timer_lock, LOCK_TIMER, "sleepers");
    list_init(&rq->sleepers);
    for (unsigned p = 0; p < PRIO_COUNT; p++)
        list_init(&rq->queues[p]);
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

static void count(struct runqueue *rq, int change)
{
    rq->queued = (uint16_t)(rq->queued + change);
    __atomic_store_n(&rq->running, rq->queued + (rq->cpu->current != rq->cpu->idle), __ATOMIC_RELAXED);
}

void rq_kick_locked(struct runqueue *rq)
{
    rq->cpu->resched = true;
    if (rq->cpu != this_cpu())
        arch_ipi_send(rq->cpu, IPI_RESCHED);
}

void rq_insert_locked(struct runqueue *rq, struct thread *t, bool front)
{
    struct list *queue = &rq->queues[t->prio];

    ASSERT(t->state == THREAD_READY && list_empty(&t->queue) && &runqueues[t->cpu] == rq);
    (front ? list_push_front : list_push_back)(queue, &t->queue);
    rq->occupied |= 1u << t->prio;
    count(rq, 1);
    const struct thread *current = rq->cpu->current;
    if (current == rq->cpu->idle || t->prio > current->prio)
        rq_kick_locked(rq);
}

void rq_remove_locked(struct runqueue *rq, struct thread *t)
{
    ASSERT(t->state == THREAD_READY && !list_empty(&t->queue) && &runqueues[t->cpu] == rq);
    list_remove(&t->queue);
    if (list_empty(&rq->queues[t->prio]))
        rq->occupied &= ~(1u << t->prio);
    count(rq, -1);
}

struct thread *rq_take_locked(struct runqueue *rq)
{
    if (!rq->occupied)
        return NULL;
    struct thread *t = container_of(rq->queues[log2_floor(rq->occupied)].next, struct thread, queue);
    rq_remove_locked(rq, t);
    return t;
}

void rq_recount_locked(struct runqueue *rq)
{
    count(rq, 0);
}

void rq_assign_locked(struct runqueue *to, struct thread *t)
{
    unsigned cpu = to->cpu->index;

    t->migrate_to = CPU_ANY;
    if (t->cpu == cpu)
        return;
    t->migrations++;
    to->stats.across_chips += cpus[t->cpu].place.chip != to->cpu->place.chip;
    t->cpu = cpu;
}

void rq_move_locked(struct runqueue *from, struct runqueue *to, struct thread *t)
{
    rq_remove_locked(from, t);
    rq_assign_locked(to, t);
    rq_insert_locked(to, t, false);
}

void rq_check(struct runqueue *rq)
{
    unsigned queued = 0;
    bool irq = spin_lock(&rq->lock);

    for (unsigned p = 0; p < PRIO_COUNT; p++) {
        ASSERT(list_empty(&rq->queues[p]) == !(rq->occupied >> p & 1));
        list_for_each (it, &rq->queues[p]) {
            const struct thread *t = container_of(it, struct thread, queue);
            ASSERT(t->state == THREAD_READY && t->prio == p && &runqueues[t->cpu] == rq &&
                   it->next->prev == it);
            queued++;
        }
    }
    ASSERT(queued == rq->queued && rq->cpu->current->cpu == rq->cpu->index);
    ASSERT(rq->running == queued + (rq->cpu->current != rq->cpu->idle));
    spin_unlock(&rq->lock, irq);
}
