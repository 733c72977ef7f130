/*
 * The inside of an address space, for the files of mm only.
 * Lock [S]: a spinlock, held for short stretches; no fault's page is zeroed, no TLB shot down and nothing slept on
 * under it. Long work goes page batch by page batch and finds out anew, each time, what holds.
 */
#pragma once
#include "mm/mm.h"
#include "mm/regions.h"
#include "kernel/lock.h"

struct space {
    struct spinlock lock;
    struct arch_space arch;  /* [S] */
    struct regions regions;  /* [S] */
    uint64_t mapped_pages;   /* [S] */
    uint64_t resident_pages; /* [S] */
    uint64_t faults;         /* [S] */
    uint16_t number;         /* [-] for trackers; 0: none */
    bool watched;            /* mm/track.c */
};

/* What the page tables say for a page of a region: without rights they keep it, and every access faults. */
static inline unsigned space_page_prot(unsigned prot)
{
    return prot ? prot | PROT_R | PROT_USER : PROT_USER;
}
