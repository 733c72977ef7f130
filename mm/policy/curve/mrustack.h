/*
 * Mattson's stack of MRU replacement (evict the page used last before this one): at what memory
 * size each access would hit.
 *
 * Mattson's priority stack keeps, at each depth, the page that all larger memories hold besides.
 * With MRU the page used before always loses, so an access at depth d only swaps the page with the
 * top: exact, O(1), four bytes a page. (The LRU list read backwards ([Azimi 2007, 4.3.1]) is no
 * such stack: on a loop of N pages it predicts no misses at all; MRU has (N - M) / (N - 1).)
 *
 * An unmapped page leaves a hole: a frame that is free in all memories at least as large as its
 * depth; the next page from below takes it. The structure holds node numbers, no pointers. Pure:
 * memory comes from the caller; one caller at a time for each stack.
 */
#pragma once
#include "mm/policy/curve/tally.h"

#define MRUSTACK_NONE UINT32_MAX

struct mrustack {
    uint32_t nodes;
    uint32_t extent; /* depth of the deepest page or hole */
    uint32_t top;    /* the page used last, MRUSTACK_NONE: unmapped */
    uint32_t holes;  /* how many */
    uint32_t lowest; /* no hole is above this depth */
    /* [nodes] from 1; 0: not in the stack. After it a bit for each depth, set where there is a
     * hole. */
    uint32_t depth[];
};

/* Bytes for so many nodes, from 1; a multiple of 8. */
size_t mrustack_bytes(uint32_t nodes);
/* An empty stack in memory of mrustack_bytes(nodes), aligned to 8. */
void mrustack_init(struct mrustack *s, uint32_t nodes);
/* The stack's bytes have been copied into memory for more nodes: makes it one for them. */
void mrustack_grow(struct mrustack *s, uint32_t nodes);
/* The page was used. Returns the least memory, in pages, in which it would have been found, 0 for
 * a page not in the stack. */
uint32_t mrustack_touch(struct mrustack *s, uint32_t node);
/* The same of n pages, one after the other, quicker: what it returns for each is counted, but for
 * those not in the stack. */
void mrustack_touch_all(struct mrustack *s, const uint32_t *node, size_t n, struct tally depths);
/* The page is unmapped. Nothing happens when it is not in the stack. */
void mrustack_remove(struct mrustack *s, uint32_t node);
/* NULL, or the invariant that does not hold. Takes time in the square of extent. */
const char *mrustack_check(const struct mrustack *s);
