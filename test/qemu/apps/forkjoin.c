/*
 * Threads that wait for each other in a known way, between the marks "begin" and "end":
 *   forkjoin [rounds]   default 5
 * In each round main starts four threads app-0 ... app-3, of which app-3 computes longest; when all
 * have stopped, gc-0 works while they wait, as in a collection that stops the world; then gc-0 lets
 * main go on. So the path from begin to end leads through main, app-3 and gc-0 only.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "apps/libc/hpm.h"
#include "apps/libc/syscall.h"

#define APPS       4
#define STEPS      20000 /* of app-0 in a round */
#define ROUNDS_MAX 1000
#define SET_NAME   15 /* PR_SET_NAME */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Of gc-0; of all others, so that nothing but its turn wakes a thread in a pause. */
static pthread_cond_t all_stopped = PTHREAD_COND_INITIALIZER, go_on = PTHREAD_COND_INITIALIZER;
static unsigned rounds = 5;
static unsigned started, stopped, collected; /* under lock: rounds, app threads, rounds */

static void set_name(const char *name)
{
    syscall2(SYS_prctl, SET_NAME, name);
}

static void compute(unsigned steps)
{
    for (volatile unsigned i = 0; i < steps; i++)
        ;
}

static void wait_for(pthread_cond_t *changed, const unsigned *value, unsigned least)
{
    while (*value < least)
        pthread_cond_wait(changed, &lock);
}

static void *run_app(void *number)
{
    uintptr_t n = (uintptr_t)number;
    char name[16];

    snprintf(name, sizeof name, "app-%u", (unsigned)n);
    set_name(name);
    for (unsigned round = 1; round <= rounds; round++) {
        pthread_mutex_lock(&lock);
        wait_for(&go_on, &started, round);
        pthread_mutex_unlock(&lock);
        compute((unsigned)(n == APPS - 1 ? 10 : n + 1) * STEPS);
        pthread_mutex_lock(&lock);
        if (++stopped == round * APPS)
            pthread_cond_signal(&all_stopped);
        wait_for(&go_on, &collected, round);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *run_gc(void *unused)
{
    set_name("gc-0");
    for (unsigned round = 1; round <= rounds; round++) {
        pthread_mutex_lock(&lock);
        wait_for(&all_stopped, &stopped, round * APPS);
        pthread_mutex_unlock(&lock);
        compute(3 * STEPS);
        pthread_mutex_lock(&lock);
        collected = round;
        pthread_cond_broadcast(&go_on);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[APPS + 1];

    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    if (argc > 2 || !rounds || rounds > ROUNDS_MAX) {
        fprintf(stderr, "forkjoin: a number of rounds from 1 to %u is expected\n", ROUNDS_MAX);
        return 2;
    }
    set_name("main");
    for (uintptr_t i = 0; i <= APPS; i++)
        if (pthread_create(&thread[i], NULL, i < APPS ? run_app : run_gc, (void *)i)) {
            fprintf(stderr, "forkjoin: no memory for %u threads\n", APPS + 1);
            return 1;
        }
    hpm_mark("begin");
    for (unsigned round = 1; round <= rounds; round++) {
        pthread_mutex_lock(&lock);
        started = round;
        pthread_cond_broadcast(&go_on);
        wait_for(&go_on, &collected, round);
        pthread_mutex_unlock(&lock);
    }
    hpm_mark("end");
    for (unsigned i = 0; i <= APPS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
