/*
 * An LRU stack with boundaries at fixed depths: a page's group is the number of boundaries above it
 * ([Azimi 2007, 4.2.2], after Mattson 1970 and Kim 1991). An access changes the groups only of the
 * pages next to the boundaries that its page passes, so it costs O(groups), whatever the number of
 * pages. Boundaries every g pages give depths exact to g; three around a memory size
 * (bounded_around) are [A]'s four groups. The kernel uses mm/policy/curve/lrudist.h instead:
 * `make bench-mrc` compares the costs.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    BOUNDED_NODE_BITS = 26,
    BOUNDED_NODES_MAX = (1 << BOUNDED_NODE_BITS) - 1,
    BOUNDED_NONE = BOUNDED_NODES_MAX, /* no node */
    BOUNDED_MAX = 128,                /* boundaries */
    BOUNDED_COLD = 0xfff,             /* the group of a page that is not in the stack */
};

struct bounded_link {
    uint64_t up : BOUNDED_NODE_BITS;   /* towards the top; BOUNDED_NONE at the end */
    uint64_t down : BOUNDED_NODE_BITS; /* towards the bottom */
    uint64_t place : 12; /* 1 + boundaries above the page, 0: it is not in the stack */
};

struct bounded_stack {
    uint32_t nodes;             /* node numbers are below this */
    uint32_t size;              /* pages in the stack */
    uint32_t top, bottom;       /* nodes, BOUNDED_NONE when empty */
    uint32_t bounds;            /* boundaries */
    uint32_t reached;           /* boundaries that the stack is deep enough for */
    uint32_t at[BOUNDED_MAX];   /* pages above boundary i, rising */
    uint32_t last[BOUNDED_MAX]; /* [reached] the page right above it */
    struct bounded_link link[]; /* [nodes] */
};

/* Fills at[] with boundaries every `group` pages up to `pages`. Returns their number, BOUNDED_MAX
 * at most. */
unsigned bounded_every(uint32_t at[BOUNDED_MAX], uint32_t group, uint32_t pages);
/* Fills at[] with memory - group, memory and memory + group. Returns their number, fewer where
 * memory is not larger than group. */
unsigned bounded_around(uint32_t at[BOUNDED_MAX], uint32_t group, uint32_t memory);

/* Returns the bytes of a stack for `nodes`, 1..BOUNDED_NODES_MAX. */
size_t bounded_bytes(uint32_t nodes);
/* Makes memory of bounded_bytes(nodes), all zeros, an empty stack with boundaries below the first
 * at[0], at[1], ... pages, rising from 1. */
void bounded_init(struct bounded_stack *s, uint32_t nodes, const uint32_t *at, unsigned bounds);
/* Moves the page to the top. Returns the group it was in: it would have been found in memory of
 * at[i] pages for all i from that group on. BOUNDED_COLD: it was not in the stack. */
unsigned bounded_touch(struct bounded_stack *s, uint32_t node);

static inline unsigned bounded_group(const struct bounded_stack *s, uint32_t node)
{
    unsigned place = s->link[node].place;

    return place ? place - 1 : BOUNDED_COLD;
}
