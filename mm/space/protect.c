/* Changes rights, advice and names of mapped memory. */
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "mm/pool.h"
#include "mm/space.h"

#define BATCH_STEPS 2048 /* pages looked at in one hold of the lock */

/* ---- Protection ------------------------------------------------------------------------------ */

/* Applies the region's protection to the page at va. Returns whether a page was there. A page that
 * is being evicted is out of the tables, but TLBs may still map it. */
static bool apply_prot_page(struct space *s, vaddr_t va, const struct region *r)
{
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_HERE) {
        if (r->prot & PROT_X) /* it may have been read since code was stored to it */
            arch_code_written(phys_to_virt(page.pa));
        arch_space_protect(&s->arch, va, space_page_prot(r->prot, space_shares(s, &page)));
    }
    return page.kind != ARCH_PAGE_NONE;
}

/* Applies to the pages of [va, end) the protection of their regions, for BATCH_STEPS pages. Adds to
 * *changed the pages that were there. Returns how far it came. */
static vaddr_t apply_prot_locked(struct space *s, vaddr_t va, vaddr_t end, unsigned *changed)
{
    for (unsigned steps = 0; va < end && steps < BATCH_STEPS; steps++) {
        const struct region *r = regions_find(&s->regions, va);
        if (r && va < r->touched_lo)
            va = r->touched_lo;
        else if (!r || va >= r->touched_hi)
            va = r ? r->end : va + PAGE_SIZE;
        else if (apply_prot_page(s, va, r)) {
            *changed += 1;
            va += PAGE_SIZE;
        } else {
            va = arch_space_skip(&s->arch, va + PAGE_SIZE, r->touched_hi);
        }
    }
    return va;
}

static void apply_prot(struct space *s, vaddr_t va, vaddr_t end)
{
    while (va < end) {
        unsigned changed = 0;
        bool irq = spin_lock(&s->lock);
        vaddr_t next = apply_prot_locked(s, va, end, &changed);
        spin_unlock(&s->lock, irq);
        if (changed)
            tlb_shootdown(&s->arch, va, (MIN(next, end) - va) >> PAGE_SHIFT);
        va = next;
        sched_point();
    }
}

/* Counts what the change makes accessible. [M] held. Returns 0 or -ENOMEM. */
static int count_prot(struct space *s, vaddr_t va, vaddr_t end, unsigned prot)
{
    const struct region *r = regions_above(&s->regions, va);
    uint64_t now = space_counted(s, va, end), then = 0;

    for (; r && r->start < end; r = region_next(r))
        if (prot && !(r->flags & REGION_UNCOUNTED))
            then += (MIN(r->end, end) - MAX(r->start, va)) >> PAGE_SHIFT;
    if (then > now && s->mapped_pages + then - now > MAPPED_PAGES_MAX)
        return -ENOMEM;
    s->mapped_pages += then - now;
    return 0;
}

static bool is_read_only(const struct space *s, vaddr_t va, vaddr_t end)
{
    const struct region *r = regions_above(&s->regions, va);

    while (r && r->start < end && !(r->flags & REGION_READ_ONLY))
        r = region_next(r);
    return r && r->start < end;
}

static int set_prot_locked(struct space *s, vaddr_t va, vaddr_t end, unsigned prot)
{
    if ((prot & PROT_W) && is_read_only(s, va, end))
        return -EACCES;
    if (!regions_cover(&s->regions, va, end) || count_prot(s, va, end, prot))
        return -ENOMEM;
    space_cut_locked(s, va, end);
    struct region *r = regions_above(&s->regions, va);
    for (; r && r->start < end; r = region_next(r))
        r->prot = (uint8_t)prot;
    regions_merge(&s->regions, va, end);
    return 0;
}

int space_protect(struct space *s, vaddr_t va, uint64_t len, unsigned prot)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len) ?: space_check_prot(s, prot);

    if (err)
        return err;
    mutex_lock(&s->map_lock);
    err = space_reserve_regions(s, 2);
    bool irq = spin_lock(&s->lock);
    if (!err)
        err = set_prot_locked(s, va, end, prot);
    spin_unlock(&s->lock, irq);
    if (!err)
        apply_prot(s, va, end);
    space_unlock_regions(s);
    return err;
}

/* ---- Advice ---------------------------------------------------------------------------------- */

static void set_advice(struct space *s, vaddr_t va, vaddr_t end, uint8_t advice)
{
    bool irq = spin_lock(&s->lock);
    struct region *r;

    space_cut_locked(s, va, end);
    for (r = regions_above(&s->regions, va); r && r->start < end; r = region_next(r))
        r->advice = advice;
    regions_merge(&s->regions, va, end);
    spin_unlock(&s->lock, irq);
}

static bool has_locked(const struct space *s, vaddr_t va, vaddr_t end)
{
    const struct region *r = regions_above(&s->regions, va);

    while (r && r->start < end && !(r->flags & REGION_LOCKED))
        r = region_next(r);
    return r && r->start < end;
}

/* Drops the pages of all regions of [va, end). */
static void drop_regions(struct space *s, vaddr_t va, vaddr_t end)
{
    const struct region *r = regions_above(&s->regions, va);

    for (; r && r->start < end; r = region_next(r)) {
        if (r->flags & REGION_SHARED) /* its contents stay */
            continue;
        bool irq = spin_lock(&s->lock);
        vaddr_t from = MAX(r->touched_lo, va), to = MIN(r->touched_hi, end);
        spin_unlock(&s->lock, irq);
        space_drop_pages(s, from, to);
    }
}

int space_advise(struct space *s, vaddr_t va, uint64_t len, enum region_advice advice)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len);

    if (err)
        return err;
    mutex_lock(&s->map_lock);
    err = advice <= ADVICE_RANDOM ? space_reserve_regions(s, 2) : 0;
    bool all = regions_cover(&s->regions, va, end);
    if (advice == ADVICE_DONTNEED && has_locked(s, va, end))
        err = -EINVAL;
    if (!err && advice <= ADVICE_RANDOM)
        set_advice(s, va, end, (uint8_t)advice);
    else if (!err && advice == ADVICE_DONTNEED)
        drop_regions(s, va, end);
    space_unlock_regions(s);
    if (!err && advice == ADVICE_WILLNEED)
        space_fetch(s, va, end);
    return err || all ? err : -ENOMEM;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Names the parts of regions in [va, end). What has not been touched has a new number for policies,
 * that of a neighbour of the same name, or one of its own. */
static void set_name_locked(struct space *s, vaddr_t va, vaddr_t end, const char *name)
{
    struct region *r;

    space_cut_locked(s, va, end);
    for (r = regions_above(&s->regions, va); r && r->start < end; r = region_next(r)) {
        memset(r->name, 0, sizeof(r->name));
        ksnprintf(r->name, sizeof(r->name), "%s", name);
        if (r->touched_lo == r->touched_hi)
            r->tag = space_tag_for(s, r);
    }
    regions_merge(&s->regions, va, end);
}

static bool has_source(const struct space *s, vaddr_t va, vaddr_t end)
{
    const struct region *r = regions_above(&s->regions, va);

    while (r && r->start < end && !r->source.ops)
        r = region_next(r);
    return r && r->start < end;
}

int space_set_name(struct space *s, vaddr_t va, uint64_t len, const char *name)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len);

    if (err)
        return err;
    mutex_lock(&s->map_lock);
    err = !regions_cover(&s->regions, va, end) ? -ENOMEM
          : has_source(s, va, end)             ? -EBADF
                                               : space_reserve_regions(s, 2);
    bool irq = spin_lock(&s->lock);
    if (!err)
        set_name_locked(s, va, end, name);
    spin_unlock(&s->lock, irq);
    space_unlock_regions(s);
    return err;
}
