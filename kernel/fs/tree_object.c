/*
 * Objects of a tree's files (mm/object.h): contents that were written, and those of archives, which
 * processes map. An archive's file is read where it lies; what is mapped of it is in memory twice,
 * as long as there is room.
 */
#include "kernel/fs/tree_node.h"
#include "kernel/mem/mem.h"

/* ---- Archives -------------------------------------------------------------------------------- */

/* The bytes of an archive's file, which are there for ever. */
struct archived {
    const uint8_t *data;
    uint64_t size;
};

static int bring_in(void *of, uint64_t page, unsigned n, const paddr_t *frames)
{
    const struct archived *x = of;

    for (unsigned i = 0; i < n; i++) {
        uint64_t at = MIN((page + i) << PAGE_SHIFT, x->size);
        size_t part = (size_t)MIN(x->size - at, PAGE_SIZE);
        uint8_t *frame = phys_to_virt(frames[i]);
        memcpy(frame, x->data + at, part);
        memset(frame + part, 0, PAGE_SIZE - part);
    }
    return 0;
}

/* A file that is to be written gets contents of its own first: node_own(). */
static int64_t write_out(UNUSED void *of, UNUSED uint64_t at, UNUSED const void *from,
                         UNUSED size_t n)
{
    return -EROFS;
}

static int set_end(UNUSED void *of, UNUSED uint64_t bytes)
{
    return -EROFS;
}

static void keep_vnode(UNUSED void *of, UNUSED bool on)
{
}

static void end_backing(void *of)
{
    kfree(of);
}

static const struct object_backing archive = {
    .bring_in = bring_in,
    .write_out = write_out,
    .set_end = set_end,
    .keep_vnode = keep_vnode,
    .end_backing = end_backing,
};

static int make_archived(struct node *f, struct object **out)
{
    struct archived *x = kmalloc(sizeof(*x));

    if (!x)
        return -ENOMEM;
    *x = (struct archived){f->v.data, f->v.size};
    int err = object_create(&f->tree->archived, &archive, x, out);
    if (err) {
        kfree(x);
        return err;
    }
    err = object_refresh(*out, x->size);
    if (err)
        object_put(*out);
    return err;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

int node_object(struct vnode *v, struct object **out)
{
    struct node *f = v->data && node_of(v)->same ? node_of(v)->same : node_of(v);
    struct object *fresh, *none = NULL;
    int err = 0;

    if (!vnode_is(v, S_IFREG))
        return -ENODEV;
    if (!node_contents(f)) {
        err =
            v->data ? make_archived(f, &fresh) : object_create(&f->tree->store, NULL, NULL, &fresh);
        if (!err && !__atomic_compare_exchange_n(&f->object, &none, fresh, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE))
            object_put(fresh);
    }
    *out = node_contents(f);
    return err ? -ENOSPC : 0;
}

void node_free_contents(struct node *f)
{
    object_put(f->object);
    kfree(f->own_target);
}
