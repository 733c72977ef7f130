/*
 * A kind of work in phases that load a processor in different ways, repeated in rounds. Everything
 * a round computes follows from the job's seed, and is checked: what a round is wrong about ends
 * the program.
 */
#pragma once
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/prng.h"

/* One thread's work. Only that thread touches it while it works. */
struct phases_job {
    uint64_t size;    /* what it means is the kind's */
    bool marks;       /* name each phase by a mark */
    bool spoil;       /* flip a bit of the product before a check */
    struct prng prng; /* of every random choice */
    struct arena arena;
    void *data;           /* the kind's own, from prepare */
    void *product;        /* from prepare: computed by a round, looked at by its check */
    size_t product_bytes; /* not 0 */
    uint64_t sum;         /* of all results so far */
};

/* A kind: the same calls for all of them, from the job's thread. */
struct phases_kind {
    const char *name;
    const char *unit; /* what size counts */
    uint64_t size_default, size_min, size_max;
    /* Takes memory from the arena. Once, before the first round. */
    void (*prepare)(struct phases_job *job);
    /* All phases, the last of them "check". NULL, or the name of the law that was found broken,
     * one word. */
    const char *(*round)(struct phases_job *job);
};

/* NULL at the end. */
extern const struct phases_kind *const phases_kinds[];
extern const struct phases_kind phases_sort, phases_matrix, phases_chase, phases_compress,
    phases_graph, phases_interp;

/* A phase begins. name: one word; "check" is the one that checks. */
void phases_enter(struct phases_job *job, const char *name);

/* Takes a result into the job's sum; order counts. */
void phases_result(struct phases_job *job, uint64_t value);

/* Zeroed memory of the job, on lines of its own. Ends the program with a message when there is
 * none. */
void *phases_alloc(struct phases_job *job, size_t bytes);
