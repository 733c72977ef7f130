/*
 * The swap area: a disk's pages as slots, and reading and writing them.
 *
 * Slots are given out so that neighbouring pages are neighbours on the disk (mm/policy/slots.h). A
 * page keeps its slot when it is read, so that it need not be written again unless it has changed;
 * when slots become few (swap_scarce) it is to give it up.
 */
#pragma once
#include "mm/pool.h"
#include "kernel/dev/block/block.h"

#define SWAP_CLUSTER SLOT_CLUSTER /* slots, and pages, in a row */

/* paging_start: the disk that the arguments name, with a line. */
void swap_init(void);
/* Is it this one, so that nobody else may show or overwrite it? No, of any, where there is none.
 * Any context. */
bool swap_uses(const struct block_device *d);
struct swap_stats {
    uint64_t slots, free_slots, bad_slots;
    uint64_t reads, writes, pages_read, pages_written; /* requests and their pages */
};
void swap_stats(struct swap_stats *out);

/* ---- Slots. Any context whose locks rank below LOCK_SWAP. ----------------------------------- */
/* As slots_take; SLOT_NONE also where the disk has failed. */
uint32_t swap_slot_take(uint32_t want, unsigned index);
void swap_slot_give(uint32_t slot);
/* What is written there is lost: it is not given out again. The line about it comes less and less
 * often. */
void swap_slot_bad(void);
void swap_report_lost(uint32_t slot);
/* Fewer than one slot in eight are free, or there is no disk: a page that is back gives its slot
 * up. Any context, without a lock: others take and give slots meanwhile. */
bool swap_scarce(void);

/* ---- Reading and writing. Thread context, no lock held; may sleep, whatever becomes of the
 * process. ---- */
struct swap_page {
    uint32_t node, slot; /* COMING or WRITING by the caller */
    paddr_t frame;
    bool alone; /* not in one request with others */
};
/* Starts reading or writing them, neighbours on the disk in one request; they are sorted.
 * swap_read_done or swap_write_done follows for each, by an interrupt or at once. */
void swap_pages(struct pool *p, bool write, struct swap_page *page, unsigned n);

/* ---- What becomes of them (swap_done.c). Interrupts off, no lock held. ---------------------- */
/* alone: nothing else was read or written with it, so that an error is its slot's. */
void swap_read_done(struct pool *p, uint32_t n, int status, bool alone);
void swap_write_done(struct pool *p, uint32_t n, int status, bool alone);
