/*
 * Mutexes: locks that are waited for asleep.
 *
 * A free mutex is taken, and one without waiters given back, by one atomic operation.
 * First come, first served: the owner that unlocks hands the mutex to the thread that has waited
 * longest. Priorities are not inverted: while threads wait for a mutex, its owner runs at the
 * kernel's priority (priority inheritance, after Sha, Rajkumar and Lehoczky, IEEE Transactions on
 * Computers 39(9), 1990, with one ceiling for all). The end of a process does not end a wait, so
 * that nothing done under a mutex is left half done.
 */
#include "sched/runqueue.h"

#define WAITED ((uint64_t)1) /* of a mutex's word: threads wait, or have waited, for this owner */

static uint64_t word_of(const struct thread *t)
{
    return (uint64_t)(uintptr_t)t;
}

static struct thread *owner_of(const struct mutex *m)
{
    return (struct thread *)(uintptr_t)(__atomic_load_n(&m->word, __ATOMIC_RELAXED) & ~WAITED);
}

static bool swap_word(struct mutex *m, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&m->word, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

void mutex_init(struct mutex *m, const char *name)
{
    *m = (struct mutex){.word = 0};
    spin_init(&m->guard, LOCK_GATE, name);
    wait_init(&m->waiters);
}

/* Lends the owner the kernel's priority, unless it has it. Guard held. */
static void lend_locked(struct mutex *m)
{
    if (!m->lent)
        sched_lend_priority(owner_of(m));
    m->lent = true;
}

/* Has the owner take the guard when it unlocks. Returns false if the mutex is free. Guard held. */
static bool announce_locked(struct mutex *m)
{
    for (;;) {
        uint64_t word = __atomic_load_n(&m->word, __ATOMIC_RELAXED);
        if (!word || word & WAITED || swap_word(m, word, word | WAITED))
            return word;
    }
}

static void wait_locked(struct mutex *m, bool *irq)
{
    lend_locked(m);
    while (owner_of(m) != thread_current())
        wait_sleep_through(&m->waiters, &m->guard, irq);
}

void mutex_take(struct mutex *m)
{
    ASSERT(owner_of(m) != thread_current());
    if (mutex_try_lock(m))
        return;
    bool irq = spin_lock(&m->guard), taken = false;
    while (!taken && !announce_locked(m))
        taken = mutex_try_lock(m);
    if (!taken)
        wait_locked(m, &irq);
    spin_unlock(&m->guard, irq);
}

bool mutex_try_lock(struct mutex *m)
{
    return swap_word(m, 0, word_of(thread_current()));
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
    struct thread *next = list_empty(&m->waiters.waiters)
                              ? NULL
                              : container_of(m->waiters.waiters.next, struct thread, wait);

    m->lent = false;
    __atomic_store_n(&m->word, next ? word_of(next) | WAITED : 0, __ATOMIC_RELEASE);
    if (!next)
        return;
    lend_locked(m);
    wait_wake(&m->waiters, 1);
}

void mutex_unlock(struct mutex *m)
{
    struct thread *self = thread_current();

    ASSERT(owner_of(m) == self);
    if (swap_word(m, word_of(self), 0))
        return;
    bool irq = spin_lock(&m->guard), lent = m->lent;
    hand_over_locked(m);
    spin_unlock(&m->guard, irq);
    if (lent)
        sched_return_priority(self);
}

bool mutex_held(const struct mutex *m)
{
    return owner_of(m) == thread_current();
}
