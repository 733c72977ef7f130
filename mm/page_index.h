/*
 * Numbers for pages: from 0 on, in the order in which they are first asked for, dense, so that structures by number are small.
 *
 * An open hash table of 8 bytes a slot, a quarter full at most.  Sixteen pages next to each other begin their searches next to each
 * other, in a line of memory: what goes through memory page after page goes through the table so.
 * Pure: memory comes from the caller; it may be moved as a block of bytes; one caller at a time.
 */
#pragma once
#include "kernel/base.h"

enum {
    PAGE_INDEX_NUMBERS_MAX = 1 << 24,
    PAGE_INDEX_NONE = PAGE_INDEX_NUMBERS_MAX, /* no number */
};

struct page_index {
    uint32_t numbers, used; /* room for so many; given out */
    uint32_t mask;          /* slots - 1 */
    uint32_t reserved;
    uint64_t slot[]; /* page + 1 << 25 | number; 0: empty */
};

/* Bytes of an index for so many numbers, a power of two, 16..PAGE_INDEX_NUMBERS_MAX. */
size_t page_index_bytes(uint32_t numbers);
void page_index_init(struct page_index *x, uint32_t numbers);
/* All of from's pages under the same numbers; x is empty and has room for them. */
void page_index_copy(struct page_index *x, const struct page_index *from);
/* The page's number, a new one if it has none; PAGE_INDEX_NONE: there is no room for it. */
uint32_t page_index_of(struct page_index *x, uint64_t page);
/* The number it has, or PAGE_INDEX_NONE. */
uint32_t page_index_find(const struct page_index *x, uint64_t page);
/* Panics on a broken invariant. */
void page_index_check(const struct page_index *x);
