/*
 * The buddy system over an array of page descriptors (Knowlton 1965). It knows page numbers only,
 * never touches the memory they stand for, and does no locking: frame.c adds addresses, the lock
 * and per-CPU caches. Pure: works the same on the host.
 */
#pragma once
#include "kernel/lib/base.h"

#define BUDDY_ORDERS 11 /* blocks of 1 << 0 .. 1 << 10 pages: 4 KB .. 4 MB */

enum page_state {
    PAGE_RESERVED, /* not ours: holes, firmware, the kernel image */
    PAGE_TAIL,     /* inside a block; its first page speaks for it */
    PAGE_FREE,     /* first page of a free block of 1 << order pages */
    PAGE_USED,     /* first page of an allocated block of 1 << order pages */
    PAGE_CACHED,   /* a single free page in a CPU's cache: used, as the buddies see it */
    PAGE_SLAB,     /* a single page the kernel heap cuts into objects */
};

/* One per page of RAM. next and prev are page numbers, 0 is none: page 0 is never handed out. */
struct page {
    uint32_t next, prev;
    uint8_t state; /* enum page_state */
    uint8_t order;
    uint8_t class; /* heap: size class */
    uint8_t unused;
    uint16_t free_head; /* heap: first free object plus 1 */
    uint16_t used;      /* heap: objects handed out */
};

struct buddy {
    struct page *pages;
    uint32_t count; /* page numbers are below this */
    uint32_t head[BUDDY_ORDERS];
    uint64_t total_pages, free_pages;
};

/* pages: count descriptors, whatever they hold; all become reserved. */
void buddy_init(struct buddy *b, struct page *pages, uint32_t count);
/* Reserved pages [first, first + n) become free memory; page 0 may not be among them. */
void buddy_add(struct buddy *b, uint32_t first, uint32_t n);
/* First page of a block of 1 << order pages, aligned to its size; 0 when there is none. */
uint32_t buddy_alloc(struct buddy *b, unsigned order);
/* Panics on what is not allocated with exactly this order: a double free, a wrong one. */
void buddy_free(struct buddy *b, uint32_t page, unsigned order);
/* Panics on a broken invariant: lists, alignment, merged buddies, the count of free pages. */
void buddy_check(const struct buddy *b);
/* The same of each free block that begins in [first, first + n), by itself: a part of the work at a
 * time. */
void buddy_check_blocks(const struct buddy *b, uint32_t first, uint32_t n);
