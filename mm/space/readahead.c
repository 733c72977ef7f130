/*
 * Readahead of sources that are slow: the pages behind the one that a thread waits for are read
 * with it, in the same requests. Their number follows from how the region was read before, and from
 * the program's advice: sequential, the most possible; random, none. Of contents that are on a disk
 * the next ones are read before a thread waits for them: when the first one of those is used, or
 * waited for, that were read last.
 *
 * Such pages are READY, so that their first use is seen and counted, and can be evicted. An error
 * of reading ahead is ignored: the page is read again when a thread needs it, which gets the error
 * then.
 */
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/page_io.h"
#include "mm/pool/reclaim.h"
#include "mm/space.h"
#include "kernel/mem/mem.h"

#define AHEAD_MAX BLOCK_PAGES_MAX

/* Tells whether the page is still to be read from its source. */
static bool unread_locked(struct space *s, vaddr_t va)
{
    struct pool *p = s->pool;
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind != ARCH_PAGE_OUT)
        return page.kind == ARCH_PAGE_NONE;
    spin_lock_irqoff(&p->lock);
    const struct node *node = &p->nodes[page.number];
    bool is = node->state == NODE_OUT && node->slot == SLOT_NONE;
    spin_unlock_irqoff(&p->lock);
    return is;
}

static unsigned room_locked(struct pool *p)
{
    spin_lock_irqoff(&p->lock);
    uint32_t room = pool_readahead_room(p);
    spin_unlock_irqoff(&p->lock);
    return MIN(room + 1, (uint32_t)AHEAD_MAX);
}

unsigned readahead_begin_locked(struct space *s, struct region *r, vaddr_t va, struct read_on *on)
{
    bool one = r->advice == ADVICE_RANDOM || !r->source.ops->slow;
    unsigned most = one ? 1 : room_locked(s->pool), n = 1;
    unsigned wanted = region_ahead(r, va, r->advice == ADVICE_SEQUENTIAL ? most : 1, most);

    while (n < wanted && unread_locked(s, va + n * PAGE_SIZE))
        n++;
    region_read(r, va, va + n * PAGE_SIZE);
    if (n > 1)
        readahead_on_locked(r, va, false, most - n, on);
    return n;
}

static bool take_frame(struct pool *p, paddr_t *out)
{
    if (!pool_charge_now(p))
        return false;
    if (!frame_alloc(0, out))
        return true;
    pool_uncharge(p, 1);
    return false;
}

static void free_frame(struct pool *p, paddr_t frame)
{
    frame_free(frame, 0);
    pool_uncharge(p, 1);
}

/* Makes a node that is OUT for the page at va, where nothing was. The page is first mapped without
 * rights, because arch_space_evict puts a node's number in the place of a page. Returns NODE_NONE
 * without memory. */
static uint32_t begin_out_locked(struct space *s, struct region *r, vaddr_t va, paddr_t frame)
{
    struct pool *p = s->pool;
    unsigned marks;
    paddr_t pa;

    if (p->free_head == NODE_NONE || arch_space_map(&s->arch, va, frame, PROT_USER))
        return NODE_NONE;
    uint32_t n = pool_node_out(p, s, va, 0, r->tag);
    int err = arch_space_evict(&s->arch, va, n, &pa, &marks);
    ASSERT(!err && pa == frame);
    s->out_pages++;
    p->stats.first_faults++;
    return n;
}

/* Returns the node of the page at va, which is to be read from its source, or NODE_NONE: it is here
 * or elsewhere. [S] and [P] held. */
static uint32_t unread_node_locked(struct space *s, struct region *r, vaddr_t va, paddr_t frame)
{
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_NONE)
        return begin_out_locked(s, r, va, frame);
    if (page.kind == ARCH_PAGE_HERE)
        return NODE_NONE;
    const struct node *node = &s->pool->nodes[page.number];
    return node->state == NODE_OUT && node->slot == SLOT_NONE ? page.number : NODE_NONE;
}

/* Makes the frame that of the page at va, if va still maps the source's page and is not resident:
 * READY, it has been read, or COMING. Returns its node, or NODE_NONE if it did not. */
static uint32_t keep_page(struct space *s, const struct page_source *source, uint64_t page,
                          vaddr_t va, paddr_t frame, bool coming)
{
    struct pool *p = s->pool;
    uint32_t n = NODE_NONE;
    bool irq = spin_lock(&s->lock);
    struct region *r = regions_find(&s->regions, va);

    if (r && !(r->flags & REGION_CLOSED) && page_source_is(&r->source, source) &&
        region_source_page(r, va) == page) {
        spin_lock_irqoff(&p->lock);
        n = unread_node_locked(s, r, va, frame);
        if (n != NODE_NONE)
            (coming ? pool_node_coming : pool_node_filled)(p, n, frame_number(frame_page(frame)));
        spin_unlock_irqoff(&p->lock);
    }
    if (n != NODE_NONE)
        region_touch(r, va);
    spin_unlock(&s->lock, irq);
    return n;
}

/* Notes that only `came` of n pages came, for want of frames, so that a fault on the next one
 * counts as sequential. */
static void note_fewer(struct space *s, const struct page_source *source, vaddr_t va, unsigned n,
                       unsigned came)
{
    bool irq = spin_lock(&s->lock);
    struct region *r = regions_find(&s->regions, va);

    if (r && page_source_is(&r->source, source) && r->ahead_next == va + n * PAGE_SIZE)
        r->ahead_next = va + came * PAGE_SIZE;
    spin_unlock(&s->lock, irq);
}

int readahead_read(struct space *s, const struct page_source *source, uint64_t page, vaddr_t va,
                   unsigned n, paddr_t first)
{
    paddr_t frames[AHEAD_MAX] = {first};
    unsigned got = 1;

    while (got < n && take_frame(s->pool, &frames[got]))
        got++;
    int err = source->ops->read_pages(source, page, got, frames);
    unsigned came = 1; /* without a gap */
    for (unsigned i = 1; i < got; i++)
        if (err ||
            keep_page(s, source, page + i, va + i * PAGE_SIZE, frames[i], false) == NODE_NONE)
            free_frame(s->pool, frames[i]);
        else
            came += came == i;
    if (came < n)
        note_fewer(s, source, va, n, came);
    if (err && got > 1)
        err = source->ops->read_pages(source, page, 1, frames);
    return err && err != -ENXIO ? -EIO : err;
}

/* ---- Before a thread waits ------------------------------------------------------------------- */

void readahead_on_locked(struct region *r, vaddr_t va, bool late, unsigned most,
                         struct read_on *out)
{
    vaddr_t from = r->ahead_next;

    if (r->source.ops && r->source.ops->disk && r->advice != ADVICE_RANDOM)
        *out = (struct read_on){from, region_read_on(r, va, late, MIN(most, (unsigned)AHEAD_MAX))};
}

/* A request that is being made. */
struct request {
    struct pool *pool;
    struct block_device *disk;
    struct page_io *io; /* NULL: too many are busy */
};

static void begin_request(struct request *r)
{
    r->io = page_io_get_to_read(r->pool);
}

static void end_request(struct request *r)
{
    if (r->io && r->io->request.count)
        page_io_start(r->io, r->disk);
    else if (r->io)
        page_io_put(r->io);
}

/* Has the request ready for a page of the disk: ends it, and begins another one, if the page does
 * not fit. Returns whether there is one. */
static bool ready_for(struct request *r, uint64_t page)
{
    if (r->io && !page_io_fits(r->io, r->disk, page)) {
        end_request(r);
        begin_request(r);
    }
    return r->io;
}

/* Makes nodes for n pages, if there are too few. Without memory fewer pages are read. */
static void get_nodes(struct pool *p, unsigned n)
{
    bool irq = spin_lock(&p->lock);
    bool few = p->free_nodes < n;

    spin_unlock(&p->lock, irq);
    if (few)
        pool_grow(p);
}

void readahead_start(struct space *s, const struct page_source *source, uint64_t page,
                     const struct read_on *on)
{
    struct pool *p = s->pool;
    unsigned n = on->n;
    struct request r = {p, source->ops->disk(source, page, &n), NULL};
    paddr_t frame = 0;

    if (!r.disk)
        return;
    get_nodes(p, n);
    begin_request(&r);
    for (unsigned i = 0; i < n && ready_for(&r, page + i); i++) {
        if (!frame && !take_frame(p, &frame))
            break;
        uint32_t node = keep_page(s, source, page + i, on->va + i * PAGE_SIZE, frame, true);
        if (node == NODE_NONE) /* another one gets the frame */
            continue;
        page_io_add(r.io, r.disk, page + i, frame, node);
        frame = 0;
    }
    if (frame)
        free_frame(p, frame);
    end_request(&r);
}
