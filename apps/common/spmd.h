/*
 * A program on large arrays: threads that all do the same on shares of them, phase by phase, with a
 * barrier between phases (single program, multiple data). Everything follows from the arguments,
 * and is checked at the end.
 *
 * Work is dealt out in SPMD_CHUNKS chunks whatever the number of threads is, and sums are added up
 * by chunk, so that results do not depend on the number of threads, to the last bit.
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

/* A program: the same calls for all of them, in the order given. */
struct spmd_program {
    const char *name, *what;
    /* Its state: holds the arguments' defaults before the first call, and gets them back after the
     * last. */
    void *context;
    size_t context_bytes;
    /* Its own arguments. The first is an ARGS_NUMBER, the size, which must be a multiple of
     * *size_step, and by which bytes grows. */
    const struct args_entry *entries;
    size_t entry_count;
    const uint64_t *size_step;
    /* What ranges cannot say about the arguments. 0, or -1 with a line in why. */
    int (*accept)(const struct spmd_run *run, char *why, size_t size);
    /* Of all arrays, with the arguments as they are. */
    uint64_t (*bytes)(const struct spmd_run *run);
    /* Takes the arrays, by spmd_array. Main thread, once. */
    void (*prepare)(struct spmd_run *run);
    /* Initial data. Each thread, once. */
    void (*fill)(struct spmd_thread *t);
    /* The work. Each thread, run->rounds times. */
    void (*round)(struct spmd_thread *t);
    /* Changes one element of the result, at random: the check must see it. Main thread, after all
     * rounds. */
    void (*spoil)(struct spmd_run *run, struct prng *prng);
    /* NULL, or the name of the law that was found broken, one word. Calls spmd_result, sets
     * run->error. Main thread, at the end. */
    const char *(*check)(struct spmd_run *run);
    /* Operations of a round, as the program's documentation counts them. */
    uint64_t (*ops)(const struct spmd_run *run);
};

/* Defines id_program by what its file calls as the fields above are called, and its state,
 * id_state. */
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
    }

struct spmd_thread {
    alignas(ARENA_LINE) struct spmd_run *run;
    unsigned index, count; /* this one, of so many */
    uint64_t round;        /* from 0 */
    unsigned sums;         /* added up so far */
    pthread_t handle;
};

struct spmd_run {
    const struct spmd_program *program;
    uint64_t threads, seed, rounds, mb, marks, spoil; /* arguments all these programs have */
    uint64_t bytes;                                   /* mapped */
    uint64_t ns;                                      /* of all rounds */
    double error;          /* the largest deviation that the check met, relative to what is exact */
    uint64_t sum;          /* of all results */
    const char *violation; /* what check returned */
    uint64_t start_ns;
    void *defaults; /* of the context */
    pthread_barrier_t barrier;
    double partial[2][SPMD_CHUNKS]; /* sums by chunk, in turns */
    unsigned arrays;
    struct spmd_array {
        void *at;
        size_t bytes;
    } array[SPMD_ARRAYS_MAX];
    struct spmd_thread thread[SPMD_THREADS_MAX];
};

/* ---- For programs ---------------------------------------------------------------------------- */

/* A zeroed array, page-aligned: a memory region of that name (up to 15 characters). Ends the
 * program with a message when there is no memory. */
void *spmd_array(struct spmd_run *run, const char *name, size_t bytes);

/* Everybody has come here. */
void spmd_barrier(struct spmd_thread *t);

/* The same, and with marks=1 it is named: one word. */
void spmd_phase(struct spmd_thread *t, const char *name);

/* The thread's share of n: from..to-1. */
void spmd_share(const struct spmd_thread *t, size_t n, size_t *from, size_t *to);

/* The sum of part(arg, from, to) over all chunks from..to-1 of n, the same on all threads, which
 * must all call it: a barrier. */
double spmd_sum(struct spmd_thread *t, size_t n, double (*part)(void *arg, size_t from, size_t to),
                void *arg);

/* Takes results into the run's sum; order counts. */
void spmd_result(struct spmd_run *run, uint64_t value);
void spmd_results(struct spmd_run *run, const double *values, size_t count);

/* Adds 1/1024 to one of them. */
void spmd_spoil(double *values, size_t count, struct prng *prng);

/* ---- For main, and for tests, in this order -------------------------------------------------- */

/* Reads the arguments. 0, or -1 with a line in why. spmd_end is due in both cases. */
int spmd_begin(struct spmd_run *run, const struct spmd_program *program, int argc, char **argv,
               char *why, size_t size);
/* Arrays, threads, rounds; then the check, whose verdict is in run->violation. */
void spmd_work(struct spmd_run *run);
void spmd_check(struct spmd_run *run);
/* Gives the arrays back, and the program its defaults. */
void spmd_end(struct spmd_run *run);

/* All of it, with a RESULT line. The exit status for main. */
int spmd_main(const struct spmd_program *program, int argc, char **argv);
