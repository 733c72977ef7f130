/*
 * The regions of one address space: mappings and their rights. A balanced tree by address (AVL);
 * the caller provides its nodes beforehand and serializes access. Each node knows of all below it
 * where they begin and end and the largest gap between two, so that a gap is found in a number of
 * steps that grows with the tree's height. Invariants (regions_check): in order, not empty,
 * page-aligned, no two overlap, all inside [low, high), balanced. Pure: knows no page tables.
 */
#pragma once
#include "kernel/lib/base.h"

#define REGION_NAME_SIZE     16
#define REGIONS_MAX          65530     /* of a space, as Linux's vm.max_map_count */
#define REGIONS_OF_FILES_MAX (1 << 20) /* of a space whose regions are files */

/* Contents that pages have at their first use, and again after they left memory unwritten. */
struct page_source_ops; /* mm/space.h */
struct page_source {
    const struct page_source_ops *ops; /* NULL: all zeros, without an end */
    const void *of; /* of zeros: the object whose memory it is (mm/object.h), or NULL */
    uint64_t bytes; /* zeros follow up to the end of a page; behind it there is nothing */
};

enum region_flag {
    /* Its mapping is being changed: it admits no fault, and belongs to the thread that changes
     * it. */
    REGION_CLOSED = 1,
    REGION_GROWS = 2,      /* downward, by faults below it */
    REGION_UNCOUNTED = 4,  /* its pages do not count as mapped */
    REGION_LOCKED = 8,     /* its pages are not evicted */
    REGION_SHARED = 16,    /* by processes that are forked: no copies are made */
    REGION_READ_ONLY = 32, /* it never gets the right to write */
};

struct region {
    vaddr_t start, end; /* end exclusive */
    /* pages that are or were resident lie between these; lo == hi: none */
    vaddr_t touched_lo, touched_hi;
    uint8_t prot;                 /* PROT_R, PROT_W, PROT_X; 0: no access */
    uint8_t kind;                 /* enum region_kind */
    uint8_t advice;               /* enum region_advice */
    uint8_t tag;                  /* number of the region for policies, below REPLACE_REGIONS_MAX */
    uint8_t flags;                /* enum region_flag */
    uint8_t ahead;                /* pages that a sequential reading read together last */
    uint8_t lead;                 /* pages by which reading ahead is to be before the reader */
    uint8_t height;               /* of the tree below it */
    uint64_t faults, slow_faults; /* pages that came; those of them that were read */
    struct page_source source;
    uint64_t source_page; /* page of the source at start */
    /* address at which a sequential reading goes on, and behind the last page that was read
     * elsewhere meanwhile; 0: nothing was read */
    vaddr_t ahead_next, stray_next;
    char name[REGION_NAME_SIZE];

    /* The tree. Of a spare node only `right` is used. */
    struct region *left, *right, *parent;
    vaddr_t low, high; /* from the first region's start to the last one's end, itself included */
    uint64_t gap;      /* bytes of the largest gap in between */
};

struct regions {
    struct region *root;
    struct region *spare; /* nodes for regions to come */
    uint32_t count, spares;
};

/* Adds a node for a region to come. */
void regions_give(struct regions *r, struct region *node);
/* Takes a spare node out, or returns NULL. */
struct region *regions_take(struct regions *r);

/* Returns the region that contains va, or NULL. */
struct region *regions_find(const struct regions *r, vaddr_t va);
/* Returns the first region that ends above va, or NULL. */
struct region *regions_above(const struct regions *r, vaddr_t va);
/* Returns the neighbour of a region, or NULL. */
struct region *region_next(const struct region *region);
struct region *region_previous(const struct region *region);
/* Inserts a copy of `region`. Returns 0, -EEXIST if it overlaps one, or -ENOSPC without a spare
 * node. */
int regions_insert(struct regions *r, const struct region *region);
/* Finds the highest address for len bytes in [low, high) that are not mapped. Returns 0 or
 * -ENOMEM. */
int regions_find_gap(const struct regions *r, uint64_t len, vaddr_t low, vaddr_t high,
                     vaddr_t *out);
/* Makes va a boundary if it lies inside a region. Returns 0 or -ENOSPC. */
int regions_split(struct regions *r, vaddr_t va);
/* Takes the region out. Its node becomes a spare one. */
void regions_remove(struct regions *r, struct region *region);
/* Moves the region's edges, not over a neighbour. What it gains at its start has no source. */
void regions_resize(struct regions *r, struct region *region, vaddr_t start, vaddr_t end);
/* Returns whether all of [start, end) is mapped, by regions that are not closed. */
bool regions_cover(const struct regions *r, vaddr_t start, vaddr_t end);
/* Joins neighbours without a difference that touch [start, end]. */
void regions_merge(struct regions *r, vaddr_t start, vaddr_t end);
/* Returns whether the two follow each other without a difference, but for their tags. */
bool region_continues(const struct region *a, const struct region *b);
/* Returns the page on the source of `region` for va, which is inside it; 0: it has none. */
uint64_t region_source_page(const struct region *region, vaddr_t va);
/* Returns whether va, inside the region, lies behind the page with the source's last byte. */
bool region_behind_source(const struct region *region, vaddr_t va);
/* Returns whether the two are the same contents. */
bool page_source_is(const struct page_source *a, const struct page_source *b);
/* Returns the number of pages to read together from va on, which is not resident: twice as many as
 * last time if a sequential reading goes on, `most` in the end, else `least`; within the region.
 * 1..255. It may go on behind pages that were there, as many as were read last. Single pages that
 * are read elsewhere in between do not end it; two in a row begin another one. */
unsigned region_ahead(struct region *region, vaddr_t va, unsigned least, unsigned most);
/* Notes that pages from va on up to `end` are being read, after region_ahead. */
void region_read(struct region *region, vaddr_t va, vaddr_t end);
#define REGION_LEAD_MAX 192 /* pages */
/* Decides what to read before a sequential reader waits for it. Called when a thread wants the page
 * at va, which was read ahead; `late`: it is still being read. Returns the number of pages to read
 * from ahead_next on, at most `most`, and notes that they are being read; 0: none yet. The next
 * pages are read when the reader comes to those that were read last, and earlier by `lead`, which
 * grows each time the reader waits. As Linux's page cache marks a page (mm/readahead.c), but for
 * the lead. */
unsigned region_read_on(struct region *region, vaddr_t va, bool late, unsigned most);
/* Notes that the page at va, inside region, is resident. */
void region_touch(struct region *region, vaddr_t va);
/* Panics on a broken invariant. */
void regions_check(const struct regions *r, vaddr_t low, vaddr_t high);
