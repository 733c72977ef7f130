/*
 * Contents of the host's files in memory: objects (mm/object.h) that are read from the host and
 * written to it. They stay for a while after a file was closed.
 *
 * The host may change a file at any time. Its attributes, which each walk of a path asks for, tell
 * by size and time: at the next opening pages are then dropped. A change that falls between a write
 * of this machine and the next question is not noticed.
 */
#include "kernel/fs/p9_node.h"
#include "kernel/mem/mem.h"

/* Flags of an opening, as the protocol has them (P9_DOTL_*). */
enum { OPEN_READ = 0, OPEN_WRITE = 1, OPEN_BOTH = 2 };

/* How a file's object reaches the host: the first fids that were opened to read and to write. */
struct contents {
    struct p9_client *client;
    struct p9_node *node;           /* in use as long as it is opened or mapped */
    struct p9_fid *reader, *writer; /* [L] referenced, or NULL */
};

static struct object *object_of(const struct p9_node *n)
{
    return __atomic_load_n(&n->object, __ATOMIC_ACQUIRE);
}

/* ---- The object's side ----------------------------------------------------------------------- */

/* Returns the fid referenced, or NULL. */
static struct p9_fid *fid_of(struct p9_client *c, struct p9_fid *const *fid)
{
    bool irq = spin_lock(&c->lock);
    struct p9_fid *f = *fid ? p9_fid_get(*fid) : NULL;

    spin_unlock(&c->lock, irq);
    return f;
}

static int bring_in(void *of, uint64_t page, unsigned n, const paddr_t *frames)
{
    struct contents *x = of;
    struct p9_fid *fid = fid_of(x->client, &x->reader);
    unsigned most = p9_io_max(x->client) >> PAGE_SHIFT;
    int err = fid && most ? 0 : -EIO;

    for (unsigned done = 0, part; !err && done < n; done += part) {
        part = MIN(n - done, most);
        err = p9_read_pages(x->client, fid, page + done, part, frames + done);
    }
    p9_fid_put(x->client, fid);
    return err;
}

static int64_t write_out(void *of, uint64_t at, const void *from, size_t n)
{
    struct contents *x = of;
    struct p9_fid *fid = fid_of(x->client, &x->writer);
    int64_t put = fid ? p9_write_all(x->client, fid, at, from, n) : -EIO;

    p9_fid_put(x->client, fid);
    return put;
}

static int set_end(void *of, uint64_t bytes)
{
    struct contents *x = of;

    return p9_set_size(x->node, bytes);
}

static void keep_vnode(void *of, bool on)
{
    struct contents *x = of;

    if (on)
        vnode_get(&x->node->v);
    else
        vnode_put(&x->node->v);
}

static void end_backing(void *of)
{
    struct contents *x = of;

    p9_fid_put(x->client, x->reader);
    p9_fid_put(x->client, x->writer);
    kfree(x);
}

static const struct object_backing backing = {
    .bring_in = bring_in,
    .write_out = write_out,
    .set_end = set_end,
    .keep_vnode = keep_vnode,
    .end_backing = end_backing,
};

/* ---- The node's side ------------------------------------------------------------------------- */

static int make_object(struct p9_node *n)
{
    struct contents *x = kmalloc(sizeof(*x));

    if (!x)
        return -ENOMEM;
    *x = (struct contents){.client = &n->of->client, .node = n};
    __atomic_store_n(&n->stale, true, __ATOMIC_RELAXED);
    return object_make_once(&n->object, &n->of->store, &backing, x, 0);
}

void p9_note_contents(struct p9_node *n, const struct p9_attributes *a)
{
    bool same = n->v.size == a->size && n->v.modified.s == (int64_t)a->modified.s &&
                n->v.modified.ns == (uint32_t)a->modified.ns,
         wrote = __atomic_exchange_n(&n->wrote, false, __ATOMIC_RELAXED);

    if (!same && !wrote)
        __atomic_store_n(&n->stale, true, __ATOMIC_RELAXED);
}

/* Drops what is in memory, if the host has changed the file. Other openings wait meanwhile. */
static int refresh(struct p9_node *n)
{
    int err = 0;

    mutex_lock(&n->of->refreshing);
    if (__atomic_exchange_n(&n->stale, false, __ATOMIC_ACQ_REL))
        err = object_refresh(object_of(n), n->v.size);
    if (err)
        __atomic_store_n(&n->stale, true, __ATOMIC_RELAXED);
    mutex_unlock(&n->of->refreshing);
    return err;
}

/* Gives the object a fid that was opened, if it has none yet. */
static void lend_fid(struct p9_node *n, struct p9_fid *fid, unsigned flags)
{
    struct contents *x = object_of(n)->of;
    bool irq = spin_lock(&x->client->lock);

    if ((flags & VNODE_READ) && !x->reader)
        x->reader = p9_fid_get(fid);
    if ((flags & VNODE_WRITE) && !x->writer)
        x->writer = p9_fid_get(fid);
    spin_unlock(&x->client->lock, irq);
}

int p9_open(struct vnode *v, unsigned flags, void **state)
{
    struct p9_node *n = p9_node_of(v);
    struct p9_fid *fid;

    if (vnode_is(v, S_IFDIR))
        return 0;              /* p9_list() opens it */
    if (!vnode_is(v, S_IFREG)) /* devices and pipes of the host are not this machine's */
        return -ENXIO;
    int err = object_of(n) ? 0 : make_object(n);
    if (!err)
        err = p9_open_fid(n,
                          !(flags & VNODE_WRITE) ? OPEN_READ
                          : flags & VNODE_READ   ? OPEN_BOTH
                                                 : OPEN_WRITE,
                          &fid);
    if (err)
        return err;
    lend_fid(n, fid, flags);
    err = refresh(n);
    if (err)
        p9_fid_put(&n->of->client, fid);
    else
        *state = fid;
    return err;
}

bool p9_unkeep_locked(struct p9_node *n)
{
    if (!n->kept)
        return false;
    for (unsigned i = 0; i < P9_KEPT; i++)
        if (n->of->kept[i] == n)
            n->of->kept[i] = NULL;
    n->kept = false;
    return true;
}

/* Keeps the node in place of the one that was closed longest ago. */
static void keep(struct p9_node *n)
{
    struct p9_mount *m = n->of;
    struct p9_node *old = NULL;
    bool irq = spin_lock(&m->client.lock);

    if (!n->kept && n->parent) { /* it has a name to be found by */
        old = m->kept[m->next_kept];
        m->kept[m->next_kept] = n;
        m->next_kept = (m->next_kept + 1) % P9_KEPT;
        n->kept = true;
        vnode_get(&n->v);
        if (old)
            old->kept = false;
    }
    spin_unlock(&m->client.lock, irq);
    vnode_put(old ? &old->v : NULL);
}

void p9_close(struct vnode *v, void *state)
{
    struct p9_node *n = p9_node_of(v);

    p9_fid_put(&n->of->client, state);
    if (state)
        keep(n);
}

void p9_let_go(struct mount *mount)
{
    struct p9_mount *m = container_of(mount, struct p9_mount, mount);

    object_sync_wait();
    for (unsigned i = 0; i < P9_KEPT; i++) {
        bool irq = spin_lock(&m->client.lock);
        struct p9_node *n = m->kept[i];
        bool is = n && p9_unkeep_locked(n);
        spin_unlock(&m->client.lock, irq);
        vnode_put(is ? &n->v : NULL);
    }
    p9_wait_given_back(&m->client);
}

int p9_object(struct vnode *v, struct object **out)
{
    *out = object_of(p9_node_of(v));
    return *out ? 0 : -ENODEV;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

/* Reads behind the end that is known: the host may have made the file longer. */
static int64_t read_behind(struct p9_node *n, const struct p9_fid *fid, uint64_t at, void *to,
                           size_t bytes)
{
    int64_t got = p9_read_part(&n->of->client, fid, at, to,
                               (uint32_t)MIN(bytes, (size_t)p9_io_max(&n->of->client)));

    if (got <= 0)
        return got;
    int err = p9_ask(n);
    if (!err && n->v.size != object_bytes(object_of(n))) { /* of some files it tells no size */
        __atomic_store_n(&n->stale, true, __ATOMIC_RELAXED);
        err = refresh(n);
    }
    return err ? err : got;
}

int64_t p9_read(struct vnode *v, void *state, UNUSED unsigned flags, uint64_t at, void *to,
                size_t bytes)
{
    struct p9_node *n = p9_node_of(v);

    if (vnode_is(v, S_IFDIR))
        return -EISDIR;
    uint64_t end = object_bytes(object_of(n));
    size_t part = at < end ? (size_t)MIN((uint64_t)bytes, end - at) : 0;
    int64_t got = part ? object_read(object_of(n), at, to, part) : 0;
    if (got < 0 || (size_t)got < part || part == bytes)
        return got;
    int64_t more = read_behind(n, state, at + part, (char *)to + part, bytes - part);
    return more > 0 ? got + more : part ? got : more;
}

int64_t p9_write(struct vnode *v, UNUSED void *state, UNUSED unsigned flags, uint64_t at,
                 const void *from, size_t bytes)
{
    struct p9_node *n = p9_node_of(v);

    __atomic_store_n(&n->wrote, true, __ATOMIC_RELAXED);
    int64_t done = object_write(object_of(n), at, from, bytes);
    if (done > 0)
        v->size = MAX(v->size, at + (uint64_t)done);
    return done;
}

int p9_resize(struct vnode *v, uint64_t size)
{
    struct p9_node *n = p9_node_of(v);

    __atomic_store_n(&n->wrote, true, __ATOMIC_RELAXED);
    mutex_lock(&n->of->refreshing);
    int err = object_of(n) ? object_resize(object_of(n), size) : p9_set_size(n, size);
    if (!err)
        v->size = size;
    mutex_unlock(&n->of->refreshing);
    return err;
}

int p9_sync(struct vnode *v, void *state, bool data)
{
    struct p9_node *n = p9_node_of(v);
    const struct p9_fid *fid = state;
    struct p9_call call;

    if (!fid) /* a folder: names are the host's as soon as they are made */
        return 0;
    int err = object_sync(object_of(n)) ?: p9_call_begin(&n->of->client, P9_FSYNC, &call);
    if (err)
        return err;
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, data, 4);
    err = p9_call_send(&call, NULL) ?: p9_end(&call.in);
    return p9_call_end(&call, err);
}
