/*
 * The regions of one address space: mappings and their rights. An array sorted by address, searched
 * by halving; the caller provides its storage and serializes access. Invariants (regions_check):
 * sorted, not empty, page-aligned, no two overlap, all inside [USER_MIN, USER_MAX). Pure: knows no
 * page tables.
 */
#pragma once
#include "kernel/lib/base.h"

#define REGION_NAME_SIZE 16

struct block_device;

struct region {
    vaddr_t start, end; /* end exclusive */
    /* pages that are or were resident lie between these; lo == hi: none */
    vaddr_t touched_lo, touched_hi;
    uint8_t prot;                 /* PROT_R, PROT_W, PROT_X; 0: no access */
    uint8_t kind;                 /* enum region_kind */
    uint8_t advice;               /* enum region_advice */
    uint8_t tag;                  /* number of the region for policies, below REPLACE_REGIONS_MAX */
    uint64_t faults, slow_faults; /* pages that came; those of them that were read */
    /* set by the thread that unmaps the region, which stays until all its pages are gone; else
     * NULL */
    const void *dying;
    /* disk that pages are read from at their first use, or NULL: zeros */
    struct block_device *source;
    uint64_t source_page; /* page of the disk at start */
    /* address at which a sequential reading goes on; 0: nothing was read */
    vaddr_t ahead_next;
    uint8_t ahead; /* pages that were read together last */
    char name[REGION_NAME_SIZE];
};

struct regions {
    struct region *items;
    uint32_t count, capacity;
};

/* Returns the region that contains va, or NULL. */
struct region *regions_find(const struct regions *r, vaddr_t va);
/* Returns the index of the first region that ends above va, or count. */
uint32_t regions_index(const struct regions *r, vaddr_t va);
/* Inserts a copy of `region`. Returns 0, -EEXIST if it overlaps one, or -ENOSPC if the storage is
 * full. */
int regions_insert(struct regions *r, const struct region *region);
/* Finds the lowest address for len bytes in [low, high) with an unmapped page on both sides.
 * Returns 0 or -ENOMEM. */
int regions_find_gap(const struct regions *r, uint64_t len, vaddr_t low, vaddr_t high,
                     vaddr_t *out);
/* Makes va a boundary if it lies inside a region. Returns 0 or -ENOSPC. */
int regions_split(struct regions *r, vaddr_t va);
void regions_remove(struct regions *r, uint32_t index);
/* Returns whether all of [start, end) is mapped, by regions that are not dying. */
bool regions_cover(const struct regions *r, vaddr_t start, vaddr_t end);
/* Joins neighbours without a difference that touch [start, end]. */
void regions_merge(struct regions *r, vaddr_t start, vaddr_t end);
/* Returns the page on the source of `region` for va, which is inside it. */
uint64_t region_source_page(const struct region *region, vaddr_t va);
/* Returns the number of pages to read together from va on, which is not resident: `least` if the
 * last reading was elsewhere, twice as many as last time if it goes on, `most` in the end; within
 * the region. 1..255. */
unsigned region_ahead(struct region *region, vaddr_t va, unsigned least, unsigned most);
/* Notes that the page at va, inside region, is resident. */
void region_touch(struct region *region, vaddr_t va);
/* Panics on a broken invariant. */
void regions_check(const struct regions *r, vaddr_t low, vaddr_t high);
