/* Holes and seals of objects: see mm/object.h. */
#include "kernel/mem/mem.h"
#include "mm/object.h"

/* ---- Holes ----------------------------------------------------------------------------------- */

/* Closes the object's region, so that no thread brings a page, or opens it. The mutex is held. */
static void set_closed(struct object *o, bool closed)
{
    struct space *s = o->store->space;
    bool irq = spin_lock(&s->lock);
    struct region *r = regions_find(&s->regions, o->base);

    r->flags = closed ? r->flags | REGION_CLOSED : r->flags & ~(unsigned)REGION_CLOSED;
    spin_unlock(&s->lock, irq);
}

/* Takes pages out of all processes, and frees them. The mutex is held. */
static void drop_pages(struct object *o, uint64_t first, uint64_t end)
{
    if (!o->room || first >= end)
        return;
    set_closed(o, true);
    object_cut_users(o, first, end, false);
    space_drop_pages(o->store->space, o->base + (first << PAGE_SHIFT),
                     o->base + (end << PAGE_SHIFT));
    set_closed(o, false);
}

/* The mutex is held. */
static int punch(struct object *o, uint64_t at, uint64_t end)
{
    uint64_t first = ALIGN_UP(at, PAGE_SIZE), last = ALIGN_DOWN(end, PAGE_SIZE);
    int err;

    if (last < first)
        return object_clear_held(o, at, end - at);
    err = first > at ? object_clear_held(o, at, first - at) : 0;
    if (!err && end == o->bytes) /* nothing is behind it on its page */
        last = ALIGN_UP(end, PAGE_SIZE);
    else if (!err && end > last)
        err = object_clear_held(o, last, end - last);
    if (!err)
        drop_pages(o, first >> PAGE_SHIFT, last >> PAGE_SHIFT);
    return err;
}

int object_punch(struct object *o, uint64_t at, uint64_t n)
{
    mutex_lock(&o->mutex);
    uint64_t end = n < o->bytes - MIN(at, o->bytes) ? at + n : o->bytes;
    int err = !object_may_write(o, o->bytes) ? -EPERM : at < end ? punch(o, at, end) : 0;
    mutex_unlock(&o->mutex);
    return err;
}

enum { FIND_ROW = 32, FIND_ROWS = 64 }; /* pages looked at in one call, and calls in one hold */

/* Looks from *va on, at most to `end`, for a page without memory, or with. Returns whether *va is
 * one; else *va is how far it came. [F] held. */
static NOINLINE bool find_locked(struct space *s, vaddr_t *va, vaddr_t end, bool hole)
{
    struct arch_page row[FIND_ROW];

    for (unsigned rows = 0; *va < end && rows < FIND_ROWS; rows++) {
        vaddr_t next = hole ? *va : arch_space_skip(&s->arch, *va, end);
        if (next != *va) {
            *va = next;
            continue;
        }
        next = MIN(ALIGN_DOWN(*va, FIND_ROW * PAGE_SIZE) + FIND_ROW * PAGE_SIZE, end);
        unsigned n = (unsigned)((next - *va) >> PAGE_SHIFT);
        arch_space_look(&s->arch, *va, n, row);
        for (unsigned i = 0; i < n; i++, *va += PAGE_SIZE)
            if ((row[i].kind == ARCH_PAGE_NONE) == hole)
                return true;
    }
    return false;
}

int64_t object_find(struct object *o, uint64_t at, bool hole)
{
    struct space *s = o->store->space;
    uint64_t here = at, bytes;
    bool found = false;

    mutex_lock(&o->mutex); /* it does not move, and has its size */
    bytes = o->bytes;
    while (!found && here < bytes) {
        vaddr_t end = o->base + ALIGN_UP(bytes, PAGE_SIZE);
        vaddr_t va = o->base + ALIGN_DOWN(here, PAGE_SIZE);
        bool irq = spin_lock(&s->lock);
        found = find_locked(s, &va, end, hole);
        spin_unlock(&s->lock, irq);
        here = MAX(here, va - o->base);
        sched_point();
    }
    mutex_unlock(&o->mutex);
    if (at >= bytes)
        return -ENXIO;
    return here < bytes ? (int64_t)here : hole ? (int64_t)bytes : -ENXIO;
}

/* ---- Seals ----------------------------------------------------------------------------------- */

void object_allow_seals(struct object *o)
{
    __atomic_store_n(&o->seals, 0, __ATOMIC_SEQ_CST);
}

uint32_t object_seals(const struct object *o)
{
    return __atomic_load_n(&o->seals, __ATOMIC_SEQ_CST);
}

/* Returns whether the space maps the object and may write it there. */
static bool user_writes(struct space *s, const struct object *o)
{
    bool writes = false;

    mutex_lock(&s->map_lock);
    for (const struct region *r = regions_above(&s->regions, 0); r && !writes; r = region_next(r))
        writes = r->source.of == o && (r->flags & REGION_SHARED) && !(r->flags & REGION_READ_ONLY);
    mutex_unlock(&s->map_lock);
    return writes;
}

static bool users_write(struct object *o)
{
    bool writes = false;

    for (struct object_user *u = object_next_user(o, NULL); u; u = object_next_user(o, u))
        writes = writes || user_writes(u->space, o);
    return writes;
}

/* A process that maps the object looks at the seals once it has done so: it sees the new ones, or
 * its mapping is seen here. */
int object_add_seals(struct object *o, uint32_t seals)
{
    mutex_lock(&o->mutex);
    uint32_t old = o->seals;
    int err = old & OBJECT_SEAL_SEAL ? -EPERM : 0;
    if (!err) {
        __atomic_store_n(&o->seals, old | seals, __ATOMIC_SEQ_CST);
        if ((seals & ~old & OBJECT_SEAL_WRITE) && users_write(o)) {
            __atomic_store_n(&o->seals, old, __ATOMIC_SEQ_CST);
            err = -EBUSY;
        }
    }
    mutex_unlock(&o->mutex);
    return err;
}
