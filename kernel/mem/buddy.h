/*
 * The buddy system over an array of page descriptors (Knowlton 1965). It knows page numbers only,
 * never touches the memory itself, and takes no lock: frame.c adds addresses, the lock and per-CPU
 * caches. Pure.
 */
#pragma once
#include "kernel/lib/base.h"

#define BUDDY_ORDERS 11 /* blocks of 1 << 0 to 1 << 10 pages: 4 KB to 4 MB */

enum page_state {
    PAGE_RESERVED, /* not the kernel's to use: holes, firmware, the kernel image */
    PAGE_TAIL,     /* inside a block; the descriptor of its first page describes it */
    PAGE_FREE,     /* first page of a free block of 1 << order pages */
    PAGE_USED,     /* first page of an allocated block of 1 << order pages */
    PAGE_CACHED,   /* a single free page in a CPU's cache: used, for the buddy system */
    PAGE_SLAB,     /* a single page that the heap cuts into objects */
};

/* Describes a page of RAM. next and prev are page numbers; 0 is none, because page 0 is never
 * allocated. */
struct page {
    uint32_t next, prev;
    uint8_t state; /* enum page_state */
    uint8_t order;
    uint8_t class;      /* heap: size class */
    uint8_t of_files;   /* mm: it has the page of a file, not one of a process */
    uint16_t free_head; /* heap: first free object plus 1 */
    uint16_t used;      /* heap: allocated objects */
};

struct buddy {
    struct page *pages;
    uint32_t count; /* all page numbers are below this */
    uint32_t head[BUDDY_ORDERS];
    uint64_t total_pages, free_pages;
};

/* Initialises `b` on `count` descriptors with arbitrary contents; all pages become reserved. */
void buddy_init(struct buddy *b, struct page *pages, uint32_t count);
/* Makes reserved pages [first, first + n) free memory; page 0 may not be among them. */
void buddy_add(struct buddy *b, uint32_t first, uint32_t n);
/* Allocates a block of 1 << order pages, aligned to its size. Returns its first page, or 0 if there
 * is none. */
uint32_t buddy_alloc(struct buddy *b, unsigned order);
/* Frees a block. Panics unless `page` was allocated with exactly this order. */
void buddy_free(struct buddy *b, uint32_t page, unsigned order);
/* Panics on a broken invariant: lists, alignment, merged buddies, the count of free pages. */
void buddy_check(const struct buddy *b);
/* Checks each free block that begins in [first, first + n) by itself: a part of buddy_check() at a
 * time. */
void buddy_check_blocks(const struct buddy *b, uint32_t first, uint32_t n);
