/*
 * Measures how promptly threads run while every CPU is busy, in the machine's own time: the
 * lateness of a sleeper, the shares that contenders get of a mutex, and a round trip between two
 * threads by condition variable.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "apps/common/args.h"
#include "apps/common/histogram.h"

enum what { WHAT_SLEEP, WHAT_MUTEX, WHAT_SIGNAL };
static const char *const what_names[] = {"sleep", "mutex", "signal", NULL};

enum { THREADS_MAX = 256, NS_PER_S = 1000000000 };

static unsigned what;
static uint64_t busy = 16, threads = 16, period_us = 20000, run_ms = 1000, inside = 50,
                outside = 50;

/* One thread, on lines of its own. */
struct member {
    alignas(128) pthread_t thread;
    unsigned side; /* of a pair */
    uint64_t ops;
    struct histogram late; /* of waking, taking the mutex, or a round */
};
static struct member members[THREADS_MAX], workers[THREADS_MAX];

static atomic_bool stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned turn;    /* mutex */
static uint64_t counted; /* mutex */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec rest = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

    while (nanosleep(&rest, &rest))
        ;
}

static void work(uint64_t steps)
{
    for (volatile uint64_t i = 0; i < steps; i++)
        ;
}

static bool running(void)
{
    return !atomic_load_explicit(&stop, memory_order_relaxed);
}

static void *be_busy(void *argument)
{
    struct member *self = argument;

    while (running()) {
        work(100);
        self->ops++;
    }
    return NULL;
}

/* Measures how late the thread runs after a sleep. */
static void *wake_up(void *argument)
{
    struct member *self = argument;

    while (running()) {
        uint64_t due = now_ns() + period_us * 1000;
        sleep_ns(period_us * 1000);
        histogram_record(&self->late, now_ns() - due);
        self->ops++;
    }
    return NULL;
}

/* Measures how long taking the mutex takes, and how often the thread gets it. */
static void *contend(void *argument)
{
    struct member *self = argument;

    while (running()) {
        uint64_t before = now_ns();
        pthread_mutex_lock(&mutex);
        histogram_record(&self->late, now_ns() - before);
        counted++;
        work(inside);
        pthread_mutex_unlock(&mutex);
        self->ops++;
        work(outside);
    }
    return NULL;
}

/* The first of the pair times a round trip. The turn is always passed on, so neither waits for
 * ever. */
static void *play(void *argument)
{
    struct member *self = argument;
    uint64_t before = now_ns();

    pthread_mutex_lock(&mutex);
    while (running()) {
        while (turn != self->side)
            pthread_cond_wait(&changed, &mutex);
        if (self->ops++ && self->side == 0)
            histogram_record(&self->late, now_ns() - before);
        before = now_ns();
        turn = !self->side;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *(*const role[])(void *) = {
    [WHAT_SLEEP] = wake_up, [WHAT_MUTEX] = contend, [WHAT_SIGNAL] = play};

static void create_thread(struct member *list, uint64_t count, void *(*start)(void *))
{
    for (uint64_t i = 0; i < count; i++) {
        list[i].side = i % 2;
        int error = pthread_create(&list[i].thread, NULL, start, &list[i]);
        if (error) {
            fprintf(stderr, "latency: creation of thread %u failed: %s\n", (unsigned)i,
                    strerror(error));
            exit(1);
        }
    }
}

static void join(struct member *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        pthread_join(list[i].thread, NULL);
}

static int print_report(void)
{
    static struct histogram all;
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    char line[320];

    for (uint64_t i = 0; i < threads; i++) {
        uint64_t ops = members[i].ops;
        least = ops < least ? ops : least;
        most = ops > most ? ops : most;
        sum += ops;
        histogram_merge(&all, &members[i].late);
    }
    bool right = what != WHAT_MUTEX || counted == sum;
    snprintf(line, sizeof line,
             "RESULT app=latency what=%s threads=%" PRIu64 " busy=%" PRIu64 " ops=%" PRIu64
             " least=%" PRIu64 " most=%" PRIu64 " ratio_permille=%" PRIu64 " p50_ns=%" PRIu64
             " p99_ns=%" PRIu64 " max_ns=%" PRIu64 " check=%s\n",
             what_names[what], threads, busy, sum, least, most, least ? most * 1000 / least : 0,
             histogram_permille_ns(&all, 500), histogram_permille_ns(&all, 990), all.max_ns,
             right ? "ok" : "mutex_count");
    fputs(line, stdout);
    fflush(stdout);
    return right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct args_entry entries[] = {
        {"what", ARGS_CHOICE, &what, 0, 0, what_names,
         "sleepers, contenders for a mutex, or a pair that signals"},
        {"threads", ARGS_NUMBER, &threads, 1, THREADS_MAX, NULL,
         "sleepers or contenders; a pair are two"},
        {"busy", ARGS_NUMBER, &busy, 0, THREADS_MAX, NULL, "threads that only compute beside them"},
        {"period", ARGS_NUMBER, &period_us, 1, 1000000, NULL,
         "what=sleep: how long to sleep, microseconds"},
        {"inside", ARGS_NUMBER, &inside, 0, 1000000, NULL,
         "what=mutex: steps of work with the mutex"},
        {"outside", ARGS_NUMBER, &outside, 0, 1000000, NULL,
         "what=mutex: steps of work without it"},
        {"ms", ARGS_NUMBER, &run_ms, 1, 3600000, NULL, "duration in milliseconds"},
    };
    static const struct args_table table = {"latency", "how promptly threads run", entries,
                                            sizeof entries / sizeof entries[0]};

    args_parse_or_exit(&table, argc, argv);
    if (what == WHAT_SIGNAL)
        threads = 2;
    create_thread(workers, busy, be_busy);
    create_thread(members, threads, role[what]);
    sleep_ns(run_ms * 1000000);
    atomic_store(&stop, true);
    join(members, threads);
    join(workers, busy);
    return print_report();
}
