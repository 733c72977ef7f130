/*
 * Copies an address space for a child: the regions, and each page that has been touched. Other
 * threads of the parent go on; what they store meanwhile may or may not be in the copy.
 */
#include "kernel/mem/mem.h"
#include "mm/mm.h"
#include "mm/space.h"

/* Adds a copy of a region, without pages. The child is known to no other thread. */
static int copy_region(struct space *child, const struct region *r)
{
    struct region copy = *r;
    int err = space_reserve_regions(child, 1);

    if (err)
        return err;
    copy.flags &= (uint8_t) ~(REGION_LOCKED | REGION_CLOSED);
    copy.touched_lo = copy.touched_hi = copy.start;
    copy.faults = copy.slow_faults = 0;
    bool irq = spin_lock(&child->lock);
    err = regions_insert(&child->regions, &copy);
    ASSERT(!err);
    space_note_pages(child, &copy, (int64_t)((copy.end - copy.start) >> PAGE_SHIFT));
    spin_unlock(&child->lock, irq);
    return 0;
}

/* Copies the page at va to `to`. Returns what the page is: it is copied if it is HERE. */
static enum arch_page_kind read_page(struct space *s, vaddr_t va, void *to)
{
    struct arch_page page;
    bool irq = spin_lock(&s->lock);

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_HERE)
        memcpy(to, phys_to_virt(page.pa), PAGE_SIZE);
    spin_unlock(&s->lock, irq);
    return page.kind;
}

static int copy_page(struct space *parent, struct space *child, vaddr_t va, void *buffer)
{
    enum arch_page_kind kind;
    int err = 0;

    while ((kind = read_page(parent, va, buffer)) == ARCH_PAGE_OUT && !err)
        err = space_bring(parent, va, FAULT_READ);
    return err || kind != ARCH_PAGE_HERE ? err : space_fill(child, va, buffer, PAGE_SIZE);
}

/* Returns the first address from va on that may have a page. */
static vaddr_t skip(struct space *s, vaddr_t va, vaddr_t end)
{
    bool irq = spin_lock(&s->lock);

    va = arch_space_skip(&s->arch, va, end);
    spin_unlock(&s->lock, irq);
    return va;
}

static int copy_pages(struct space *parent, struct space *child, const struct region *r,
                      void *buffer)
{
    vaddr_t end = r->touched_hi;
    int err = 0;

    for (vaddr_t va = skip(parent, r->touched_lo, end); !err && va < end;
         va = skip(parent, va + PAGE_SIZE, end)) {
        err = copy_page(parent, child, va, buffer);
        sched_point();
    }
    return err;
}

/* [M] of the parent held. */
static int copy_all(struct space *parent, struct space *child)
{
    void *buffer = kmalloc_unfilled(PAGE_SIZE);
    int err = buffer ? 0 : -ENOMEM;

    child->wx = parent->wx;
    child->brk_start = parent->brk_start;
    child->brk = parent->brk;
    child->next_tag = parent->next_tag;
    for (const struct region *r = regions_above(&parent->regions, 0); r && !err; r = region_next(r))
        err = copy_region(child, r) ?: copy_pages(parent, child, r, buffer);
    kfree(buffer);
    return err;
}

int space_fork(struct space *parent, struct memory_account *account, struct space **child)
{
    int err = space_create(parent, account, child);

    if (err)
        return err;
    mutex_lock(&parent->map_lock);
    err = copy_all(parent, *child);
    mutex_unlock(&parent->map_lock);
    if (err)
        space_destroy(*child);
    return err;
}
