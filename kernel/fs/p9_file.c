/* Contents of files, folders and links of the host; see p9.h. */
#include "kernel/fs/p9_node.h"
#include "kernel/mem/mem.h"

/* Flags of an opening, as the protocol has them (P9_DOTL_*). */
enum { OPEN_READ = 0, OPEN_WRITE = 1, OPEN_BOTH = 2 };
#define LIST_BYTES ((uint32_t)8192) /* of entries that are asked for at a time */

/* Makes a fid of its own for a node, and opens it. */
static int open_fid(struct p9_node *n, uint32_t flags, struct p9_fid **out)
{
    struct p9_client *c = &n->of->client;
    struct p9_fid *from = p9_node_fid(n), *fid;
    struct p9_call call;
    struct p9_qid qid;
    int err = p9_clone(n->of, from, &fid);

    p9_fid_put(c, from);
    if (err)
        return err;
    err = p9_call_begin(c, P9_OPEN, &call);
    if (!err) {
        p9_put(&call.out, fid->number, 4);
        p9_put(&call.out, flags, 4);
        err = p9_call_send(&call, NULL) ?: p9_get_open(&call.in, &qid);
        err = p9_call_end(&call, err);
    }
    if (err)
        p9_fid_put(c, fid);
    else
        *out = fid;
    return err;
}

int p9_open(struct vnode *v, unsigned flags, void **state)
{
    struct p9_fid *fid;

    if (vnode_is(v, S_IFDIR))
        return 0;              /* p9_list() opens it */
    if (!vnode_is(v, S_IFREG)) /* devices and pipes of the host are not this machine's */
        return -ENXIO;
    int err = open_fid(p9_node_of(v),
                       !(flags & VNODE_WRITE) ? OPEN_READ
                       : flags & VNODE_READ   ? OPEN_BOTH
                                              : OPEN_WRITE,
                       &fid);
    if (!err)
        *state = fid;
    return err;
}

void p9_close(struct vnode *v, void *state)
{
    p9_fid_put(&p9_node_of(v)->of->client, state);
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static int64_t read_part(struct p9_client *c, enum p9_type type, const struct p9_fid *fid,
                         uint64_t at, void *to, uint32_t n)
{
    struct p9_call call;
    const void *data;
    uint32_t got = 0;
    int err = p9_call_begin(c, type, &call);

    if (err)
        return err;
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, at, 8);
    p9_put(&call.out, n, 4);
    err = p9_call_send(&call, NULL) ?: p9_get_data(&call.in, n, &data, &got);
    if (!err)
        memcpy(to, data, got);
    err = p9_call_end(&call, err);
    return err ? err : (int64_t)got;
}

/* Returns the bytes of data that fit into one message. */
static uint32_t io_max(const struct p9_client *c)
{
    return MIN(P9_IO_MAX, c->message_max - P9_DATA_AT);
}

int64_t p9_read(struct vnode *v, void *state, UNUSED unsigned flags, uint64_t at, void *to,
                size_t n)
{
    struct p9_client *c = &p9_node_of(v)->of->client;
    size_t done = 0;
    int64_t got;

    if (vnode_is(v, S_IFDIR))
        return -EISDIR;
    do {
        got = read_part(c, P9_READ, state, at + done, (char *)to + done,
                        (uint32_t)MIN(n - done, (size_t)io_max(c)));
        if (got < 0)
            return done ? (int64_t)done : got;
        done += (size_t)got;
    } while (got && done < n);
    return (int64_t)done;
}

static int64_t write_part(struct p9_client *c, const struct p9_fid *fid, uint64_t at,
                          const void *from, uint32_t n)
{
    struct p9_call call;
    uint32_t put = 0;
    int err = p9_call_begin(c, P9_WRITE, &call);

    if (err)
        return err;
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, at, 8);
    p9_put(&call.out, n, 4);
    p9_put_data(&call.out, from, n);
    err = p9_call_send(&call, NULL) ?: p9_get_count(&call.in, n, &put);
    err = p9_call_end(&call, err);
    return err ? err : (int64_t)put;
}

int64_t p9_write(struct vnode *v, void *state, UNUSED unsigned flags, uint64_t at, const void *from,
                 size_t n)
{
    struct p9_client *c = &p9_node_of(v)->of->client;
    size_t done = 0;
    int64_t put;

    do {
        put = write_part(c, state, at + done, (const char *)from + done,
                         (uint32_t)MIN(n - done, (size_t)io_max(c)));
        if (put < 0)
            return done ? (int64_t)done : put;
        done += (size_t)put;
    } while (put && done < n);
    v->size = MAX(v->size, at + done);
    return (int64_t)done;
}

int p9_sync(struct vnode *v, void *state, bool data)
{
    struct p9_client *c = &p9_node_of(v)->of->client;
    const struct p9_fid *fid = state;
    struct p9_call call;

    if (!fid) /* a folder: names are the host's as soon as they are made */
        return 0;
    int err = p9_call_begin(c, P9_FSYNC, &call);
    if (err)
        return err;
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, data, 4);
    err = p9_call_send(&call, NULL) ?: p9_end(&call.in);
    return p9_call_end(&call, err);
}

/* ---- Folders and links ----------------------------------------------------------------------- */

/* Finds the fid with which a folder is listed, referenced; the first time it is opened. */
static int listing_of(struct p9_node *n, struct p9_fid **out)
{
    struct p9_client *c = &n->of->client;
    bool irq = spin_lock(&c->lock);
    struct p9_fid *fid = n->listing ? p9_fid_get(n->listing) : NULL;

    spin_unlock(&c->lock, irq);
    if (!fid) {
        int err = open_fid(n, OPEN_READ, &fid);
        if (err)
            return err;
        irq = spin_lock(&c->lock);
        if (!n->listing)
            n->listing = p9_fid_get(fid);
        spin_unlock(&c->lock, irq);
    }
    *out = fid;
    return 0;
}

static bool is_dots(const struct p9_entry *e)
{
    return e->name[0] == '.' && (e->n == 1 || (e->n == 2 && e->name[1] == '.'));
}

/* Passes on the entries of a reply. Sets *cursor behind the last one. Returns 0; 1: one was not
 * taken; or -EPROTO. */
static int pass_entries(const void *data, uint32_t n, uint64_t *cursor, vnode_entry *take, void *to)
{
    struct p9_in in = {.at = data, .left = n};
    struct p9_entry e;
    int err;

    while (!(err = p9_next_entry(&in, &e))) {
        if (e.cursor == *cursor) /* it would be listed for ever */
            return -EPROTO;
        if (!is_dots(&e) && !take(to, e.name, e.n, e.qid.path, e.type, e.cursor))
            return 1;
        *cursor = e.cursor;
    }
    return err == -ENOENT ? 0 : err;
}

static int list_part(struct p9_client *c, const struct p9_fid *fid, uint64_t *cursor,
                     vnode_entry *take, void *to)
{
    struct p9_call call;
    const void *data;
    uint32_t n = MIN(LIST_BYTES, io_max(c));
    int err = p9_call_begin(c, P9_READDIR, &call);

    if (err)
        return err;
    p9_put(&call.out, fid->number, 4);
    p9_put(&call.out, *cursor, 8);
    p9_put(&call.out, n, 4);
    err = p9_call_send(&call, NULL) ?: p9_get_data(&call.in, n, &data, &n);
    if (!err)
        err = n ? pass_entries(data, n, cursor, take, to) : 1;
    return p9_call_end(&call, err);
}

int p9_list(struct vnode *v, uint64_t cursor, vnode_entry *take, void *to)
{
    struct p9_client *c = &p9_node_of(v)->of->client;
    struct p9_fid *fid;

    if (!vnode_is(v, S_IFDIR))
        return -ENOTDIR;
    int err = listing_of(p9_node_of(v), &fid);
    if (err)
        return err;
    while (!err)
        err = list_part(c, fid, &cursor, take, to);
    p9_fid_put(c, fid);
    return err < 0 ? err : 0;
}

int64_t p9_readlink(struct vnode *v, char *to, size_t room)
{
    struct p9_client *c = &p9_node_of(v)->of->client;
    struct p9_call call;
    const char *target;
    size_t n = 0;

    if (!vnode_is(v, S_IFLNK))
        return -EINVAL;
    int err = p9_call_begin(c, P9_READLINK, &call);
    if (err)
        return err;
    struct p9_fid *fid = p9_node_fid(p9_node_of(v));
    p9_put(&call.out, fid->number, 4);
    err = p9_call_send(&call, NULL) ?: p9_get_target(&call.in, &target, &n);
    n = MIN(n, room);
    if (!err)
        memcpy(to, target, n);
    err = p9_call_end(&call, err);
    p9_fid_put(c, fid);
    return err ? err : (int64_t)n;
}
