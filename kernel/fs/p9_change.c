/* Changes of a folder of the host: names and attributes; see p9.h. */
#include "kernel/fs/p9_node.h"
#include "kernel/lib/text.h"

#define CREATE_FLAGS 0302u /* P9_DOTL_CREATE | EXCL | RDWR */
#define REMOVE_DIR   0x200u

/* Bits of a change of attributes (P9_ATTR_*). */
enum {
    SET_MODE = 1,
    SET_UID = 2,
    SET_GID = 4,
    SET_SIZE = 8,
    SET_ATIME = 16,
    SET_MTIME = 32,
    SET_ATIME_TO = 128, /* else to the host's time */
    SET_MTIME_TO = 256,
};

/* Sends a request whose reply is the qid of what was made, or is empty. */
static int send(struct p9_call *call, bool makes)
{
    struct p9_qid qid;
    int err = p9_call_send(call, NULL);

    if (!err)
        err = makes ? p9_get_qid(&call->in, &qid) : p9_end(&call->in);
    return p9_call_end(call, err);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int make_file(struct p9_node *folder, const struct p9_fid *from, const char *name, size_t n,
                     uint32_t mode)
{
    struct p9_client *c = &folder->of->client;
    struct p9_call call;
    struct p9_fid *fid; /* becomes the file's */
    struct p9_qid qid;
    int err = p9_clone(folder->of, (struct p9_fid *)from, &fid);

    if (err)
        return err;
    err = p9_call_begin(c, P9_CREATE, &call);
    if (!err) {
        p9_put(&call.out, fid->number, 4);
        p9_put_text(&call.out, name, n);
        p9_put(&call.out, CREATE_FLAGS, 4);
        p9_put(&call.out, mode & 07777, 4);
        p9_put(&call.out, 0, 4); /* group */
        err = p9_call_send(&call, NULL) ?: p9_get_open(&call.in, &qid);
        err = p9_call_end(&call, err);
    }
    p9_fid_put(c, fid);
    return err;
}

static int make_folder(struct p9_node *folder, const struct p9_fid *from, const char *name,
                       size_t n, uint32_t mode)
{
    struct p9_call call;
    int err = p9_call_begin(&folder->of->client, P9_MKDIR, &call);

    if (err)
        return err;
    p9_put(&call.out, from->number, 4);
    p9_put_text(&call.out, name, n);
    p9_put(&call.out, mode & 07777, 4);
    p9_put(&call.out, 0, 4); /* group */
    return send(&call, true);
}

static int make_link(struct p9_node *folder, const struct p9_fid *from, const char *name, size_t n,
                     const char *target)
{
    struct p9_call call;
    int err = p9_call_begin(&folder->of->client, P9_SYMLINK, &call);

    if (err)
        return err;
    p9_put(&call.out, from->number, 4);
    p9_put_text(&call.out, name, n);
    p9_put_text(&call.out, target, text_length(target));
    p9_put(&call.out, 0, 4); /* group */
    return send(&call, true);
}

int p9_create(struct vnode *v, const char *name, size_t n, uint32_t mode, const char *target,
              struct vnode **out)
{
    struct p9_node *folder = p9_node_of(v);
    int err = -EPERM; /* no device, pipe or socket of this machine can be the host's */

    if (!vnode_is(v, S_IFDIR))
        return -ENOTDIR;
    struct p9_fid *from = p9_node_fid(folder);
    switch (mode & S_IFMT) {
    case S_IFREG:
        err = make_file(folder, from, name, n, mode);
        break;
    case S_IFDIR:
        err = make_folder(folder, from, name, n, mode);
        break;
    case S_IFLNK:
        err = make_link(folder, from, name, n, target);
        break;
    }
    p9_fid_put(&folder->of->client, from);
    return err ? err : p9_lookup(v, name, n, out);
}

int p9_remove(struct vnode *v, const char *name, size_t n, bool is_folder)
{
    struct p9_node *folder = p9_node_of(v);
    struct p9_call call;
    int err = p9_call_begin(&folder->of->client, P9_UNLINKAT, &call);

    if (err)
        return err;
    struct p9_fid *from = p9_node_fid(folder);
    p9_put(&call.out, from->number, 4);
    p9_put_text(&call.out, name, n);
    p9_put(&call.out, is_folder ? REMOVE_DIR : 0, 4);
    err = send(&call, false);
    p9_fid_put(&folder->of->client, from);
    if (!err)
        p9_removed(folder, name, n);
    return err;
}

int p9_rename(struct vnode *from, const char *name, size_t n, struct vnode *to,
              const char *new_name, size_t new_n)
{
    struct p9_node *source = p9_node_of(from), *goal = p9_node_of(to);
    struct p9_client *c = &source->of->client;
    struct p9_call call;
    int err = p9_call_begin(c, P9_RENAMEAT, &call);

    if (err)
        return err;
    struct p9_fid *old = p9_node_fid(source), *new = p9_node_fid(goal);
    p9_put(&call.out, old->number, 4);
    p9_put_text(&call.out, name, n);
    p9_put(&call.out, new->number, 4);
    p9_put_text(&call.out, new_name, new_n);
    err = send(&call, false);
    p9_fid_put(c, old);
    p9_fid_put(c, new);
    if (!err)
        p9_moved(source, name, n, goal, new_name, new_n);
    return err;
}

int p9_link(struct vnode *folder, const char *name, size_t n, struct vnode *v)
{
    struct p9_client *c = &p9_node_of(folder)->of->client;
    struct p9_call call;
    int err = p9_call_begin(c, P9_LINK, &call);

    if (err)
        return err;
    struct p9_fid *in = p9_node_fid(p9_node_of(folder)), *fid = p9_node_fid(p9_node_of(v));
    p9_put(&call.out, in->number, 4);
    p9_put(&call.out, fid->number, 4);
    p9_put_text(&call.out, name, n);
    err = send(&call, false);
    p9_fid_put(c, in);
    p9_fid_put(c, fid);
    return err;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

struct setting {
    uint32_t valid, mode, uid, gid;
    uint64_t size;
    struct vnode_time accessed, modified;
};

static int set_attributes(struct p9_node *n, const struct setting *s)
{
    struct p9_call call;
    int err = p9_call_begin(&n->of->client, P9_SETATTR, &call);

    if (err)
        return err;
    struct p9_fid *fid = p9_node_fid(n);
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, s->valid, 4);
    p9_put(&call.out, s->mode, 4);
    p9_put(&call.out, s->uid, 4);
    p9_put(&call.out, s->gid, 4);
    p9_put(&call.out, s->size, 8);
    p9_put(&call.out, (uint64_t)s->accessed.s, 8);
    p9_put(&call.out, s->accessed.ns, 8);
    p9_put(&call.out, (uint64_t)s->modified.s, 8);
    p9_put(&call.out, s->modified.ns, 8);
    err = send(&call, false);
    p9_fid_put(&n->of->client, fid);
    return err;
}

int p9_set_size(struct p9_node *n, uint64_t size)
{
    return set_attributes(n, &(struct setting){.valid = SET_SIZE, .size = size});
}

int p9_change(struct vnode *v, uint32_t mode)
{
    return set_attributes(p9_node_of(v), &(struct setting){.valid = SET_MODE, .mode = mode & 07777})
               ?: p9_ask(p9_node_of(v));
}

int p9_give(struct vnode *v, uint32_t uid, uint32_t gid)
{
    return set_attributes(p9_node_of(v),
                          &(struct setting){.valid = (uid == UINT32_MAX ? 0 : SET_UID) |
                                                     (gid == UINT32_MAX ? 0 : SET_GID),
                                            .uid = uid,
                                            .gid = gid});
}

/* Returns what is to be done about one of the times. */
static uint32_t setting_of(const struct vnode_time *t, uint32_t set, uint32_t set_to)
{
    return !t ? 0 : t->ns == VNODE_TIME_NOW ? set : set | set_to;
}

int p9_stamp(struct vnode *v, const struct vnode_time *accessed, const struct vnode_time *modified)
{
    struct setting s = {.valid = setting_of(accessed, SET_ATIME, SET_ATIME_TO) |
                                 setting_of(modified, SET_MTIME, SET_MTIME_TO)};

    if (accessed && accessed->ns != VNODE_TIME_NOW)
        s.accessed = *accessed;
    if (modified && modified->ns != VNODE_TIME_NOW)
        s.modified = *modified;
    __atomic_store_n(&p9_node_of(v)->wrote, true, __ATOMIC_RELAXED);
    return set_attributes(p9_node_of(v), &s);
}
