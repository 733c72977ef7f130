/*
 * Contents of objects: see mm/object.h. An object's region is larger than the object, and moves
 * when it is too small, so that it is where it is by a power of two of its size. Who finds that it
 * moves waits for the object's mutex.
 */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/object.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/track/track.h"

#define ROOM_FIRST (16 * PAGE_SIZE)
/* The part of memory that an object's pages may be stored to, before they are written to where they
 * stay: only then they can be evicted without a slot. */
#define STORED_PART 8

/* ---- Stores ---------------------------------------------------------------------------------- */

void object_store_init(struct object_store *store, uint64_t pages_max)
{
    mutex_init(&store->mutex, "store of objects");
    store->space = NULL;
    store->pages_max = pages_max;
}

void object_store_end(struct object_store *store)
{
    if (store->space)
        space_destroy(store->space);
    store->space = NULL;
}

static struct space *space_of(const struct object_store *store)
{
    return __atomic_load_n(&store->space, __ATOMIC_ACQUIRE);
}

uint64_t object_store_pages(const struct object_store *store)
{
    const struct space *s = space_of(store);

    return s ? space_pages(s) : 0;
}

/* Makes the store's space, if there is none: either all of its objects have a backing, `elsewhere`,
 * or none has. Not before the disks are known, which a pool's limits depend on. */
static int make_space(struct object_store *store, bool elsewhere)
{
    struct space *s;
    int err = 0;

    if (space_of(store))
        return 0;
    mutex_lock(&store->mutex);
    if (!store->space && !(err = space_create_for_files(elsewhere, &s)))
        __atomic_store_n(&store->space, s, __ATOMIC_RELEASE);
    mutex_unlock(&store->mutex);
    return err;
}

/* ---- Life ------------------------------------------------------------------------------------ */

int object_create(struct object_store *store, const struct object_backing *backing, void *of,
                  struct object **out)
{
    struct object *o = kmalloc(sizeof(*o));
    int err = o ? make_space(store, backing) : -ENOMEM;

    if (err) {
        kfree(o);
        return -ENOMEM;
    }
    *o = (struct object){.store = store,
                         .backing = backing,
                         .of = of,
                         .refs = 1,
                         .number = lineage_number(),
                         .seals = OBJECT_SEAL_SEAL};
    mutex_init(&o->mutex, "object");
    spin_init(&o->lock, LOCK_LINEAGE, "object");
    list_init(&o->users);
    wait_init(&o->unpinned);
    list_init(&o->later);
    *out = o;
    return 0;
}

struct object *object_get(struct object *o)
{
    __atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
    return o;
}

static void wait_for_pins(struct object *o)
{
    bool irq = spin_lock(&o->lock);

    while (o->pins)
        wait_sleep_through(&o->unpinned, &o->lock, &irq);
    spin_unlock(&o->lock, irq);
}

void object_put(struct object *o)
{
    if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (o->room) {
        int err = space_unmap(o->store->space, o->base, o->room);
        ASSERT(!err);
    }
    wait_for_pins(o);
    if (o->backing && o->backing->end_backing)
        o->backing->end_backing(o->of);
    kfree(o->name);
    kfree(o);
}

void object_set_name(struct object *o, struct object_name *name)
{
    struct object_name *none = NULL;

    if (!__atomic_compare_exchange_n(&o->name, &none, name, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
        kfree(name);
}

/* ---- Places ---------------------------------------------------------------------------------- */

uint64_t object_bytes(const struct object *o)
{
    return __atomic_load_n(&o->bytes, __ATOMIC_RELAXED);
}

vaddr_t object_page_locked(const struct object *o, uint64_t index)
{
    vaddr_t va = o->base + (index << PAGE_SHIFT);
    const struct region *r = regions_find(&o->store->space->regions, va);

    return r && r->source.of == o && !(r->flags & REGION_CLOSED) ? va : 0;
}

/* Sets where the object is. The mutex is held. */
static void set_place(struct object *o, vaddr_t base, uint64_t room)
{
    struct space *s = o->store->space;
    bool irq = spin_lock(&s->lock);

    o->base = base;
    o->room = room;
    spin_unlock(&s->lock, irq);
}

static int read_backing(const struct page_source *source, uint64_t page, unsigned n,
                        paddr_t *frames)
{
    const struct object *o = source->of;

    return o->backing->bring_in(o->of, page, n, frames);
}

static struct block_device *disk_of(const struct page_source *source, uint64_t page, unsigned *n)
{
    const struct object *o = source->of;
    uint64_t pages = ALIGN_UP(object_bytes(o), PAGE_SIZE) >> PAGE_SHIFT;

    *n = page < pages ? (unsigned)MIN((uint64_t)*n, pages - page) : 0;
    return o->backing->whole_disk ? o->backing->whole_disk(o->of) : NULL;
}

static const struct page_source_ops backing_ops = {
    .slow = true, .read_pages = read_backing, .disk = disk_of};

static int map_room(struct object *o, uint64_t room)
{
    struct mapping m = {.len = room,
                        .prot = PROT_R | PROT_W,
                        .flags = MAPPING_UNCOUNTED,
                        .kind = REGION_FILE,
                        .name = "file",
                        .source = {.of = o}};
    vaddr_t base;

    if (o->backing)
        m.source = (struct page_source){&backing_ops, o, OBJECT_BYTES_MAX};

    int err = space_mmap(o->store->space, &m, &base);

    if (!err)
        set_place(o, base, room);
    return err;
}

int object_make_room_held(struct object *o, uint64_t bytes)
{
    uint64_t room = MAX(o->room, ROOM_FIRST);
    vaddr_t base;

    while (room < bytes)
        room *= 2;
    if (room == o->room)
        return 0;
    if (!o->room)
        return map_room(o, room);
    int err = space_remap(o->store->space, o->base, o->room, room, REMAP_MAYMOVE, 0, &base);
    if (!err)
        set_place(o, base, room);
    return err;
}

/* Waits for the end of a change of the object's place. */
static void wait_for_place(struct object *o)
{
    mutex_lock(&o->mutex);
    mutex_unlock(&o->mutex);
}

int object_bring_held(struct object *o, uint64_t index, enum fault_access access)
{
    struct space *s = o->store->space;
    struct arch_page page = {.kind = ARCH_PAGE_NONE};
    bool irq = spin_lock(&s->lock);
    vaddr_t va = object_page_locked(o, index);

    if (va)
        arch_space_look(&s->arch, va, 1, &page);
    spin_unlock(&s->lock, irq);
    if (!va) {
        if (!o->backing)
            wait_for_place(o);
        return 0;
    }
    if (page.kind == ARCH_PAGE_NONE && space_pages(s) >= o->store->pages_max)
        return -ENOSPC;
    int err = space_fault(s, va, access == FAULT_WRITE ? FAULT_WRITE : FAULT_READ);
    return err == -EFAULT ? 0 : err; /* it has moved meanwhile */
}

int object_bring(struct object *o, uint64_t index, enum fault_access access)
{
    if (!o->backing || object_is_read_only(o)) /* no write can overtake it */
        return object_bring_held(o, index, access);
    mutex_lock(&o->mutex);
    if (o->stored > pools_memory() / STORED_PART)
        object_sync_held(o); /* after an error there is less memory, and the next sync tells */
    int err = object_bring_held(o, index, access);
    mutex_unlock(&o->mutex);
    return err;
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* A part of one page, to be copied. */
struct part {
    uint64_t at;
    void *to;         /* read */
    const void *from; /* or written */
    size_t n;
};

static void tell_use_locked(struct pool *p, const struct arch_page *page)
{
    if (!p->limited)
        return;
    spin_lock_irqoff(&p->lock);
    pool_used_locked(p, frame_page(page->pa)->next);
    spin_unlock_irqoff(&p->lock);
}

/* Copies the part, if its page is there: of one that never was and has no backing, a read gets
 * zeros. Returns 0; 1: the page is to be brought; 2: the object moves. [F] held. */
static int copy_locked(struct object *o, const struct part *x)
{
    struct space *s = o->store->space;
    vaddr_t va = object_page_locked(o, x->at >> PAGE_SHIFT);
    struct arch_page page;

    if (!va)
        return o->room ? 2 : 0;
    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_NONE && x->to && !o->backing) {
        memset(x->to, 0, x->n);
        return 0;
    }
    if (page.kind != ARCH_PAGE_HERE)
        return 1;
    uint8_t *frame = (uint8_t *)phys_to_virt(page.pa) + (x->at & PAGE_MASK);
    if (x->to)
        memcpy(x->to, frame, x->n);
    else
        memcpy(frame, x->from, x->n);
    if (x->from) {
        arch_space_mark(&s->arch, va, 0, ARCH_WRITTEN);
        o->bytes = MAX(o->bytes, x->at + x->n);
    }
    tell_use_locked(s->pool, &page);
    return 0;
}

static int copy_part(struct object *o, const struct part *x)
{
    struct space *s = o->store->space;

    for (;;) {
        bool irq = spin_lock(&s->lock);
        int err = copy_locked(o, x);
        spin_unlock(&s->lock, irq);
        if (err == 2)
            wait_for_place(o);
        else if (err == 1)
            err = object_bring(o, x->at >> PAGE_SHIFT, x->from ? FAULT_WRITE : FAULT_READ) ?: 1;
        if (err <= 0)
            return err;
    }
}

/* Lets the curve of files know of uses before there are too many. No lock held, nor the mutex. */
static void deliver_uses(const struct object *o)
{
    if (pool_uses_are_many(o->store->space->pool))
        track_deliver();
}

/* Copies n bytes. Returns as object_read. */
static int64_t copy(struct object *o, uint64_t at, void *to, const void *from, size_t n)
{
    size_t done = 0;

    while (done < n) {
        struct part x = {.at = at + done,
                         .to = to ? (char *)to + done : NULL,
                         .from = from ? (const char *)from + done : NULL,
                         .n = MIN(n - done, (size_t)(PAGE_SIZE - ((at + done) & PAGE_MASK)))};
        int err = copy_part(o, &x);
        if (err)
            return done ? (int64_t)done : err;
        done += x.n;
        if (to) /* the mutex is not held */
            deliver_uses(o);
    }
    return (int64_t)done;
}

int64_t object_read(struct object *o, uint64_t at, void *to, size_t n)
{
    uint64_t bytes = object_bytes(o);

    return copy(o, at, to, NULL, at < bytes ? MIN(n, (size_t)(bytes - at)) : 0);
}

bool object_may_write(const struct object *o, uint64_t bytes)
{
    return !(o->seals & (OBJECT_SEAL_WRITE | OBJECT_SEAL_FUTURE_WRITE)) &&
           object_may_resize(o, bytes);
}

/* Tells whether node n is out, and whether it has a slot. */
static bool node_is_out(struct pool *p, uint32_t n, bool *slot)
{
    spin_lock_irqoff(&p->lock);
    bool is = p->nodes[n].state == NODE_OUT;
    *slot = p->nodes[n].slot != SLOT_NONE;
    spin_unlock_irqoff(&p->lock);
    return is;
}

/* Copies the part, which was written out, if memory or a slot has its page. Returns 0; 1: the page
 * is to be brought. [F] held. */
static int renew_locked(struct object *o, const struct part *x)
{
    struct space *s = o->store->space;
    vaddr_t va = object_page_locked(o, x->at >> PAGE_SHIFT);
    struct arch_page page = {.kind = ARCH_PAGE_NONE};
    bool slot;

    if (va)
        arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_NONE)
        return 0;
    if (page.kind == ARCH_PAGE_OUT)
        return node_is_out(s->pool, page.number, &slot) && !slot ? 0 : 1;
    node_is_out(s->pool, frame_page(page.pa)->next, &slot);
    if (slot) { /* which has what was before */
        arch_space_mark(&s->arch, va, 0, ARCH_WRITTEN);
        o->stored++;
    }
    memcpy((uint8_t *)phys_to_virt(page.pa) + (x->at & PAGE_MASK), x->from, x->n);
    tell_use_locked(s->pool, &page);
    return 0;
}

/* The mutex is held. */
static int renew_part(struct object *o, const struct part *x)
{
    struct space *s = o->store->space;
    int err = 0;

    do {
        bool irq = spin_lock(&s->lock);
        int need = renew_locked(o, x);
        spin_unlock(&s->lock, irq);
        if (!need)
            return 0;
        err = object_bring_held(o, x->at >> PAGE_SHIFT, FAULT_READ);
    } while (!err);
    return err;
}

static void grow_bytes(struct object *o, uint64_t bytes)
{
    struct space *s = o->store->space;
    bool irq = spin_lock(&s->lock);

    o->bytes = MAX(o->bytes, bytes);
    spin_unlock(&s->lock, irq);
}

/* Writes n bytes to where they stay, and to the pages that are here. A page that cannot be brought
 * ends the write: its bytes may be the old ones later. The mutex is held. */
static int64_t write_out(struct object *o, uint64_t at, const void *from, size_t n)
{
    int64_t put = o->backing->write_out(o->of, at, from, n);
    size_t done = 0;
    int err = 0;

    if (put <= 0)
        return put;
    while (!err && done < (size_t)put) {
        size_t room = (size_t)(PAGE_SIZE - ((at + done) & PAGE_MASK));
        struct part x = {
            .at = at + done, .from = (const char *)from + done, .n = MIN((size_t)put - done, room)};
        err = renew_part(o, &x);
        done += err ? 0 : x.n;
    }
    grow_bytes(o, at + (uint64_t)put);
    return done ? (int64_t)done : err;
}

int64_t object_write(struct object *o, uint64_t at, const void *from, size_t n)
{
    if (at >= OBJECT_BYTES_MAX || n > OBJECT_BYTES_MAX - at)
        return -EFBIG;
    mutex_lock(&o->mutex);
    int64_t done = !n                                            ? 0
                   : object_is_read_only(o)                      ? -EROFS
                   : !object_may_write(o, MAX(at + n, o->bytes)) ? -EPERM
                                                                 : object_make_room_held(o, at + n);
    if (!done)
        done = o->backing ? write_out(o, at, from, n) : copy(o, at, NULL, from, n);
    mutex_unlock(&o->mutex);
    deliver_uses(o);
    return done;
}

int object_clear_held(struct object *o, uint64_t at, uint64_t n)
{
    static const uint8_t zeros[PAGE_SIZE];
    struct space *s = o->store->space;
    struct part x = {.at = at, .from = zeros, .n = n};
    struct arch_page page = {.kind = ARCH_PAGE_NONE};

    if (o->backing)
        return renew_part(o, &x);
    bool irq = spin_lock(&s->lock);
    vaddr_t va = object_page_locked(o, at >> PAGE_SHIFT);
    if (va)
        arch_space_look(&s->arch, va, 1, &page);
    spin_unlock(&s->lock, irq);
    return page.kind == ARCH_PAGE_NONE ? 0 : copy_part(o, &x);
}

/* ---- Mapped privately ------------------------------------------------------------------------ */

static int read_pages(const struct page_source *source, uint64_t page, unsigned n, paddr_t *frames)
{
    struct object *o = (struct object *)source->of;

    for (unsigned i = 0; i < n; i++) {
        uint64_t at = (page + i) << PAGE_SHIFT;
        uint8_t *frame = phys_to_virt(frames[i]);
        if (!i && at >= object_bytes(o))
            return -ENXIO;
        int64_t got = object_read(o, at, frame, PAGE_SIZE);
        if (got < 0)
            return (int)got;
        memset(frame + got, 0, PAGE_SIZE - (size_t)got);
    }
    return 0;
}

static const struct page_source_ops source_ops = {.object = true, .read_pages = read_pages};

struct page_source page_source_object(struct object *o)
{
    return (struct page_source){.ops = &source_ops, .of = o, .bytes = OBJECT_BYTES_MAX};
}
