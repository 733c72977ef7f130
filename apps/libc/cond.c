/*
 * Condition variables, barriers, reader-writer locks, once.
 *
 * A condition variable is a counter. A waiter sleeps while the counter has the value that it had
 * under the mutex, so no later signal is missed.
 *
 * An object may be destroyed, and its memory reused, as soon as all waiters have been woken. So
 * destroying waits for threads that may still read it.
 */
#include <errno.h>
#include <limits.h>
#include "apps/libc/libc.h"

#define LOOK_AGAIN_NS 20000

static void wait_for_none(const uint32_t *count)
{
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE))
        sleep_ns(LOOK_AGAIN_NS);
}

int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    *c = (pthread_cond_t){.clock = attr ? attr->clock : 0};
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *c)
{
    wait_for_none(&c->waiters);
    return 0;
}

static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, uint64_t deadline)
{
    uint32_t seen = __atomic_load_n(&c->sequence, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->waiters, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(m);
    clockid_t clock = c->clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    int error = futex_wait_until(&c->sequence, seen, clock, deadline);
    __atomic_sub_fetch(&c->waiters, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(m);
    return error == -ETIMEDOUT ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return cond_wait(c, m, UINT64_MAX);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
        return EINVAL;
    return cond_wait(c, m, timespec_ns(until));
}

static int cond_wake(pthread_cond_t *c, uint32_t count)
{
    __atomic_add_fetch(&c->sequence, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->waiters, __ATOMIC_SEQ_CST))
        futex_wake(&c->sequence, count);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *c)
{
    return cond_wake(c, 1);
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
    return cond_wake(c, INT_MAX);
}

int pthread_condattr_init(pthread_condattr_t *attr)
{
    attr->clock = CLOCK_REALTIME;
    return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attr)
{
    (void)attr;
    return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    attr->clock = (uint32_t)clock;
    return 0;
}

int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count)
{
    (void)attr;
    if (!count)
        return EINVAL;
    *b = (pthread_barrier_t){.needed = count};
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *b)
{
    if (__atomic_load_n(&b->arrived, __ATOMIC_ACQUIRE))
        return EBUSY;
    wait_for_none(&b->inside);
    return 0;
}

/* The last thread to arrive resets the count before it opens the round, so the next round may start
 * at once. */
static int meet_at_barrier(pthread_barrier_t *b)
{
    uint32_t round = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == b->needed) {
        __atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&b->round, 1, __ATOMIC_RELEASE);
        futex_wake(&b->round, INT_MAX);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (__atomic_load_n(&b->round, __ATOMIC_ACQUIRE) == round)
        futex_wait(&b->round, round);
    return 0;
}

int pthread_barrier_wait(pthread_barrier_t *b)
{
    __atomic_add_fetch(&b->inside, 1, __ATOMIC_RELAXED);
    int result = meet_at_barrier(b);
    __atomic_sub_fetch(&b->inside, 1, __ATOMIC_RELEASE);
    return result;
}

int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
    (void)attr;
    *l = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
    return l->readers || l->writing ? EBUSY : 0;
}

/* Waiting writers go first, so that a stream of readers cannot starve them. */
static bool readable(const pthread_rwlock_t *l)
{
    return !l->writing && !l->writers_waiting;
}

static bool writable(const pthread_rwlock_t *l)
{
    return !l->writing && !l->readers;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    pthread_mutex_lock(&l->lock);
    while (!readable(l))
        pthread_cond_wait(&l->changed, &l->lock);
    l->readers++;
    return pthread_mutex_unlock(&l->lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
    pthread_mutex_lock(&l->lock);
    bool got = readable(l);
    l->readers += got;
    pthread_mutex_unlock(&l->lock);
    return got ? 0 : EBUSY;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    pthread_mutex_lock(&l->lock);
    l->writers_waiting++;
    while (!writable(l))
        pthread_cond_wait(&l->changed, &l->lock);
    l->writers_waiting--;
    l->writing = 1;
    return pthread_mutex_unlock(&l->lock);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
    pthread_mutex_lock(&l->lock);
    bool got = writable(l);
    l->writing |= got;
    pthread_mutex_unlock(&l->lock);
    return got ? 0 : EBUSY;
}

int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->writing)
        l->writing = 0;
    else if (l->readers)
        l->readers--;
    if (!l->readers)
        pthread_cond_broadcast(&l->changed);
    /* Last: the thread that gets the lock now may destroy it. */
    return pthread_mutex_unlock(&l->lock);
}

int pthread_once(pthread_once_t *once, void (*run)(void))
{
    uint32_t seen = 0;
    if (__atomic_load_n(&once->state, __ATOMIC_ACQUIRE) == 2)
        return 0;
    if (__atomic_compare_exchange_n(&once->state, &seen, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE)) {
        run();
        __atomic_store_n(&once->state, 2, __ATOMIC_RELEASE);
        futex_wake(&once->state, INT_MAX);
        return 0;
    }
    while (__atomic_load_n(&once->state, __ATOMIC_ACQUIRE) != 2)
        futex_wait(&once->state, 1);
    return 0;
}
