/*
 * Mutexes of the applications under Linux. glibc's default mutex sleeps as soon as it finds the
 * lock held; its adaptive one spins a while before, as Vigil's does. The environment variable
 * HPM_MUTEX chooses the mutexes that pthread_mutex_init() makes:
 *   unset or default   those that the program asks for
 *   adaptive           PTHREAD_MUTEX_ADAPTIVE_NP where the program asks for none
 * Any other value ends the program. Linked with --wrap=pthread_mutex_init.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_BAD_SETTING = 2 };

int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);

static bool adaptive(void)
{
    const char *kind = getenv("HPM_MUTEX");

    if (!kind || strcmp(kind, "default") == 0)
        return false;
    if (strcmp(kind, "adaptive") == 0)
        return true;
    fprintf(stderr,
            "environment variable HPM_MUTEX: '%s' cannot be used: accepted are default, adaptive\n",
            kind);
    exit(EXIT_BAD_SETTING);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    pthread_mutexattr_t spinning;

    if (attributes || !adaptive())
        return __real_pthread_mutex_init(mutex, attributes);
    pthread_mutexattr_init(&spinning);
    pthread_mutexattr_settype(&spinning, PTHREAD_MUTEX_ADAPTIVE_NP);
    int err = __real_pthread_mutex_init(mutex, &spinning);
    pthread_mutexattr_destroy(&spinning);
    return err;
}
