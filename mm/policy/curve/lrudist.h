/*
 * Reuse distances under LRU: how many pages were used since this one was, itself included; so the
 * least memory, in pages, in which LRU would have kept it.
 *
 * Each access takes the next slot of a row, and frees the page's old one; the distance is the
 * number of taken slots from the old one on, found by a binary indexed tree over words of 64 slots
 * (Bennett and Kruskal 1975; Fenwick 1994). Exact; time in the logarithm of the pages. Where
 * pages are used in the order of the last time their old slots follow each other, and all of them
 * have one distance: then an access costs a dozen instructions. Six bytes a page. The row has
 * eight slots a page; at its end slots are given anew in order, in time linear in the pages, once
 * in at least seven accesses a page.
 *
 * For distances only. lrustack.h keeps the order itself, and finds distances by group.
 * The structure holds node numbers, no pointers. Pure: memory comes from the caller; one caller at
 * a time for each struct.
 */
#pragma once
#include "mm/policy/curve/tally.h"

/* With eight slots a page the number of slots is below 2^32. */
enum { LRUDIST_NODES_MAX = (1 << 29) - 8 };

struct lrudist {
    uint32_t nodes;
    uint32_t size;    /* pages that have a slot */
    uint32_t next;    /* the slot of the next access */
    uint32_t words;   /* of 64 slots each */
    uint32_t entered; /* words of which all slots have been given, which the tree counts */
    uint32_t near;    /* the word asked for last, ... */
    uint32_t sum;     /* ... pages in the words before it, ... */
    uint32_t gone;    /* ... and pages that have left it, which the tree still counts */
    uint32_t mark[2]; /* at the last two marks: pages used since have slots beyond */
    uint64_t bits_at; /* bytes from here to the slots' bits; behind them the tree */
    uint32_t slot[];  /* [nodes] slot + 1; 0: none */
};

/* Bytes for so many nodes, 1..LRUDIST_NODES_MAX; a multiple of 8. */
size_t lrudist_bytes(uint32_t nodes);
/* Nothing used yet; memory of lrudist_bytes(nodes), aligned to 8. */
void lrudist_init(struct lrudist *d, uint32_t nodes);
/* The bytes have been copied into memory for more nodes: makes it one for them. */
void lrudist_grow(struct lrudist *d, uint32_t nodes);
/* The page was used. Returns its distance from 1, 0 for a page not used before. */
uint32_t lrudist_touch(struct lrudist *d, uint32_t node);
/* The same of n pages, one after the other, quicker: their distances are counted. How many were
 * not used before, which are not. */
uint32_t lrudist_touch_all(struct lrudist *d, const uint32_t *node, size_t n,
                           struct tally distances);
/* The page is unmapped. Nothing happens when it was not used. */
void lrudist_remove(struct lrudist *d, uint32_t node);
/* Marks this moment; the last two are known. */
void lrudist_mark(struct lrudist *d);
/* Was the page used since the mark before the last one, or at that mark the one used last? */
bool lrudist_is_recent(const struct lrudist *d, uint32_t node);
/* NULL, or the invariant that does not hold. */
const char *lrudist_check(const struct lrudist *d);
