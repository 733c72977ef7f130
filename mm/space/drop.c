/*
 * Takes pages and regions away.
 *
 * Unmapping first closes regions: they admit no fault. So their pages can be taken away in batches:
 * out of the tables under the lock, out of the TLBs without it, and only then the frames are freed.
 */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/pool.h"
#include "mm/object.h"
#include "mm/track/track.h"

#define BATCH_FRAMES 64   /* freed together after one shootdown */
#define BATCH_STEPS  2048 /* pages looked at in one hold of the lock */
#define ROW_PAGES    32   /* pages looked at in one call; an aligned block of them */

/* ---- Taking pages away ----------------------------------------------------------------------- */

struct batch {
    uint32_t frames[BATCH_FRAMES];
    uint32_t shared[BATCH_FRAMES]; /* nodes whose frames relatives may have */
    uint32_t shown[BATCH_FRAMES];  /* nodes of objects, which others keep */
    unsigned n, shares, shows;
    bool shown_only;  /* no page of the space's own is taken */
    bool flush;       /* TLBs may map a page of the batch */
    uint32_t waiting; /* the node that must be waited for, or NODE_NONE: pool_is_kept */
};

/* Puts its number in the place of a page that others have, too. What was stored to it may be known
 * to this table alone. [S] and [P] held. */
static void take_share_locked(struct space *s, vaddr_t va, uint32_t n, struct batch *b)
{
    unsigned marks;
    paddr_t pa;
    int err = arch_space_evict(&s->arch, va, n, &pa, &marks);

    ASSERT(!err);
    if (marks & ARCH_WRITTEN)
        s->pool->nodes[n].flags |= NODE_DIRTY;
    b->shared[b->shares++] = n;
}

/* Takes out a page of an object. */
static void collect_shown_locked(struct space *s, vaddr_t va, struct batch *b)
{
    b->shown[b->shows++] = object_unmap_locked(s, va);
    b->flush = true;
}

/* Takes out a mapped page. Returns false, with b->waiting set, if the page is still being written,
 * or TLBs of processes may have it. */
static bool collect_here_locked(struct space *s, vaddr_t va, const struct arch_page *page,
                                struct batch *b)
{
    struct pool *p = s->pool;
    uint32_t n = frame_page(page->pa)->next;

    if (!pool_owns(p, page->pa)) {
        collect_shown_locked(s, va, b);
        return true;
    }
    if (b->shown_only)
        return true;
    spin_lock_irqoff(&p->lock);
    bool shared = pool_is_shared(&p->nodes[n]);
    b->waiting = pool_is_kept(&p->nodes[n]) ? n : NODE_NONE;
    if (b->waiting == NODE_NONE && shared)
        take_share_locked(s, va, n, b);
    else if (b->waiting == NODE_NONE)
        pool_forget(p, n);
    spin_unlock_irqoff(&p->lock);
    if (b->waiting != NODE_NONE)
        return false;
    paddr_t frame;
    int err = shared ? arch_space_forget(&s->arch, va) : arch_space_unmap(&s->arch, va, &frame);
    ASSERT(!err);
    if (!shared)
        b->frames[b->n++] = frame_number(frame_page(frame));
    track_forget(s, va);
    b->flush = true;
    s->resident_pages--;
    return true;
}

/* Takes out a page that is out or on its way. If it is being evicted or copied, TLBs may still map
 * it: who does so keeps its frame until they have forgotten it. */
static void collect_out_locked(struct space *s, vaddr_t va, uint32_t n, struct batch *b)
{
    struct pool *p = s->pool;

    spin_lock_irqoff(&p->lock);
    b->flush |= p->nodes[n].state == NODE_GOING || p->nodes[n].holds;
    pool_drop_share(p, n);
    spin_unlock_irqoff(&p->lock);
    arch_space_forget(&s->arch, va);
    track_forget(s, va);
    s->out_pages--;
}

/* Takes pages of [va, end) out of the tables until the batch is full or BATCH_STEPS were looked at.
 * The tracker forgets them, so that the first use of a later page there is logged. Returns how far
 * it came. */
static NOINLINE vaddr_t collect_locked(struct space *s, vaddr_t va, vaddr_t end, struct batch *b)
{
    struct arch_page row[ROW_PAGES];

    *b = (struct batch){.shown_only = b->shown_only, .waiting = NODE_NONE};
    for (unsigned steps = 0; va < end && steps < BATCH_STEPS && b->n + ROW_PAGES <= BATCH_FRAMES &&
                             b->shares + ROW_PAGES <= BATCH_FRAMES &&
                             b->shows + ROW_PAGES <= BATCH_FRAMES;) {
        vaddr_t row_end = MIN(ALIGN_DOWN(va, ROW_PAGES * PAGE_SIZE) + ROW_PAGES * PAGE_SIZE, end);
        unsigned n = (unsigned)((row_end - va) >> PAGE_SHIFT),
                 some = arch_space_look(&s->arch, va, n, row);
        for (unsigned i = 0; some && i < n; i++, va += PAGE_SIZE) {
            if (row[i].kind == ARCH_PAGE_OUT && !b->shown_only)
                collect_out_locked(s, va, row[i].number, b);
            else if (row[i].kind == ARCH_PAGE_HERE && !collect_here_locked(s, va, &row[i], b))
                return va;
        }
        va = some ? row_end : arch_space_skip(&s->arch, row_end, end);
        steps += n;
    }
    return va;
}

/* TLBs have forgotten the pages. */
static void drop_shares(struct pool *p, const struct batch *b)
{
    bool irq = spin_lock(&p->lock);

    for (unsigned i = 0; i < b->shares; i++) {
        pool_unmapped(p, b->shared[i]);
        pool_drop_share(p, b->shared[i]);
    }
    spin_unlock(&p->lock, irq);
}

static void drop_shown(const struct batch *b)
{
    struct pool *p = pool_of_files();

    if (!b->shows)
        return;
    bool irq = spin_lock(&p->lock);
    for (unsigned i = 0; i < b->shows; i++)
        pool_unmapped(p, b->shown[i]);
    spin_unlock(&p->lock, irq);
}

/* Blocks until node n changes, if it is kept. */
static void wait_for_node(struct pool *p, uint32_t n)
{
    bool irq = spin_lock(&p->lock);

    if (pool_is_kept(&p->nodes[n]))
        wait_sleep_through(pool_queue(p, n), &p->lock, &irq);
    spin_unlock(&p->lock, irq);
}

static void drop_pages(struct space *s, vaddr_t va, vaddr_t end, bool shown_only)
{
    struct batch b = {.shown_only = shown_only};

    while (va < end) {
        bool irq = spin_lock(&s->lock);
        vaddr_t next = collect_locked(s, va, end, &b);
        spin_unlock(&s->lock, irq);
        if (b.flush)
            tlb_shootdown(&s->arch, va, (next - va) >> PAGE_SHIFT);
        for (unsigned i = 0; i < b.n; i++)
            frame_free(frame_address(frame_page_number(b.frames[i])), 0);
        if (b.n)
            pool_uncharge(s->pool, b.n);
        drop_shares(s->pool, &b);
        drop_shown(&b);
        if (b.waiting != NODE_NONE)
            wait_for_node(s->pool, b.waiting);
        va = next;
        sched_point();
    }
}

void space_drop_pages(struct space *s, vaddr_t va, vaddr_t end)
{
    drop_pages(s, va, end, false);
}

void space_drop_shown(struct space *s, vaddr_t va, vaddr_t end)
{
    drop_pages(s, va, end, true);
}

void space_cut_locked(struct space *s, vaddr_t va, vaddr_t end)
{
    int err = regions_split(&s->regions, va) ?: regions_split(&s->regions, end);

    ASSERT(!err);
}

void space_close(struct space *s, vaddr_t va, vaddr_t end)
{
    bool irq = spin_lock(&s->lock);
    struct region *r;

    space_cut_locked(s, va, end);
    for (r = regions_above(&s->regions, va); r && r->start < end; r = region_next(r))
        r->flags |= REGION_CLOSED;
    spin_unlock(&s->lock, irq);
    for (r = regions_above(&s->regions, va); r && r->start < end; r = region_next(r))
        space_drop_pages(s, r->touched_lo, r->touched_hi);
}

void space_remove_locked(struct space *s, vaddr_t va, vaddr_t end)
{
    struct region *r;

    while ((r = regions_above(&s->regions, va)) && r->start < end) {
        space_note_pages(s, r, -(int64_t)((r->end - r->start) >> PAGE_SHIFT));
        s->objects_gone |= object_mapped(r) != NULL;
        regions_remove(&s->regions, r);
    }
}

int space_unmap(struct space *s, vaddr_t va, uint64_t len)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len);

    if (err)
        return err;
    mutex_lock(&s->map_lock);
    err = space_reserve_to_remove(s, va, end);
    if (!err) {
        space_close(s, va, end);
        bool irq = spin_lock(&s->lock);
        space_remove_locked(s, va, end);
        spin_unlock(&s->lock, irq);
    }
    space_unlock_regions(s);
    return err;
}
