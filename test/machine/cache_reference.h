/*
 * A second model of the caches, for comparison with cache.c: slow, for few lines, and by line. For
 * each line it keeps where the line is and when it was last used there, and finds sets, victims and
 * ownership by looking at all lines.
 */
#pragma once
#include "test/machine/cache.h"

#define REFERENCE_LINES 128

enum reference_operation { REFERENCE_LOAD, REFERENCE_STORE, REFERENCE_FETCH };

struct reference_line {
    /* Times of last use in each cache; 0: not there. */
    uint64_t l1[2][TOPOLOGY_MAX_CHIPS * TOPOLOGY_MAX_CORES]; /* data, code */
    uint64_t l2[TOPOLOGY_MAX_CHIPS];
    uint64_t l3[TOPOLOGY_MAX_CHIPS];
    int owner;        /* chip that has it exclusively, or -1 */
    int writing_core; /* core with a data L1 that may write it, or -1 */
    uint32_t writer;
    bool newer; /* newer than memory */
};

struct reference {
    const struct topology *topology;
    uint64_t clock;
    struct reference_line lines[REFERENCE_LINES];
};

void reference_init(struct reference *r, const struct topology *t);

/* Returns the right result of cache_load(), cache_store() or cache_fetch() for an address in that
 * line. */
struct cache_result reference_access(struct reference *r, unsigned core,
                                     enum reference_operation op, unsigned line, uint32_t writer);
void reference_discard(struct reference *r, unsigned line);
