/*
 * A second model of the caches, for comparison with cache.c: slow, for few lines, and turned inside
 * out. It keeps for each line where it is and when it was last used there, and works out sets,
 * victims and ownership by looking at all lines.
 */
#pragma once
#include "test/machine/cache.h"

#define REFERENCE_LINES 128

enum reference_operation { REFERENCE_LOAD, REFERENCE_STORE, REFERENCE_FETCH };

struct reference_line {
    /* Time of last use in each cache, 0: not there. */
    uint64_t l1[2][TOPOLOGY_MAX_CHIPS * TOPOLOGY_MAX_CORES]; /* data, code */
    uint64_t l2[TOPOLOGY_MAX_CHIPS];
    uint64_t l3[TOPOLOGY_MAX_CHIPS];
    int owner;        /* chip that has it alone, or -1 */
    int writing_core; /* core whose data L1 may write it, or -1 */
    uint32_t writer;
    bool newer; /* than memory */
};

struct reference {
    const struct topology *topology;
    uint64_t clock;
    struct reference_line lines[REFERENCE_LINES];
};

void reference_init(struct reference *r, const struct topology *t);

/* What cache_load(), cache_store() or cache_fetch() of an address in that line must answer. */
struct cache_result reference_access(struct reference *r, unsigned core,
                                     enum reference_operation op, unsigned line, uint32_t writer);
void reference_discard(struct reference *r, unsigned line);
