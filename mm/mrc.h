/*
 * Miss-rate curves: how often a program would miss with so much memory, were its pages replaced by LRU or by MRU
 * ([Azimi 2007, 4.2.2, 4.3.1]).
 *
 * lambda(M) is the number of accesses in an epoch to pages used before that memory of M pages would not have held.  First uses miss
 * whatever the memory; they are kept apart.  Every access is looked up in Mattson's stacks, LRU's (lrustack.h) and MRU's (mrustack.h), and
 * counted by the group of pages it was found in.  At an epoch's end the counts become curves, which are mixed with those
 * of the epochs before, the last one having the weight 1 / 2^decay_shift.
 *
 * Groups of g pages: a curve is exact at multiples of g, straight between them.  Form:
 *   mrc_whole   as many groups as memory has;
 *   mrc_around  four groups around a present allocation: cheap, for its benefit and penalty only.
 * Sampling: one page of each 2^sample_shift that follow each other by node number, drawn by the seed, stands for them all, in a
 * memory as much smaller (SHARDS, Waldspurger 2015, and his miniature simulations, 2017; drawing from each run
 * instead of from all gives less spread).  The others cost a few instructions.  The error is in docs/results/mrc.txt.
 *
 * The structure holds node numbers, no pointers: it may be moved as a block of bytes.
 * Pure: memory comes from the caller, nothing is locked; one caller at a time for each struct.
 */
#pragma once
#include "mm/lrustack.h"
#include "mm/mrustack.h"

enum { MRC_GROUPS_MAX = LRUSTACK_BOUNDS_MAX, MRC_SAMPLE_SHIFT_MAX = 8, MRC_DECAY_SHIFT_MAX = 8 };

enum mrc_policy { MRC_LRU, MRC_MRU, MRC_POLICIES };
extern const char *const mrc_policy_names[]; /* by enum mrc_policy, NULL-terminated */

struct mrc_config {
    uint32_t nodes;        /* node numbers are below this, 1..LRUSTACK_NODES_MAX             */
    uint32_t seed;         /* of the sample                                                  */
    unsigned sample_shift; /* one page of 2^this is looked at, 0..MRC_SAMPLE_SHIFT_MAX       */
    unsigned decay_shift;  /* the last epoch's weight is 1/2^this, 0..MRC_DECAY_SHIFT_MAX    */
};

/* What has been counted of the present epoch for one policy: accesses by group, and beyond the last boundary. */
struct mrc_counts {
    uint32_t in_group[MRC_GROUPS_MAX + 1];
};

/* Of the epochs before, 8 bits behind the binary point, of the sampled pages: an epoch's mean misses by memory. */
struct mrc_curve {
    uint64_t at_bound[MRC_GROUPS_MAX];
};

struct mrc {
    struct mrc_config config;
    uint32_t group;                   /* pages between boundaries                                */
    uint32_t epochs;                  /* ended since the boundaries were set                     */
    uint64_t touches, cold;           /* this epoch: accesses, of them to sampled pages not used before */
    uint64_t touches_mean, cold_mean; /* of the epochs before, 8 bits behind the point    */
    struct mrc_counts now[MRC_POLICIES];
    struct mrc_curve mean[MRC_POLICIES];
    /* Boundaries of a whole curve are at even distances; a few elsewhere are looked through. */
    bool even;
    /* Behind it: the LRU stack, then the MRU stack, of the sampled pages. */
};

/* Bytes for this configuration, a multiple of 8; 0: it is invalid. */
size_t mrc_bytes(const struct mrc_config *config);
/* No access seen, no boundaries.  memory: mrc_bytes(config), aligned to 8; the configuration is valid. */
void mrc_init(struct mrc *m, const struct mrc_config *config);
/* The bytes have been copied into memory for more nodes: makes it one for them. */
void mrc_grow(struct mrc *m, uint32_t nodes);
/*
 * Boundaries every group pages as far as memory; what was counted so far goes, the stacks remain.  Groups are of at least one page of
 * the sample, and of no fewer than memory / MRC_GROUPS_MAX pages; returns the size chosen, at least as large as asked for.
 */
uint32_t mrc_whole(struct mrc *m, uint32_t group, uint32_t memory);
/* The four groups around memory: boundaries at memory - group, memory, memory + group.  Returns the size of a group. */
uint32_t mrc_around(struct mrc *m, uint32_t group, uint32_t memory);

/* An access to a sampled page; mrc_touch calls it. */
void mrc_count(struct mrc *m, uint32_t sampled);
/* The page is unmapped. */
void mrc_forget(struct mrc *m, uint32_t node);
/* An epoch has ended. */
void mrc_epoch(struct mrc *m);

/* Of the epochs that have ended, the last weighing most; 0 before the first.  First uses excluded, but in mrc_cold. */
uint64_t mrc_accesses(const struct mrc *m);
uint64_t mrc_cold(const struct mrc *m);
/* lambda(memory); beyond the last boundary as at it. */
uint64_t mrc_misses(const struct mrc *m, enum mrc_policy policy, uint32_t memory);
/* What pages more would save: lambda(M) - lambda(M + pages); and what pages fewer would cost: lambda(M - pages) - lambda(M). */
uint64_t mrc_benefit(const struct mrc *m, enum mrc_policy policy, uint32_t memory, uint32_t pages);
uint64_t mrc_penalty(const struct mrc *m, enum mrc_policy policy, uint32_t memory, uint32_t pages);
/* NULL, or the invariant that does not hold.  Takes time in the square of the sampled pages. */
const char *mrc_check(const struct mrc *m);

/* Whether the page is the one drawn from its run. */
static inline bool mrc_sampled(const struct mrc *m, uint32_t node)
{
    uint32_t drawn =
        ((node >> m->config.sample_shift) + m->config.seed) * 2654435761u; /* 2^32 / golden ratio */

    return (uint64_t)drawn << m->config.sample_shift >> 32 == (node & ((1u << m->config.sample_shift) - 1));
}

/* The page was used, after all those given before. */
static inline void mrc_touch(struct mrc *m, uint32_t node)
{
    m->touches++;
    if (mrc_sampled(m, node))
        mrc_count(m, node >> m->config.sample_shift);
}
