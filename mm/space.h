/*
 * The inside of an address space, for the files of mm only.
 *
 * Lock [S]: a spinlock, held for short stretches. No page is zeroed for a fault, no TLB shot down
 * and no thread blocked under it. Long work goes batch by batch and looks at the space anew in
 * each.
 */
#pragma once
#include "kernel/mem/account.h"
#include "mm/policy/region/region.h"
#include "kernel/core/lock.h"
#include "sched/sched.h"

struct active_set;
struct curve;
struct pool;

/* Where the frames of a space's page tables come from. */
struct space_tables {
    struct arch_frames frames;
    struct memory_account *account; /* [-] charged for them, or NULL */
    uint64_t charged;               /* [S] frames charged */
};

struct space {
    struct spinlock lock;
    struct space_tables tables;
    struct arch_space arch;    /* [S] */
    struct regions regions;    /* [S] */
    struct pool *pool;         /* [-] has a node for each page; NULL: no page is ever evicted */
    uint32_t pid;              /* [-] the process, for messages */
    uint64_t mapped_pages;     /* [S] */
    uint64_t resident_pages;   /* [S] mapped by the page tables */
    uint64_t out_pages;        /* [S] with a node's number in the page tables */
    uint64_t faults;           /* [S] */
    uint64_t waits, waited_ns; /* [S] of threads, for pages to be read */
    /* [A] threads that evict pages of the space, which cannot end meanwhile */
    uint32_t pins;
    struct wait_queue unpinned; /* [S] */
    uint8_t next_tag;           /* [S] number of the next region, as policies know it */
    bool told_short;            /* [A] what trackers were told last of its memory */
    uint16_t number;            /* [-] known to trackers; 0: not */
    bool watched, is_short;     /* mm/track/track.c */
    struct curve *curve;        /* mm/track/curve.c */
    struct active_set *active;  /* mm/track/soft.c */
};

/* Returns the page tables' protection for a page of a region with protection `prot`. A page without
 * rights stays in the tables, and every access to it faults. */
static inline unsigned space_page_prot(unsigned prot)
{
    return prot ? prot | PROT_R | PROT_USER : PROT_USER;
}

/* space_check.c: as space_check, for a space that no thread runs in any more; mostly with
 * interrupts on. */
void space_check_end(struct space *s);
/* readahead.c: begins a read of a mapped disk at va, which belongs to r. Returns the number of
 * pages to read together, from va on, at least 1. [S] held. */
unsigned readahead_begin_locked(struct space *s, struct region *r, vaddr_t va);
/* readahead.c: reads n pages of disk d, from `page` on: the first into frame `first`, the others
 * into frames of their own, which become pages of s unless they have been read otherwise meanwhile.
 * Thread context, no lock held. Returns 0, or -EIO: the first page could not be read. */
int readahead_read(struct space *s, struct block_device *d, uint64_t page, vaddr_t va, unsigned n,
                   paddr_t first);
/* fetch.c: starts reading the pages of [va, end) that are out, as far as there is room. Thread
 * context, no lock held. */
void space_fetch(struct space *s, vaddr_t va, vaddr_t end);
