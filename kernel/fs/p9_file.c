/* Requests about contents of files, folders and links of the host; see p9_node.h. */
#include "kernel/fs/p9_node.h"
#include "kernel/mem/mem.h"

#define LIST_BYTES ((uint32_t)8192) /* of entries that are asked for at a time */

int p9_open_fid(struct p9_node *n, uint32_t flags, struct p9_fid **out)
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

/* ---- Reading and writing --------------------------------------------------------------------- */

uint32_t p9_io_max(const struct p9_client *c)
{
    return MIN(P9_IO_MAX, c->message_max - P9_DATA_AT);
}

/* Sends a request to read. Returns as p9_call_send, and where the data is. p9_call_end() is next,
 * unless the first error is one of p9_call_begin(). */
static int send_read(const struct p9_fid *fid, uint64_t at, uint32_t n, struct p9_call *call,
                     const void **data, uint32_t *got)
{
    p9_put(&call->out, fid->number, 4);
    p9_put(&call->out, at, 8);
    p9_put(&call->out, n, 4);
    return p9_call_send(call, NULL) ?: p9_get_data(&call->in, n, data, got);
}

int64_t p9_read_part(struct p9_client *c, const struct p9_fid *fid, uint64_t at, void *to,
                     uint32_t n)
{
    struct p9_call call;
    const void *data;
    uint32_t got = 0;
    int err = p9_call_begin(c, P9_READ, &call);

    if (err)
        return err;
    err = send_read(fid, at, n, &call, &data, &got);
    if (!err)
        memcpy(to, data, got);
    err = p9_call_end(&call, err);
    return err ? err : (int64_t)got;
}

/* Copies the data to frames one after the other, and zeros to what is left of them. */
static void fill_frames(const uint8_t *data, uint32_t bytes, unsigned n, const paddr_t *frames)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t part = MIN(bytes, (uint32_t)PAGE_SIZE);
        uint8_t *frame = phys_to_virt(frames[i]);
        memcpy(frame, data, part);
        memset(frame + part, 0, PAGE_SIZE - part);
        data += part;
        bytes -= part;
    }
}

int p9_read_pages(struct p9_client *c, const struct p9_fid *fid, uint64_t page, unsigned n,
                  const paddr_t *frames)
{
    struct p9_call call;
    const void *data;
    uint32_t got = 0;
    int err = p9_call_begin(c, P9_READ, &call);

    if (err)
        return err;
    err = send_read(fid, page << PAGE_SHIFT, n << PAGE_SHIFT, &call, &data, &got);
    if (!err)
        fill_frames(data, got, n, frames);
    return p9_call_end(&call, err);
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

int64_t p9_write_all(struct p9_client *c, const struct p9_fid *fid, uint64_t at, const void *from,
                     size_t n)
{
    size_t done = 0;
    int64_t put;

    do {
        put = write_part(c, fid, at + done, (const char *)from + done,
                         (uint32_t)MIN(n - done, (size_t)p9_io_max(c)));
        if (put < 0)
            return done ? (int64_t)done : put;
        done += (size_t)put;
    } while (put && done < n);
    return (int64_t)done;
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
        int err = p9_open_fid(n, 0, &fid);
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
    uint32_t n = MIN(LIST_BYTES, p9_io_max(c));
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
