/* A program that is measured: it runs beside the caller, who sleeps, looks, and sleeps again until
 * it has ended. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct program {
    int pid; /* 0: none was started */
    pthread_t waiter;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ended; /* lock */
    int status; /* lock */
    struct timespec began;
};

/* Begins, without a program if argc is 0. 0; -Exxx, and a line on the console of what is not a
 * matter of threads. */
int program_begin(struct program *p, char *const *argv, int argc);
/* Sleeps so long, or until the program has ended: then false. */
bool program_sleep(struct program *p, uint64_t ms);
/* Since it began. */
double program_ms(const struct program *p);
/* Sleeps until it has ended. Its exit status; 0 without one. */
int program_end(struct program *p);
