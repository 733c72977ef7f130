/* Forks with recorded calls (test/tools/phases.t): a child records nothing and runs on, also while
 * other threads write; threads come and go. Prints what it did, and fails if a child does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3000, CHILDREN = 4, THREADS = 400 };
static volatile unsigned sum;

__attribute__((noinline)) static void step(unsigned n)
{
    sum += n;
}

__attribute__((noinline)) static void steps(unsigned n)
{
    while (n--)
        step(n);
}

static void *run(void *rounds)
{
    steps((unsigned)(size_t)rounds);
    return NULL;
}

static int child(void)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        steps(ROUNDS * 4); /* more than a buffer has room for */
        exit(7);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 7;
}

int main(void)
{
    unsigned good = 0;
    pthread_t t;
    struct rusage use;

    for (unsigned i = 0; i < CHILDREN; i++)
        good += child();
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&t, NULL, run, (void *)10) || pthread_join(t, NULL))
            return 2;
    getrusage(RUSAGE_SELF, &use);
    printf("children=%u kb=%ld\n", good, use.ru_maxrss);
    return good != CHILDREN;
}
