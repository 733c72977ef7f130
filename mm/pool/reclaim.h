/*
 * Who may have how many frames, and making others' pages leave.
 *
 * A pool's limit is what mem.process (of a global pool: mem.user) says; all pools together have no
 * more than mem.user, and leave a few frames to the kernel, whose own allocations never wait for a
 * page to leave, but for those of pools' tables. A thread (paging_start) makes pages leave ahead,
 * so that those who need frames find some free; who finds none lets pages leave itself.
 */
#pragma once
#include "mm/pool.h"

/* Returns the pages that space of p, or of no pool if NULL, can still fill before memory, its
 * limits and the swap disk have no more, as far as nothing else changes meanwhile. [P] held. */
uint64_t pool_room_pages(const struct pool *p);
/* As pool_charge, without waiting for anything to be written: true, or there is none to be had
 * now. */
bool pool_charge_now(struct pool *p);
/* So many frames may all pools together keep; a few more are kept free. Any context. */
uint32_t pools_memory(void);
/* Pages leave until so many frames are free besides those that the kernel has anyway, and pools
 * have none of these until reclaim_taken() says the same number, whatever came of it. p: the
 * caller's. 0; -ENOMEM: no page can leave; -EINTR. Thread context, no lock held. */
int reclaim_for_kernel(struct pool *p, uint64_t frames);
void reclaim_taken(uint64_t frames);
/* [P] held: so many frames of the pool's were given back. */
void pool_uncharge_locked(struct pool *p, uint32_t frames);
/* [P] held: so many more of its frames are on their way out, or fewer where that is less than 0. */
void pool_leaving_locked(struct pool *p, int more);
/* pool.c: of so many frames so many are kept free: enough for bursts, little enough not to be
 * missed. */
uint32_t pool_reserve_of(uint32_t limit);
/* pool.c: how many pools there are; any context. */
uint32_t pools_number(void);

/* evict.c: makes count pages of p leave, at most a batch at once: how many have left or are being
 * written; 0: none can. Incoming: the node that is to come, or NODE_NONE. Gives way now and then.
 * Thread context, no lock held. */
unsigned evict_batch(struct pool *p, uint32_t count, uint32_t incoming);
/* evict.c: [P] held: each page that is resident has been looked at since one could leave, or a
 * frame was to be had: nothing can. */
bool evict_tried_all_locked(const struct pool *p);
