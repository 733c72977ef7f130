/*
 * The swap area: a disk's pages as slots, and reading and writing them.
 *
 * Slots are given out so that neighbouring pages are neighbours on the disk (mm/slots.h).  A page keeps its slot when it is read, so
 * that it need not be written again unless it has changed; when slots become few (swap_scarce) it is to give it up.
 */
#pragma once
#include "mm/pool.h"
#include "kernel/dev/block.h"

#define SWAP_CLUSTER SLOT_CLUSTER /* slots, and pages, in a row */

/* paging_start: the disk that the arguments name, with a line. */
void swap_init(void);
bool swap_present(void);
bool swap_uses(const struct block_device *d);
struct swap_stats {
    uint64_t slots, free_slots, bad_slots;
    uint64_t reads, writes, pages_read, pages_written; /* requests and their pages */
};
void swap_stats(struct swap_stats *out);

/* ---- Slots.  Any context whose locks rank below LOCK_SWAP. ---- */
/* As slots_take; SLOT_NONE also where the disk has failed. */
uint32_t swap_slot_take(uint32_t want, unsigned index);
void swap_slot_give(uint32_t slot);
/* What is written there is lost: it is not given out again.  The line about it comes less and less often. */
void swap_slot_bad(void);
void swap_report_lost(uint32_t slot);
bool swap_scarce(void);

/* ---- Reading and writing.  Thread context, no lock held; may sleep, whatever becomes of the process. ---- */
struct swap_io {
    struct block_request request;
    struct pool *pool;
    uint32_t node[BLOCK_PAGES_MAX];
    struct list link; /* of those not in use */
};
/* One to fill in: pages are added with swap_io_add, in the order of their slots. */
struct swap_io *swap_io_get(struct pool *p, bool write);
/* Node's frame and slot; false: it does not fit. [P] held, or the node is COMING or WRITING by the caller. */
bool swap_io_add(struct swap_io *io, uint32_t node, uint32_t slot, paddr_t frame);
/* Starts it; pool_read_done or pool_write_done follow for each node, by an interrupt or at once. */
void swap_io_start(struct swap_io *io);

/* ---- What becomes of them (swap_done.c).  Interrupts off, no lock held. ---- */
void swap_read_done(struct pool *p, uint32_t n, int status);
/* alone: nothing else was written with it, so that an error is its slot's. */
void swap_write_done(struct pool *p, uint32_t n, int status, bool alone);
