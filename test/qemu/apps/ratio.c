/*
 * What samples of it must be is known:
 *
 *   ratio ROUNDS [THREADS]   each thread spends three quarters of its instructions, and of its
 *   cycles, in three_parts(), the rest in one_part()
 *   ratio calls N            3 N system calls from three_calls(), N from one_call()
 *   ratio bursts N           N times some 300 us of the same work, and a sleep
 *   ratio pages N            touches N pages of a region called "touched", a line of each, again
 *   and again
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "apps/libc/libc.h"
#include "apps/libc/memory.h"
#include "apps/libc/syscall.h"

enum { PART = 1000 /* on average */, THREADS_MAX = 16, PAGE = 4096, LAPS = 200 };

/* Assembly: n times the same two instructions. */
void three_parts(uint64_t n);
void one_part(uint64_t n);

static unsigned long rounds;

/* Rounds differ in length by chance: were they all alike, many samples as far apart as each other
 * could all be at one place of them. */
static void *work(void *unused)
{
    uint32_t random = 1;

    for (unsigned long i = 0; i < rounds; i++) {
        random = random * 1664525 + 1013904223; /* Numerical Recipes, section 7.1 */
        uint64_t part = PART / 2 + random / 65536 % PART;
        three_parts(3 * part);
        one_part(part);
    }
    return unused;
}

static __attribute__((noinline)) void three_calls(void)
{
    syscall0(SYS_getpid);
    syscall0(SYS_getpid);
    syscall0(SYS_getpid);
}

static __attribute__((noinline)) void one_call(void)
{
    syscall0(SYS_gettid);
}

static void make_calls(unsigned long n)
{
    while (n--) {
        three_calls();
        one_call();
    }
}

static void work_in_bursts(unsigned long n)
{
    rounds = 80;
    while (n--) {
        work(NULL);
        sleep_ns(300000);
    }
}

static int touch(unsigned long pages)
{
    int64_t at = (int64_t)memory_map("touched", pages * PAGE);

    for (unsigned lap = 0; at > 0 && lap < LAPS; lap++)
        for (unsigned long i = 0; i < pages; i++)
            *(volatile char *)((uint64_t)at + i * PAGE + i % 32 * 128) = 1;
    return !at;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    pthread_t thread[THREADS_MAX];

    if (argc > 2 && !strcmp(argv[1], "calls")) {
        make_calls(strtoul(argv[2], NULL, 10));
        return 0;
    }
    if (argc > 2 && !strcmp(argv[1], "bursts")) {
        work_in_bursts(strtoul(argv[2], NULL, 10));
        return 0;
    }
    if (argc > 2 && !strcmp(argv[1], "pages"))
        return touch(strtoul(argv[2], NULL, 10));
    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (threads > THREADS_MAX)
        return 2;
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, NULL))
            return 2;
    work(NULL);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
