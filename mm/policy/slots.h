/*
 * Slots of a swap area, and which are taken.
 *
 * As long as whole clusters are free, SLOT_CLUSTER aligned pages of memory share SLOT_CLUSTER
 * aligned slots: a caller that knows the slot of a neighbour asks for the one beside it, others get
 * their index in a whole free cluster. Then any free slot is taken. Invariants: slots_check. Pure:
 * memory comes from the caller, which serializes access.
 */
#pragma once
#include "kernel/lib/base.h"

#define SLOT_NONE    0 /* slots are numbered from 1 */
#define SLOT_CLUSTER 32

struct slots {
    uint32_t slots, clusters;
    uint32_t free, whole;             /* slots; clusters without a taken one */
    uint32_t next_whole, next_single; /* clusters where the search goes on */
    uint32_t taken[];                 /* by cluster, a bit a slot: 1 is taken */
};

/* Returns the bytes for an area of `pages`, at least SLOT_CLUSTER; pages beyond whole clusters are
 * not used. */
uint64_t slots_bytes(uint32_t pages);
/* Makes all slots free, but for slot 0, which is not used. */
void slots_init(struct slots *s, uint32_t pages);
/* Takes a free slot: if possible `want`, which may be any number; else slot `index`, below
 * SLOT_CLUSTER, of a whole free cluster; else any. Returns SLOT_NONE if none is free. */
uint32_t slots_take(struct slots *s, uint32_t want, unsigned index);
void slots_give(struct slots *s, uint32_t slot);
/* Returns NULL, or the broken invariant. */
const char *slots_check(const struct slots *s);
