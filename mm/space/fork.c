/*
 * Forks a space: the new one has the same regions, and shares all pages until one of the two writes
 * (fault.c).
 *
 * Each page that the parent has gets one sharer more. What it maps loses the right to write; the
 * child's table gets the page's number, also of what the parent maps: so there is nothing to undo
 * in other spaces, and a page that the child never uses costs no more. What other threads of the
 * parent store before the TLBs have forgotten that right may or may not be in the child, as on
 * Linux.
 *
 * Pages of memory that both go on sharing (MAPPING_SHARED) keep it. Those that no process has used
 * so far get their nodes now, zeros without a frame, for the two to find the same page.
 */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/pool.h"
#include "mm/object.h"

#define ROW_PAGES 32 /* pages looked at in one hold of the locks; an aligned block of them */

/* Pages of the parent that the child's table is to get. */
struct row {
    uint32_t number[ROW_PAGES]; /* NODE_NONE: nothing is there */
    bool changed;               /* a page has lost the right to write */
    uint32_t waiting;           /* the node that is being written, and must be waited for */
    int err;                    /* no node, or no table, for a page of shared memory */
};

/* A part of the parent's region that is to be shared. */
struct part {
    struct space *parent, *child;
    vaddr_t va, end;
    bool common; /* MAPPING_SHARED */
    uint8_t tag;
    bool changed; /* as of struct row */
};

/* Shares a page. A page that is being written, and is mapped, is shared later: the end of the write
 * decides whether it is dirty. Returns its node, or NODE_NONE if it is to be waited for. [S] of the
 * parent and [P] held. */
static uint32_t share_page_locked(struct space *parent, vaddr_t va, const struct arch_page *page,
                                  struct row *row)
{
    struct pool *p = parent->pool;
    bool here = page->kind == ARCH_PAGE_HERE;
    uint32_t n = here ? frame_page(page->pa)->next : page->number;
    struct node *node = &p->nodes[n];

    if (node->flags & NODE_RESCUED) {
        row->waiting = n;
        return NODE_NONE;
    }
    ASSERT(node->sharers < UINT16_MAX); /* there are fewer processes */
    node->sharers++;
    if (!here)
        return n;
    if (page->marks & ARCH_WRITTEN)
        node->flags |= NODE_DIRTY;
    if ((page->prot & PROT_W) && !(node->flags & NODE_COMMON)) {
        arch_space_protect(&parent->arch, va, page->prot & ~(unsigned)PROT_W);
        row->changed = true;
    }
    return n;
}

/* Makes the page at va, of shared memory, that no process has used: a page of zeros that is out.
 * [S] of the parent and [P] held. */
static void begin_page_locked(struct space *parent, vaddr_t va, uint8_t tag, struct arch_page *page,
                              struct row *row)
{
    struct pool *p = parent->pool;
    uint32_t n = pool_node_out(p, parent, va, NODE_COMMON, tag);

    row->err = n == NODE_NONE ? -EAGAIN : arch_space_reserve(&parent->arch, va);
    if (row->err && n != NODE_NONE)
        pool_node_free(p, n);
    if (row->err)
        return;
    int err = arch_space_put_number(&parent->arch, va, n);
    ASSERT(!err);
    parent->out_pages++;
    *page = (struct arch_page){.kind = ARCH_PAGE_OUT, .number = n};
}

static uint32_t share_common_locked(const struct part *x, vaddr_t va, struct arch_page *page,
                                    struct row *row)
{
    struct pool *p = x->parent->pool;

    if (page->kind == ARCH_PAGE_NONE)
        begin_page_locked(x->parent, va, x->tag, page, row);
    if (row->err)
        return NODE_NONE;
    uint32_t n = page->kind == ARCH_PAGE_HERE ? frame_page(page->pa)->next : page->number;
    p->nodes[n].flags |= NODE_COMMON;
    return share_page_locked(x->parent, va, page, row);
}

/* Shares the n pages from x->va on, or those before one that is to be waited for. Returns the
 * number of pages looked at. */
static NOINLINE unsigned share_row(const struct part *x, unsigned n, struct row *row)
{
    struct arch_page page[ROW_PAGES];
    struct space *parent = x->parent;
    struct pool *p = parent->pool;
    unsigned i = 0;
    bool irq = spin_lock(&parent->lock);

    *row = (struct row){.waiting = NODE_NONE};
    arch_space_look(&parent->arch, x->va, n, page);
    spin_lock_irqoff(&p->lock);
    for (; i < n; i++) {
        vaddr_t va = x->va + i * PAGE_SIZE;
        row->number[i] = x->common ? share_common_locked(x, va, &page[i], row)
                         : pool_owns_page(p, &page[i])
                             ? share_page_locked(parent, va, &page[i], row)
                             : NODE_NONE;
        if (row->waiting != NODE_NONE || row->err)
            break;
    }
    spin_unlock_irqoff(&p->lock);
    spin_unlock(&parent->lock, irq);
    return i;
}

static void wait_for_writing(struct pool *p, uint32_t n)
{
    bool irq = spin_lock(&p->lock);

    if (p->nodes[n].flags & NODE_RESCUED)
        wait_sleep_through(pool_queue(p, n), &p->lock, &irq);
    spin_unlock(&p->lock, irq);
}

/* Puts the row into the child's table. What does not get there is shared no longer. Returns 0,
 * -ENOMEM or -EDQUOT. */
static NOINLINE int put_row(struct space *child, vaddr_t va, unsigned n, const struct row *row)
{
    struct pool *p = child->pool;
    int err = 0;
    bool irq = spin_lock(&child->lock);

    for (unsigned i = 0; i < n; i++, va += PAGE_SIZE) {
        if (row->number[i] == NODE_NONE)
            continue;
        err = err ?: arch_space_reserve(&child->arch, va)
                  ?: arch_space_put_number(&child->arch, va, row->number[i]);
        if (!err) {
            child->out_pages++;
            continue;
        }
        spin_lock_irqoff(&p->lock);
        pool_drop_share(p, row->number[i]);
        spin_unlock_irqoff(&p->lock);
    }
    spin_unlock(&child->lock, irq);
    return err;
}

/* Skips what has no tables. */
static vaddr_t skip(struct space *s, vaddr_t va, vaddr_t end)
{
    bool irq = spin_lock(&s->lock);

    va = arch_space_skip(&s->arch, va, end);
    spin_unlock(&s->lock, irq);
    return va;
}

static int share_part(struct part *x)
{
    struct pool *p = x->parent->pool;
    int err = 0;

    while (!err) {
        struct row row;
        if (!x->common)
            x->va = skip(x->parent, x->va, x->end);
        if (x->va == x->end)
            break;
        vaddr_t end = MIN(ALIGN_DOWN(x->va, ROW_PAGES * PAGE_SIZE) + ROW_PAGES * PAGE_SIZE, x->end);
        unsigned n = share_row(x, (unsigned)((end - x->va) >> PAGE_SHIFT), &row);
        x->changed |= row.changed;
        err = put_row(x->child, x->va, n, &row);
        if (!err)
            err = row.err == -EAGAIN ? pool_grow(p) : row.err;
        if (row.waiting != NODE_NONE)
            wait_for_writing(p, row.waiting);
        x->va += n * PAGE_SIZE;
        sched_point();
    }
    return err;
}

/* Gives the child a region as the parent's, and says in *x which pages are to be shared. Memory
 * that the parent has locked is not locked in the child. Returns 0 or -ENOMEM. */
static int copy_region(struct part *x, struct region *r)
{
    int err = space_reserve_regions(x->child, 1);

    if (!err && object_mapped(r))
        err = object_add_user(object_mapped(r), x->child);
    if (err)
        return err;
    bool irq = spin_lock(&x->parent->lock);
    x->common = (r->flags & REGION_SHARED) && !object_shown(r);
    if (x->common) {
        r->touched_lo = r->start;
        r->touched_hi = r->end;
    }
    struct region copy = *r;
    spin_unlock(&x->parent->lock, irq);
    copy.flags &= (uint8_t)~REGION_LOCKED;
    copy.faults = copy.slow_faults = 0;
    x->va = copy.touched_lo;
    x->end = object_shown(r) ? x->va : copy.touched_hi;
    x->tag = copy.tag;
    irq = spin_lock(&x->child->lock);
    err = regions_insert(&x->child->regions, &copy);
    ASSERT(!err);
    space_note_pages(x->child, &copy, (int64_t)((copy.end - copy.start) >> PAGE_SHIFT));
    spin_unlock(&x->child->lock, irq);
    return 0;
}

/* [M] of both held. */
static int copy_all(struct space *parent, struct space *child)
{
    struct part x = {.parent = parent, .child = child};
    int err = 0;

    child->brk_start = parent->brk_start;
    child->brk = parent->brk;
    child->next_tag = parent->next_tag;
    child->has_shared = parent->has_shared;
    for (struct region *r = regions_above(&parent->regions, 0); r && !err; r = region_next(r))
        err = copy_region(&x, r) ?: share_part(&x);
    if (x.changed)
        tlb_shootdown(&parent->arch, 0, 0);
    return err;
}

int space_fork(struct space *parent, struct memory_account *account, struct space **out)
{
    struct space *child;
    int err = space_create_relative(parent, account, &child);

    if (err)
        return err;
    mutex_lock(&parent->map_lock);
    mutex_lock(&child->map_lock); /* objects know it already */
    err = copy_all(parent, child);
    space_unlock_regions(child);
    space_unlock_regions(parent);
    if (err)
        space_destroy(child);
    else
        *out = child;
    return err;
}
