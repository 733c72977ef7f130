/* Memory that is locked: its pages are not evicted (evict.c looks at the region's flag). */
#include "mm/pool.h"
#include "mm/space.h"

static uint64_t pages_of(const struct region *r, vaddr_t va, vaddr_t end)
{
    return (MIN(r->end, end) - MAX(r->start, va)) >> PAGE_SHIFT;
}

/* Returns the pages that a space may lock. */
static uint64_t limit_of(const struct space *s)
{
    uint64_t most = s->files ? UINT64_MAX : SPACE_LOCKED_MAX >> PAGE_SHIFT;

    return MIN(most, (uint64_t)s->pool->limit / 4);
}

bool space_may_lock(const struct space *s, uint64_t pages)
{
    return s->locked_pages + pages <= limit_of(s);
}

/* Sets or clears the flag of all regions of [va, end). [M] held. Returns 0 or -ENOMEM. */
static int set_locked(struct space *s, vaddr_t va, vaddr_t end, bool on)
{
    uint64_t more = 0, less = 0;
    int err = space_reserve_regions(s, 2);
    struct region *r;

    for (r = regions_above(&s->regions, va); r && r->start < end; r = region_next(r))
        if (r->flags & REGION_LOCKED)
            less += on ? 0 : pages_of(r, va, end);
        else
            more += on ? pages_of(r, va, end) : 0;
    if (err || (more && !space_may_lock(s, more)))
        return -ENOMEM;
    bool irq = spin_lock(&s->lock);
    space_cut_locked(s, va, end);
    for (r = regions_above(&s->regions, va); r && r->start < end; r = region_next(r))
        r->flags = (uint8_t)(on ? r->flags | REGION_LOCKED : r->flags & ~REGION_LOCKED);
    regions_merge(&s->regions, va, end);
    s->locked_pages += more - less;
    spin_unlock(&s->lock, irq);
    return 0;
}

int space_lock(struct space *s, vaddr_t va, uint64_t len, bool on)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len);

    if (err)
        return err;
    mutex_lock(&s->map_lock);
    bool all = regions_cover(&s->regions, va, end);
    err = set_locked(s, va, end, on);
    space_unlock_regions(s);
    return err || all ? err : -ENOMEM;
}

int space_lock_all(struct space *s, bool now, bool future)
{
    mutex_lock(&s->map_lock);
    int err = now ? set_locked(s, USER_MIN, USER_MAX, true) : 0;

    if (!err)
        s->locks_future = future;
    space_unlock_regions(s);
    return err;
}

int space_unlock_all(struct space *s)
{
    mutex_lock(&s->map_lock);
    int err = set_locked(s, USER_MIN, USER_MAX, false);

    s->locks_future = false;
    space_unlock_regions(s);
    return err;
}

bool space_locks_future(const struct space *s)
{
    return s->locks_future;
}

/* ---- What is there --------------------------------------------------------------------------- */

bool space_is_mapped(struct space *s, vaddr_t va, uint64_t len)
{
    mutex_lock(&s->map_lock);
    bool is = regions_cover(&s->regions, va, va + ALIGN_UP(len, PAGE_SIZE));

    space_unlock_regions(s);
    return is;
}

/* Tells whether the page is in memory, mapped or not. [S] held. */
static bool is_resident_locked(const struct space *s, const struct arch_page *page)
{
    struct pool *p = s->pool;

    if (page->kind != ARCH_PAGE_OUT)
        return page->kind == ARCH_PAGE_HERE;
    spin_lock_irqoff(&p->lock);
    enum node_state state = p->nodes[page->number].state;
    spin_unlock_irqoff(&p->lock);
    return state != NODE_OUT && state != NODE_COMING;
}

int space_resident(struct space *s, vaddr_t va, uint64_t len, uint8_t *out)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len);

    if (err || end - va > SPACE_RESIDENT_MAX * PAGE_SIZE)
        return -EINVAL;
    if (!space_is_mapped(s, va, len))
        return -ENOMEM;
    for (; va < end; va += PAGE_SIZE) {
        struct arch_page page;
        bool irq = spin_lock(&s->lock);
        arch_space_look(&s->arch, va, 1, &page);
        *out++ = is_resident_locked(s, &page);
        spin_unlock(&s->lock, irq);
    }
    return 0;
}
