/*
 * Maps memory. Pages come by faults (fault.c), all zeros or from the mapping's source.
 *
 * A mapping that replaces others closes them, drops their pages, and takes their place in one hold
 * of [S]. A fault in between finds a closed region, waits for [M], and finds the new one.
 */
#include "kernel/core/printf.h"
#include "kernel/dev/block/block.h"
#include "mm/pool.h"
#include "mm/pool/swap.h"
#include "mm/object.h"

#define STACK_GAP MIB /* kept unmapped below a stack that grows */

static bool in_user_space(vaddr_t va, uint64_t len)
{
    return va >= USER_MIN && va < USER_MAX && len <= USER_MAX - va;
}

int space_check_range(vaddr_t va, uint64_t len)
{
    if (!len || !IS_ALIGNED(va, PAGE_SIZE) || len > USER_MAX)
        return -EINVAL;
    return in_user_space(va, ALIGN_UP(len, PAGE_SIZE)) ? 0 : -EINVAL;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Returns the first address that belongs to x: a stack keeps a gap below it. */
static vaddr_t begins(const struct region *x)
{
    return x->flags & REGION_GROWS ? x->start - MIN(x->start, STACK_GAP) : x->start;
}

bool space_is_free(const struct space *s, vaddr_t va, uint64_t len)
{
    const struct region *above = regions_above(&s->regions, va);

    return in_user_space(va, len) && (!above || begins(above) >= va + len);
}

/* Finds a place for the mapping of len bytes. [M] held. Returns 0, -EEXIST or -ENOMEM. */
static int find_place(const struct space *s, const struct mapping *m, uint64_t len, vaddr_t *va)
{
    uint64_t edge = m->flags & MAPPING_APART ? PAGE_SIZE : 0;

    *va = m->va;
    if (m->flags & MAPPING_FIXED)
        return 0;
    if (m->flags & MAPPING_NOREPLACE) {
        const struct region *above = regions_above(&s->regions, m->va);
        return above && above->start < m->va + len ? -EEXIST : 0;
    }
    if (m->va && space_is_free(s, m->va, len))
        return 0;
    vaddr_t top = m->below ? m->below : MMAP_TOP;
    int err = regions_find_gap(&s->regions, len + 2 * edge, USER_MIN, top, va);
    if (err && !m->below)
        err = regions_find_gap(&s->regions, len + 2 * edge, USER_MIN, USER_MAX, va);
    *va += edge;
    return err;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

int space_check_prot(const struct space *s, unsigned prot)
{
    if (prot & ~(unsigned)(PROT_R | PROT_W | PROT_X))
        return -EINVAL;
    return (prot & PROT_W) && (prot & PROT_X) && !s->wx ? -EACCES : 0;
}

uint64_t space_counted(const struct space *s, vaddr_t va, vaddr_t end)
{
    const struct region *r = regions_above(&s->regions, va);
    uint64_t pages = 0;

    for (; r && r->start < end; r = region_next(r))
        if (space_counts(r))
            pages += (MIN(r->end, end) - MAX(r->start, va)) >> PAGE_SHIFT;
    return pages;
}

uint8_t space_tag_for(struct space *s, const struct region *region)
{
    const struct region *low = regions_find(&s->regions, region->start - 1),
                        *high = regions_find(&s->regions, region->end);

    if (low && region_continues(low, region))
        return low->tag;
    if (high && region_continues(region, high))
        return high->tag;
    return s->next_tag++ % REPLACE_REGIONS_MAX;
}

/* Puts the region in the place of closed ones. `join`: it may become one with neighbours. [M] held,
 * a node is reserved. */
static void put_region(struct space *s, struct region *region, bool join)
{
    vaddr_t va = region->start, end = region->end;
    bool irq = spin_lock(&s->lock);

    space_remove_locked(s, va, end);
    region->tag = join ? space_tag_for(s, region) : s->next_tag++ % REPLACE_REGIONS_MAX;
    int err = regions_insert(&s->regions, region);
    ASSERT(!err);
    space_note_pages(s, region, (int64_t)((end - va) >> PAGE_SHIFT));
    if (join)
        regions_merge(&s->regions, va, end);
    spin_unlock(&s->lock, irq);
}

/* [M] held. */
static int map_region(struct space *s, const struct mapping *m, struct region *region, uint64_t len)
{
    vaddr_t va;
    int err = space_reserve_regions(s, 3) ?: find_place(s, m, len, &va);

    if (err)
        return err;
    region->start = region->touched_lo = region->touched_hi = va;
    region->end = va + len;
    uint64_t more = space_counts(region) ? len >> PAGE_SHIFT : 0;
    if (s->locks_future)
        region->flags |= REGION_LOCKED;
    if (s->locks_future && !space_may_lock(s, len >> PAGE_SHIFT))
        return -EAGAIN;
    if (more && s->mapped_pages - space_counted(s, va, va + len) + more > MAPPED_PAGES_MAX)
        return -ENOMEM;
    if (m->flags & MAPPING_FIXED)
        space_close(s, va, va + len);
    put_region(s, region, !(m->flags & MAPPING_APART));
    return 0;
}

int space_mmap(struct space *s, const struct mapping *m, vaddr_t *out)
{
    uint64_t len = m->len <= USER_MAX ? ALIGN_UP(m->len, PAGE_SIZE) : 0;
    bool at = m->flags & (MAPPING_FIXED | MAPPING_NOREPLACE);
    int err = space_check_prot(s, m->prot);

    if (err)
        return err;
    if (!len)
        return m->len ? -ENOMEM : -EINVAL;
    if (!IS_ALIGNED(m->va, PAGE_SIZE) || (at && !in_user_space(m->va, len)))
        return -EINVAL;
    struct region region = {
        .prot = (uint8_t)m->prot,
        .kind = (uint8_t)m->kind,
        .flags = (m->flags & MAPPING_GROWS ? REGION_GROWS : 0) |
                 (m->flags & MAPPING_UNCOUNTED ? REGION_UNCOUNTED : 0) |
                 (m->flags & MAPPING_SHARED ? REGION_SHARED : 0) |
                 (m->flags & MAPPING_READ_ONLY ? REGION_READ_ONLY : 0),
        .source = m->source,
        .source_page = m->source_page,
    };
    ksnprintf(region.name, sizeof(region.name), "%s", m->name);
    mutex_lock(&s->map_lock);
    if (m->flags & MAPPING_SHARED)
        __atomic_store_n(&s->has_shared, true, __ATOMIC_RELAXED);
    if (object_mapped(&region))
        err = object_add_user(object_mapped(&region), s);
    if (!err)
        err = map_region(s, m, &region, len);
    s->objects_gone |= err != 0;
    space_unlock_regions(s);
    *out = region.start;
    return err;
}

int space_map(struct space *s, vaddr_t va, uint64_t len, unsigned prot, enum region_kind kind,
              const char *name, vaddr_t *out)
{
    struct mapping m = {.va = va,
                        .len = len,
                        .prot = prot,
                        .flags = MAPPING_APART | (va ? MAPPING_NOREPLACE : 0),
                        .kind = kind,
                        .name = name};

    return len > USER_MAX ? -EINVAL : space_mmap(s, &m, out);
}

int space_map_disk(struct space *s, struct block_device *d, uint64_t page, uint64_t len,
                   unsigned prot, vaddr_t *out, uint64_t *mapped)
{
    uint64_t left = page < d->pages ? d->pages - page : 0;

    if (!left || !IS_ALIGNED(len, PAGE_SIZE) || len / PAGE_SIZE > left)
        return -EINVAL;
    if (swap_uses(d)) /* it has pages of other processes */
        return -EBUSY;
    *mapped = len ? len : left * PAGE_SIZE;
    struct mapping m = {.len = *mapped,
                        .prot = prot,
                        .flags = MAPPING_APART,
                        .kind = REGION_FILE,
                        .name = d->name,
                        .source = page_source_disk(d),
                        .source_page = page};
    return space_mmap(s, &m, out);
}

/* ---- Stacks that grow, and the heap of brk --------------------------------------------------- */

bool space_grow_stack(struct space *s, vaddr_t va)
{
    struct region *r = regions_above(&s->regions, va);

    if (!r || r->start <= va || !(r->flags & REGION_GROWS) || r->end - va > STACK_LIMIT)
        return false;
    const struct region *below = region_previous(r);
    uint64_t more = (r->start - va) >> PAGE_SHIFT;
    if (va < USER_MIN || (below && va - below->end < STACK_GAP) ||
        (space_counts(r) && s->mapped_pages + more > MAPPED_PAGES_MAX))
        return false;
    bool irq = spin_lock(&s->lock);
    regions_resize(&s->regions, r, va, r->end);
    space_note_pages(s, r, (int64_t)more);
    spin_unlock(&s->lock, irq);
    return true;
}

void space_set_brk(struct space *s, vaddr_t start)
{
    mutex_lock(&s->map_lock);
    s->brk_start = s->brk = start;
    mutex_unlock(&s->map_lock);
}

/* [M] held. */
static int grow_heap(struct space *s, vaddr_t from, vaddr_t to)
{
    struct mapping m = {.va = from, .flags = MAPPING_NOREPLACE};
    struct region region = {.prot = PROT_R | PROT_W, .kind = REGION_HEAP, .name = "heap"};

    return space_is_free(s, from, to - from) ? map_region(s, &m, &region, to - from) : -ENOMEM;
}

/* [M] held. */
static int shrink_heap(struct space *s, vaddr_t from, vaddr_t to)
{
    int err = space_reserve_to_remove(s, to, from);

    if (err)
        return err;
    space_close(s, to, from);
    bool irq = spin_lock(&s->lock);
    space_remove_locked(s, to, from);
    spin_unlock(&s->lock, irq);
    return 0;
}

vaddr_t space_brk(struct space *s, vaddr_t end)
{
    mutex_lock(&s->map_lock);
    vaddr_t from = ALIGN_UP(s->brk, PAGE_SIZE), to = ALIGN_UP(end, PAGE_SIZE);
    bool can = s->brk_start && end >= s->brk_start && end < USER_MAX;

    if (can && to > from)
        can = !grow_heap(s, from, to);
    else if (can && to < from)
        can = !shrink_heap(s, from, to);
    if (can)
        s->brk = end;
    vaddr_t now = s->brk;
    space_unlock_regions(s);
    return now;
}
