/*
 * Slots of a swap area, and which are taken.
 *
 * SLOT_CLUSTER aligned pages of memory share as many aligned slots as long as whole clusters are
 * free: who knows where a neighbour is asks for the slot beside it, who knows of none gets his
 * place in a whole free cluster. Then whatever is free is taken. Invariants: slots_check. Pure:
 * memory comes from the caller, who serialises access.
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

/* Bytes for an area of so many pages: at least SLOT_CLUSTER, what is beyond whole clusters is not
 * used. */
uint64_t slots_bytes(uint32_t pages);
/* All are free, but slot 0, which is nobody's. */
void slots_init(struct slots *s, uint32_t pages);
/* A free slot, at best `want`, which may be any number; or the index-th (0 to SLOT_CLUSTER - 1) of
 * a whole free cluster when that is not to be had. SLOT_NONE: none is left. */
uint32_t slots_take(struct slots *s, uint32_t want, unsigned index);
void slots_give(struct slots *s, uint32_t slot);
/* What is wrong with it, or NULL. */
const char *slots_check(const struct slots *s);
