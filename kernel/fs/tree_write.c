/* Changes of a tree of files that programs can write: names, contents, sizes; see tree.h. */
#include "kernel/fs/tree_node.h"
#include "kernel/core/wall_clock.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"

#define LINKS_MAX_TREE 65000

/* ---- Times ----------------------------------------------------------------------------------- */

static struct vnode_time now(void)
{
    uint64_t ns = wall_clock_ns();

    return (struct vnode_time){(int64_t)(ns / NS_PER_S), (uint32_t)(ns % NS_PER_S)};
}

void node_changed(struct node *n, bool contents)
{
    n->v.changed = now();
    if (contents)
        n->v.modified = n->v.changed;
}

/* Notes a read: as Linux's relatime, the first one behind a change. Lock held. */
static void note_read(struct node *f)
{
    const struct vnode_time *a = &f->v.accessed, *m = &f->v.modified;

    if (a->s < m->s || (a->s == m->s && a->ns <= m->ns))
        f->v.accessed = now();
}

/* Sets one of the times. */
static void set_time(struct vnode_time *t, const struct vnode_time *to)
{
    if (to)
        *t = to->ns == VNODE_TIME_NOW ? now() : *to;
}

int node_stamp(struct vnode *v, const struct vnode_time *accessed,
               const struct vnode_time *modified)
{
    struct node *n = node_of(v);
    bool irq = tree_lock(n->tree);

    set_time(&v->accessed, accessed);
    set_time(&v->modified, modified);
    node_changed(n, false);
    tree_unlock(n->tree, irq);
    return 0;
}

/* ---- Contents -------------------------------------------------------------------------------- */

int64_t node_read(struct vnode *v, void *state, unsigned flags, uint64_t at, void *to, size_t n)
{
    struct node *f = node_of(v);

    if (vnode_is(v, S_IFDIR))
        return -EISDIR;
    if (v->data)
        return vnode_read_data(v, state, flags, at, to, n);
    int64_t done = node_contents(f) ? object_read(node_contents(f), at, to, n) : 0;
    if (done > 0) {
        bool irq = tree_lock(f->tree);
        note_read(f);
        tree_unlock(f->tree, irq);
    }
    return done;
}

/* Takes over what has become of the object. */
static void contents_changed(struct node *f)
{
    bool irq = tree_lock(f->tree);

    f->v.size = object_bytes(f->object);
    node_changed(f, true);
    tree_unlock(f->tree, irq);
}

int64_t node_write(struct vnode *v, UNUSED void *state, UNUSED unsigned flags, uint64_t at,
                   const void *from, size_t n)
{
    struct object *o;
    int err = node_object(v, &o);

    if (err)
        return err == -ENODEV ? -EINVAL : err;
    int64_t done = object_write(o, at, from, n);
    if (done > 0)
        contents_changed(node_of(v));
    return done == -ENOMEM || done == -EDQUOT ? -ENOSPC : done;
}

int node_resize(struct vnode *v, uint64_t size)
{
    struct object *o;
    int err = node_object(v, &o) ?: object_resize(o, size);

    if (!err)
        contents_changed(node_of(v));
    return err == -ENODEV ? -EINVAL : err == -ENOMEM || err == -EDQUOT ? -ENOSPC : err;
}

int64_t node_find(struct vnode *v, uint64_t at, bool hole)
{
    struct object *o = v->data ? NULL : node_contents(node_of(v));

    return o ? object_find(o, at, hole) : vnode_no_find(v, at, hole);
}

int node_punch(struct vnode *v, uint64_t at, uint64_t n)
{
    struct object *o;
    int err = node_object(v, &o) ?: object_punch(o, at, n);

    if (!err)
        contents_changed(node_of(v));
    return err == -ENOMEM || err == -EDQUOT ? -ENOSPC : err;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static char *copy_text(const char *s, size_t n)
{
    char *copy = kmalloc(n + 1);

    if (copy)
        memcpy(copy, s, n);
    return copy;
}

static bool is_removed(const struct node *folder)
{
    return !folder->parent && folder->tree->mount.root != &folder->v;
}

int node_create(struct vnode *v, const char *name, size_t n, uint32_t mode, const char *target,
                struct vnode **out)
{
    struct node *folder = node_of(v);
    struct tree *t = folder->tree;
    int err = vnode_is(v, S_IFDIR) ? tree_reserve(t) : -ENOTDIR;

    if (err)
        return err;
    struct node *child = node_make(t, mode);
    char *own = copy_text(name, n), *text = target ? copy_text(target, text_length(target)) : NULL;
    if (!child || !own || (target && !text)) {
        kfree(own);
        kfree(text);
        if (child)
            vnode_put(&child->v);
        return -ENOSPC;
    }
    child->own_target = text;
    child->v.uid = child->v.gid = (uint32_t)proc_user;
    if (v->mode & S_ISGID) { /* of a folder that hands its group down */
        child->v.gid = v->gid;
        child->v.mode |= vnode_is(&child->v, S_IFDIR) ? S_ISGID : 0;
    }
    child->v.data = text;
    child->v.size = text ? text_length(text) : 0;
    bool irq = tree_lock(t);
    err = is_removed(folder) ? -ENOENT : node_child(folder, name, n) ? -EEXIST : 0;
    if (!err) {
        node_enter(folder, child, own, n, true);
        node_changed(child, true);
        child->v.accessed = child->v.changed;
        node_changed(folder, true);
        *out = vnode_get(&child->v);
    }
    tree_unlock(t, irq);
    if (err) {
        kfree(own);
        vnode_put(&child->v);
    }
    return err;
}

struct vnode *tree_make_apart(struct tree *t, const char *name, uint32_t mode)
{
    size_t n = text_length(name);
    struct node *f = node_make(t, S_IFREG | mode);
    char *own = f ? copy_text(name, n) : NULL;

    if (!own) {
        kfree(f);
        return NULL;
    }
    f->name = own;
    f->name_n = (uint32_t)n;
    f->own_name = true;
    f->v.uid = f->v.gid = (uint32_t)proc_user;
    f->links = 0;
    node_changed(f, true);
    f->v.accessed = f->v.changed;
    return &f->v;
}

int node_create_apart(struct vnode *v, uint32_t mode, bool linked, struct vnode **out)
{
    *out = tree_make_apart(node_of(v)->tree, "/#nameless", mode);
    if (!*out)
        return -ENOSPC;
    node_of(*out)->nameless = linked;
    return 0;
}

/* Returns whether `child` can be removed as a folder, or as another thing. */
static int check_removal(const struct node *child, bool is_folder)
{
    bool folder = vnode_is(&child->v, S_IFDIR);

    return child->v.covered                          ? -EBUSY
           : folder != is_folder                     ? (folder ? -EISDIR : -ENOTDIR)
           : folder && !list_empty(&child->children) ? -ENOTEMPTY
                                                     : 0;
}

/* A name of a node is gone. Lock held. */
static void unname(struct node *child)
{
    struct node *file = child->same ? child->same : child;

    file->links -= vnode_is(&child->v, S_IFDIR) ? 2 : 1;
    node_changed(file, false);
}

int node_remove(struct vnode *v, const char *name, size_t n, bool is_folder)
{
    struct node *folder = node_of(v);
    bool irq = tree_lock(folder->tree);
    struct node *child = node_child(folder, name, n);
    int err = child ? check_removal(child, is_folder) : -ENOENT;

    if (!err) {
        node_leave(child);
        unname(child);
        node_changed(folder, true);
    }
    tree_unlock(folder->tree, irq);
    if (err)
        return err;
    vnode_put(&child->v);
    vnode_put(v); /* the child's */
    return 0;
}

static bool is_inside(const struct node *n, const struct node *folder)
{
    while (n && n != folder)
        n = n->parent;
    return n;
}

/* Checks a move of `child` to a folder, over `old` if that is not NULL. Lock held. */
static int check_move(const struct node *child, const struct node *to, const struct node *old)
{
    if (!child || is_removed(to))
        return -ENOENT;
    if (child->v.covered)
        return -EBUSY;
    if (is_inside(to, child))
        return -EINVAL;
    return old ? check_removal(old, vnode_is(&child->v, S_IFDIR)) : 0;
}

/* Returns whether two names are of one file. Lock held. */
static bool is_same(const struct node *a, const struct node *b)
{
    return a && b && (a->same ? a->same : a) == (b->same ? b->same : b);
}

int node_rename(struct vnode *from, const char *name, size_t n, struct vnode *to,
                const char *new_name, size_t new_n)
{
    struct node *source = node_of(from), *folder = node_of(to), *old = NULL;
    char *own = copy_text(new_name, new_n);

    if (!own)
        return -ENOSPC;
    bool irq = tree_lock(source->tree);
    struct node *child = node_child(source, name, n);
    old = node_child(folder, new_name, new_n);
    int err = is_same(child, old) ? 1 : check_move(child, folder, old);
    if (!err) {
        const char *before = child->own_name ? child->name : NULL;
        if (old) {
            node_leave(old);
            unname(old);
        }
        node_leave(child);
        node_enter(folder, child, own, new_n, true);
        own = (char *)before;
        node_changed(child->same ? child->same : child, false);
        node_changed(source, true);
        node_changed(folder, true);
    }
    tree_unlock(source->tree, irq);
    kfree(own);
    if (err)
        return err < 0 ? err : 0;
    vnode_put(from); /* the child's */
    if (old) {
        vnode_put(&old->v);
        vnode_put(to);
    }
    return 0;
}

/* Gives each of two nodes the other's name and folder. Lock held. */
static void swap_nodes(struct node *a, struct node *b)
{
    struct node *folder_a = a->parent, *folder_b = b->parent;
    const char *name_a = a->name, *name_b = b->name;
    uint32_t length_a = a->name_n, length_b = b->name_n;
    bool own_a = a->own_name, own_b = b->own_name;

    node_leave(a);
    node_leave(b);
    node_enter(folder_b, a, name_b, length_b, own_b);
    node_enter(folder_a, b, name_a, length_a, own_a);
    node_changed(a->same ? a->same : a, false);
    node_changed(b->same ? b->same : b, false);
    node_changed(folder_a, true);
    node_changed(folder_b, true);
}

int node_exchange_names(struct vnode *a, const char *a_name, size_t a_n, struct vnode *b,
                        const char *b_name, size_t b_n)
{
    struct node *folder_a = node_of(a), *folder_b = node_of(b);
    bool irq = tree_lock(folder_a->tree);
    struct node *x = node_child(folder_a, a_name, a_n), *y = node_child(folder_b, b_name, b_n);
    int err = !x || !y                                           ? -ENOENT
              : x->v.covered || y->v.covered                     ? -EBUSY
              : is_inside(folder_b, x) || is_inside(folder_a, y) ? -EINVAL
              : is_same(x, y)                                    ? 1
                                                                 : 0;

    if (!err)
        swap_nodes(x, y);
    tree_unlock(folder_a->tree, irq);
    if (!err) { /* the nodes' references to the folders that they have left */
        vnode_put(a);
        vnode_put(b);
    }
    return err < 0 ? err : 0;
}

int node_change(struct vnode *v, uint32_t mode)
{
    struct node *n = node_of(v);
    bool irq = tree_lock(n->tree);

    v->mode = (v->mode & S_IFMT) | (mode & 07777);
    node_changed(n, false);
    tree_unlock(n->tree, irq);
    return 0;
}

int node_give(struct vnode *v, uint32_t uid, uint32_t gid)
{
    struct node *n = node_of(v);
    bool irq = tree_lock(n->tree);

    v->uid = uid == UINT32_MAX ? v->uid : uid;
    v->gid = gid == UINT32_MAX ? v->gid : gid;
    node_changed(n, false);
    tree_unlock(n->tree, irq);
    return 0;
}

/* ---- Files of archives ----------------------------------------------------------------------- */

/* Puts `fresh` in place of `old`, with its name. Lock held. Returns the folder, of which the caller
 * drops a reference, as of `old`. */
static struct node *replace_node(struct node *old, struct node *fresh)
{
    const char *name = old->name;
    uint32_t n = old->name_n;
    bool own = old->own_name;
    struct node *folder = node_leave(old);

    (old->same ? old->same : old)->links--;
    old->name = "";
    old->name_n = 0;
    old->own_name = false;
    node_enter(folder, fresh, name, n, own);
    return folder;
}

static int copy_contents(const struct vnode *from, struct vnode *to)
{
    int64_t n = from->size ? node_write(to, NULL, 0, 0, from->data, from->size) : 0;

    return n < 0 ? (int)n : (uint64_t)n < from->size ? -ENOSPC : 0;
}

int node_own(struct vnode *v, bool copied, struct vnode **out)
{
    struct node *old = node_of(v), *folder = NULL, *fresh = node_make(old->tree, v->mode);

    if (!fresh)
        return -ENOSPC;
    fresh->v.uid = v->uid;
    fresh->v.gid = v->gid;
    fresh->v.accessed = v->accessed;
    fresh->v.modified = v->modified;
    fresh->v.changed = v->changed;
    int err = copied ? copy_contents(v, &fresh->v) : 0;
    bool irq = tree_lock(old->tree);
    if (!err && !old->parent)
        err = -ESTALE;
    if (!err) {
        folder = replace_node(old, fresh);
        *out = vnode_get(&fresh->v);
    }
    tree_unlock(old->tree, irq);
    if (err) {
        vnode_put(&fresh->v);
        return err;
    }
    vnode_put(v);
    vnode_put(&folder->v);
    return 0;
}

/* ---- Hard links ------------------------------------------------------------------------------ */

/* Makes one more name for a file that is not an archive's. */
static int link_file(struct node *folder, const char *name, size_t n, struct node *file)
{
    struct tree *t = folder->tree;
    struct node *child = tree_reserve(t) ? NULL : node_make(t, file->v.mode);
    char *own = child ? copy_text(name, n) : NULL;

    if (!own) {
        if (child)
            vnode_put(&child->v);
        return -ENOSPC;
    }
    vnode_get(&file->v);
    bool irq = tree_lock(t);
    int err = is_removed(folder)                ? -ENOENT
              : node_child(folder, name, n)     ? -EEXIST
              : !file->links && !file->nameless ? -ENOENT
              : file->links == LINKS_MAX_TREE   ? -EMLINK
                                                : 0;
    child->same = file;
    child->v.data = file->v.data; /* a link's target */
    child->v.size = file->v.size;
    if (!err) {
        child->v.id = file->v.id;
        file->links++;
        file->nameless = false;
        node_enter(folder, child, own, n, true);
        node_changed(file, false);
        node_changed(folder, true);
    }
    tree_unlock(t, irq);
    if (err) {
        kfree(own);
        vnode_put(&child->v);
    }
    return err;
}

int node_link(struct vnode *folder, const char *name, size_t n, struct vnode *v)
{
    struct vnode *file = vnode_get(v);

    if (vnode_is(v, S_IFREG) && v->data) { /* as what is written by one name is read by the other */
        vnode_put(file);
        int err = node_own(v, true, &file);
        if (err)
            return err;
    }
    struct node *f = node_of(file);
    int err = link_file(node_of(folder), name, n, f->same ? f->same : f);
    vnode_put(file);
    return err;
}
