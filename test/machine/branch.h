/*
 * The branch predictor of one hardware thread, at the grain of basic blocks: given where a block
 * ends, where it would fall through to, and where control really went, was that predicted?
 *
 * A tagged table of blocks that have once jumped gives the target; gshare (McFarling, "Combining
 * Branch Predictors", 1993) gives the direction of those that have also fallen through; a second
 * table indexed by path history gives the target of those that have jumped to several places
 * (indirect jumps, returns). A block that is not in the table is predicted to fall through.
 */
#pragma once
#include "kernel/lib/base.h"

/* Sizes of the tables, as powers of two. */
#define BRANCH_BLOCK_BITS   12
#define BRANCH_COUNTER_BITS 14
#define BRANCH_TARGET_BITS  12
#define BRANCH_HISTORY_BITS 12 /* directions remembered */
#define BRANCH_BLOCKS       (1u << BRANCH_BLOCK_BITS)
#define BRANCH_COUNTERS     (1u << BRANCH_COUNTER_BITS)
#define BRANCH_TARGETS      (1u << BRANCH_TARGET_BITS)

struct branch_block {
    uint64_t pc; /* 0: free */
    /* the address but for its two top bits, which repeat others in any valid one */
    uint64_t target      : 62;
    uint64_t conditional : 1; /* has fallen through since it is here */
    uint64_t indirect    : 1; /* has jumped elsewhere since it is here */
};

struct branch {
    /* the last BRANCH_HISTORY_BITS conditional blocks, 1 = jumped */
    uint32_t directions;
    uint32_t path;                     /* hash of the last few targets */
    uint8_t counters[BRANCH_COUNTERS]; /* two bits */
    uint64_t targets[BRANCH_TARGETS];
    struct branch_block blocks[BRANCH_BLOCKS];
};

/* Forgets everything. */
void branch_reset(struct branch *b);

/* The block at pc, which would fall through to the given address, was followed by next: true if
 * mispredicted. pc: any address that identifies the block (its start or its last instruction), not
 * 0. */
bool branch_predict_update(struct branch *b, vaddr_t pc, vaddr_t fallthrough, vaddr_t next);
