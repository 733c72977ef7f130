/*
 * The branch predictor of one hardware thread, at the grain of basic blocks. From the end of a
 * block and its fall-through address it predicts where control goes.
 *
 *   - A tagged table of blocks that have once jumped gives the target.
 *   - gshare (McFarling, "Combining Branch Predictors", 1993) gives the direction of blocks that
 *     have also fallen through.
 *   - A second table, indexed by path history, gives the target of blocks that have jumped to
 *     several places (indirect jumps, returns).
 * A block that is not in the table is predicted to fall through.
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
    /* The address without its two top bits, which in any valid address repeat others. */
    uint64_t target      : 62;
    uint64_t conditional : 1; /* has fallen through since it was entered */
    uint64_t indirect    : 1; /* has jumped elsewhere since it was entered */
};

struct branch {
    /* The last BRANCH_HISTORY_BITS conditional blocks; 1 = jumped. */
    uint32_t directions;
    uint32_t path;                     /* hash of the last few targets */
    uint8_t counters[BRANCH_COUNTERS]; /* two bits each */
    uint64_t targets[BRANCH_TARGETS];
    struct branch_block blocks[BRANCH_BLOCKS];
};

/* Empties the predictor. */
void branch_reset(struct branch *b);

/* Predicts and learns that the block at pc, with its fall-through address, was followed by `next`.
 * pc: any address that identifies the block (its start or its last instruction), not 0. Returns
 * whether it was mispredicted. */
bool branch_predict_update(struct branch *b, vaddr_t pc, vaddr_t fallthrough, vaddr_t next);
