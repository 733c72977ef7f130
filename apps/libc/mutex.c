/*
 * Mutexes and spinlocks of POSIX threads.
 *
 * The word of a mutex is FREE; HELD; SLEEPERS: held, and threads sleep on it (Drepper, "Futexes are
 * tricky", mutex 2); or CLAIMED: held, and to be handed over. Any thread takes a free mutex, before
 * sleepers that must be woken first. That is fast but unfair. So a thread that has waited for
 * HAND_OVER_NS claims the mutex in `turn`, and the next thread to unlock the mutex hands it over
 * without freeing it, as in the Go language's sync.Mutex. A claim ends when the holder hands over,
 * or when the claiming thread withdraws it at its deadline.
 */
#include <errno.h>
#include "apps/libc/libc.h"

enum { FREE, HELD, SLEEPERS, CLAIMED };

/* Spins before a waiter sleeps. Most holders run on another CPU and unlock soon. */
#define SPIN_TRIES   40
#define HAND_OVER_NS 500000

static bool bad_time(const struct timespec *until)
{
    return until->tv_nsec < 0 || until->tv_nsec >= 1000000000;
}

static bool change_word(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static uint32_t read_word(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Takes the mutex if it is free, else raises its word to at least `mark`. Returns true if taken. */
static bool take_or_mark(pthread_mutex_t *m, uint32_t mark)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(&m->state, __ATOMIC_SEQ_CST); /* ordered behind a claim */
        if (seen == FREE) {
            if (change_word(&m->state, FREE, SLEEPERS))
                return true;
        } else if (seen >= mark || change_word(&m->state, seen, mark)) {
            return false;
        }
    }
}

/* Waits, with the claim made, until the mutex is handed over or free. */
static int wait_for_turn(pthread_mutex_t *m, uint32_t self, uint64_t deadline)
{
    if (take_or_mark(m, CLAIMED)) {
        __atomic_store_n(&m->turn, 0, __ATOMIC_RELAXED);
        return 0;
    }
    while (__atomic_load_n(&m->turn, __ATOMIC_ACQUIRE) == self)
        if (futex_wait_until(&m->turn, self, CLOCK_REALTIME, deadline) == -ETIMEDOUT &&
            change_word(&m->turn, self, 0))
            return ETIMEDOUT;
    return 0;
}

static int lock_slowly(pthread_mutex_t *m, uint64_t deadline)
{
    for (int i = 0; i < SPIN_TRIES; i++) {
        if (read_word(&m->state) == FREE && change_word(&m->state, FREE, HELD))
            return 0;
        relax();
    }
    uint64_t claim_ns = clock_ns() + HAND_OVER_NS;
    uint32_t self = thread_self()->tid_value;
    while (!take_or_mark(m, SLEEPERS)) {
        if (clock_ns() >= claim_ns && change_word(&m->turn, 0, self))
            return wait_for_turn(m, self, deadline);
        uint32_t mark = read_word(&m->state) == CLAIMED ? CLAIMED : SLEEPERS;
        if (futex_wait_until(&m->state, mark, CLOCK_REALTIME, deadline) == -ETIMEDOUT)
            return ETIMEDOUT;
    }
    return 0;
}

/* Once it is unlocked or another thread has taken it, the mutex may be freed. So its word is not
 * touched again. */
static void unlock(pthread_mutex_t *m)
{
    while (!change_word(&m->state, HELD, FREE)) {
        if (change_word(&m->state, SLEEPERS, FREE)) {
            futex_wake(&m->state, 1);
            return;
        }
        /* The mutex is claimed, or the claim was withdrawn. A thread that claims from now on marks
         * the word again. */
        __atomic_store_n(&m->state, SLEEPERS, __ATOMIC_SEQ_CST);
        uint32_t next = __atomic_load_n(&m->turn, __ATOMIC_SEQ_CST);
        if (next && change_word(&m->turn, next, 0)) {
            futex_wake(&m->turn, 1);
            return;
        }
    }
}

/* Takes a recursive mutex again, by its holder. */
static int take_again(pthread_mutex_t *m)
{
    if (m->depth == UINT16_MAX)
        return EAGAIN;
    m->depth++;
    return 0;
}

static int lock_until(pthread_mutex_t *m, uint64_t deadline)
{
    uint32_t seen = FREE;
    if (m->type != PTHREAD_MUTEX_NORMAL &&
        __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == thread_self()->tid_value) {
        if (m->type == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
        return take_again(m);
    }
    if (!__atomic_compare_exchange_n(&m->state, &seen, HELD, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
        int error = lock_slowly(m, deadline);
        if (error)
            return error;
    }
    if (m->type != PTHREAD_MUTEX_NORMAL) {
        __atomic_store_n(&m->owner, thread_self()->tid_value, __ATOMIC_RELAXED);
        m->depth = 1;
    }
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    *m = (pthread_mutex_t){.type = (uint16_t)(attr ? attr->type : PTHREAD_MUTEX_DEFAULT)};
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *m)
{
    return __atomic_load_n(&m->state, __ATOMIC_RELAXED) ? EBUSY : 0;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    return lock_until(m, UINT64_MAX);
}

int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    return bad_time(until) ? EINVAL : lock_until(m, timespec_ns(until));
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
    uint32_t seen = FREE;
    if (__atomic_compare_exchange_n(&m->state, &seen, HELD, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        if (m->type != PTHREAD_MUTEX_NORMAL) {
            __atomic_store_n(&m->owner, thread_self()->tid_value, __ATOMIC_RELAXED);
            m->depth = 1;
        }
        return 0;
    }
    if (m->type == PTHREAD_MUTEX_RECURSIVE &&
        __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == thread_self()->tid_value) {
        return take_again(m);
    }
    return EBUSY;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    if (m->type != PTHREAD_MUTEX_NORMAL) {
        if (__atomic_load_n(&m->owner, __ATOMIC_RELAXED) != thread_self()->tid_value)
            return EPERM;
        if (--m->depth)
            return 0;
        __atomic_store_n(&m->owner, 0, __ATOMIC_RELAXED);
    }
    unlock(m);
    return 0;
}

int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    attr->type = PTHREAD_MUTEX_DEFAULT;
    return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
    if (type < PTHREAD_MUTEX_NORMAL || type > PTHREAD_MUTEX_ERRORCHECK)
        return EINVAL;
    attr->type = (uint32_t)type;
    return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type)
{
    *type = (int)attr->type;
    return 0;
}

int pthread_spin_init(pthread_spinlock_t *l, int shared)
{
    (void)shared;
    l->lock = 0;
    return 0;
}

int pthread_spin_destroy(pthread_spinlock_t *l)
{
    (void)l;
    return 0;
}

int pthread_spin_trylock(pthread_spinlock_t *l)
{
    return __atomic_exchange_n(&l->lock, 1, __ATOMIC_ACQUIRE) ? EBUSY : 0;
}

int pthread_spin_lock(pthread_spinlock_t *l)
{
    while (pthread_spin_trylock(l))
        while (__atomic_load_n(&l->lock, __ATOMIC_RELAXED))
            relax();
    return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *l)
{
    __atomic_store_n(&l->lock, 0, __ATOMIC_RELEASE);
    return 0;
}
