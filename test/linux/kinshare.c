/*
 * A process and its child, on two chips, that count in memory that they share, mapped at addresses
 * of their own: side by side in a cache line, or, with the argument `apart`, not. Each counts in
 * memory of its own at one address, too, which they do not share.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 2000000, ON_ANOTHER_CHIP = 4, APART = 64, PAGE = 4096 };

static volatile long own __attribute__((aligned(256)));

static __attribute__((noinline)) void count(volatile long *n, unsigned cpu)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
    for (int i = 0; i < ROUNDS; i++) {
        (*n)++;
        own++;
        for (volatile int work = 0; work < 3; work++)
            ;
    }
}

static volatile long *map(int file)
{
    return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

int main(int argc, char **argv)
{
    size_t other = argc > 1 && !strcmp(argv[1], "apart") ? APART : 1;
    int file = memfd_create("shared", 0), status = 1;
    volatile long *mine = ftruncate(file, PAGE) ? MAP_FAILED : map(file);
    pid_t child = mine == MAP_FAILED ? -1 : fork();

    if (!child) {
        volatile long *at = map(file); /* the parent's is still where it was */
        count(at + other, ON_ANOTHER_CHIP);
        _exit(at == mine);
    }
    if (child < 0)
        return 1;
    count(mine, 0);
    waitpid(child, &status, 0);
    printf("%ld %ld %d\n", mine[0], mine[other], status);
    return mine[0] != ROUNDS || mine[other] != ROUNDS || status;
}
