/*
 * A program on large arrays: threads that all do the same on shares of them, phase by phase, with a
 * barrier between phases (single program, multiple data). All results follow from the arguments and
 * are checked at the end.
 *
 * Work is divided into SPMD_CHUNKS chunks for any number of threads, and sums are added by chunk,
 * so that results do not depend on the number of threads, to the last bit.
 */
#pragma once
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/args.h"
#include "apps/common/prng.h"

enum { SPMD_THREADS_MAX = 64, SPMD_CHUNKS = 64, SPMD_ARRAYS_MAX = 16 };

struct spmd_run;
struct spmd_thread;

/* A program. Its functions are called in this order. */
struct spmd_program {
    const char *name, *what;
    /* Its state: holds the arguments' defaults before the first call, and gets them back after the
     * last. */
    void *context;
    size_t context_bytes;
    /* Its own arguments. The first is the size, an ARGS_NUMBER that must be a multiple of
     * *size_step; bytes() grows with it. */
    const struct args_entry *entries;
    size_t entry_count;
    const uint64_t *size_step;
    /* Checks what ranges cannot express about the arguments. Returns 0, or -1 with a line in
     * `why`. */
    int (*accept)(const struct spmd_run *run, char *why, size_t size);
    /* Returns the bytes of all arrays for the present arguments. */
    uint64_t (*bytes)(const struct spmd_run *run);
    /* Takes the arrays by spmd_array(). Main thread, once. */
    void (*prepare)(struct spmd_run *run);
    /* Fills in initial data. Each thread, once. */
    void (*fill)(struct spmd_thread *t);
    /* Does the work. Each thread, run->rounds times. */
    void (*round)(struct spmd_thread *t);
    /* Changes one random element of the result, which the check must find. Main thread, after all
     * rounds. */
    void (*spoil)(struct spmd_run *run, struct prng *prng);
    /* Returns NULL, or the name of a broken law, one word. Calls spmd_result(), sets run->error.
     * Main thread, at the end. */
    const char *(*check)(struct spmd_run *run);
    /* Returns the operations of a round, as the program's documentation counts them. */
    uint64_t (*ops)(const struct spmd_run *run);
};

/* Defines id_program from the functions of the file, named like the members above (`round_of` for
 * `round`), and its state id_state; and names it the program of spmd_main.c. A test that links
 * several programs does not use that name, so it is weak. */
#define SPMD_PROGRAM(id, step, about)                    \
    const struct spmd_program id##_program = {           \
        .name = #id,                                     \
        .what = about,                                   \
        .context = &id##_state,                          \
        .context_bytes = sizeof id##_state,              \
        .entries = entries,                              \
        .entry_count = sizeof entries / sizeof *entries, \
        .size_step = step,                               \
        .accept = accept,                                \
        .bytes = bytes,                                  \
        .prepare = prepare,                              \
        .fill = fill,                                    \
        .round = round_of,                               \
        .spoil = spoil,                                  \
        .check = check,                                  \
        .ops = ops,                                      \
    };                                                   \
    __attribute__((weak)) const struct spmd_program *const spmd_only_program = &id##_program

struct spmd_thread {
    alignas(ARENA_LINE) struct spmd_run *run;
    unsigned index, count; /* this thread's number; the number of threads */
    uint64_t round;        /* from 0 */
    unsigned sums;         /* sums computed so far */
    pthread_t handle;
};

struct spmd_run {
    const struct spmd_program *program;
    uint64_t threads, seed, rounds, mb, marks, spoil; /* arguments of all these programs */
    uint64_t bytes;                                   /* mapped */
    uint64_t ns;                                      /* of all rounds */
    double error;          /* largest deviation that the check met, relative to the exact value */
    uint64_t sum;          /* of all results */
    const char *violation; /* result of check() */
    uint64_t start_ns;
    void *defaults; /* of the context */
    pthread_barrier_t barrier;
    double partial[2][SPMD_CHUNKS]; /* sums by chunk, in alternate sets */
    unsigned arrays;
    struct spmd_array {
        void *at;
        size_t bytes;
    } array[SPMD_ARRAYS_MAX];
    struct spmd_thread thread[SPMD_THREADS_MAX];
};

/* ---- For programs ---------------------------------------------------------------------------- */

/* Takes a zeroed, page-aligned array, a memory region of that name (up to 15 characters). Ends the
 * program with a message if there is no memory. */
void *spmd_array(struct spmd_run *run, const char *name, size_t bytes);

/* Waits until all threads have called it. */
void spmd_barrier(struct spmd_thread *t);

/* Waits likewise, and with marks=1 sets a mark: one word. */
void spmd_phase(struct spmd_thread *t, const char *name);

/* Returns the thread's share of n: from..to-1. */
void spmd_share(const struct spmd_thread *t, size_t n, size_t *from, size_t *to);

/* Returns the sum of part(arg, from, to) over all chunks from..to-1 of n, the same in all threads.
 * All threads must call it: it is a barrier. */
double spmd_sum(struct spmd_thread *t, size_t n, double (*part)(void *arg, size_t from, size_t to),
                void *arg);

/* Adds results to the run's sum; order counts. */
void spmd_result(struct spmd_run *run, uint64_t value);
void spmd_results(struct spmd_run *run, const double *values, size_t count);

/* Adds 1/1024 to a random value. */
void spmd_spoil(double *values, size_t count, struct prng *prng);

/* ---- For main, and for tests, in this order -------------------------------------------------- */

/* Reads the arguments. Returns 0, or -1 with a line in `why`. spmd_end() must follow in both
 * cases. */
int spmd_begin(struct spmd_run *run, const struct spmd_program *program, int argc, char **argv,
               char *why, size_t size);
/* spmd_work() takes the arrays and runs threads and rounds. spmd_check() checks; its verdict is in
 * run->violation. */
void spmd_work(struct spmd_run *run);
void spmd_check(struct spmd_run *run);
/* Frees the arrays and restores the program's defaults. */
void spmd_end(struct spmd_run *run);

/* The program that SPMD_PROGRAM has defined, where there is one. */
extern const struct spmd_program *const spmd_only_program;
/* Does all of this and prints a RESULT line. Returns the exit status for main(). */
int spmd_main(const struct spmd_program *program, int argc, char **argv);
