/*
 * Requests to disks for pages of pools, whose nodes are COMING or WRITING until they are done:
 * pages of the swap area, and those of files that are read ahead.
 */
#pragma once
#include "kernel/dev/block/block.h"
#include "mm/pool.h"

/* A request and the nodes of its pages, in their order on the disk. */
struct page_io {
    struct block_request request;
    struct pool *pool;
    uint32_t node[BLOCK_PAGES_MAX];
    struct list link; /* among those that are idle */
};

/* At boot, before all others. */
void page_io_init(void);
/* Waits for an idle request, for pages of p. Thread context, no lock held; uninterruptible. */
struct page_io *page_io_get(struct pool *p, bool write);
/* Returns one to read pages of p, or NULL: half of them are busy. Any context, no lock held. */
struct page_io *page_io_get_to_read(struct pool *p);
/* Returns whether page `page` of disk d may be added: it follows those that were. */
bool page_io_fits(const struct page_io *io, const struct block_device *d, uint64_t page);
/* Adds it. Returns false if it does not fit. */
bool page_io_add(struct page_io *io, const struct block_device *d, uint64_t page, paddr_t frame,
                 uint32_t node);
/* Starts it, with one page at least. page_read_done or page_write_done follows for each page, from
 * an interrupt or at once; then the request is idle. Thread context, no lock held; may block,
 * uninterruptibly, while the disk is full. */
void page_io_start(struct page_io *io, struct block_device *d);
/* Makes a request idle that has no page. Any context, no lock held. */
void page_io_put(struct page_io *io);

/* ---- Completion (page_done.c). Interrupts off, no lock held. --------------------------------- */
/* Completes the read or write of node n with `status`, 0 or an error. `alone`: the request had no
 * other page, so that an error is this page's. */
void page_read_done(struct pool *p, uint32_t n, int status, bool alone);
void page_write_done(struct pool *p, uint32_t n, int status, bool alone);
