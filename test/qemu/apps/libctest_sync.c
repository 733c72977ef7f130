/* Mutexes, conditions, barriers, reader-writer locks and once, and those whose memory is used
 * again. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "test/qemu/apps/libctest.h"
#include "test/qemu/apps/tap.h"

/* ---- Mutexes --------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counter;

static void *count_up(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *try_lock(void *m)
{
    return (void *)(intptr_t)pthread_mutex_trylock(m);
}

static int trylock_elsewhere(pthread_mutex_t *m)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, try_lock, m);
    pthread_join(t, &result);
    return (int)(intptr_t)result;
}

/* Holds the mutex nearly all the time, and takes it before any that have to be woken first. */
static atomic_bool enough;
static void *grab(void *m)
{
    while (!enough) {
        pthread_mutex_lock(m);
        uint64_t end = now_ns() + 200000;
        while (now_ns() < end)
            ;
        pthread_mutex_unlock(m);
    }
    return NULL;
}

/* Some give up, after waiting as long as it takes to claim the mutex. */
static unsigned inside, crowded, taken;
static void *take_or_give_up(void *arg)
{
    pthread_mutex_t *m = arg;

    for (unsigned i = 0; i < 15; i++) {
        struct timespec soon = after_ms(i % 3 + 1);
        int error = i % 4 ? pthread_mutex_timedlock(m, &soon) : pthread_mutex_lock(m);
        if (error)
            continue;
        crowded += inside++ != 0;
        uint64_t end = now_ns() + i % 5 * 100000;
        while (now_ns() < end)
            ;
        taken++;
        inside--;
        pthread_mutex_unlock(m);
    }
    return NULL;
}

static void handing_over(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t;

    pthread_create(&t, NULL, grab, &m);
    for (unsigned i = 0; i < 20; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    enough = true;
    pthread_join(t, NULL);
    tap_check(true, "a mutex that is taken again and again comes round to others");
    run_threads(take_or_give_up, &m);
    tap_check(!crowded && taken >= THREADS * 4,
              "a mutex that is handed over admits one at a time, %u times", taken);
    tap_check(trylock_elsewhere(&m) == 0, "and is free when all have had it or given up");
}

static void mutexes(void)
{
    run_threads(count_up, NULL);
    tap_check(counter == THREADS * 2000ul, "a mutex admits one at a time: %lu", counter);

    pthread_mutexattr_t attr;
    pthread_mutex_t m;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attr);
    tap_check(!pthread_mutex_lock(&m) && !pthread_mutex_lock(&m), "a recursive mutex locks twice");
    pthread_mutex_unlock(&m);
    tap_check(trylock_elsewhere(&m) == EBUSY, "and is held until it is unlocked twice");
    pthread_mutex_unlock(&m);
    tap_check(trylock_elsewhere(&m) == 0, "and free then");

    pthread_mutex_init(&m, &attr); /* the other thread has kept it */
    unsigned depth = 0;
    while (depth < 100000 && !pthread_mutex_lock(&m))
        depth++;
    tap_check(depth == 65535 && pthread_mutex_lock(&m) == EAGAIN,
              "but not more often than it can count: %u", depth);

    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &attr);
    pthread_mutex_lock(&m);
    tap_check(pthread_mutex_lock(&m) == EDEADLK, "an error-checking mutex notices a second lock");
    pthread_mutex_unlock(&m);
    tap_check(pthread_mutex_unlock(&m) == EPERM, "and an unlock by a thread that does not hold it");

    pthread_mutex_init(&m, NULL);
    pthread_mutex_lock(&m);
    struct timespec soon = after_ms(5);
    tap_check(pthread_mutex_timedlock(&m, &soon) == ETIMEDOUT, "a timed lock gives up");
}

/* ---- Conditions, barriers, reader-writer locks, once ---- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned queued, consumed;

static void *consume(void *arg)
{
    (void)arg;
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&mutex);
        while (!queued)
            pthread_cond_wait(&cond, &mutex);
        queued--;
        consumed++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *produce(void *arg)
{
    (void)arg;
    for (int i = 0; i < THREADS * 300; i++) {
        pthread_mutex_lock(&mutex);
        queued++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static pthread_barrier_t barrier;
static unsigned round_of[THREADS], serial_threads, out_of_step;

static void *meet(void *arg)
{
    unsigned me = (unsigned)(intptr_t)arg;
    for (unsigned round = 1; round <= 100; round++) {
        __atomic_store_n(&round_of[me], round, __ATOMIC_SEQ_CST);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&serial_threads, 1, __ATOMIC_RELAXED);
        for (unsigned i = 0; i < THREADS; i++)
            if (__atomic_load_n(&round_of[i], __ATOMIC_SEQ_CST) < round)
                __atomic_add_fetch(&out_of_step, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t pair[2];
static unsigned torn;

static void *read_write(void *arg)
{
    unsigned me = (unsigned)(intptr_t)arg;
    for (unsigned i = 0; i < 500; i++) {
        if (me % 4 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            pair[0]++;
            pair[1]++;
        } else {
            pthread_rwlock_rdlock(&rwlock);
            if (pair[0] != pair[1])
                __atomic_add_fetch(&torn, 1, __ATOMIC_RELAXED);
        }
        pthread_rwlock_unlock(&rwlock);
    }
    return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned once_runs, once_early;

static void run_once(void)
{
    usleep(2000);
    __atomic_add_fetch(&once_runs, 1, __ATOMIC_SEQ_CST);
}

static void *call_once(void *arg)
{
    (void)arg;
    pthread_once(&once, run_once);
    if (!__atomic_load_n(&once_runs, __ATOMIC_SEQ_CST))
        __atomic_add_fetch(&once_early, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void waiting(void)
{
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    run_threads(consume, NULL);
    pthread_join(producer, NULL);
    tap_check(consumed == THREADS * 300 && !queued, "a condition variable loses no signal");
    struct timespec soon = after_ms(5);
    pthread_mutex_lock(&mutex);
    tap_check(pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT, "a timed wait ends");
    pthread_mutex_unlock(&mutex);

    pthread_barrier_init(&barrier, NULL, THREADS);
    run_threads(meet, NULL);
    tap_check(!out_of_step && serial_threads == 100,
              "a barrier keeps threads in step, one serial thread a round");

    run_threads(read_write, NULL);
    tap_check(!torn && pair[0] == THREADS / 4 * 500, "a reader-writer lock excludes writers");

    run_threads(call_once, NULL);
    tap_check(once_runs == 1 && !once_early, "once runs once, before any thread goes on");
}

/* ---- Objects whose memory is used again as soon as they may be destroyed --------------------- */

#define REUSES 200

static pthread_barrier_t reused[2];

static void *meet_reused(void *arg)
{
    for (unsigned i = 0; i < REUSES; i++)
        pthread_barrier_wait(&reused[i % 2]);
    return arg;
}

static void reuse_barriers(void)
{
    pthread_t t;

    pthread_barrier_init(&reused[0], NULL, 2);
    pthread_barrier_init(&reused[1], NULL, 2);
    pthread_create(&t, NULL, meet_reused, NULL);
    for (unsigned i = 0; i < REUSES; i++) {
        pthread_barrier_wait(&reused[i % 2]);
        pthread_barrier_destroy(&reused[i % 2]);
        pthread_barrier_init(&reused[i % 2], NULL, 2);
    }
    pthread_join(t, NULL);
}

static struct {
    pthread_cond_t cond;
    pthread_mutex_t lock;
    bool waiting, go;
} gate;

static void *pass_gate(void *arg)
{
    pthread_mutex_lock(&gate.lock);
    gate.waiting = true;
    while (!gate.go)
        pthread_cond_wait(&gate.cond, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    return arg;
}

/* Opens the gate to a thread that waits there and takes the condition variable away at once. */
static bool open_gate(void)
{
    pthread_t t;
    pthread_cond_t pattern;

    gate.waiting = gate.go = false;
    pthread_mutex_init(&gate.lock, NULL);
    pthread_cond_init(&gate.cond, NULL);
    pthread_create(&t, NULL, pass_gate, NULL);
    pthread_mutex_lock(&gate.lock);
    while (!gate.waiting) {
        pthread_mutex_unlock(&gate.lock);
        sched_yield();
        pthread_mutex_lock(&gate.lock);
    }
    gate.go = true;
    pthread_cond_broadcast(&gate.cond);
    pthread_mutex_unlock(&gate.lock);
    pthread_cond_destroy(&gate.cond);
    memset(&pattern, 0x55, sizeof pattern);
    gate.cond = pattern;
    pthread_join(t, NULL);
    return memcmp(&gate.cond, &pattern, sizeof pattern) == 0;
}

static void reusing(void)
{
    unsigned untouched = 0;

    reuse_barriers();
    tap_check(true, "a barrier can be made anew as soon as it has opened");
    for (unsigned i = 0; i < REUSES; i++)
        untouched += open_gate();
    tap_check(untouched == REUSES,
              "no thread looks at a condition variable that was destroyed: %u of %u", untouched,
              REUSES);
    struct timespec for_ever = {.tv_sec = INT64_MAX}, never = {.tv_sec = -1};
    pthread_mutex_lock(&mutex);
    tap_check(pthread_mutex_timedlock(&mutex, &never) == ETIMEDOUT,
              "a time before all times has passed");
    pthread_mutex_unlock(&mutex);
    tap_check(pthread_mutex_timedlock(&mutex, &for_ever) == 0, "the end of all times has not");
    pthread_mutex_unlock(&mutex);
}

void synchronizing(void)
{
    mutexes();
    handing_over();
    waiting();
    reusing();
}
