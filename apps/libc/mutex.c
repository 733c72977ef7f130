/* Mutexes and spinlocks of POSIX threads. */
#include <errno.h>
#include "apps/libc/libc.h"

static bool bad_time(const struct timespec *until)
{
    return until->tv_nsec < 0 || until->tv_nsec >= 1000000000;
}

/* How long a waiter spins before it sleeps: holders are mostly on another CPU and about to let go. */
#define SPIN_TRIES 40

static int word_lock(uint32_t *word, uint64_t deadline)
{
    for (int i = 0; i < SPIN_TRIES; i++) {
        uint32_t seen = 0;
        if (__atomic_load_n(word, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(word, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 0;
        relax();
    }
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
        if (futex_wait(word, 2, deadline) == -ETIMEDOUT)
            return ETIMEDOUT;
    return 0;
}

static int lock_until(pthread_mutex_t *m, uint64_t deadline)
{
    uint32_t seen = 0;
    if (m->type != PTHREAD_MUTEX_NORMAL &&
        __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == thread_self()->tid_value) {
        if (m->type == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
        m->depth++;
        return 0;
    }
    if (!__atomic_compare_exchange_n(&m->state, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        int error = word_lock(&m->state, deadline);
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
    *m = (pthread_mutex_t){.type = attr ? attr->type : PTHREAD_MUTEX_DEFAULT};
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
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&m->state, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (m->type != PTHREAD_MUTEX_NORMAL) {
            __atomic_store_n(&m->owner, thread_self()->tid_value, __ATOMIC_RELAXED);
            m->depth = 1;
        }
        return 0;
    }
    if (m->type == PTHREAD_MUTEX_RECURSIVE &&
        __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == thread_self()->tid_value) {
        m->depth++;
        return 0;
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
    lock_give(&m->state);
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
