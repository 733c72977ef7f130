/*
 * Planted contention, for tools that look for it. Threads do a fixed number of rounds; in each they
 *
 * - count in their own statistics, which lie in one line for all threads: false sharing;
 * - write their own array, the first two of them: arrays that meet in one line: false sharing;
 * - add to one counter: true sharing;
 * - work on private data.
 *
 * With pad=1 statistics and arrays have lines of their own; the counter stays shared.
 *
 * Invariants, checked at the end: statistics, arrays and counter add up to the rounds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_SET, under Linux */
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "apps/common/args.h"
#include "apps/common/prng.h"
#include "apps/libc/hpm.h"

enum { LINE = 128, THREADS_MAX = 8, WORDS = 12, PADDED_WORDS = 16, ROUND_WORDS = 5 };

struct statistics {
    volatile uint64_t requests;
    volatile uint32_t bytes, errors;
};
#define STATISTICS_PER_LINE (LINE / sizeof(struct statistics))
_Static_assert(THREADS_MAX <= STATISTICS_PER_LINE, "one line has the statistics of all threads");

static alignas(LINE) struct statistics statistics[THREADS_MAX * STATISTICS_PER_LINE];
static alignas(LINE) volatile uint64_t arrays[2 * PADDED_WORDS];
static struct {
    alignas(LINE) _Atomic uint64_t n;
} counter;

static struct worker {
    alignas(LINE) unsigned index;
    struct statistics *mine;
    volatile uint64_t *array; /* NULL: it has none */
    struct prng prng;
    pthread_t thread;
} workers[THREADS_MAX];

static uint64_t threads = 4, rounds = 20000, work = 40, pad, seed = 1;
static struct args_list cpus;
static const struct args_entry entries[] = {
    {"threads", ARGS_NUMBER, &threads, 2, THREADS_MAX, NULL, "threads"},
    {"rounds", ARGS_NUMBER, &rounds, 1, 1000000000, NULL, "rounds of each thread"},
    {"work", ARGS_NUMBER, &work, 0, 1000000, NULL, "private steps of a round, on average"},
    {"pad", ARGS_NUMBER, &pad, 0, 1, NULL,
     "1: puts each variable of one thread on lines of its own"},
    {"cpus", ARGS_LIST, &cpus, 0, 63, NULL,
     "CPUs of the threads, in turn; without it the scheduler places them"},
    {"seed", ARGS_NUMBER, &seed, 0, UINT32_MAX, NULL, "of the private work"},
};
static const struct args_table table = {"falseshare",
                                        "planted false sharing, true sharing, and a control",
                                        entries, sizeof entries / sizeof entries[0]};
static pthread_barrier_t barrier;

static __attribute__((noinline)) void use_statistics(struct statistics *mine)
{
    mine->requests++;
    mine->bytes += 64;
}

static __attribute__((noinline)) void use_array(volatile uint64_t *array, uint64_t round)
{
    for (uint64_t i = 0; i < ROUND_WORDS; i++)
        array[(round * ROUND_WORDS + i) % WORDS]++;
}

static __attribute__((noinline)) void use_counter(void)
{
    atomic_fetch_add_explicit(&counter.n, 1, memory_order_relaxed);
}

/* Takes the rounds of different threads out of step. */
static __attribute__((noinline)) void use_private(struct prng *prng)
{
    for (uint64_t left = work ? prng_below(prng, (uint32_t)(2 * work + 1)) : 0; left; left--)
        prng_next(prng);
}

/* Puts the calling thread where the arguments say, or ends the program. */
static void go_to_cpu(unsigned index)
{
    cpu_set_t set;

    if (!cpus.count)
        return;
    CPU_ZERO(&set);
    CPU_SET(cpus.item[index % cpus.count], &set);
    int err = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (err)
        args_refuse(&table, "cpus", args_reason(err), "there is no CPU %" PRIu32,
                    cpus.item[index % cpus.count]);
}

static void *run(void *arg)
{
    struct worker *w = arg;
    struct prng prng = w->prng;

    go_to_cpu(w->index);
    pthread_barrier_wait(&barrier);
    if (!w->index)
        hpm_mark("start");
    for (uint64_t round = 0; round < rounds; round++) {
        use_statistics(w->mine);
        use_private(&prng);
        if (w->array)
            use_array(w->array, round);
        use_private(&prng);
        use_counter();
        use_private(&prng);
    }
    w->prng = prng;
    return NULL;
}

/* Returns NULL, or the name of a broken invariant. */
static const char *check(void)
{
    for (unsigned i = 0; i < threads; i++)
        if (workers[i].mine->requests != rounds ||
            workers[i].mine->bytes != (uint32_t)(64 * rounds) || workers[i].mine->errors)
            return "statistics";
    for (unsigned i = 0; i < 2; i++) {
        uint64_t sum = 0;
        for (unsigned w = 0; w < WORDS; w++)
            sum += workers[i].array[w];
        if (sum != rounds * ROUND_WORDS)
            return "arrays";
    }
    return counter.n == rounds * threads ? NULL : "counter";
}

static void start(unsigned i)
{
    struct worker *w = &workers[i];

    w->index = i;
    w->mine = &statistics[i * (pad ? STATISTICS_PER_LINE : 1)];
    w->array = i < 2 ? &arrays[i * (pad ? PADDED_WORDS : WORDS)] : NULL;
    w->prng = prng_seeded(seed, i);
    int err = pthread_create(&w->thread, NULL, run, w);
    if (err)
        args_refuse(&table, "threads", args_reason(err), "thread %u cannot be started", i);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
    args_parse_or_exit(&table, argc, argv);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    uint64_t began = now_ns();
    for (unsigned i = 0; i < threads; i++)
        start(i);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    uint64_t ns = now_ns() - began;
    hpm_mark("end");
    const char *violation = check();
    printf("RESULT app=falseshare threads=%" PRIu64 " rounds=%" PRIu64 " pad=%" PRIu64
           " seed=%" PRIu64 " ns=%" PRIu64 " check=%s\n",
           threads, rounds, pad, seed, ns, violation ? violation : "ok");
    return violation != NULL;
}
