/*
 * The swap area: a disk's pages as slots, and reading and writing them.
 *
 * Neighbouring pages get neighbouring slots (mm/policy/slots.h). A page that is read keeps its
 * slot, so that it need not be written again unless it changes; when slots become scarce
 * (swap_scarce), it gives the slot up.
 */
#pragma once
#include "mm/pool.h"
#include "kernel/dev/block/block.h"

#define SWAP_CLUSTER SLOT_CLUSTER /* consecutive slots, and pages */

/* Finds the disk that the arguments name, and prints a line about it. Called by paging_start. */
void swap_init(void);
/* Tells whether d is the swap disk, which must not be mapped or overwritten. Any context. */
bool swap_uses(const struct block_device *d);
struct swap_stats {
    uint64_t slots, free_slots, bad_slots;
    uint64_t reads, writes, pages_read, pages_written; /* requests, and their pages */
};
void swap_stats(struct swap_stats *out);

/* ---- Slots. Any context; locks that are held rank below LOCK_SWAP. --------------------------- */
/* As slots_take and slots_give. swap_slot_take returns SLOT_NONE also if there is no disk or it has
 * failed. */
uint32_t swap_slot_take(uint32_t want, unsigned index);
void swap_slot_give(uint32_t slot);
/* Counts a slot as lost: it is not used again. swap_report_lost prints a line about it, for the
 * first slots and then at each power of two. */
void swap_slot_bad(void);
void swap_report_lost(uint32_t slot);
/* Tells whether less than an eighth of the slots is free, or there is no disk: a page that was read
 * gives its slot up. Any context, no lock: the answer may be out of date. */
bool swap_scarce(void);

/* ---- Reading and writing --------------------------------------------------------------------- */
/* A page to read or write, which the caller has made COMING or WRITING. */
struct swap_page {
    uint32_t node, slot; /* COMING or WRITING by the caller */
    paddr_t frame;
    bool alone; /* not in one request with others */
};
/* Starts reading or writing n pages, which it sorts, neighbouring slots in one request.
 * page_read_done or page_write_done follows for each page, from an interrupt or at once. Thread
 * context, no lock held; may block, uninterruptibly. */
void swap_pages(struct pool *p, bool write, struct swap_page *page, unsigned n);
