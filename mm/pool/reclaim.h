/*
 * Charges frames to pools and evicts pages to make room.
 *
 * A pool's limit is mem.process, a global pool's mem.user. All pools together have no more than
 * mem.user and leave some frames to the kernel. An allocation of the kernel never waits for an
 * eviction, except for the tables of pools. A thread (paging_start) evicts pages ahead of demand,
 * so that a thread that needs a frame finds a free one; if there is none, that thread evicts pages
 * itself.
 */
#pragma once
#include "mm/pool.h"

/* Returns the pages that a space of p can still fill before memory, the
 * limits and the swap disk are exhausted, if nothing else changes. [P] held. */
uint64_t pool_room_pages(const struct pool *p);
/* As pool_charge, without waiting for a write. Returns false if no frame is to be had now. */
bool pool_charge_now(struct pool *p);
/* Returns the frames that all pools together can keep; some more are kept free. Any context. */
uint32_t pools_memory(void);
/* Evicts pages until `frames` frames are free besides the kernel's reserve. Pools get none of these
 * frames until reclaim_taken() is called with the same number, whatever this returns. p: the
 * caller's pool. Thread context, no lock held. Returns 0; -ENOMEM: no page can be evicted;
 * -EINTR. */
int reclaim_for_kernel(struct pool *p, uint64_t frames);
void reclaim_taken(uint64_t frames);
/* As pool_uncharge. [P] held. */
void pool_uncharge_locked(struct pool *p, uint32_t frames);
/* Adds `more`, which may be negative, to the nodes of p that are GOING or WRITING. [P] held. */
void pool_leaving_locked(struct pool *p, int more);
/* pool.c: returns the part of `limit` frames that is kept free for bursts. */
uint32_t pool_reserve_of(uint32_t limit);
/* pool.c: returns the number of pools. Any context. */
uint32_t pools_number(void);

/* evict.c: evicts up to `count` pages of p, at most one batch. `incoming`: the node that is to be
 * read in, or NODE_NONE. May yield the CPU. Thread context, no lock held. Returns the number of
 * pages evicted or being written; 0: none can be evicted now. */
unsigned evict_batch(struct pool *p, uint32_t count, uint32_t incoming);
/* evict.c: asks the space for the page at va, which it may have: tells whether it keeps the page.
 * Thread context, no lock held. */
bool evict_keeps_page(struct space *s, vaddr_t va);
/* evict.c: tells whether every resident page has been looked at since one was evicted or a frame
 * was charged, so that none can be evicted. [P] held. */
bool evict_tried_all_locked(const struct pool *p);
