/*
 * Readahead of mapped sources that are slow, as disks: the pages behind the one that a thread waits
 * for are read with it, in the same requests. Their number follows from how the region was read
 * before, and from the program's advice: sequential, the most possible; random, none.
 *
 * Such pages are READY, so that their first use is seen and counted, and can be evicted. An error
 * of reading ahead is ignored: the page is read again when a thread needs it, which gets the error
 * then.
 */
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/space.h"
#include "kernel/dev/block/block.h"
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

unsigned readahead_begin_locked(struct space *s, struct region *r, vaddr_t va)
{
    bool one = r->advice == ADVICE_RANDOM || !r->source.ops->slow;
    unsigned most = one ? 1 : room_locked(s->pool), n = 1;
    unsigned wanted = region_ahead(r, va, r->advice == ADVICE_SEQUENTIAL ? most : 1, most);

    while (n < wanted && unread_locked(s, va + n * PAGE_SIZE))
        n++;
    region_read(r, va, va + n * PAGE_SIZE);
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

/* Makes a READY node for the page at va, where nothing was. The page is first mapped without
 * rights, because arch_space_evict puts a node's number in the place of a page. */
static bool begin_ready_locked(struct space *s, struct region *r, vaddr_t va, paddr_t frame)
{
    struct pool *p = s->pool;
    unsigned marks;
    paddr_t pa;

    if (p->free_head == NODE_NONE || arch_space_map(&s->arch, va, frame, PROT_USER))
        return false;
    uint32_t n = pool_node_readahead(p, s, va, frame_number(frame_page(frame)), r->tag);
    int err = arch_space_evict(&s->arch, va, n, &pa, &marks);
    ASSERT(!err && pa == frame);
    s->out_pages++;
    return true;
}

static bool ready_again_locked(struct pool *p, uint32_t n, paddr_t frame)
{
    const struct node *node = &p->nodes[n];

    if (node->state != NODE_OUT || node->slot != SLOT_NONE)
        return false;
    pool_node_filled(p, n, frame_number(frame_page(frame)));
    return true;
}

static bool keep_page_locked(struct space *s, struct region *r, vaddr_t va, paddr_t frame)
{
    struct pool *p = s->pool;
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_HERE)
        return false;
    spin_lock_irqoff(&p->lock);
    bool kept = page.kind == ARCH_PAGE_NONE ? begin_ready_locked(s, r, va, frame)
                                            : ready_again_locked(p, page.number, frame);
    spin_unlock_irqoff(&p->lock);
    return kept;
}

/* Makes the frame, read from the source's page, that of the page at va, if va still maps that page
 * and is not resident. Returns whether it did. */
static bool keep_page(struct space *s, const struct page_source *source, uint64_t page, vaddr_t va,
                      paddr_t frame)
{
    bool irq = spin_lock(&s->lock);
    struct region *r = regions_find(&s->regions, va);
    bool kept = r && !(r->flags & REGION_CLOSED) && page_source_is(&r->source, source) &&
                region_source_page(r, va) == page && keep_page_locked(s, r, va, frame);

    if (kept)
        region_touch(r, va);
    spin_unlock(&s->lock, irq);
    return kept;
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
        if (err || !keep_page(s, source, page + i, va + i * PAGE_SIZE, frames[i]))
            free_frame(s->pool, frames[i]);
        else
            came += came == i;
    if (came < n)
        note_fewer(s, source, va, n, came);
    if (err && got > 1)
        err = source->ops->read_pages(source, page, 1, frames);
    return err && err != -ENXIO ? -EIO : err;
}
