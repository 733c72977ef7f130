/*
 * shMaps: which coherence lines each thread of a process fetched from another chip's caches ([Azimi
 * 2007, 3.3.2]).
 *
 * A thread's shMap is a vector of saturating 8-bit counters, one per entry; the entry of a line is
 * a hash of its address. One filter for the whole process gives each entry to a single line until
 * the next reset, so two lines never share a counter; samples of other lines at that entry are
 * dropped. Who gets an entry is
 * the granting rule: first   the first line that hits it. As published; private lines and small
 * groups'
 * rivals may take it. second  the first line that two threads have hit. Until then a few
 * candidates per
 * entry are remembered, the least recently hit one giving way, so that a line used by one thread
 * alone never holds an entry.
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
    SHMAP_CANDIDATES = 4, /* remembered per entry under the second rule */
};

enum shmap_grant { SHMAP_FIRST, SHMAP_SECOND, SHMAP_GRANT_COUNT };
extern const char *const shmap_grant_names[]; /* by enum shmap_grant, NULL-terminated */

/* What became of a sample. */
enum shmap_outcome {
    SHMAP_COUNTED,  /* its line owns the entry, or has just been granted it */
    SHMAP_PENDING,  /* its line is a candidate for the entry */
    SHMAP_COLLIDED, /* dropped: the entry belongs to another line */
    SHMAP_OUTCOME_COUNT
};

struct shmap_config {
    unsigned threads;    /* slots, 1..SHMAP_THREADS_MAX */
    unsigned entries;    /* power of two, 16..SHMAP_ENTRIES_MAX */
    unsigned line_bytes; /* coherence line, power of two from 16 */
    enum shmap_grant grant;
    uint64_t seed; /* of the hash: another seed, other lines are rivals */
};

struct shmap_candidate {
    uint64_t line; /* line number + 1, 0: none */
    unsigned thread;
};

struct shmap_table {
    struct shmap_config config;
    uint64_t *owner;                   /* [entries] line number + 1, 0: not granted */
    struct shmap_candidate *candidate; /* [entries][SHMAP_CANDIDATES], latest first */
    uint32_t *sampled;                 /* [threads] samples of each thread, dropped or not */
    uint8_t *count;                    /* [threads][entries], the shMaps */
    uint64_t outcomes[SHMAP_OUTCOME_COUNT];
};

/* Entries that let the hot lines of so many threads' groups find a place each: 32 a thread, 1024 at
 * least. */
unsigned shmap_entries_for(unsigned threads);
/* Bytes of memory a table of this configuration needs, aligned to 8; 0 when the configuration is
 * invalid. */
size_t shmap_bytes(const struct shmap_config *config);
/* Lays the table out in memory and resets it. -EINVAL: bad configuration or alignment, -ENOMEM:
 * bytes too few. */
int shmap_init(struct shmap_table *table, const struct shmap_config *config, void *memory,
               size_t bytes);
/* A sampled miss of thread (slot number) on the line at address. */
enum shmap_outcome shmap_record(struct shmap_table *table, unsigned thread, uint64_t address);
/* Samples since the reset, dropped ones included. */
uint64_t shmap_samples(const struct shmap_table *table);
/* NULL, or the invariant that does not hold. */
const char *shmap_check(const struct shmap_table *table);
