/*
 * Numbers for pages: those of a row of pages next to each other, in the address space as among the
 * numbers, are given together, rows in the order in which they are first asked for, so that
 * structures by number are small.
 *
 * An open hash table of rows, 8 bytes a slot, a quarter full at most; the row asked for last is
 * remembered, so that what goes through memory page after page hardly searches.
 * Pure: memory comes from the caller; it may be moved as a block of bytes; one caller at a time.
 */
#pragma once
#include "kernel/lib/base.h"

enum {
    PAGE_INDEX_ROW_SHIFT_MAX = 5,
    PAGE_INDEX_NUMBERS_MAX = 1 << 24,
    PAGE_INDEX_NONE = PAGE_INDEX_NUMBERS_MAX, /* no number */
};

struct page_index {
    uint32_t numbers, used; /* room for so many; given out, in whole rows */
    uint32_t row_shift;     /* a row has 2^this pages */
    uint32_t mask;          /* slots - 1 */
    uint32_t last_number;   /* of last_page */
    /* the first of the row asked for last; one that there cannot be: none */
    uint64_t last_page;
    uint64_t slot[]; /* row + 1 << 25 | the number of its first page; 0: empty */
};

/* Bytes of an index for so many numbers, a power of two from a row on to PAGE_INDEX_NUMBERS_MAX, in
 * rows of 2^row_shift pages. */
size_t page_index_bytes(uint32_t numbers, unsigned row_shift);
/* Memory of so many bytes, all zero. */
void page_index_init(struct page_index *x, uint32_t numbers, unsigned row_shift);
/* All of from's pages under the same numbers; x is empty, has the same rows and room for them. */
void page_index_copy(struct page_index *x, const struct page_index *from);
/* The page's number, a new one if it has none; PAGE_INDEX_NONE: there is no room for it. */
uint32_t page_index_of_for_test(struct page_index *x, uint64_t page);
/* The same of n pages, which are what mask leaves of each entry. How many have one: fewer than n
 * where there is no room. */
size_t page_index_of_all(struct page_index *x, const uint64_t *entry, uint64_t mask,
                         uint32_t *number, size_t n);
/* The number it has, or PAGE_INDEX_NONE. */
uint32_t page_index_find(const struct page_index *x, uint64_t page);
/* Panics on a broken invariant. */
void page_index_check(const struct page_index *x);
