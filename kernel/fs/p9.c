/* The tree of a folder of the host: vnodes, their names and attributes; see p9.h. */
#include "kernel/fs/p9_node.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"
#if __STDC_HOSTED__
#define V9FS_MAGIC 0x01021997
#else
#include <linux/magic.h>
#endif

#define BASIC 0x7ff /* P9_GETATTR_BASIC */

static const struct vnode_ops p9_ops;

/* ---- Attributes ------------------------------------------------------------------------------ */

static struct vnode_time time_of(const struct p9_time *t)
{
    return (struct vnode_time){(int64_t)t->s, (uint32_t)t->ns};
}

static void note_attributes(struct p9_node *n, const struct p9_attributes *a)
{
    p9_note_contents(n, a);
    n->v.mode = a->mode;
    n->v.uid = a->uid;
    n->v.gid = a->gid;
    n->v.major = (uint32_t)(a->device >> 8 & 0xfff);
    n->v.minor = (uint32_t)((a->device & 0xff) | (a->device >> 12 & 0xffffff00));
    n->v.size = a->size;
    n->v.accessed = time_of(&a->accessed);
    n->v.modified = time_of(&a->modified);
    n->v.changed = time_of(&a->changed);
    n->blocks = a->blocks;
    n->links = a->links;
}

static int get_attributes(struct p9_mount *m, const struct p9_fid *fid, struct p9_attributes *out)
{
    struct p9_call call;
    int err = p9_call_begin(&m->client, P9_GETATTR, &call);

    if (err)
        return err;
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, BASIC, 8);
    err = p9_call_send(&call, NULL) ?: p9_get_attributes(&call.in, out);
    return p9_call_end(&call, err);
}

int p9_ask(struct p9_node *n)
{
    struct p9_fid *fid = p9_node_fid(n);
    struct p9_attributes a;
    int err = get_attributes(n->of, fid, &a);

    p9_fid_put(&n->of->client, fid);
    /* The host has put something else there: of an opening, the old one's are told. */
    if (!err && (a.qid.path != n->v.id || ((a.mode ^ n->v.mode) & S_IFMT)))
        err = -ESTALE;
    if (!err)
        note_attributes(n, &a);
    return err;
}

static void stat_node(struct vnode *v, struct vnode_stat *out)
{
    struct p9_node *n = p9_node_of(v);

    int err = p9_ask(n); /* leaves what was told last */

    vnode_stat(v, out);
    out->blocks = n->blocks;
    out->links = (uint32_t)n->links;
    if (n->links == 1 && (err == -ENOENT || err == -ESTALE)) /* its name is gone */
        out->links = 0;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static struct p9_node **bucket_of(struct p9_mount *m, uint64_t id)
{
    return &m->buckets[(id ^ id >> 17) % P9_BUCKETS];
}

struct p9_fid *p9_node_fid(struct p9_node *n)
{
    bool irq = spin_lock(&n->of->client.lock);
    struct p9_fid *fid = p9_fid_get(n->fid);

    spin_unlock(&n->of->client.lock, irq);
    return fid;
}

static struct p9_node *make_node(struct p9_mount *m, const struct p9_attributes *a)
{
    struct p9_node *n = kmalloc(sizeof(*n));

    if (!n)
        return NULL;
    n->v = (struct vnode){.ops = &p9_ops, .mount = &m->mount, .id = a->qid.path, .refs = 1};
    n->of = m;
    note_attributes(n, a);
    return n;
}

/* Takes a reference, unless the last one is gone. */
static bool get_live(struct p9_node *n)
{
    uint32_t refs = __atomic_load_n(&n->v.refs, __ATOMIC_RELAXED);

    while (refs && !__atomic_compare_exchange_n(&n->v.refs, &refs, refs + 1, true, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
        ;
    return refs;
}

/* Returns the node in use of this id and type, referenced, or NULL. Lock held. */
static struct p9_node *find_locked(struct p9_mount *m, const struct p9_attributes *a)
{
    struct p9_node *n = *bucket_of(m, a->qid.path);

    while (n && (n->v.id != a->qid.path || ((n->v.mode ^ a->mode) & S_IFMT) || !get_live(n)))
        n = n->next;
    return n;
}

/* Notes where a node was found, and by which fid. The caller's references to these become the
 * node's, and those to what they were before the caller's. Lock held. */
static void place_locked(struct p9_node *n, struct p9_node **parent, const char *name, size_t bytes,
                         struct p9_fid **fid)
{
    struct p9_node *old_parent = n->parent;
    struct p9_fid *old_fid = n->fid;

    n->parent = *parent;
    n->fid = *fid;
    *parent = old_parent;
    *fid = old_fid;
    n->name_n = (uint32_t)bytes;
    memcpy(n->name, name, bytes);
}

static bool is_above_locked(const struct p9_node *n, const struct p9_node *folder)
{
    while (folder && folder != n)
        folder = folder->parent;
    return folder;
}

/* Finds the node in use for what was found in a folder, and notes that it is there; or enters
 * `fresh`, and sets that to NULL. Lock held. Returns 0, or -ESTALE: the folder is inside of it. */
static int find_or_enter_locked(struct p9_node *folder, const struct p9_attributes *a,
                                struct p9_node **fresh, struct p9_node **out)
{
    struct p9_node *n = find_locked(folder->of, a);

    *out = n;
    if (n)
        return is_above_locked(n, folder) ? -ESTALE : 0;
    struct p9_node **bucket = bucket_of(folder->of, a->qid.path);
    *out = n = *fresh;
    n->next = *bucket;
    *bucket = n;
    *fresh = NULL;
    return 0;
}

/* Finds or makes the node of what was found in a folder, and takes over `fid`. Returns 0 with a
 * reference, -ENOMEM or -ESTALE. */
static int enter_node(struct p9_node *folder, const char *name, size_t bytes, struct p9_fid *fid,
                      const struct p9_attributes *a, struct p9_node **out)
{
    struct p9_client *c = &folder->of->client;
    struct p9_node *fresh = make_node(folder->of, a), *parent = folder;

    if (!fresh) {
        p9_fid_put(c, fid);
        return -ENOMEM;
    }
    vnode_get(&folder->v);
    bool irq = spin_lock(&c->lock);
    int err = find_or_enter_locked(folder, a, &fresh, out);
    if (!err)
        place_locked(*out, &parent, name, bytes, &fid);
    spin_unlock(&c->lock, irq);
    if (err)
        vnode_put(&(*out)->v);
    else if (fresh)
        note_attributes(*out, a);
    kfree(fresh);
    p9_fid_put(c, fid);
    vnode_put(parent ? &parent->v : NULL);
    return err;
}

/* Walks from a fid to a name, or to itself if that is NULL, with a new fid. */
static int walk(struct p9_mount *m, const struct p9_fid *from, const char *name, size_t bytes,
                struct p9_fid **out)
{
    struct p9_fid *fid = p9_fid_make(&m->client);
    struct p9_call call;
    struct p9_qid qid;
    unsigned found;
    int err = fid ? p9_call_begin(&m->client, P9_WALK, &call) : -ENOMEM;

    if (err) {
        p9_fid_put(&m->client, fid);
        return err;
    }
    p9_put(&call.out, from->number, 4);
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, name != NULL, 2);
    if (name)
        p9_put_text(&call.out, name, bytes);
    err = p9_call_send(&call, fid) ?: p9_get_walk(&call.in, name != NULL, &found, &qid);
    if (!err && found != (name != NULL))
        err = -EPROTO;
    err = p9_call_end(&call, err);
    if (err)
        p9_fid_put(&m->client, fid);
    else
        *out = fid;
    return err;
}

int p9_clone(struct p9_mount *m, struct p9_fid *from, struct p9_fid **out)
{
    return walk(m, from, NULL, 0, out);
}

int p9_lookup(struct vnode *v, const char *name, size_t bytes, struct vnode **out)
{
    struct p9_node *folder = p9_node_of(v), *n;
    struct p9_mount *m = folder->of;
    struct p9_attributes a;
    struct p9_fid *fid;

    if (!vnode_is(v, S_IFDIR))
        return -ENOTDIR;
    if (!p9_name_is_good(name, bytes))
        return -ENOENT;
    struct p9_fid *from = p9_node_fid(folder);
    int err = walk(m, from, name, bytes, &fid);
    p9_fid_put(&m->client, from);
    if (err)
        return err;
    err = get_attributes(m, fid, &a);
    if (err) {
        p9_fid_put(&m->client, fid);
        return err;
    }
    err = enter_node(folder, name, bytes, fid, &a, &n);
    if (!err)
        *out = &n->v;
    return err;
}

static struct vnode *parent_of(struct vnode *v)
{
    struct p9_node *n = p9_node_of(v);
    bool irq = spin_lock(&n->of->client.lock);
    struct vnode *up = n->parent ? vnode_get(&n->parent->v) : NULL;

    spin_unlock(&n->of->client.lock, irq);
    return up;
}

static size_t name_of(struct vnode *v, char *to, size_t room)
{
    struct p9_node *n = p9_node_of(v);
    bool irq = spin_lock(&n->of->client.lock);
    size_t bytes = MIN((size_t)n->name_n, room);

    memcpy(to, n->name, bytes);
    spin_unlock(&n->of->client.lock, irq);
    return bytes;
}

/* Returns the node of this name that is in use, not referenced, or NULL. Lock held. */
static struct p9_node *named_locked(const struct p9_node *folder, const char *name, size_t bytes)
{
    for (unsigned i = 0; i < P9_BUCKETS; i++)
        for (struct p9_node *n = folder->of->buckets[i]; n; n = n->next)
            if (n->parent == folder && n->name_n == bytes && !memcmp(n->name, name, bytes))
                return n;
    return NULL;
}

void p9_moved(struct p9_node *from, const char *name, size_t bytes, struct p9_node *to,
              const char *new_name, size_t new_bytes)
{
    bool irq = spin_lock(&from->of->client.lock);
    struct p9_node *n = named_locked(from, name, bytes);
    struct p9_node *old = to ? named_locked(to, new_name, new_bytes) : NULL;
    struct p9_node *gone = !to ? n : old != n ? old : NULL;
    bool kept = gone && p9_unkeep_locked(gone);

    if (old && old != n)
        old->parent = NULL;
    if (n && old != n) {
        n->parent = to;
        n->name_n = (uint32_t)new_bytes;
        memcpy(n->name, new_name, new_bytes);
        if (to)
            vnode_get(&to->v);
    }
    spin_unlock(&from->of->client.lock, irq);
    if (n && old != n)
        vnode_put(&from->v); /* n's */
    if (old && old != n)
        vnode_put(&to->v);
    vnode_put(kept ? &gone->v : NULL);
}

void p9_removed(struct p9_node *folder, const char *name, size_t bytes)
{
    p9_moved(folder, name, bytes, NULL, "", 0);
}

/* Takes a node out of its bucket. Lock held. */
static void leave_locked(struct p9_node *n)
{
    struct p9_node **at = bucket_of(n->of, n->v.id);

    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
}

/* Frees nodes up to one that is still in use: each has a reference to its folder. */
static void release_node(struct vnode *v)
{
    struct p9_node *n = p9_node_of(v);

    do {
        struct p9_client *c = &n->of->client;
        bool irq = spin_lock(&c->lock);
        struct p9_node *up = n->parent;
        leave_locked(n);
        spin_unlock(&c->lock, irq);
        p9_fid_put(c, n->fid);
        p9_fid_put(c, n->listing);
        object_put(n->object);
        kfree(n);
        n = up;
    } while (n && !__atomic_sub_fetch(&n->v.refs, 1, __ATOMIC_ACQ_REL));
}

static const struct vnode_ops p9_ops = {
    .lookup = p9_lookup,
    .parent = parent_of,
    .name = name_of,
    .list = p9_list,
    .readlink = p9_readlink,
    .follow = vnode_no_follow,
    .stat = stat_node,
    .open = p9_open,
    .close = p9_close,
    .read = p9_read,
    .write = p9_write,
    .poll = vnode_poll,
    .ioctl = vnode_no_ioctl,
    .create = p9_create,
    .remove = p9_remove,
    .rename = p9_rename,
    .set_size = p9_resize,
    .change = p9_change,
    .give = p9_give,
    .stamp = p9_stamp,
    .link = p9_link,
    .sync = p9_sync,
    .own = vnode_no_own, /* no contents are memory's alone */
    .object = p9_object,
    .create_apart = vnode_no_create_apart,
    .exchange_names = vnode_no_exchange_names,
    .find = vnode_no_find,
    .punch = vnode_no_punch,
    .release = release_node,
};

/* ---- Mounting -------------------------------------------------------------------------------- */

static int tell_usage(const struct mount *m, struct mount_usage *out)
{
    struct p9_mount *p = container_of((struct mount *)m, struct p9_mount, mount);
    struct p9_fid *fid = p9_node_fid(p9_node_of(m->root));
    struct p9_usage u = {0};
    struct p9_call call;
    int err = p9_call_begin(&p->client, P9_STATFS, &call);

    if (!err) {
        p9_put(&call.out, fid->number, 4);
        err = p9_call_send(&call, NULL) ?: p9_get_usage(&call.in, &u);
        err = p9_call_end(&call, err);
    }
    p9_fid_put(&p->client, fid);
    *out = (struct mount_usage){u.block_bytes, u.name_max, u.blocks,    u.free,
                                u.available,   u.files,    u.files_free};
    return err;
}

/* Makes the root, whose parent is none. */
static int make_root(struct p9_mount *m, struct p9_fid *fid)
{
    struct p9_attributes a;
    int err = get_attributes(m, fid, &a);
    struct p9_node *n = err ? NULL : make_node(m, &a);

    if (!n)
        return err ? err : -ENOMEM;
    n->fid = fid;
    *bucket_of(m, n->v.id) = n;
    m->mount.root = &n->v;
    return 0;
}

int p9_mount(const char *tag, bool read_only, struct mount **out)
{
    struct p9_mount *m = kmalloc(sizeof(*m));
    struct p9_fid *root;
    struct p9_qid qid;

    if (!m)
        return -ENOMEM;
    m->mount = (struct mount){
        .type = "9p", .of = tag, .usage = tell_usage, .magic = V9FS_MAGIC, .read_only = read_only};
    object_store_init(&m->store, UINT64_MAX);
    mutex_init(&m->refreshing, "contents of the host");
    int err = p9_connect(&m->client, tag, &root, &qid) ?: make_root(m, root);
    *out = &m->mount;
    return err; /* after an error the run ends: nothing is freed */
}

uint32_t p9_files(const struct mount *m)
{
    return p9_fids(&container_of((struct mount *)m, struct p9_mount, mount)->client);
}

void p9_destroy_for_test(struct mount *m)
{
    struct p9_mount *p = container_of(m, struct p9_mount, mount);

    p9_let_go(m);
    vnode_put(m->root);
    object_store_end(&p->store);
    p9_disconnect_for_test(&p->client);
    kfree(p);
}
