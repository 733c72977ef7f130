/*
 * Sleepers with a deadline. Each CPU keeps those that went to sleep on it, sorted by deadline.
 *
 * A sleeper is woken with its CPU's timer lock held, and takes that lock itself (timer_cancel)
 * before it goes on. So no wake-up for an old deadline can reach it later, in another sleep or
 * after its end. Waking for a deadline decides nothing: the woken thread looks at the clock and at
 * its wait queue itself.
 */
#include "sched/runqueue.h"

void timer_arm(struct thread *t, uint64_t deadline_ns)
{
    struct runqueue *rq = rq_this();
    struct list *at = &rq->sleepers;

    spin_lock_irqoff(&rq->timer_lock);
    ASSERT(list_empty(&t->timer));
    t->timer_cpu = rq->cpu->index;
    t->wake_ns = deadline_ns;
    while (at->prev != &rq->sleepers &&
           container_of(at->prev, struct thread, timer)->wake_ns > deadline_ns)
        at = at->prev;
    list_insert_before(at, &t->timer);
    rq->next_wake_ns = container_of(rq->sleepers.next, struct thread, timer)->wake_ns;
    spin_unlock_irqoff(&rq->timer_lock);
}

/* Leaves the CPU's timer programmed for this deadline: it then fires once for nothing. */
void timer_cancel(struct thread *t)
{
    struct runqueue *rq = &runqueues[t->timer_cpu];

    spin_lock_irqoff(&rq->timer_lock);
    list_remove(&t->timer);
    spin_unlock_irqoff(&rq->timer_lock);
}

void timer_expire(struct runqueue *rq, uint64_t now_ns)
{
    if (rq->next_wake_ns > now_ns)
        return;
    spin_lock_irqoff(&rq->timer_lock);
    rq->next_wake_ns = UINT64_MAX;
    while (!list_empty(&rq->sleepers)) {
        struct thread *t = container_of(rq->sleepers.next, struct thread, timer);
        if (t->wake_ns > now_ns) {
            rq->next_wake_ns = t->wake_ns;
            break;
        }
        list_remove(&t->timer);
        sched_wake(t);
    }
    spin_unlock_irqoff(&rq->timer_lock);
}
