/*
 * Miss-rate curves: how often a program would miss by the size of its memory, were its pages
 * replaced by LRU or by MRU ([Azimi 2007, 4.2.2, 4.3.1]).
 *
 * lambda(M) is the number of accesses in an epoch to pages used before that memory of M pages would
 * not have held. First uses miss whatever the memory; they are kept apart. Each access is looked up
 * in Mattson's stacks (lrudist.h, mrustack.h) and counted by the group of memory sizes that would
 * just have held the page. At an epoch's end the counts become curves and are mixed with those of
 * the epochs before, the last one having the weight 1 / 2^decay_shift. A curve is exact at
 * multiples of the group, straight between; with groups of one page it is exact, which costs no
 * more time. [A]'s own way of counting, by boundaries in a list, is only in bench-mrc:
 * docs/results/mrc.txt compares the costs.
 *
 * The structure holds node numbers, no pointers: it may be moved as a block of bytes. Pure: memory
 * comes from the caller, nothing is locked; one caller at a time for each struct.
 */
#pragma once
#include "mm/policy/curve/lrudist.h"
#include "mm/policy/curve/mrustack.h"

enum { MRC_GROUPS_MAX = 1 << 15, MRC_DECAY_SHIFT_MAX = 8, MRC_GROUP_MAX = 1 << 30 };

enum mrc_policy { MRC_LRU, MRC_MRU, MRC_POLICIES };
extern const char *const mrc_policy_names[]; /* by enum mrc_policy, NULL-terminated */

struct mrc_config {
    uint32_t nodes; /* node numbers are below this, 1..LRUDIST_NODES_MAX */
    uint32_t group; /* pages, or the next power of two; 1..MRC_GROUP_MAX */
    /* largest size of interest; groups are enlarged until MRC_GROUPS_MAX reach it */
    uint32_t memory;
    unsigned decay_shift; /* 0..MRC_DECAY_SHIFT_MAX */
    bool lru_only;        /* MRU's curve is not wanted, and costs nothing */
};

/* Behind it: for each policy a curve of the epochs before, lambda at 1, 2, ... groups, with 8
 * fraction bits, then the accesses of this epoch by group, the last count for all beyond; struct
 * lrudist; struct mrustack. */
struct mrc {
    struct mrc_config config;
    unsigned group_shift;             /* pages in a group: 2^this */
    uint32_t groups;                  /* 1..MRC_GROUPS_MAX */
    uint32_t epochs;                  /* ended */
    uint64_t touches, cold;           /* this epoch: accesses; first uses among them */
    uint64_t touches_mean, cold_mean; /* of the epochs before, mixed as curves are */
    uint64_t lru_at, mru_at;          /* bytes from here */
};

/* Returns the bytes for this configuration, a multiple of 8, or 0 if it is invalid. */
size_t mrc_bytes(const struct mrc_config *config);
/* Initializes memory of mrc_bytes(config), aligned to 8, for a valid configuration. */
void mrc_init(struct mrc *m, const struct mrc_config *config);
/* Makes a copy of a struct mrc, in memory for 2^shift times as many nodes and as large a memory,
 * one for these. Loses no count; where groups become larger, curves tell less apart. */
void mrc_grow(struct mrc *m, unsigned shift);

/* Counts a use of each of n pages, one after the other. */
void mrc_touch_all(struct mrc *m, const uint32_t *node, size_t n);
/* Ends an epoch. */
void mrc_epoch(struct mrc *m);
/* Returns whether the page was used in this epoch or the one before it. */
bool mrc_is_recent(const struct mrc *m, uint32_t node);
/* Returns the number of pages that were used. */
uint32_t mrc_pages(const struct mrc *m);

/* Means by epoch of those that have ended, the last weighing most; 0 before the first. */
uint64_t mrc_accesses(const struct mrc *m);
uint64_t mrc_cold(const struct mrc *m);
/* Returns lambda(memory), without first uses; beyond the last group as at its end. For MRC_LRU
 * whatever the policy, if there is no other curve. */
uint64_t mrc_misses(const struct mrc *m, enum mrc_policy policy, uint32_t memory);
/* Returns NULL, or the broken invariant. Takes time in the square of the pages. */
const char *mrc_check(const struct mrc *m);

static inline uint32_t mrc_group_pages(const struct mrc *m)
{
    return 1u << m->group_shift;
}
