/* The C library's lower half: threads, locks, keys, thread-local storage, memory, clocks. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "test/qemu/apps/tap.h"

#define THREADS 12

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct timespec after_ms(unsigned ms)
{
    uint64_t ns = now_ns() + ms * 1000000ull;
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static void run_threads(void *(*body)(void *), void *arg)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, body, arg ? arg : (void *)(intptr_t)i))
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

/* ---- Mutexes ---- */

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
    tap_check(!crowded && taken >= THREADS * 4, "a mutex that is handed over admits one at a time, %u times",
              taken);
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
    tap_check(depth == 65535 && pthread_mutex_lock(&m) == EAGAIN, "but not more often than it can count: %u",
              depth);

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
    tap_check(once_runs == 1 && !once_early, "once runs once, before anybody goes on");
}

/* ---- Objects whose memory is used again as soon as they may be destroyed ---- */

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
    tap_check(untouched == REUSES, "nobody looks at a condition variable that was destroyed: %u of %u",
              untouched, REUSES);
    struct timespec for_ever = {.tv_sec = INT64_MAX}, never = {.tv_sec = -1};
    pthread_mutex_lock(&mutex);
    tap_check(pthread_mutex_timedlock(&mutex, &never) == ETIMEDOUT, "a time before all times has passed");
    pthread_mutex_unlock(&mutex);
    tap_check(pthread_mutex_timedlock(&mutex, &for_ever) == 0, "the end of all times has not");
    pthread_mutex_unlock(&mutex);
}

/* ---- Threads: results, storage, stacks ---- */

static _Thread_local unsigned local = 41;
static _Thread_local _Alignas(512) char page_part[700] = "as asked";
static pthread_key_t key;
static unsigned destroyed, bad_local;

static void destroy(void *value)
{
    __atomic_add_fetch(&destroyed, (unsigned)(uintptr_t)value, __ATOMIC_RELAXED);
}

static void *own_storage(void *arg)
{
    (void)arg;
    if (local++ != 41 || pthread_getspecific(key))
        __atomic_add_fetch(&bad_local, 1, __ATOMIC_RELAXED);
    pthread_setspecific(key, (void *)3);
    errno = (int)local;
    sched_yield();
    if (local != 42 || errno != 42)
        __atomic_add_fetch(&bad_local, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *aligned_storage(void *arg)
{
    char *p = page_part;
    __asm__("" : "+r"(p)); /* the compiler would take the alignment for granted */
    bool last_empty = !page_part[sizeof page_part - 1];
    if ((uintptr_t)p % 512 || strcmp(page_part, "as asked") || !last_empty)
        __atomic_add_fetch(&bad_local, 1, __ATOMIC_RELAXED);
    memset(page_part, (int)(intptr_t)arg + 1, sizeof page_part);
    return NULL;
}

static void *return_42(void *arg)
{
    (void)arg;
    pthread_exit((void *)42);
}

static void *pinned(void *arg)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int cpu = (int)((intptr_t)arg % sysconf(_SC_NPROCESSORS_ONLN));
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    for (int i = 0; i < 50; i++) {
        if (sched_getcpu() != cpu)
            __atomic_add_fetch(&bad_local, 1, __ATOMIC_RELAXED);
        sched_yield();
    }
    return NULL;
}

/* Most vector registers are in use all the time, so any switch that mixes them up shows in the sum. */
typedef double vector __attribute__((vector_size(16)));
#define VECTORS 24
static double sums[THREADS];
static unsigned bad_sums;

static __attribute__((noinline)) double sum_of(int seed)
{
    vector v[VECTORS], sum = {0, 0};
    for (int k = 0; k < VECTORS; k++)
        v[k] = (vector){seed + k, seed - k};
    for (int i = 0; i < 20000; i++) {
#pragma GCC unroll 24
        for (int k = 0; k < VECTORS; k++)
            v[k] = v[k] * (vector){0.999, 0.998} + (vector){k, seed};
    }
    for (int k = 0; k < VECTORS; k++)
        sum += v[k] * (vector){k + 1, k + 2};
    return sum[0] + sum[1];
}

static void *sum_again(void *arg)
{
    if (sum_of((int)(intptr_t)arg) != sums[(intptr_t)arg])
        __atomic_add_fetch(&bad_sums, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void vector_registers(void)
{
    for (int i = 0; i < THREADS; i++)
        sums[i] = sum_of(i);
    run_threads(sum_again, NULL);
    tap_check(sums[1] != sums[2] && !bad_sums, "each thread has its own vector registers: %u do not",
              bad_sums);
}

static void *leave_at_once(void *arg)
{
    __atomic_add_fetch((unsigned *)arg, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void threads(void)
{
    pthread_t t;
    void *result = NULL;
    pthread_create(&t, NULL, return_42, NULL);
    tap_check(!pthread_join(t, &result) && result == (void *)42, "join gives what pthread_exit was given");
    tap_check(pthread_join(pthread_self(), NULL) == EDEADLK, "joining oneself is refused");

    pthread_key_create(&key, destroy);
    run_threads(own_storage, NULL);
    tap_check(!bad_local, "each thread has its own storage, errno and keys");
    tap_check(destroyed == 3 * THREADS, "destructors of keys run at the end of threads");
    run_threads(aligned_storage, NULL);
    tap_check(!bad_local, "storage is as aligned as was asked for");
    run_threads(pinned, NULL);
    tap_check(!bad_local, "pinned threads stay on their CPU");

    vector_registers();

    unsigned ended = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    tap_check(pthread_attr_setstacksize(&attr, SIZE_MAX - 100) == EINVAL &&
                  pthread_attr_setguardsize(&attr, SIZE_MAX - 100) == EINVAL,
              "sizes that no address space has are refused");
    pthread_attr_setstacksize(&attr, (size_t)1 << 46);
    tap_check(pthread_create(&t, &attr, return_42, NULL) == EAGAIN, "a stack that does not fit is an error");
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 300; i++)
        if (pthread_create(&t, &attr, leave_at_once, &ended))
            break;
    for (int i = 0; i < 1000 && __atomic_load_n(&ended, __ATOMIC_RELAXED) < 300; i++)
        usleep(1000);
    tap_check(ended == 300, "300 detached threads ran: %u", ended);
}

/* ---- Memory ---- */

#define SLOTS 200
static unsigned char *slot[SLOTS];
static size_t slot_size[SLOTS];
static pthread_mutex_t slot_lock[SLOTS];
static unsigned corrupt;

static bool holds(const unsigned char *p, size_t n, unsigned char byte)
{
    return !n || (p[0] == byte && p[n / 2] == byte && p[n - 1] == byte);
}

/* Objects are freed by other threads than those that allocated them. */
static void *churn(void *arg)
{
    uint64_t x = (uint64_t)(intptr_t)arg * 2654435761u + 1;
    for (int i = 0; i < 1500; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsigned s = (unsigned)(x >> 40) % SLOTS;
        size_t n = (x >> 20) % 8 ? (x >> 50) % 700 : (x >> 45) % 60000;
        pthread_mutex_lock(&slot_lock[s]);
        if (!holds(slot[s], slot_size[s], (unsigned char)s))
            __atomic_add_fetch(&corrupt, 1, __ATOMIC_RELAXED);
        if (x >> 63) {
            slot[s] = realloc(slot[s], n + 1);
            if (slot_size[s] < n + 1 && !holds(slot[s], slot_size[s], (unsigned char)s))
                __atomic_add_fetch(&corrupt, 1, __ATOMIC_RELAXED);
        } else {
            free(slot[s]);
            slot[s] = malloc(n + 1);
        }
        slot_size[s] = n + 1;
        memset(slot[s], (int)s, n + 1);
        pthread_mutex_unlock(&slot_lock[s]);
    }
    return NULL;
}

static void memory(void)
{
    run_threads(churn, NULL);
    tap_check(!corrupt, "objects keep their contents across threads");
    bool aligned = true, zero = true;
    for (size_t align = 16; align <= 1 << 20; align *= 2) {
        for (size_t n = 1; n <= 100000; n *= 10) {
            char *p = aligned_alloc(align, n);
            aligned &= p && ((uintptr_t)p & (align - 1)) == 0;
            memset(p, 0xee, n);
            free(p);
            char *q = calloc(1, n);
            for (size_t i = 0; i < n; i++)
                zero &= q[i] == 0;
            free(q);
        }
    }
    tap_check(aligned, "aligned_alloc aligns");
    tap_check(zero, "calloc clears");
    tap_check(!malloc((size_t)1 << 45) && errno == ENOMEM, "an impossible size is refused");
    volatile size_t huge = (size_t)1 << 33; /* the compiler would see it coming */
    tap_check(!calloc(huge, huge), "a product that overflows is refused");
}

static void clocks(void)
{
    uint64_t before = now_ns();
    usleep(3000);
    uint64_t slept = now_ns() - before;
    tap_check(slept >= 3000000, "a sleep of 3 ms lasts that long: %llu ns", (unsigned long long)slept);
    bool forward = true;
    for (uint64_t i = 0, last = 0; i < 20000; i++) {
        uint64_t t = now_ns();
        forward &= t >= last;
        last = t;
        if (i % 500 == 0)
            sched_yield();
    }
    tap_check(forward, "the clock never goes back");
    struct timespec ts;
    tap_check(clock_gettime((clockid_t)99, &ts) == -1 && errno == EINVAL, "an unknown clock is refused");
}

/* ---- The end ---- */

static pthread_t first_thread;

static void *outlive_first(void *arg)
{
    pthread_join(first_thread, NULL);
    printf("written by the last thread, ");
    return arg;
}

static void say_end(void)
{
    printf("ended in order\n");
}

/* libctest last: the first thread leaves before another one does; what is buffered is written all the same. */
static int last_thread_ends(void)
{
    pthread_t t;

    first_thread = pthread_self();
    atexit(say_end);
    if (pthread_create(&t, NULL, outlive_first, NULL))
        return 1;
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "last") == 0)
        return last_thread_ends();
    for (int i = 0; i < SLOTS; i++)
        pthread_mutex_init(&slot_lock[i], NULL);
    mutexes();
    handing_over();
    waiting();
    reusing();
    threads();
    memory();
    clocks();
    return tap_done();
}
