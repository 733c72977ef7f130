/*
 * Sleepers with a deadline, and timers. Each CPU keeps those that went to sleep, or were set, on
 * it, sorted by deadline.
 *
 * A sleeper is woken with its CPU's timer lock held, and takes that lock itself (timer_cancel)
 * before it goes on. So no wake-up for an old deadline can reach it later, in another sleep or
 * after its end. Waking for a deadline decides nothing: the woken thread looks at the clock and at
 * its wait queue itself.
 *
 * What a timer does may want any lock, so it is done without the CPU's timer lock, after the timer
 * was taken out of the list. So a timer that is set anew or stopped may still do what it was about
 * to do: its owner looks at the clock, under its own lock, whether the time has come.
 */
#include "sched/runqueue.h"

#define EXPIRE_MAX 32 /* timers in one interrupt; programs run in between */

/* Lock of rq's timers held. */
static uint64_t first_ns_locked(const struct runqueue *rq)
{
    uint64_t ns = UINT64_MAX;

    if (!list_empty(&rq->sleepers))
        ns = container_of(rq->sleepers.next, struct thread, timer)->wake_ns;
    if (!list_empty(&rq->timers))
        ns = MIN(ns, container_of(rq->timers.next, struct ktimer, link)->at_ns);
    return ns;
}

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
    rq->next_wake_ns = first_ns_locked(rq);
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

static void expire_sleepers_locked(struct runqueue *rq, uint64_t now_ns)
{
    while (!list_empty(&rq->sleepers)) {
        struct thread *t = container_of(rq->sleepers.next, struct thread, timer);
        if (t->wake_ns > now_ns)
            return;
        list_remove(&t->timer);
        sched_wake(t, TRACE_BY_TIME);
    }
}

/* Unlocks the timers while one does what it is for. */
static void expire_timers_locked(struct runqueue *rq, uint64_t now_ns)
{
    for (unsigned i = 0; i < EXPIRE_MAX && !list_empty(&rq->timers); i++) {
        struct ktimer *k = container_of(rq->timers.next, struct ktimer, link);
        if (k->at_ns > now_ns)
            return;
        list_remove(&k->link);
        __atomic_fetch_add(&k->expiring, 1, __ATOMIC_RELAXED);
        spin_unlock_irqoff(&rq->timer_lock);
        k->expire(k);
        __atomic_fetch_sub(&k->expiring, 1, __ATOMIC_RELEASE); /* it may be gone after this */
        spin_lock_irqoff(&rq->timer_lock);
    }
}

void timer_expire(struct runqueue *rq, uint64_t now_ns)
{
    if (rq->next_wake_ns > now_ns)
        return;
    spin_lock_irqoff(&rq->timer_lock);
    expire_sleepers_locked(rq, now_ns);
    expire_timers_locked(rq, now_ns);
    rq->next_wake_ns = first_ns_locked(rq);
    spin_unlock_irqoff(&rq->timer_lock);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

void ktimer_init(struct ktimer *k, void (*expire)(struct ktimer *))
{
    *k = (struct ktimer){.expire = expire};
    list_init(&k->link);
}

static void take_out(struct ktimer *k)
{
    struct runqueue *rq = &runqueues[k->cpu];

    spin_lock_irqoff(&rq->timer_lock);
    list_remove(&k->link);
    spin_unlock_irqoff(&rq->timer_lock);
}

/* Takes the timer to this CPU, and programs it for that. */
static void put_in(struct ktimer *k, uint64_t at_ns)
{
    struct runqueue *rq = rq_this();
    struct list *at = &rq->timers;

    spin_lock_irqoff(&rq->timer_lock);
    k->cpu = rq->cpu->index;
    k->at_ns = at_ns;
    while (at->prev != &rq->timers && container_of(at->prev, struct ktimer, link)->at_ns > at_ns)
        at = at->prev;
    list_insert_before(at, &k->link);
    rq->next_wake_ns = first_ns_locked(rq);
    spin_unlock_irqoff(&rq->timer_lock);
    sched_program_timer();
}

void ktimer_set(struct ktimer *k, uint64_t at_ns)
{
    bool irq = arch_irq_save();

    take_out(k);
    if (at_ns != UINT64_MAX)
        put_in(k, at_ns);
    arch_irq_restore(irq);
}

void ktimer_finish(struct ktimer *k)
{
    ktimer_set(k, UINT64_MAX);
    while (__atomic_load_n(&k->expiring, __ATOMIC_ACQUIRE)) {
        spin_stop_point();
        arch_cpu_relax();
    }
}
