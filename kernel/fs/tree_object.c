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

static void end_backing(void *of)
{
    kfree(of);
}

/* A file that is to be written gets contents of its own first: node_own(). */
static const struct object_backing archive = {.bring_in = bring_in, .end_backing = end_backing};

static int make_archived(struct node *f)
{
    struct archived *x = kmalloc(sizeof(*x));

    if (!x)
        return -ENOMEM;
    *x = (struct archived){f->v.data, f->v.size};
    return object_make_once(&f->object, &f->tree->archived, &archive, x, x->size);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

int node_object(struct vnode *v, struct object **out)
{
    struct node *f = v->data && node_of(v)->same ? node_of(v)->same : node_of(v);
    int err = 0;

    if (!vnode_is(v, S_IFREG))
        return -ENODEV;
    if (!node_contents(f))
        err = v->data ? make_archived(f)
                      : object_make_once(&f->object, &f->tree->store, NULL, NULL, 0);
    *out = node_contents(f);
    return err ? -ENOSPC : 0;
}

void node_free_contents(struct node *f)
{
    object_put(f->object);
    kfree(f->own_target);
}
