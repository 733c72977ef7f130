/*
 * Reuse distances under LRU: the number of pages used since this one was, itself included, which is
 * the least memory in which LRU would have kept the page.
 *
 * Each access takes the next slot of a row, and frees the page's old one; the distance is the
 * number of taken slots from the old one on, found by a binary indexed tree over words of 64 slots
 * (Bennett and Kruskal 1975; Fenwick 1994). Exact; time in the logarithm of the pages. Where pages
 * are used in the order of the last time their old slots follow each other, and all of them have
 * one distance: then an access costs a dozen instructions. Six bytes a page. The row has eight
 * slots a page; at its end slots are given anew in order, in time linear in the pages, once in at
 * least seven accesses a page.
 *
 * For distances only. lrustack.h keeps the order itself. The structure holds node numbers, no
 * pointers. Pure: memory comes from the caller; one caller at a time for each struct.
 */
#pragma once
#include "mm/policy/curve/tally.h"

/* With eight slots a page the number of slots is below 2^32. */
enum { LRUDIST_NODES_MAX = (1 << 29) - 8 };

struct lrudist {
    uint32_t nodes;
    uint32_t size;    /* pages that have a slot */
    uint32_t next;    /* the slot of the next access */
    uint32_t words;   /* words of 64 slots */
    uint32_t entered; /* words with all slots given, which the tree counts */
    uint32_t near;    /* the word asked for last, ... */
    uint32_t sum;     /* ... pages in the words before it, ... */
    uint32_t gone;    /* ... and pages that have left it, which the tree still counts */
    uint32_t mark[2]; /* at the last two marks: pages used since have slots beyond */
    uint64_t bits_at; /* bytes from here to the slots' bits; behind them the tree */
    uint32_t slot[];  /* [nodes] slot + 1; 0: none */
};

/* Returns the bytes for `nodes`, 1..LRUDIST_NODES_MAX; a multiple of 8. */
size_t lrudist_bytes(uint32_t nodes);
/* Initializes memory of lrudist_bytes(nodes), aligned to 8. */
void lrudist_init(struct lrudist *d, uint32_t nodes);
/* Makes a copy of a struct lrudist, in memory for more nodes, one for these. */
void lrudist_grow(struct lrudist *d, uint32_t nodes);
/* Counts a use of each of n pages, one after the other. Adds their distances, from 1, to
 * `distances`, but for pages not used before. Returns the number of those. */
uint32_t lrudist_touch_all(struct lrudist *d, const uint32_t *node, size_t n,
                           struct tally distances);
/* Counts a use of the page. Returns its distance, or 0 if it was not used before. */
uint32_t lrudist_touch_for_test(struct lrudist *d, uint32_t node);
/* Marks this moment; the last two marks are remembered. */
void lrudist_mark(struct lrudist *d);
/* Returns whether the page was used since the mark before the last one, or was the page used last
 * at that mark. */
bool lrudist_is_recent(const struct lrudist *d, uint32_t node);
/* Returns NULL, or the broken invariant. */
const char *lrudist_check(const struct lrudist *d);
