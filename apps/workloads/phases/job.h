/*
 * A kind of work, in phases that load a processor in different ways, repeated in rounds. All
 * results of a round follow from the job's seed, and are checked; a wrong result ends the program.
 */
#pragma once
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "apps/common/arena.h"
#include "apps/common/prng.h"

/* One thread's work. Only that thread uses it while it works. */
struct phases_job {
    uint64_t size;    /* in units of the kind */
    bool marks;       /* mark each phase by its name */
    bool spoil;       /* flip a bit of the product before a check */
    struct prng prng; /* of every random choice */
    struct arena arena;
    void *data;           /* of the kind, from prepare() */
    void *product;        /* from prepare(): computed by a round, read by its check */
    size_t product_bytes; /* not 0 */
    uint64_t sum;         /* of all results so far */
};

/* A kind. The job's thread calls its functions in this order. */
struct phases_kind {
    const char *name;
    const char *unit; /* of size */
    uint64_t size_default, size_min, size_max;
    /* Takes memory from the arena. Once, before the first round. */
    void (*prepare)(struct phases_job *job);
    /* Runs all phases; the last is "check". Returns NULL, or the name of a broken law, one word. */
    const char *(*round)(struct phases_job *job);
};

/* NULL at the end. */
extern const struct phases_kind *const phases_kinds[];
extern const struct phases_kind phases_sort, phases_matrix, phases_chase, phases_compress,
    phases_graph, phases_interp;

/* Begins a phase. `name`: one word; the phase that checks is "check". */
void phases_enter(struct phases_job *job, const char *name);

/* Adds a result to the job's sum; order counts. */
void phases_result(struct phases_job *job, uint64_t value);

/* Returns zeroed memory of the job, on lines of its own. Ends the program with a message if there
 * is none. */
void *phases_alloc(struct phases_job *job, size_t bytes);
