/*
 * Numbers for pages, so that structures indexed by number are small. A row of neighbouring pages
 * gets neighbouring numbers at once, in the order in which rows are first asked for.
 *
 * An open hash table of rows, 8 bytes a slot, at most a quarter full. The last row is remembered,
 * so that accesses to page after page hardly search. Pure: memory comes from the caller and may be
 * moved as a block of bytes; one caller at a time.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    PAGE_INDEX_ROW_SHIFT_MAX = 5,
    PAGE_INDEX_NUMBERS_MAX = 1 << 24,
    PAGE_INDEX_NONE = PAGE_INDEX_NUMBERS_MAX, /* no number */
};

struct page_index {
    uint32_t numbers, used; /* numbers there are; numbers given out, in whole rows */
    uint32_t row_shift;     /* a row has 2^row_shift pages */
    uint32_t mask;          /* slots - 1 */
    uint32_t last_number;   /* of last_page */
    /* the first page of the last row; an impossible page: none */
    uint64_t last_page;
    uint64_t slot[]; /* (row + 1) << 25 | the number of its first page; 0: empty */
};

/* Returns the bytes of an index of `numbers` numbers, a power of two from a row to
 * PAGE_INDEX_NUMBERS_MAX, in rows of 2^row_shift pages. */
size_t page_index_bytes(uint32_t numbers, unsigned row_shift);
/* Initializes an index in memory of page_index_bytes(), all zeros. */
void page_index_init(struct page_index *x, uint32_t numbers, unsigned row_shift);
/* Gives all pages of `from` the same numbers in x, which is empty, has rows of the same size, and
 * room. */
void page_index_copy(struct page_index *x, const struct page_index *from);
/* Returns the page's number, a new one if it has none, or PAGE_INDEX_NONE if there is no room. */
uint32_t page_index_of_for_test(struct page_index *x, uint64_t page);
/* Stores the numbers of n pages, each entry[i] & mask, in number[], new ones if they have none.
 * Returns the pages that have a number: fewer than n if there is no room. */
size_t page_index_of_all(struct page_index *x, const uint64_t *entry, uint64_t mask,
                         uint32_t *number, size_t n);
/* Returns the page's number, or PAGE_INDEX_NONE if it has none. */
uint32_t page_index_find(const struct page_index *x, uint64_t page);
/* Panics on a broken invariant. */
void page_index_check_for_test(const struct page_index *x);
