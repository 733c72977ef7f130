/*
 * The LRU stack: pages in the order of their latest use, a doubly linked list over node numbers,
 * eight bytes a page. lrudist.h finds depths; this keeps the order.
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
};

struct lrustack_link {
    /* towards the top, the most recently used; LRUSTACK_NONE at the end */
    uint64_t up : LRUSTACK_NODE_BITS;
    uint64_t down : LRUSTACK_NODE_BITS; /* towards the bottom */
    uint64_t held : 1;                  /* it is in the stack */
};

struct lrustack {
    uint32_t nodes;              /* node numbers are below this */
    uint32_t size;               /* pages in the stack */
    uint32_t top, bottom;        /* nodes, LRUSTACK_NONE when empty */
    struct lrustack_link link[]; /* [nodes] */
};

/* Returns the bytes of a stack for `nodes`, 1..LRUSTACK_NODES_MAX; a multiple of 8. */
size_t lrustack_bytes(uint32_t nodes);
/* Makes memory of lrustack_bytes(nodes), all zeros, aligned to 8, an empty stack. */
void lrustack_init(struct lrustack *s, uint32_t nodes);
/* Enlarges the stack: there are zeros behind it for more nodes. */
void lrustack_grow(struct lrustack *s, uint32_t nodes);

/* Moves the page to the top, or puts it there if it was not in the stack. */
void lrustack_touch(struct lrustack *s, uint32_t node);
/* Removes the page if it is in the stack. */
void lrustack_remove(struct lrustack *s, uint32_t node);
/* Lists up to `max` pages used after `node`, the next first. Returns their number; 0 if `node` is
 * not in the stack. */
unsigned lrustack_used_after(const struct lrustack *s, uint32_t node, uint32_t *out, unsigned max);
/* Returns NULL, or the broken invariant. */
const char *lrustack_check(const struct lrustack *s);

static inline bool lrustack_holds(const struct lrustack *s, uint32_t node)
{
    return s->link[node].held;
}
