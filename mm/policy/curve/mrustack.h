/*
 * Mattson's stack of MRU replacement (evict the page used last before this one): the memory size at
 * which each access would hit.
 *
 * Mattson's priority stack keeps, at each depth, the page that all larger memories hold besides.
 * With MRU the page used before always loses, so an access at depth d only swaps the page with the
 * top: exact, O(1), four bytes a page. (The LRU list read backwards ([Azimi 2007, 4.3.1]) is no
 * such stack: on a loop of N pages it predicts no misses at all; MRU has (N - M) / (N - 1).)
 *
 * The structure holds node numbers, no pointers. Pure: memory comes from the caller; one caller at
 * a time for each stack.
 */
#pragma once
#include "mm/policy/curve/tally.h"

#define MRUSTACK_NONE UINT32_MAX

struct mrustack {
    uint32_t nodes;
    uint32_t size;    /* pages in the stack, which is the depth of the deepest */
    uint32_t top;     /* the page used last; MRUSTACK_NONE: none */
    uint32_t depth[]; /* [nodes] from 1; 0: not in the stack */
};

/* Returns the bytes for `nodes`, from 1; a multiple of 8. */
size_t mrustack_bytes(uint32_t nodes);
/* Makes memory of mrustack_bytes(nodes), aligned to 8, an empty stack. */
void mrustack_init(struct mrustack *s, uint32_t nodes);
/* Makes a copy of a stack, in memory for more nodes, one for these. */
void mrustack_grow(struct mrustack *s, uint32_t nodes);
/* Counts a use of the page. Returns the least memory, in pages, in which it would have been found;
 * 0: it was not in the stack. */
uint32_t mrustack_touch(struct mrustack *s, uint32_t node);
/* The same of n pages, one after the other; quicker. Adds the results to `depths`, but for
 * zeros. */
void mrustack_touch_all(struct mrustack *s, const uint32_t *node, size_t n, struct tally depths);
/* Returns NULL, or the broken invariant. Takes time in the square of the pages. */
const char *mrustack_check(const struct mrustack *s);
