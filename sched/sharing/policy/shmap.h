/*
 * shMaps: which coherence lines each thread of a process fetched from another chip's caches ([Azimi
 * 2007, 3.3.2]).
 *
 * A thread's shMap is a vector of saturating 8-bit counters, one per entry; the entry of a line is
 * a hash of its address. One filter for the whole process gives each entry to a single line, so two
 * lines never share a counter: samples of other lines at that entry are dropped.
 *
 * Which line gets an entry (enum shmap_grant):
 *   SHMAP_FIRST   the first line that hits it, as published; a private line, or one of a small
 *                 group, may take it
 *   SHMAP_SECOND  the first line that is hit from a second side, such as a second thread; until
 *                 then SHMAP_CANDIDATES lines are remembered, the least recently hit giving way, so
 *                 a line of one thread never holds an entry
 *
 * Pure: memory comes from the caller, nothing is locked; one caller at a time per table.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    SHMAP_ENTRIES_PUBLISHED = 256,
    SHMAP_ENTRIES_MAX = 4096,
    SHMAP_THREADS_MAX = 1024,
    SHMAP_COUNT_MAX = 255,
    SHMAP_CANDIDATES = 4, /* per entry, under SHMAP_SECOND */
};

enum shmap_grant { SHMAP_FIRST, SHMAP_SECOND, SHMAP_GRANT_COUNT };
extern const char *const shmap_grant_names[]; /* by enum shmap_grant, NULL-terminated */

/* The outcome of a sample. */
enum shmap_outcome {
    SHMAP_COUNTED,  /* its line owns the entry, perhaps since this sample */
    SHMAP_PENDING,  /* its line is a candidate for the entry */
    SHMAP_COLLIDED, /* dropped: the entry belongs to another line */
    SHMAP_OUTCOME_COUNT
};

struct shmap_config {
    unsigned threads;    /* rows, 1 to SHMAP_THREADS_MAX */
    unsigned entries;    /* power of two, 16 to SHMAP_ENTRIES_MAX */
    unsigned line_bytes; /* coherence line; power of two, at least 16 */
    enum shmap_grant grant;
    uint64_t seed; /* of the hash: with another seed other lines share an entry */
};

struct shmap_candidate {
    uint64_t line; /* line number + 1, 0: none */
    unsigned thread, side;
};

struct shmap_table {
    struct shmap_config config;
    uint64_t *owner;                   /* [entries] line number + 1, 0: none */
    struct shmap_candidate *candidate; /* [entries][SHMAP_CANDIDATES], latest first */
    uint32_t *sampled;                 /* [threads] samples, dropped ones included */
    uint8_t *count;                    /* [threads][entries], the shMaps */
    uint64_t outcomes[SHMAP_OUTCOME_COUNT];
};

/* Returns the number of entries with room for the hot lines of this many threads' groups: 32 a
 * thread, at least 1,024. */
unsigned shmap_entries_for(unsigned threads);
/* Returns the bytes of memory a table needs, aligned to 8; 0 if the configuration is invalid. */
size_t shmap_bytes(const struct shmap_config *config);
/* Lays the table out in memory, without samples or owners. Returns 0, -EINVAL (bad configuration or
 * alignment) or -ENOMEM (too few bytes). */
int shmap_init(struct shmap_table *table, const struct shmap_config *config, void *memory,
               size_t bytes);
/* Records a sampled miss of a thread, given by its row, on the line at `address`. `side`: for
 * SHMAP_SECOND, the thread; or its process, if only what lies between processes is to count. */
enum shmap_outcome shmap_record(struct shmap_table *table, unsigned thread, unsigned side,
                                uint64_t address);
/* Returns the number of samples, dropped ones included. */
uint64_t shmap_samples(const struct shmap_table *table);
/* Returns the invariant that is broken, or NULL. */
const char *shmap_check(const struct shmap_table *table);
