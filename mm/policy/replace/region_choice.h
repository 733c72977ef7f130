/*
 * Chooses the policy that suits a region of memory, a large mapping or array, from how often LRU
 * and MRU would miss in it ([Azimi 2007, 4.3.1]).
 *
 * region_curves counts, by groups of pages, the memory in which either would have had each page:
 * LRU by [A]'s Algorithm 2 (a list with a header a group), MRU by Mattson's stack, in which an
 * access changes places with the top. region_choose() moves a saturating counter by an epoch's
 * outcome and changes the policy at the counter's ends.
 *
 * All regions of a pool share the nodes' parts; a node is in one region. Pure: memory comes from
 * the caller.
 */
#pragma once
#include "mm/policy/replace/list.h"

enum {
    REGION_GROUPS = 32,
    REGION_COLD = REGION_GROUPS + 1,  /* group of a page that was not used before */
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

/* Ends an epoch. lambda: misses predicted by policy; misses: on pages used before. Returns whether
 * the policy has changed. */
bool region_choose(struct region_choice *c, uint64_t accesses, uint64_t misses,
                   const uint64_t lambda[REGION_POLICIES]);

/* ---- Curves ---------------------------------------------------------------------------------- */

/* The part of a node; all zeros for one that was not used. */
struct region_page {
    struct replace_link link; /* in its region's stack; list and mark together: group + 1 */
    uint32_t depth;           /* in MRU's stack, from 1; 0: none */
};

static inline struct region_page *region_page(const struct replace_links *p, uint32_t node)
{
    return (struct region_page *)link_of(p, node);
}

struct region_curves {
    uint32_t group;               /* pages, at least 1 */
    uint32_t head, tail, size;    /* LRU stack, LINK_END: empty */
    uint32_t last[REGION_GROUPS]; /* last page of each full group, else LINK_END */
    /* MRU stack: page used last or LINK_END; deepest page; a free depth or 0 */
    uint32_t top, extent, hole;
    uint32_t epochs;
    uint64_t accesses;                                /* this epoch */
    uint32_t now[REGION_POLICIES][REGION_GROUPS + 1]; /* accesses by group, the last beyond all */
    /* lambda of 0, 1, .. groups, without first uses; the last epoch counts half */
    uint64_t lambda[REGION_POLICIES][REGION_GROUPS + 1];
};

/* Initializes curves in groups of `group` pages. */
void region_curves_init(struct region_curves *c, uint32_t group);
/* Counts a use. Returns whether it is the first. */
bool region_curves_use(struct region_curves *c, const struct replace_links *p, uint32_t node);
/* Removes the page. */
void region_curves_forget(struct region_curves *c, const struct replace_links *p, uint32_t node);
/* Changes the size of groups: counts and curves go, the order remains. Takes time by the number of
 * pages. */
void region_curves_regroup(struct region_curves *c, const struct replace_links *p, uint32_t group);
void region_curves_epoch(struct region_curves *c);
/* Returns the misses with `pages`, straight between groups. */
uint64_t region_curves_lambda(const struct region_curves *c, enum region_policy policy,
                              uint32_t pages);
const char *region_curves_check(const struct region_curves *c, const struct replace_links *p,
                                uint32_t nodes);

static inline bool region_curves_known(const struct replace_links *p, uint32_t node)
{
    return (link_of(p, node)->list | link_of(p, node)->mark) != 0;
}
