/*
 * Moves and resizes mappings, as Linux's mremap.
 *
 * A mapping that moves is closed, and so is the one in its new place until all pages are there: a
 * fault waits for [M]. First the pages lose their rights and TLBs forget them, so that none can be
 * used at the old address; then each page, or its number, goes to the new one, and its node is
 * told. Pages may be evicted meanwhile, and come under way: that changes what an entry is, not
 * whether there is one. Tables are made beforehand, so that nothing can fail half-way. So are
 * copies of pages that relatives share, which have such a page at one address.
 */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/pool.h"
#include "mm/object.h"
#include "mm/track/track.h"

#define ROW_PAGES   32  /* pages looked at in one call; an aligned block of them */
#define BATCH_PAGES 512 /* pages looked at in one hold of the lock */

struct move {
    struct space *space;
    vaddr_t from, to;
    uint64_t len;      /* bytes of pages that move */
    vaddr_t low, high; /* pages that are or were resident, at the old address */
    unsigned prot;     /* of the pages in their new place */
    int err;
    bool changed; /* TLBs may know a page */
};

typedef void move_row(struct move *m, vaddr_t va, const struct arch_page *page, unsigned n);

/* Calls f, [S] held, for each row with pages. TLBs forget what f says has changed. */
static void each_row(struct move *m, move_row *f)
{
    struct space *s = m->space;

    for (vaddr_t va = m->low; va < m->high && !m->err;) {
        vaddr_t first = va;
        bool irq = spin_lock(&s->lock);
        m->changed = false;
        for (unsigned i = 0; i < BATCH_PAGES / ROW_PAGES && va < m->high && !m->err; i++) {
            struct arch_page row[ROW_PAGES];
            vaddr_t end =
                MIN(ALIGN_DOWN(va, ROW_PAGES * PAGE_SIZE) + ROW_PAGES * PAGE_SIZE, m->high);
            unsigned n = (unsigned)((end - va) >> PAGE_SHIFT);
            bool some = arch_space_look(&s->arch, va, n, row);
            if (some)
                f(m, va, row, n);
            va = some ? end : arch_space_skip(&s->arch, end, m->high);
        }
        spin_unlock(&s->lock, irq);
        if (m->changed)
            tlb_shootdown(&s->arch, first, (va - first) >> PAGE_SHIFT);
        sched_point();
    }
}

static void reserve_row(struct move *m, vaddr_t va, UNUSED const struct arch_page *page, unsigned n)
{
    vaddr_t first = va - m->from + m->to, last = first + (n - 1) * PAGE_SIZE;

    m->err =
        arch_space_reserve(&m->space->arch, first) ?: arch_space_reserve(&m->space->arch, last);
}

/* A page that is being evicted is out of the tables, but TLBs may still map it; who evicts it waits
 * for them before the frame is used again. */
static void take_rights(struct move *m, vaddr_t va, const struct arch_page *page, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (page[i].kind == ARCH_PAGE_HERE)
            arch_space_protect(&m->space->arch, va + i * PAGE_SIZE, PROT_USER);
        m->changed |= page[i].kind != ARCH_PAGE_NONE;
    }
}

static void move_page(struct move *m, vaddr_t from, vaddr_t to, const struct arch_page *page)
{
    struct arch_space *arch = &m->space->arch;
    paddr_t pa;
    int err;

    if (page->kind == ARCH_PAGE_HERE) {
        unsigned prot = space_shares(m->space, page) ? m->prot & ~(unsigned)PROT_W : m->prot;
        if (m->prot & PROT_X)
            arch_code_written(phys_to_virt(page->pa));
        err = arch_space_map(arch, to, page->pa,
                             prot | (page->marks & ARCH_WRITTEN ? PROT_WRITTEN : 0))
                  ?: arch_space_unmap(arch, from, &pa);
        if (!(page->marks & ARCH_USED))
            arch_space_mark(arch, to, ARCH_USED, 0);
    } else {
        err = arch_space_put_number(arch, to, page->number) ?: arch_space_forget(arch, from);
    }
    ASSERT(!err);
}

static void move_row_pages(struct move *m, vaddr_t va, const struct arch_page *page, unsigned n)
{
    struct pool *p = m->space->pool;

    for (unsigned i = 0; i < n; i++) {
        vaddr_t from = va + i * PAGE_SIZE, to = from - m->from + m->to;
        if (page[i].kind == ARCH_PAGE_NONE)
            continue;
        move_page(m, from, to, &page[i]);
        m->changed |= page[i].kind == ARCH_PAGE_HERE; /* TLBs may hold an entry without rights */
        track_forget(m->space, from);
        if (page[i].kind == ARCH_PAGE_HERE && !pool_owns(p, page[i].pa))
            continue;
        uint32_t number =
            page[i].kind == ARCH_PAGE_HERE ? frame_page(page[i].pa)->next : page[i].number;
        spin_lock_irqoff(&p->lock);
        ASSERT(p->nodes[number].sharers == 1);
        p->nodes[number].page = to >> PAGE_SHIFT;
        spin_unlock_irqoff(&p->lock);
    }
}

/* Moves the pages of the closed region at m->from to the closed region at m->to. Returns 0, or an
 * error, with nothing done. */
static int move_pages(struct move *m)
{
    each_row(m, reserve_row);
    if (m->err)
        return -ENOMEM;
    each_row(m, take_rights);
    each_row(m, move_row_pages);
    return 0;
}

/* ---- Regions --------------------------------------------------------------------------------- */

static void take_out(struct space *s, vaddr_t va, vaddr_t end)
{
    space_close(s, va, end);
    bool irq = spin_lock(&s->lock);
    space_remove_locked(s, va, end);
    spin_unlock(&s->lock, irq);
}

/* Cuts the old region to [va, va + old), closes it, and puts a closed one for `len` bytes at `to`.
 * Returns the latter's description. [M] held, three nodes are reserved. */
static struct region prepare(struct space *s, struct move *m, uint64_t len)
{
    bool irq = spin_lock(&s->lock);

    space_cut_locked(s, m->from, m->from + m->len);
    struct region *old = regions_find(&s->regions, m->from), now = *old;
    old->flags |= REGION_CLOSED;
    m->low = old->touched_lo;
    m->high = old->touched_hi;
    m->prot = s->active ? PROT_USER : space_page_prot(old->prot, false);
    now.flags |= REGION_CLOSED;
    now.start = m->to;
    now.end = m->to + len;
    now.touched_lo = old->touched_lo - m->from + m->to;
    now.touched_hi = old->touched_hi - m->from + m->to;
    now.ahead_next = now.stray_next = 0;
    int err = regions_insert(&s->regions, &now);
    ASSERT(!err);
    space_note_pages(s, &now, (int64_t)(len >> PAGE_SHIFT));
    spin_unlock(&s->lock, irq);
    return now;
}

/* Admits faults to the region at its new address. Removes the old region or, if `keep`, empties
 * it. */
static void settle(struct space *s, const struct move *m, bool keep)
{
    bool irq = spin_lock(&s->lock);
    struct region *old = regions_find(&s->regions, m->from);

    if (keep) {
        old->flags &= (uint8_t)~REGION_CLOSED;
        old->touched_lo = old->touched_hi = old->start;
    } else {
        space_remove_locked(s, m->from, m->from + m->len);
    }
    struct region *now = regions_find(&s->regions, m->to);
    now->flags &= (uint8_t)~REGION_CLOSED;
    regions_merge(&s->regions, now->start, now->end);
    spin_unlock(&s->lock, irq);
}

static void undo(struct space *s, const struct move *m, uint64_t len)
{
    bool irq = spin_lock(&s->lock);

    space_remove_locked(s, m->to, m->to + len);
    struct region *old = regions_find(&s->regions, m->from);
    old->flags &= (uint8_t)~REGION_CLOSED;
    regions_merge(&s->regions, old->start, old->end);
    spin_unlock(&s->lock, irq);
}

struct remap {
    vaddr_t va, old_end;
    uint64_t len; /* wanted */
    unsigned flags;
    vaddr_t to; /* with REMAP_FIXED */
};

/* Returns whether the space may have `len` bytes more of region r. */
static bool may_count(const struct space *s, const struct region *r, uint64_t len)
{
    uint64_t pages = len >> PAGE_SHIFT;

    return (!space_counts(r) || s->mapped_pages + pages <= MAPPED_PAGES_MAX) &&
           (!(r->flags & REGION_LOCKED) || space_may_lock(s, pages));
}

/* Moves the mapping, which is one region's. [M] held. */
static int move_mapping(struct space *s, const struct remap *x, vaddr_t *out)
{
    struct move m = {.space = s, .from = x->va, .to = x->to, .len = x->old_end - x->va};
    int err = space_reserve_regions(s, 5);

    if (!err && !may_count(s, regions_find(&s->regions, x->va), x->len))
        err = -ENOMEM;
    if (!err && !(x->flags & REMAP_FIXED))
        err = regions_find_gap(&s->regions, x->len, USER_MIN, MMAP_TOP, &m.to);
    const struct region *r = regions_find(&s->regions, x->va);
    bool shown = object_shown(r);
    /* relatives have such a page at one address */
    if (!err && (r->flags & REGION_SHARED) && !shown && lineage_forked(s->lineage))
        err = -EINVAL;
    if (err)
        return err;
    if (x->flags & REMAP_FIXED)
        take_out(s, m.to, m.to + x->len);
    if (m.len > x->len) {
        take_out(s, x->va + x->len, x->old_end);
        m.len = x->len;
    }
    err = space_reserve_regions(s, 3);
    if (!err && !shown)
        err = space_unshare(s, m.from, m.from + m.len);
    if (err)
        return err;
    prepare(s, &m, x->len);
    err = move_pages(&m);
    if (err)
        undo(s, &m, x->len);
    else
        settle(s, &m, x->flags & REMAP_DONTUNMAP);
    *out = m.to;
    return err;
}

/* Lets the region, which ends at the mapping's end, grow where it is. Returns whether it did. [M]
 * held. */
static bool grow_in_place(struct space *s, const struct remap *x)
{
    struct region *r = regions_find(&s->regions, x->va);
    uint64_t more = x->va + x->len - x->old_end;

    if (r->end != x->old_end || !space_is_free(s, x->old_end, more) || !may_count(s, r, more))
        return false;
    bool irq = spin_lock(&s->lock);
    regions_resize(&s->regions, r, r->start, x->va + x->len);
    space_note_pages(s, r, (int64_t)(more >> PAGE_SHIFT));
    regions_merge(&s->regions, r->start, r->end);
    spin_unlock(&s->lock, irq);
    return true;
}

/* [M] held. */
static int remap(struct space *s, const struct remap *x, vaddr_t *out)
{
    const struct region *r = regions_find(&s->regions, x->va);
    bool must = x->flags & (REMAP_FIXED | REMAP_DONTUNMAP);

    *out = x->va;
    if (!r || x->old_end > r->end)
        return -EFAULT;
    if ((x->flags & REMAP_DONTUNMAP) && (r->source.ops || r->flags & REGION_SHARED))
        return -EINVAL;
    if (must)
        return move_mapping(s, x, out);
    if (x->va + x->len <= x->old_end) {
        int err = space_reserve_to_remove(s, x->va + x->len, x->old_end);
        if (!err && x->va + x->len < x->old_end)
            take_out(s, x->va + x->len, x->old_end);
        return err;
    }
    if (grow_in_place(s, x))
        return 0;
    return x->flags & REMAP_MAYMOVE ? move_mapping(s, x, out) : -ENOMEM;
}

static bool is_valid(const struct remap *x)
{
    unsigned moves = REMAP_FIXED | REMAP_DONTUNMAP;
    uint64_t old = x->old_end - x->va;

    if (x->flags & ~(REMAP_MAYMOVE | moves) ||
        ((x->flags & moves) && !(x->flags & REMAP_MAYMOVE)) ||
        ((x->flags & REMAP_DONTUNMAP) && x->len != old))
        return false;
    if (!(x->flags & REMAP_FIXED))
        return true;
    return !space_check_range(x->to, x->len) && (x->to + x->len <= x->va || x->to >= x->old_end);
}

int space_remap(struct space *s, vaddr_t va, uint64_t old_len, uint64_t len, unsigned flags,
                vaddr_t to, vaddr_t *out)
{
    struct remap x = {.va = va,
                      .old_end = va + ALIGN_UP(old_len, PAGE_SIZE),
                      .len = ALIGN_UP(len, PAGE_SIZE),
                      .flags = flags,
                      .to = to};

    if (!len || space_check_range(va, old_len) || !is_valid(&x))
        return -EINVAL;
    if (len > USER_MAX)
        return -ENOMEM;
    mutex_lock(&s->map_lock);
    int err = remap(s, &x, out);
    space_unlock_regions(s);
    return err;
}
