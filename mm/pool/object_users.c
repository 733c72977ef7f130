/* See mm/object.h: takes pages of objects back from the processes that map them. */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/object.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/space.h"
#include "mm/track/track.h"

#define LOOKS_MAX 64 /* regions looked at in one hold of the lock */

struct object_user *object_next_user(struct object *o, struct object_user *at)
{
    struct object_user *found = NULL;
    bool irq = spin_lock(&o->lock);

    for (struct list *it = at ? at->of_object.next : o->users.next; it != &o->users && !found;
         it = it->next) {
        struct object_user *u = container_of(it, struct object_user, of_object);
        if (!u->leaves)
            found = u;
    }
    if (found)
        found->pins++;
    if (at && --at->pins == 0)
        wait_wake(&at->unpinned, UINT32_MAX);
    spin_unlock(&o->lock, irq);
    return found;
}

/* Finds the next place, from *va on, where s maps page `index` of o, at most LOOKS_MAX regions on.
 * Stores it, or, if there is none so far, where to go on; 0: nowhere. [S] held. */
static bool find_place_locked(struct space *s, const struct object *o, uint64_t index, vaddr_t *va)
{
    const struct region *r = regions_above(&s->regions, *va);

    for (unsigned i = 0; r && i < LOOKS_MAX; i++, r = region_next(r)) {
        vaddr_t at = r->start + ((index - r->source_page) << PAGE_SHIFT);
        if (object_mapped(r) != o || index < r->source_page || at >= r->end || at < *va)
            continue;
        *va = at;
        return true;
    }
    *va = r ? r->start : 0;
    return false;
}

/* Returns whether s has the frame of node n, of the pool of files, at va. [S] held. */
static bool has_node_locked(struct space *s, vaddr_t va, uint32_t n)
{
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    return page.kind == ARCH_PAGE_HERE && !pool_owns(s->pool, page.pa) &&
           frame_page(page.pa)->next == n;
}

uint32_t object_unmap_locked(struct space *s, vaddr_t va)
{
    paddr_t frame;
    int err = arch_space_unmap(&s->arch, va, &frame);

    ASSERT(!err);
    track_forget(s, va);
    s->resident_pages--;
    return frame_page(frame)->next;
}

void object_unmapped(struct space *s, vaddr_t va, uint32_t n)
{
    struct pool *p = pool_of_files();

    tlb_shootdown(&s->arch, va, 1);
    bool irq = spin_lock(&p->lock);
    pool_unmapped(p, n);
    spin_unlock(&p->lock, irq);
}

/* What is done at each place: returns whether to stop. No lock held. */
typedef bool at_place(struct space *s, vaddr_t va, uint32_t n);

static bool keeps_it(struct space *s, vaddr_t va, UNUSED uint32_t n)
{
    return evict_keeps_page(s, va);
}

static bool take_it(struct space *s, vaddr_t va, uint32_t n)
{
    bool irq = spin_lock(&s->lock), is = has_node_locked(s, va, n);

    if (is)
        object_unmap_locked(s, va);
    spin_unlock(&s->lock, irq);
    if (is)
        object_unmapped(s, va, n);
    return false;
}

static bool protect_it(struct space *s, vaddr_t va, uint32_t n)
{
    struct arch_page page;
    bool irq = spin_lock(&s->lock), is = has_node_locked(s, va, n);

    if (is) {
        arch_space_look(&s->arch, va, 1, &page);
        is = page.prot & PROT_W;
    }
    if (is)
        arch_space_protect(&s->arch, va, page.prot & ~(unsigned)PROT_W);
    spin_unlock(&s->lock, irq);
    if (is)
        tlb_shootdown(&s->arch, va, 1);
    return false;
}

static bool each_place(struct space *s, const struct object *o, uint64_t index, uint32_t n,
                       at_place *f)
{
    vaddr_t va = USER_MIN;

    do {
        bool irq = spin_lock(&s->lock);
        bool found = find_place_locked(s, o, index, &va), has = found && has_node_locked(s, va, n);
        spin_unlock(&s->lock, irq);
        if (has && f(s, va, n))
            return true;
        va += found ? PAGE_SIZE : 0;
    } while (va);
    return false;
}

static bool each_user(struct object *o, uint64_t index, uint32_t n, at_place *f)
{
    bool stop = false;

    for (struct object_user *u = object_next_user(o, NULL); u; u = object_next_user(o, u))
        stop = stop || each_place(u->space, o, index, n, f);
    return stop;
}

void object_take_writes(struct object *o, uint64_t index, uint32_t n)
{
    each_user(o, index, n, protect_it);
}

/* Returns the object that has a page at va of the store's space, pinned, or NULL. */
static struct object *object_at(struct space *files, vaddr_t va, uint64_t *index)
{
    bool irq = spin_lock(&files->lock);
    const struct region *r = regions_find(&files->regions, va);
    struct object *o = r ? (struct object *)r->source.of : NULL;

    if (o) {
        *index = (va - r->start) >> PAGE_SHIFT;
        spin_lock_irqoff(&o->lock);
        o->pins++;
        spin_unlock_irqoff(&o->lock);
    }
    spin_unlock(&files->lock, irq);
    return o;
}

static void unpin(struct object *o)
{
    bool irq = spin_lock(&o->lock);

    if (--o->pins == 0)
        wait_wake(&o->unpinned, UINT32_MAX);
    spin_unlock(&o->lock, irq);
}

bool object_take_back(struct space *files, vaddr_t va, uint32_t n)
{
    uint64_t index;
    struct object *o = object_at(files, va, &index);

    if (!o)
        return false;
    bool kept = each_user(o, index, n, keeps_it) || each_user(o, index, n, take_it);
    unpin(o);
    return kept;
}
