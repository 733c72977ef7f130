/*
 * Mutexes: locks that are waited for asleep.
 *
 * First come, first served: the owner that unlocks hands the mutex to the thread that has waited
 * longest. Priorities are not inverted: while threads wait for a mutex, its owner runs at the
 * kernel's priority (priority inheritance, after Sha, Rajkumar and Lehoczky, IEEE Transactions on
 * Computers 39(9), 1990, with one ceiling for all). The end of a process does not end a wait, so
 * that nothing done under a mutex is left half done.
 */
#include "sched/runqueue.h"

void mutex_init(struct mutex *m, const char *name)
{
    *m = (struct mutex){.owner = NULL};
    spin_init(&m->guard, LOCK_GATE, name);
    wait_init(&m->waiters);
}

/* Lends the owner the kernel's priority, unless it has it. Guard held. */
static void lend_locked(struct mutex *m)
{
    if (!m->lent)
        sched_lend_priority(m->owner);
    m->lent = true;
}

void mutex_take(struct mutex *m)
{
    struct thread *self = thread_current();
    bool irq = spin_lock(&m->guard);

    ASSERT(m->owner != self);
    if (!m->owner) {
        m->owner = self;
    } else {
        lend_locked(m);
        while (m->owner != self)
            wait_sleep_through(&m->waiters, &m->guard, &irq);
    }
    spin_unlock(&m->guard, irq);
}

bool mutex_try_lock(struct mutex *m)
{
    bool irq = spin_lock(&m->guard), free = !m->owner;

    if (free)
        m->owner = thread_current();
    spin_unlock(&m->guard, irq);
    return free;
}

void mutex_lock(struct mutex *m)
{
    may_wait(m->guard.name);
    mutex_take(m);
}

/* Hands the mutex to the thread that has waited longest, with the kernel's priority, and wakes it.
 * Guard held. */
static void hand_over_locked(struct mutex *m)
{
    m->lent = false;
    m->owner = list_empty(&m->waiters.waiters)
                   ? NULL
                   : container_of(m->waiters.waiters.next, struct thread, wait);
    if (!m->owner)
        return;
    lend_locked(m);
    wait_wake(&m->waiters, 1);
}

void mutex_unlock(struct mutex *m)
{
    struct thread *self = thread_current();

    ASSERT(m->owner == self);
    bool irq = spin_lock(&m->guard), lent = m->lent;
    hand_over_locked(m);
    spin_unlock(&m->guard, irq);
    if (lent)
        sched_return_priority(self);
}

bool mutex_held(const struct mutex *m)
{
    return m->owner == thread_current();
}
