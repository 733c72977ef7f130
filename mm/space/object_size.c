/* Objects that change their size, or whose contents have changed elsewhere; see mm/object.h. */
#include "kernel/mem/mem.h"
#include "mm/object.h"
#include "mm/pool.h"

/* ---- Size ------------------------------------------------------------------------------------ */

static void set_bytes(struct object *o, uint64_t bytes)
{
    struct space *s = o->store->space;
    bool irq = spin_lock(&s->lock);

    o->bytes = bytes;
    spin_unlock(&s->lock, irq);
}

int object_make_once(struct object **at, struct object_store *store,
                     const struct object_backing *backing, void *of, uint64_t bytes)
{
    struct object *fresh, *none = NULL;
    int err = object_create(store, backing, of, &fresh);

    if (err && backing && backing->end_backing)
        backing->end_backing(of);
    if (err)
        return err;
    mutex_lock(&fresh->mutex);
    if (bytes && !(err = object_make_room_held(fresh, bytes)))
        set_bytes(fresh, bytes);
    mutex_unlock(&fresh->mutex);
    if (err ||
        !__atomic_compare_exchange_n(at, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        object_put(fresh);
    return err;
}

/* Takes the object's pages from `first` to `end` out of the space, which maps it, in each of its
 * regions; `copies`: also those that are the space's own. */
static void cut_user(struct space *s, const struct object *o, uint64_t first, uint64_t end,
                     bool copies)
{
    mutex_lock(&s->map_lock);
    for (const struct region *r = regions_above(&s->regions, 0); r; r = region_next(r)) {
        uint64_t from = r->source_page, pages = (r->end - r->start) >> PAGE_SHIFT;
        uint64_t low = MAX(first, from), high = MIN(end, from + pages);
        if (r->source.of == o && low < high)
            (copies ? space_drop_pages
                    : space_drop_shown)(s, r->start + ((low - from) << PAGE_SHIFT),
                                        r->start + ((high - from) << PAGE_SHIFT));
    }
    mutex_unlock(&s->map_lock);
}

void object_cut_users(struct object *o, uint64_t first, uint64_t end, bool copies)
{
    for (struct object_user *u = object_next_user(o, NULL); u; u = object_next_user(o, u))
        cut_user(u->space, o, first, end, copies);
}

/* The mutex is held. */
static int shorten(struct object *o, uint64_t bytes)
{
    uint64_t end = ALIGN_UP(bytes, PAGE_SIZE);
    int err = bytes & PAGE_MASK ? object_clear_held(o, bytes, end - bytes) : 0;

    if (err)
        return err;
    set_bytes(o, bytes); /* so no process brings a page behind it any more */
    object_cut_users(o, end >> PAGE_SHIFT, UINT64_MAX, true);
    if (end < o->room)
        space_drop_pages(o->store->space, o->base + end, o->base + o->room);
    return 0;
}

int object_resize(struct object *o, uint64_t bytes)
{
    if (bytes > OBJECT_BYTES_MAX)
        return -EFBIG;
    mutex_lock(&o->mutex);
    int err = object_is_read_only(o)         ? -EROFS
              : !object_may_resize(o, bytes) ? -EPERM
              : o->backing                   ? o->backing->set_end(o->of, bytes)
                                             : 0;
    if (!err && bytes < o->bytes)
        err = shorten(o, bytes);
    else if (!err && bytes && !(err = object_make_room_held(o, bytes)))
        set_bytes(o, bytes);
    mutex_unlock(&o->mutex);
    return err;
}

int object_keep(struct object *o)
{
    uint64_t pages = ALIGN_UP(o->bytes, PAGE_SIZE) >> PAGE_SHIFT;
    int err = space_lock(o->store->space, o->base, o->room, true);

    for (uint64_t i = 0; i < pages && !err; i++)
        err = object_bring(o, i, FAULT_WRITE);
    return err;
}

/* ---- Contents that have changed elsewhere ---------------------------------------------------- */

static void set_hidden(struct object *o, bool hidden)
{
    struct space *s = o->store->space;
    bool irq = spin_lock(&s->lock);

    o->hidden = hidden;
    spin_unlock(&s->lock, irq);
}

int object_refresh(struct object *o, uint64_t bytes)
{
    if (bytes > OBJECT_BYTES_MAX)
        return -EFBIG;
    mutex_lock(&o->mutex);
    set_hidden(o, true);
    object_cut_users(o, 0, UINT64_MAX, false);
    int err = object_sync_held(o) ?: (bytes ? object_make_room_held(o, bytes) : 0);
    if (!err && o->room)
        space_drop_pages(o->store->space, o->base, o->base + o->room);
    if (!err)
        set_bytes(o, bytes);
    set_hidden(o, false);
    mutex_unlock(&o->mutex);
    return err;
}
