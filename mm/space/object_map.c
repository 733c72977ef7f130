/* Objects in the tables of processes: see mm/object.h. */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/object.h"
#include "mm/pool.h"
#include "mm/track/track.h"

/* ---- Pages ----------------------------------------------------------------------------------- */

/* The page is mapped: gives the rights that the access needs, and marks it. [S] held. */
static void allow_locked(struct space *s, const struct region *r, vaddr_t va,
                         const struct arch_page *page, bool write, bool *trim)
{
    unsigned prot = space_page_prot(r->prot, !write && !(page->prot & PROT_W)),
             marks = ARCH_USED | (write ? ARCH_WRITTEN : 0);

    if ((r->prot & PROT_X) && !(page->prot & PROT_X))
        arch_code_written(phys_to_virt(page->pa));
    if (page->prot != prot)
        arch_space_protect(&s->arch, va, prot);
    if (page->prot == PROT_USER)
        *trim |= track_soft_used_locked(s, va, write);
    if (marks & ~page->marks)
        arch_space_mark(&s->arch, va, 0, marks);
    arch_tlb_flush(&s->arch, va, 1);
}

/* Returns whether one more table may have node n. */
static bool may_show(struct pool *p, uint32_t n)
{
    spin_lock_irqoff(&p->lock);
    bool may = p->nodes[n].mapped < UINT16_MAX;
    spin_unlock_irqoff(&p->lock);
    return may;
}

/* Maps the frame, which is the object's. [S] and [F] held. Returns 0, -EMFILE or as
 * arch_space_map. */
static int show_locked(struct space *s, struct region *r, vaddr_t va, paddr_t frame, bool write,
                       bool *trim)
{
    struct pool *p = pool_of_files();
    uint32_t n = frame_page(frame)->next;

    if (!may_show(p, n))
        return r->flags & REGION_SHARED ? -ENXIO : -EMFILE;
    if (r->prot & PROT_X)
        arch_code_written(phys_to_virt(frame));
    track_forget(s, va);
    int err = arch_space_map(&s->arch, va, frame,
                             space_page_prot(r->prot, !write) | (write ? PROT_WRITTEN : 0));
    if (err)
        return err;
    *trim |= track_soft_used_locked(s, va, write);
    region_touch(r, va);
    s->resident_pages++;
    r->faults++;
    spin_lock_irqoff(&p->lock);
    ASSERT(p->nodes[n].state == NODE_HERE);
    p->nodes[n].mapped++;
    p->stats.minor_faults++;
    if (p->limited && !s->watched) /* else its tracker tells of the use */
        pool_used_locked(p, n);
    spin_unlock_irqoff(&p->lock);
    return 0;
}

/* ---- Pages around ---------------------------------------------------------------------------- */

#define AROUND 16 /* pages of an aligned block that are mapped with one of it */

/* Maps a page that is here, and that the process may use soon: not marked as used, unless its first
 * use would be a fault then. [S], [F] and [P] of files held. */
static void show_unused_locked(struct space *s, const struct region *r, vaddr_t va, paddr_t frame)
{
    struct node *node = &pool_of_files()->nodes[frame_page(frame)->next];

    if (node->state != NODE_HERE || node->mapped >= UINT16_MAX / 2 || (node->flags & NODE_UNUSED))
        return;
    if (r->prot & PROT_X)
        arch_code_written(phys_to_virt(frame));
    if (arch_space_map(&s->arch, va, frame, space_page_prot(r->prot, true)))
        return;
    if (!ARCH_MARKS_FAULT)
        arch_space_mark(&s->arch, va, ARCH_USED, 0);
    s->resident_pages++;
    node->mapped++;
}

/* The page at va of s was mapped; it is at `at` of the store's space. Maps its neighbours, as far
 * as both have tables and r and the object have them. [S] and [F] held. */
static NOINLINE void show_around_locked(struct space *s, struct region *r, vaddr_t va,
                                        struct space *files, vaddr_t at, uint64_t pages_behind)
{
    struct arch_page here[AROUND], there[AROUND];
    struct pool *p = pool_of_files();
    vaddr_t block = ALIGN_DOWN(va, AROUND * PAGE_SIZE), low = MAX(block, r->start),
            high = MIN(MIN(block + AROUND * PAGE_SIZE, r->end), va + (pages_behind << PAGE_SHIFT));
    uint64_t before = MIN(va - low, region_source_page(r, va) << PAGE_SHIFT);

    low = va - before;
    unsigned n = (unsigned)((high - low) >> PAGE_SHIFT);
    vaddr_t first = at - before, table = ALIGN_DOWN(at, 512 * PAGE_SIZE);
    if (first < table || first + (n - 1) * PAGE_SIZE >= table + 512 * PAGE_SIZE)
        return;
    arch_space_look(&s->arch, low, n, here);
    arch_space_look(&files->arch, first, n, there);
    spin_lock_irqoff(&p->lock);
    for (unsigned i = 0; i < n; i++)
        if (here[i].kind == ARCH_PAGE_NONE && there[i].kind == ARCH_PAGE_HERE)
            show_unused_locked(s, r, low + i * PAGE_SIZE, there[i].pa);
    spin_unlock_irqoff(&p->lock);
    region_touch(r, low);
    region_touch(r, high - PAGE_SIZE);
}

/* Where the first use of each page is to be seen, or reading is at random, one is mapped. */
static bool shows_around(const struct space *s, const struct region *r)
{
    return !s->active && r->advice != ADVICE_RANDOM;
}

/* ---- A fault --------------------------------------------------------------------------------- */

/* [S] and [F] held. */
static int map_locked(struct space *s, struct region *r, vaddr_t va, enum fault_access access,
                      bool *trim)
{
    struct object *o = object_mapped(r);
    struct space *files = o->store->space;
    uint64_t index = region_source_page(r, va);
    bool write = access == FAULT_WRITE;
    struct arch_page here, page;

    if (index >= ALIGN_UP(o->bytes, PAGE_SIZE) >> PAGE_SHIFT)
        return -ENXIO;
    vaddr_t at = object_page_locked(o, index);
    if (!at || o->hidden)
        return 1;
    arch_space_look(&files->arch, at, 1, &page);
    if (page.kind != ARCH_PAGE_HERE)
        return 1;
    arch_space_look(&s->arch, va, 1, &here);
    ASSERT(here.kind == ARCH_PAGE_NONE || (here.kind == ARCH_PAGE_HERE && here.pa == page.pa));
    int err = 0;
    if (here.kind == ARCH_PAGE_HERE)
        allow_locked(s, r, va, &here, write, trim);
    else
        err = show_locked(s, r, va, page.pa, write, trim);
    if (!err && here.kind == ARCH_PAGE_NONE && !write && shows_around(s, r))
        show_around_locked(s, r, va, files, at,
                           (ALIGN_UP(o->bytes, PAGE_SIZE) >> PAGE_SHIFT) - index);
    if (!err && write) {
        arch_space_mark(&files->arch, at, 0, ARCH_WRITTEN);
        o->stored += o->stored < UINT32_MAX;
    }
    return err;
}

int object_map_locked(struct space *s, struct region *r, vaddr_t va, enum fault_access access,
                      bool *trim)
{
    struct space *files = object_mapped(r)->store->space;

    spin_lock_irqoff(&files->lock);
    int err = map_locked(s, r, va, access, trim);
    spin_unlock_irqoff(&files->lock);
    return err;
}

/* ---- Users ----------------------------------------------------------------------------------- */

static struct object_user *user_of(const struct space *s, const struct object *o)
{
    list_for_each (it, &s->objects) {
        struct object_user *u = container_of(it, struct object_user, of_space);
        if (u->object == o)
            return u;
    }
    return NULL;
}

int object_add_user(struct object *o, struct space *s)
{
    if (user_of(s, o))
        return 0;
    struct object_user *u = kmalloc(sizeof(*u));
    if (!u)
        return -ENOMEM;
    *u = (struct object_user){.object = object_get(o), .space = s};
    if (o->backing && o->backing->keep_vnode)
        o->backing->keep_vnode(o->of, true);
    wait_init(&u->unpinned);
    list_push_back(&s->objects, &u->of_space);
    bool irq = spin_lock(&o->lock);
    list_push_back(&o->users, &u->of_object);
    spin_unlock(&o->lock, irq);
    return 0;
}

unsigned object_users(struct object *o)
{
    unsigned n = 0;
    bool irq = spin_lock(&o->lock);

    list_for_each (it, &o->users)
        n++;
    spin_unlock(&o->lock, irq);
    return n;
}

const struct object *space_object_at(struct space *s, vaddr_t va)
{
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_find(&s->regions, va);
    const struct object *o = r && r->start == va && !r->source_page ? object_shown(r) : NULL;

    spin_unlock(&s->lock, irq);
    return o;
}

struct object *space_object_of(struct space *s, vaddr_t va)
{
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_find(&s->regions, va);
    struct object *o = r && object_mapped(r) ? object_get(object_mapped(r)) : NULL;

    spin_unlock(&s->lock, irq);
    return o;
}

/* Returns the next object that s shows in [*va, end), referenced, and sets *va behind its region;
 * or NULL. */
static struct object *next_shown(struct space *s, vaddr_t *va, vaddr_t end)
{
    struct object *o = NULL;
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_above(&s->regions, *va);

    while (r && r->start < end && !object_shown(r))
        r = region_next(r);
    if (r && r->start < end) {
        o = object_get(object_shown(r));
        *va = r->end;
    }
    spin_unlock(&s->lock, irq);
    return o;
}

int space_sync(struct space *s, vaddr_t va, vaddr_t end)
{
    int first = 0;

    for (struct object *o; (o = next_shown(s, &va, end)); object_put(o)) {
        int err = object_sync(o);
        first = first ?: err;
    }
    return first;
}

static bool maps(const struct space *s, const struct object *o)
{
    const struct region *r = regions_above(&s->regions, 0);

    while (r && r->source.of != o)
        r = region_next(r);
    return r;
}

void object_take_users(struct space *s, bool all, struct list *ended)
{
    list_init(ended);
    for (struct list *it = s->objects.next, *next; it != &s->objects; it = next) {
        struct object_user *u = container_of(it, struct object_user, of_space);
        next = it->next;
        if (!all && maps(s, u->object))
            continue;
        list_remove(&u->of_space);
        list_push_back(ended, &u->of_space);
    }
}

void object_unkeep(struct object *o)
{
    if (o->backing && o->backing->keep_vnode)
        o->backing->keep_vnode(o->of, false);
    object_put(o);
}

/* Who pins it may wait for [M] of the space. */
static void end_user(struct object_user *u)
{
    struct object *o = u->object;
    bool irq = spin_lock(&o->lock);

    u->leaves = true;
    while (u->pins)
        wait_sleep_through(&u->unpinned, &o->lock, &irq);
    list_remove(&u->of_object);
    spin_unlock(&o->lock, irq);
    list_remove(&u->of_space);
    kfree(u);
    if (o->backing && o->stored)
        object_sync_later(o);
    else
        object_unkeep(o);
}

void object_end_users(struct list *ended)
{
    while (!list_empty(ended))
        end_user(container_of(ended->next, struct object_user, of_space));
}
