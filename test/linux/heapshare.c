/*
 * Two threads on two chips that count in objects of the heap, which two functions have allocated:
 * neighbours, which share a cache line, or, with the argument `apart`, not.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 600000, ON_ANOTHER_CHIP = 4, APART = 256 };

struct counter {
    volatile long n;
};
static struct counter *counters[2];

static __attribute__((noinline)) struct counter *make_left(size_t bytes)
{
    return malloc(bytes);
}

static __attribute__((noinline)) struct counter *make_right(size_t bytes)
{
    return calloc(1, bytes);
}

static void *count(void *arg)
{
    long i = (long)arg;
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(i ? ON_ANOTHER_CHIP : 0, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
    for (int k = 0; k < ROUNDS; k++) {
        counters[i]->n++;
        for (volatile int work = 0; work < 3; work++)
            ;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? APART : sizeof(struct counter);
    pthread_t thread[2];

    (void)argv;
    counters[0] = make_left(bytes);
    counters[1] = make_right(bytes);
    counters[0]->n = counters[1]->n = 0;
    for (long i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, count, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("%ld\n", counters[0]->n + counters[1]->n);
    return 0;
}
