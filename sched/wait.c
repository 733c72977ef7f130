/*
 * Sleeping, with and without a wait queue.
 *
 * No wake-up is lost. A sleeper enters the queue with the guard held, and becomes BLOCKED with its
 * run queue locked before the guard is released. A waker holds the guard, and sched_wake() waits
 * for the run queue's lock, which is held until the sleeper is switched out. The queue tells
 * whether a thread was woken: a waker takes the sleeper out of it, a deadline or the end of the
 * process does not.
 */
#include "sched/runqueue.h"

void wait_init(struct wait_queue *q)
{
    list_init(&q->waiters);
}

/* What ends a sleep early. */
enum heeds { HEEDS_NOTHING, HEEDS_END, HEEDS_SIGNALS };

static bool must_stop(const struct thread *t, enum heeds heeds)
{
    return heeds != HEEDS_NOTHING &&
           (t->ending ||
            (heeds == HEEDS_SIGNALS && __atomic_load_n(&t->signalled, __ATOMIC_RELAXED)));
}

/* Blocks the caller until it is woken. Does not block if what it heeds is there. Releases guard, if
 * any. Interrupts off. */
static void block(struct thread *t, struct spinlock *guard, uint64_t deadline_ns, enum heeds heeds)
{
    bool timed = deadline_ns != UINT64_MAX;

    may_sleep(guard);
    if (timed)
        timer_arm(t, deadline_ns);
    struct runqueue *rq = rq_this();
    spin_lock_irqoff(&rq->lock);
    if (guard)
        spin_unlock_irqoff(guard);
    if (must_stop(t, heeds)) {
        spin_unlock_irqoff(&rq->lock);
    } else {
        t->state = THREAD_BLOCKED;
        sched_switch_locked(rq, guard ? GIVE_WAY_YIELD : GIVE_WAY_SLEEP);
    }
    if (timed)
        timer_cancel(t);
}

static int sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns,
                 enum heeds heeds)
{
    struct thread *t = this_cpu()->current;
    int result = 0;

    ASSERT(spin_held(guard) && this_cpu()->spin_depth == 1 && t != this_cpu()->idle);
    list_push_back(&q->waiters, &t->wait);
    for (;;) {
        block(t, guard, deadline_ns, heeds);
        arch_irq_restore(*irq);
        *irq = spin_lock(guard);
        if (list_empty(&t->wait))
            break;
        if (must_stop(t, heeds))
            result = -EINTR;
        else if (arch_clock_ns() >= deadline_ns)
            result = -ETIMEDOUT;
        else
            continue;
        list_remove(&t->wait);
        break;
    }
    return result;
}

int wait_sleep(struct wait_queue *q, struct spinlock *guard, bool *irq, uint64_t deadline_ns)
{
    return sleep(q, guard, irq, deadline_ns, HEEDS_END);
}

int wait_sleep_interruptible(struct wait_queue *q, struct spinlock *guard, bool *irq,
                             uint64_t deadline_ns)
{
    int err = sleep(q, guard, irq, deadline_ns, HEEDS_SIGNALS);

    return err == -EINTR ? -ERESTARTSYS : err;
}

void wait_sleep_through(struct wait_queue *q, struct spinlock *guard, bool *irq)
{
    sleep(q, guard, irq, UINT64_MAX, HEEDS_NOTHING);
}

unsigned wait_wake(struct wait_queue *q, unsigned max)
{
    unsigned woken = 0;

    for (; woken < max && !list_empty(&q->waiters); woken++)
        sched_wake(container_of(list_pop_front(&q->waiters), struct thread, wait), TRACE_BY_THREAD);
    return woken;
}

static void sleep_until(uint64_t deadline_ns, enum heeds heeds)
{
    bool irq = arch_irq_save();
    struct thread *t = this_cpu()->current;

    ASSERT(!this_cpu()->spin_depth && t != this_cpu()->idle);
    while (!must_stop(t, heeds) && arch_clock_ns() < deadline_ns)
        block(t, NULL, deadline_ns, heeds);
    arch_irq_restore(irq);
}

void sched_sleep_until(uint64_t deadline_ns)
{
    sleep_until(deadline_ns, HEEDS_END);
}

int sched_sleep_interruptible(uint64_t deadline_ns)
{
    sleep_until(deadline_ns, HEEDS_SIGNALS);
    return arch_clock_ns() < deadline_ns ? -ERESTARTSYS : 0;
}

bool sched_interrupted(void)
{
    return must_stop(thread_current(), HEEDS_SIGNALS);
}

bool sched_ending(void)
{
    return must_stop(thread_current(), HEEDS_END);
}

void sched_signals_taken(void)
{
    __atomic_store_n(&thread_current()->signalled, false, __ATOMIC_RELAXED);
}

/* Sets a flag of t, and ends the sleeps that heed it. */
static void interrupt_thread(struct thread *t, bool *flag)
{
    bool irq = arch_irq_save();
    struct runqueue *rq = rq_lock_thread(t);

    __atomic_store_n(flag, true, __ATOMIC_RELAXED);
    if (t->state == THREAD_RUNNING)
        rq_kick_locked(rq); /* the thread notices on its way back to user mode */
    spin_unlock_irqoff(&rq->lock);
    sched_wake(t, TRACE_BY_SIGNAL);
    arch_irq_restore(irq);
}

void sched_interrupt_thread(struct thread *t)
{
    interrupt_thread(t, &t->ending);
}

void sched_signal_thread(struct thread *t)
{
    interrupt_thread(t, &t->signalled);
}
