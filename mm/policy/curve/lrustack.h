/*
 * The LRU stack: pages by their latest use, with boundaries that say how deep a page lies ([Azimi
 * 2007, 4.2.2], after Mattson 1970 and Kim 1991).
 *
 * A doubly linked list over node numbers, eight bytes a page. Boundaries lie at fixed depths; a
 * page's group is the number of boundaries above it. At a touch only the pages next to the
 * boundaries passed change their group, so a touch costs O(groups), whatever the number of pages.
 * Boundaries every g pages give ranks exact to g; three around a present allocation
 * (lrustack_bounds_around_for_test) are [A]'s four groups. The kernel sets no boundaries: mrc.h has
 * a quicker way, and simulations compare the two.
 *
 * The structure holds node numbers, no pointers: it may be moved as a block of bytes. Pure: memory
 * comes from the caller, nothing is locked; one caller at a time for each stack.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    LRUSTACK_NODE_BITS = 26,
    LRUSTACK_NODES_MAX = (1 << LRUSTACK_NODE_BITS) - 1, /* 256 GB of pages */
    LRUSTACK_NONE = LRUSTACK_NODES_MAX,                 /* no node */
    LRUSTACK_BOUNDS_MAX = 128,
    LRUSTACK_COLD = 0xfff, /* the group of a page that is not in the stack */
};

struct lrustack_link {
    /* towards the top, the most recently used; LRUSTACK_NONE at the end */
    uint64_t up : LRUSTACK_NODE_BITS;
    uint64_t down : LRUSTACK_NODE_BITS; /* towards the bottom */
    uint64_t place : 12; /* 1 + boundaries above the page, 0: it is not in the stack */
};

struct lrustack {
    uint32_t nodes;                     /* node numbers are below this */
    uint32_t size;                      /* pages in the stack */
    uint32_t top, bottom;               /* nodes, LRUSTACK_NONE when empty */
    uint32_t bounds;                    /* boundaries asked for */
    uint32_t reached;                   /* ... the stack is deep enough for */
    uint32_t at[LRUSTACK_BOUNDS_MAX];   /* pages above boundary i, rising */
    uint32_t last[LRUSTACK_BOUNDS_MAX]; /* [reached] the page right above it */
    struct lrustack_link link[];        /* [nodes] */
};

/* Returns the bytes of a stack for `nodes`, 1..LRUSTACK_NODES_MAX; a multiple of 8. */
size_t lrustack_bytes(uint32_t nodes);
/* Makes memory of lrustack_bytes(nodes), all zeros, aligned to 8, an empty stack without
 * boundaries: every page is in group 0. */
void lrustack_init(struct lrustack *s, uint32_t nodes);
/* Enlarges the stack: there are zeros behind it for more nodes. */
void lrustack_grow(struct lrustack *s, uint32_t nodes);
/*
 * Sets boundaries below the first at[0], at[1], ... pages; none if bounds is 0. Walks the whole
 * stack. Returns -EINVAL for more than LRUSTACK_BOUNDS_MAX, or depths that do not rise from 1.
 */
int lrustack_set_bounds_for_test(struct lrustack *s, const uint32_t *at, unsigned bounds);
/* Fills at[] with boundaries every `group` pages up to `pages`. Returns their number,
 * LRUSTACK_BOUNDS_MAX at most. */
unsigned lrustack_bounds_every_for_test(uint32_t at[LRUSTACK_BOUNDS_MAX], uint32_t group,
                                        uint32_t pages);
/* Fills at[] with memory - group, memory and memory + group. Returns their number, fewer where
 * memory is not larger than group. */
unsigned lrustack_bounds_around_for_test(uint32_t at[LRUSTACK_BOUNDS_MAX], uint32_t group,
                                         uint32_t memory);

/*
 * Moves the page, which was used, to the top. Returns the group it was in: it would have been found
 * in memory of at[i] pages for all i from that group on. LRUSTACK_COLD: it was not in the stack.
 */
unsigned lrustack_touch(struct lrustack *s, uint32_t node);
/* Removes the page if it is in the stack. */
void lrustack_remove(struct lrustack *s, uint32_t node);
/* Lists up to `max` pages used after `node`, the next first. Returns their number; 0 if `node` is
 * not in the stack. */
unsigned lrustack_used_after(const struct lrustack *s, uint32_t node, uint32_t *out, unsigned max);
/* Returns NULL, or the broken invariant. */
const char *lrustack_check(const struct lrustack *s);

static inline unsigned lrustack_group(const struct lrustack *s, uint32_t node)
{
    unsigned place = s->link[node].place;

    return place ? place - 1 : LRUSTACK_COLD;
}
static inline bool lrustack_holds(const struct lrustack *s, uint32_t node)
{
    return s->link[node].place != 0;
}
