/*
 * Where threads run: THREADS of them, all busy, in GROUPS that are stated in turn, say after MS
 * milliseconds on which CPU they are. `where THREADS GROUPS MS`; GROUPS 0: none is stated.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "apps/libc/hpm.h"

#define THREADS_MAX 64

static unsigned groups, ms;
static int cpu_of[THREADS_MAX];

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *be_busy(void *arg)
{
    unsigned i = (unsigned)(uintptr_t)arg;
    uint64_t end = now_ns() + ms * 1000000ull;

    if (groups)
        hpm_group((int)(i % groups));
    while (now_ns() < end)
        ;
    cpu_of[i] = sched_getcpu();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    unsigned threads = argc == 4 ? (unsigned)atoi(argv[1]) : 0;

    if (!threads || threads > THREADS_MAX) {
        fprintf(stderr, "where: expected THREADS (1..%d) GROUPS MS\n", THREADS_MAX);
        return 2;
    }
    groups = (unsigned)atoi(argv[2]);
    ms = (unsigned)atoi(argv[3]);
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, be_busy, (void *)(uintptr_t)i))
            return 1;
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < threads; i++)
        printf("RESULT where thread=%u group=%d cpu=%d\n", i, groups ? (int)(i % groups) : -1,
               cpu_of[i]);
    return 0;
}
