/*
 * Threads, futexes, sleeps, exits and memory changes all at once; in the end every count must add
 * up.
 *   stress [threads [rounds [seed]]]   default 16 threads, 60 rounds
 *   stress exit N                      ends while N threads sleep, wait, spin, fault and make
 *   threads: nothing may hold it back
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "apps/libc/syscall.h"
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "test/qemu/apps/tap.h"

#define PAGE        4096u
#define THREADS_MAX 200
#define COMMON      64 /* pages that all threads fault at once */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static unsigned threads = 16, rounds = 60;
static uint64_t seed = 1;

static uint64_t guarded;                 /* under lock, not atomic on purpose */
static uint64_t handed, taken;           /* under lock: tokens through turn */
static uint32_t children, detached_done; /* atomic */
static uint32_t wrong;                   /* atomic: contents that were not what was written */
static uint32_t *common;                 /* COMMON pages, fresh in every round */

struct worker {
    pthread_t thread;
    uint64_t state, increments, given, got, born, slept;
};
static struct worker workers[THREADS_MAX];

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void expect(int right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void count_under_lock(struct worker *w)
{
    for (unsigned i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
        w->increments++;
    }
}

/* A worker of an even number adds a token, another takes one if there is any. Timeouts are fine, a
 * lost token is not. */
static void pass_token(struct worker *w)
{
    struct timespec until;

    pthread_mutex_lock(&lock);
    if (next_random(&w->state) & 1) {
        handed++;
        w->given++;
        pthread_cond_signal(&turn);
    } else {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        while (handed == taken)
            if (pthread_cond_timedwait(&turn, &lock, &until) == ETIMEDOUT)
                break;
        if (handed > taken) {
            taken++;
            w->got++;
        }
    }
    pthread_mutex_unlock(&lock);
}

static void churn_memory(struct worker *w)
{
    uint64_t pages = 1 + next_random(&w->state) % 24;
    int64_t at = (int64_t)memory_map("churn", pages * PAGE);
    uint64_t tag = next_random(&w->state);

    expect(at > 0);
    if (at <= 0)
        return;
    for (uint64_t i = 0; i < pages; i++) {
        volatile uint64_t *word = (volatile uint64_t *)(at + (int64_t)(i * PAGE));
        expect(*word == 0);
        *word = tag + i;
    }
    uint64_t middle = pages / 2;
    expect(syscall3(SYS_mprotect, at, PAGE * (middle + 1), LINUX_PROT_READ) == 0);
    for (uint64_t i = 0; i < pages; i++)
        expect(*(volatile uint64_t *)(at + (int64_t)(i * PAGE)) == tag + i);
    /* From the middle outwards: another thread may map the freed range at once. */
    expect(syscall2(SYS_munmap, at + (int64_t)(middle * PAGE), PAGE) == 0);
    if (middle)
        expect(syscall2(SYS_munmap, at, middle * PAGE) == 0);
    if (middle + 1 < pages)
        expect(syscall2(SYS_munmap, at + (int64_t)((middle + 1) * PAGE),
                        (pages - middle - 1) * PAGE) == 0);
}

static void *child(void *arg)
{
    char *text = malloc(3000);

    expect(text != NULL);
    if (text) {
        memset(text, (int)(uintptr_t)arg, 3000);
        expect(text[2999] == (char)(uintptr_t)arg);
        free(text);
    }
    __atomic_fetch_add(&children, 1, __ATOMIC_RELAXED);
    return arg;
}

static void *detached_child(void *arg)
{
    (void)arg;
    __atomic_fetch_add(&detached_done, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void bear_children(struct worker *w)
{
    pthread_t t[3];
    unsigned n = 0;

    while (n < 3 && pthread_create(&t[n], NULL, child, (void *)(uintptr_t)(n + 7)) == 0)
        n++;
    for (unsigned i = 0; i < n; i++) {
        void *result = NULL;
        expect(pthread_join(t[i], &result) == 0 && (uintptr_t)result == i + 7);
    }
    w->born += n;
}

static void doze(struct worker *w)
{
    uint64_t before = clock_ns(), ns = next_random(&w->state) % 1500000;

    sleep_ns(ns);
    expect(clock_ns() - before >= ns);
    w->slept++;
}

static void wander(struct worker *w)
{
    const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t mask, all;

    all = UINT64_MAX >> (64 - cpus);
    mask = (uint64_t)1 << next_random(&w->state) % cpus;
    expect(syscall3(SYS_sched_setaffinity, 0, sizeof mask, &mask) == 0);
    syscall0(SYS_sched_yield);
    expect((mask >> sched_getcpu() & 1) == 1);
    expect(syscall3(SYS_sched_setaffinity, 0, sizeof all, &all) == 0);
}

static void (*const deeds[])(struct worker *) = {count_under_lock, pass_token, churn_memory,
                                                 bear_children,    doze,       wander};
#define DEEDS (sizeof deeds / sizeof deeds[0])

/* All threads add to the same fresh pages at the same moment: if two of them got different frames,
 * sums are short. */
static void fault_together(void)
{
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        int64_t at = (int64_t)memory_map("common", COMMON * PAGE);
        expect(at > 0);
        common = (uint32_t *)at;
    }
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < COMMON; i++)
        __atomic_fetch_add(common + i * (PAGE / 4), 1, __ATOMIC_RELAXED);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        for (unsigned i = 0; i < COMMON; i++)
            expect(common[i * (PAGE / 4)] == threads);
        expect(syscall2(SYS_munmap, common, COMMON * PAGE) == 0);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;

    for (unsigned r = 0; r < rounds; r++) {
        fault_together();
        for (unsigned i = 0; i < 4; i++)
            deeds[next_random(&w->state) % DEEDS](w);
    }
    return NULL;
}

static void *one_detached(void *arg)
{
    pthread_attr_t attr;
    pthread_t t;

    (void)arg;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (unsigned i = 0; i < 20; i++)
        expect(pthread_create(&t, &attr, detached_child, NULL) == 0);
    return NULL;
}

static int stress(void)
{
    struct worker sum = {0};
    pthread_t maker;
    unsigned started = 0;

    pthread_barrier_init(&barrier, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        workers[i].state = (seed + i) * 0x9e3779b97f4a7c15;
        started += pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    if (!tap_check(started == threads, "%u of %u threads started", started, threads))
        return tap_done();
    tap_check(pthread_create(&maker, NULL, one_detached, NULL) == 0,
              "one that makes detached threads started");
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum.increments += workers[i].increments;
        sum.given += workers[i].given;
        sum.got += workers[i].got;
        sum.born += workers[i].born;
        sum.slept += workers[i].slept;
    }
    pthread_join(maker, NULL);
    for (unsigned i = 0; i < 1000 && __atomic_load_n(&detached_done, __ATOMIC_RELAXED) < 20; i++)
        sleep_ns(10000000);
    tap_check(guarded == sum.increments, "%llu increments under a lock, %llu counted",
              (unsigned long long)sum.increments, (unsigned long long)guarded);
    tap_check(handed == sum.given && taken == sum.got && taken <= handed,
              "%llu tokens given, %llu taken", (unsigned long long)handed,
              (unsigned long long)taken);
    tap_check(children == sum.born && sum.born > 0, "%llu children born, %u lived",
              (unsigned long long)sum.born, children);
    tap_check(detached_done == 20, "%u of 20 detached threads ran", detached_done);
    tap_check(sum.slept > 0, "%llu sleeps, none too short", (unsigned long long)sum.slept);
    tap_check(wrong == 0, "%u surprises", wrong);
    return tap_done();
}

/* ---- Ending in the middle of everything ------------------------------------------------------ */

static void *nothing(void *arg)
{
    return arg;
}

static void *linger(void *arg)
{
    static uint32_t never;
    pthread_attr_t detached;
    pthread_t t;

    switch ((uintptr_t)arg % 5) {
    case 0:
        for (;;)
            futex_wait(&never, 0);
    case 1:
        for (;;)
            sleep_ns((uint64_t)3600 * 1000000000);
    case 2:
        for (;;)
            __asm__ volatile("" : : : "memory");
    case 3:
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        for (;;)
            pthread_create(&t, &detached, nothing, NULL);
    default:
        for (;;) {
            int64_t at = (int64_t)memory_map("linger", 16 * PAGE);
            for (unsigned i = 0; at > 0 && i < 16; i++)
                *(volatile char *)(at + i * PAGE) = 1;
            syscall2(SYS_munmap, at, 16 * PAGE);
        }
    }
    return NULL;
}

static int end_amid(unsigned n)
{
    pthread_t t;

    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&t, NULL, linger, (void *)(uintptr_t)i)) {
            printf("stress: thread %u refused\n", i);
            return 1;
        }
    sleep_ns(50000000);
    printf("stress: ending amid %u threads\n", n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "exit") == 0)
        return end_amid((unsigned)strtoul(argv[2], NULL, 10));
    if (argc > 1)
        threads = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        rounds = (unsigned)strtoul(argv[2], NULL, 10);
    if (argc > 3)
        seed = strtoull(argv[3], NULL, 10);
    if (!threads || threads > THREADS_MAX || !rounds || !seed) {
        printf("stress: threads 1..%d, rounds and seed from 1\n", THREADS_MAX);
        return 2;
    }
    return stress();
}
