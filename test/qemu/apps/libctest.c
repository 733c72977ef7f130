/* The C library's lower half: threads, keys, thread-local storage, memory, clocks; what
 * synchronizes them is in libctest_sync.c. */
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

uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct timespec after_ms(unsigned ms)
{
    uint64_t ns = now_ns() + ms * 1000000ull;
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

void run_threads(void *(*body)(void *), void *arg)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, body, arg ? arg : (void *)(intptr_t)i))
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

/* ---- Threads: results, storage, stacks ------------------------------------------------------- */

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

/* Most vector registers are in use all the time, so any switch that mixes them up shows in the
 * sum. */
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
    tap_check(sums[1] != sums[2] && !bad_sums,
              "each thread has its own vector registers: %u do not", bad_sums);
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
    tap_check(!pthread_join(t, &result) && result == (void *)42,
              "join gives what pthread_exit was given");
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
    tap_check(pthread_create(&t, &attr, return_42, NULL) == EAGAIN,
              "a stack that does not fit is an error");
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 300; i++)
        if (pthread_create(&t, &attr, leave_at_once, &ended))
            break;
    for (int i = 0; i < 1000 && __atomic_load_n(&ended, __ATOMIC_RELAXED) < 300; i++)
        usleep(1000);
    tap_check(ended == 300, "300 detached threads ran: %u", ended);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

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
    tap_check(slept >= 3000000, "a sleep of 3 ms lasts that long: %llu ns",
              (unsigned long long)slept);
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
    tap_check(clock_gettime((clockid_t)99, &ts) == -1 && errno == EINVAL,
              "an unknown clock is refused");
}

/* ---- The end --------------------------------------------------------------------------------- */

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

/* libctest last: the first thread leaves before another one does; what is buffered is written all
 * the same. */
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
    synchronizing();
    threads();
    memory();
    clocks();
    return tap_done();
}
