/*
 * Which policy suits a region of memory, a large mapping or array, from how often LRU and MRU would
 * miss in it ([Azimi 2007, 4.3.1]).
 *
 * region_curves counts, by groups of pages, in what memory either would have had each page: LRU by
 * [A]'s Algorithm 2 (a list with a header a group), MRU by Mattson's stack, in which an access
 * changes places with the top. region_choose() moves a saturating counter by an epoch's outcome
 * and changes the policy at the counter's ends.
 *
 * All regions of a pool share what there is of nodes; a node is in one region. Pure: memory comes
 * from the caller.
 */
#pragma once
#include "mm/policy/replace/list.h"

enum {
    REGION_GROUPS = 32,
    REGION_COLD = REGION_GROUPS + 1,  /* group of a page not used before */
    REGION_COUNTER = 3,               /* epochs one way until the policy changes, from the middle */
    REGION_DEPTH_MAX = (1 << 26) - 1, /* pages of a region */
    /* capacity misses below 1/64 of the accesses change nothing */
    REGION_THRESHOLD_SHIFT = 6,
};

enum region_policy { REGION_LRU, REGION_MRU, REGION_POLICIES };

/* ---- The choice ------------------------------------------------------------------------------ */

struct region_choice {
    enum region_policy policy; /* LRU at first */
    int32_t counter;           /* -REGION_COUNTER: LRU .. REGION_COUNTER: MRU */
};

/* An epoch's end. lambda: misses foretold by policy; misses: on pages used before. True: the
 * policy has changed. */
bool region_choose(struct region_choice *c, uint64_t accesses, uint64_t misses,
                   const uint64_t lambda[REGION_POLICIES]);

/* ---- Curves ---------------------------------------------------------------------------------- */

/* What there is of a node, of the caller's memory; all zeros of one that was not used. */
struct region_page {
    struct replace_link link; /* in its region's stack; list and mark together: its group + 1 */
    uint32_t depth;           /* in MRU's stack, from 1; 0: not in it */
};

static inline struct region_page *region_page(const struct replace_links *p, uint32_t node)
{
    return (struct region_page *)link_of(p, node);
}

struct region_curves {
    uint32_t group;               /* pages, at least 1 */
    uint32_t head, tail, size;    /* LRU stack, LINK_END: empty */
    uint32_t last[REGION_GROUPS]; /* last page of each full group, else LINK_END */
    uint32_t top, extent, hole;   /* MRU stack: used last or LINK_END; deepest; a free depth or 0 */
    uint32_t epochs;
    uint64_t accesses;                                /* this epoch */
    uint32_t now[REGION_POLICIES][REGION_GROUPS + 1]; /* accesses by group, the last beyond all */
    /* lambda of 0, 1, .. groups, of first uses nothing; the last epoch counts half. */
    uint64_t lambda[REGION_POLICIES][REGION_GROUPS + 1];
};

/* Nothing used; groups of so many pages. */
void region_curves_init(struct region_curves *c, uint32_t group);
/* The page was used. True: for the first time. */
bool region_curves_use(struct region_curves *c, const struct replace_links *p, uint32_t node);
/* The page is no more. */
void region_curves_forget(struct region_curves *c, const struct replace_links *p, uint32_t node);
/* Groups of another size: counts and curves go, the order remains. Time by the number of pages. */
void region_curves_regroup(struct region_curves *c, const struct replace_links *p, uint32_t group);
void region_curves_epoch(struct region_curves *c);
/* Misses with so many pages, straight between groups. */
uint64_t region_curves_lambda(const struct region_curves *c, enum region_policy policy,
                              uint32_t pages);
const char *region_curves_check(const struct region_curves *c, const struct replace_links *p,
                                uint32_t nodes);

static inline bool region_curves_known(const struct replace_links *p, uint32_t node)
{
    return (link_of(p, node)->list | link_of(p, node)->mark) != 0;
}
