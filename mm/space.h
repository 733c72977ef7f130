/*
 * The inside of an address space, for the files of mm only.
 * Lock [S]: a spinlock, held for short stretches; no fault's page is zeroed, no TLB shot down and
 * nothing slept on under it. Long work goes page batch by page batch and finds out anew, each time,
 * what holds.
 */
#pragma once
#include "kernel/mem/account.h"
#include "mm/policy/region/region.h"
#include "kernel/core/lock.h"
#include "sched/sched.h"

struct active_set;
struct curve;
struct pool;

/* Where its page tables' frames come from. */
struct space_tables {
    struct arch_frames frames;
    struct memory_account *account; /* [-] that they are charged to, or NULL */
    uint64_t charged;               /* [S] frames */
};

struct space {
    struct spinlock lock;
    struct space_tables tables;
    struct arch_space arch;     /* [S] */
    struct regions regions;     /* [S] */
    struct pool *pool;          /* [-] where its pages are nodes; NULL: nothing of it ever leaves */
    uint32_t pid;               /* [-] of whom it is, for messages */
    uint64_t mapped_pages;      /* [S] */
    uint64_t resident_pages;    /* [S] in the tables */
    uint64_t out_pages;         /* [S] whose number is in the tables */
    uint64_t faults;            /* [S] */
    uint64_t waits, waited_ns;  /* [S] for pages to be read */
    uint32_t pins;              /* [A] who makes pages of it leave; it stays */
    struct wait_queue unpinned; /* [S] */
    uint8_t next_tag;           /* [S] of regions, as policies know them */
    bool told_short;            /* [A] the last that trackers were told of its memory */
    uint16_t number;            /* [-] for trackers; 0: none */
    bool watched, is_short;     /* mm/track/track.c */
    struct curve *curve;        /* mm/track/curve.c */
    struct active_set *active;  /* mm/track/soft.c */
};

/* What the page tables say for a page of a region: without rights they keep it, and every access
 * faults. */
static inline unsigned space_page_prot(unsigned prot)
{
    return prot ? prot | PROT_R | PROT_USER : PROT_USER;
}

/* space_check.c: the same as space_check when its last thread has gone, mostly with interrupts
 * on. */
void space_check_end(struct space *s);
/* readahead.c: pages of a mapped disk that are read together. How many from va on, at least 1, [S]
 * held; reads them, the first into `first`, and keeps the others where nobody else has brought them
 * meanwhile. 0 or -EIO: the first could not be read. Thread context, no lock held. */
unsigned readahead_begin_locked(struct space *s, struct region *r, vaddr_t va);
int readahead_read(struct space *s, struct block_device *d, uint64_t page, vaddr_t va, unsigned n,
                   paddr_t first);
/* fetch.c: starts reading what is out of [va, end), as far as there is room. */
void space_fetch(struct space *s, vaddr_t va, vaddr_t end);
