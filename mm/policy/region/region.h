/*
 * The regions of one address space: what is mapped where, with which rights. An array sorted by
 * address, searched by halving; the caller provides its storage and serialises access. Invariants
 * (regions_check): sorted, not empty, page-aligned, no two overlap, all inside [USER_MIN,
 * USER_MAX). Pure: knows no page tables.
 */
#pragma once
#include "kernel/lib/base.h"

#define REGION_NAME_SIZE 16

struct block_device;

struct region {
    vaddr_t start, end; /* end exclusive */
    /* all pages that are or were resident lie in here; lo == hi: none */
    vaddr_t touched_lo, touched_hi;
    uint8_t prot;                 /* PROT_R, PROT_W, PROT_X; 0: no access */
    uint8_t kind;                 /* enum region_kind */
    uint8_t advice;               /* enum region_advice */
    uint8_t tag;                  /* which region, for policies: below REPLACE_REGIONS_MAX */
    uint64_t faults, slow_faults; /* pages that came; of those, how many had to be read */
    /* NULL, or who is unmapping it: it takes its place until all its pages are gone */
    const void *dying;
    /* the disk its pages are read from when they are first touched, or NULL: zeros */
    struct block_device *source;
    uint64_t source_page; /* there, of start */
    /* where reading from the source goes on if it is in a row; 0: nothing was read */
    vaddr_t ahead_next;
    uint8_t ahead; /* pages that were read together last */
    char name[REGION_NAME_SIZE];
};

struct regions {
    struct region *items;
    uint32_t count, capacity;
};

/* The region that contains va, or NULL. */
struct region *regions_find(const struct regions *r, vaddr_t va);
/* Index of the first region that ends above va; count when there is none. */
uint32_t regions_index(const struct regions *r, vaddr_t va);
/* 0; -EEXIST when it overlaps one; -ENOSPC when the storage is full. */
int regions_insert(struct regions *r, const struct region *region);
/* The lowest place for len bytes in [low, high) with an unmapped page on both sides. 0 or
 * -ENOMEM. */
int regions_find_gap(const struct regions *r, uint64_t len, vaddr_t low, vaddr_t high,
                     vaddr_t *out);
/* Makes va a boundary if it lies inside a region. 0 or -ENOSPC. */
int regions_split(struct regions *r, vaddr_t va);
void regions_remove(struct regions *r, uint32_t index);
/* Is all of [start, end) mapped, by regions that are not dying? */
bool regions_cover(const struct regions *r, vaddr_t start, vaddr_t end);
/* Joins neighbours that differ in nothing, where they touch [start, end]. */
void regions_merge(struct regions *r, vaddr_t start, vaddr_t end);
/* Where on its source the page at va, inside region, is. */
uint64_t region_source_page(const struct region *region, vaddr_t va);
/* How many pages to read together from va on, where nobody has it yet: `least` where the reading
 * before was elsewhere, twice as many as then where it goes on, `most` in the end; within the
 * region. 1..255. */
unsigned region_ahead(struct region *region, vaddr_t va, unsigned least, unsigned most);
/* Notes that the page at va, inside region, is resident. */
void region_touch(struct region *region, vaddr_t va);
/* Panics on a broken invariant. */
void regions_check(const struct regions *r, vaddr_t low, vaddr_t high);
