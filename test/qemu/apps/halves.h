/* The first and the last half of the CPUs: of a machine of two chips, these. */
#pragma once
#include <pthread.h>
#include <unistd.h>

enum { HALF_FIRST, HALF_LAST, HALF_BOTH };

/* Lets the calling thread run on that half of the CPUs, or on both. */
static inline void half_run_on(unsigned half)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int cpu = 0; cpu < cpus; cpu++)
        if (half == HALF_BOTH || half == (cpu >= cpus / 2))
            CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Returns the half on which the calling thread runs now. cpus: of the machine; asking for their
 * number takes several system calls. */
static inline unsigned half_now(long cpus)
{
    return sched_getcpu() >= cpus / 2;
}
