/* See p9_message.h. */
#include "kernel/fs/p9_message.h"
#if __STDC_HOSTED__
#include <sys/stat.h>
#else
#include <linux/stat.h>
#endif

#define VERSION   "9P2000.L"
#define ERRNO_MAX 4095
#define NS_MAX    (NS_PER_S - 1)
#define BASIC     0x7ff      /* P9_GETATTR_BASIC */
#define LINKS_MAX UINT32_MAX /* st_nlink of what is shown */
#define BLOCK_MAX ((uint32_t)1 << 30)

/* ---- Requests -------------------------------------------------------------------------------- */

void p9_put_data(struct p9_out *o, const void *from, size_t n)
{
    if (n > (size_t)(o->end - o->at)) {
        o->full = true;
        return;
    }
    memcpy(o->at, from, n);
    o->at += n;
}

void p9_put(struct p9_out *o, uint64_t value, unsigned bytes)
{
    uint8_t b[8];

    for (unsigned i = 0; i < bytes; i++)
        b[i] = (uint8_t)(value >> 8 * i);
    p9_put_data(o, b, bytes);
}

void p9_put_text(struct p9_out *o, const char *s, size_t n)
{
    if (n > UINT16_MAX) {
        o->full = true;
        return;
    }
    p9_put(o, n, 2);
    p9_put_data(o, s, n);
}

void p9_begin(struct p9_out *o, void *buffer, size_t room, enum p9_type type, uint16_t tag)
{
    *o = (struct p9_out){.start = buffer, .at = buffer, .end = (uint8_t *)buffer + room};
    p9_put(o, 0, 4);
    p9_put(o, type, 1);
    p9_put(o, tag, 2);
}

uint32_t p9_complete(struct p9_out *o)
{
    uint32_t bytes = (uint32_t)(o->at - o->start);

    if (o->full)
        return 0;
    o->at = o->start;
    p9_put(o, bytes, 4);
    return bytes;
}

/* ---- Replies --------------------------------------------------------------------------------- */

uint64_t p9_get(struct p9_in *in, unsigned bytes)
{
    uint64_t value = 0;

    if (in->bad || in->left < bytes) {
        in->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)in->at[i] << 8 * i;
    in->at += bytes;
    in->left -= bytes;
    return value;
}

const char *p9_get_text(struct p9_in *in, size_t *n)
{
    *n = (size_t)p9_get(in, 2);
    if (in->bad || in->left < *n) {
        in->bad = true;
        *n = 0;
        return "";
    }
    const char *s = (const char *)in->at;
    in->at += *n;
    in->left -= *n;
    return s;
}

int p9_end(const struct p9_in *in)
{
    return in->bad || in->left ? -EPROTO : 0;
}

int p9_reply(struct p9_in *in, const void *buffer, size_t bytes, enum p9_type request, uint16_t tag)
{
    *in = (struct p9_in){.at = buffer, .left = bytes};
    uint64_t size = p9_get(in, 4), type = p9_get(in, 1), answered = p9_get(in, 2);
    if (in->bad || size != bytes || answered != tag)
        return -EPROTO;
    if (type != P9_ERROR + 1)
        return type == (uint64_t)request + 1 ? 0 : -EPROTO;
    uint64_t error = p9_get(in, 4);
    return p9_end(in) || !error || error > ERRNO_MAX ? -EPROTO : -(int)error;
}

static struct p9_qid take_qid(struct p9_in *in)
{
    struct p9_qid q = {.type = (uint8_t)p9_get(in, 1), .version = (uint32_t)p9_get(in, 4)};

    q.path = p9_get(in, 8);
    return q;
}

int p9_get_qid(struct p9_in *in, struct p9_qid *out)
{
    *out = take_qid(in);
    return p9_end(in);
}

int p9_get_open(struct p9_in *in, struct p9_qid *out)
{
    *out = take_qid(in);
    p9_get(in, 4); /* what one transfer may have; transfers are less than a message anyway */
    return p9_end(in);
}

int p9_get_version(struct p9_in *in, uint32_t *message_max)
{
    size_t n;

    *message_max = (uint32_t)p9_get(in, 4);
    const char *version = p9_get_text(in, &n);
    bool is = n == sizeof(VERSION) - 1 && !memcmp(version, VERSION, n);
    return p9_end(in) ?: is ? 0 : -EPROTO;
}

int p9_get_walk(struct p9_in *in, unsigned names, unsigned *found, struct p9_qid *out)
{
    *found = (unsigned)p9_get(in, 2);
    if (*found > names)
        return -EPROTO;
    for (unsigned i = 0; i < *found; i++)
        *out = take_qid(in);
    return p9_end(in);
}

static struct p9_time take_time(struct p9_in *in)
{
    struct p9_time t = {.s = p9_get(in, 8)};

    t.ns = p9_get(in, 8);
    if (t.ns > NS_MAX)
        in->bad = true;
    return t;
}

/* Returns whether a mode fits what a qid says. */
static bool is_consistent(uint32_t mode, const struct p9_qid *q)
{
    uint32_t type = mode & S_IFMT;

    if (q->type & P9_QID_FOLDER)
        return type == S_IFDIR;
    if (q->type & P9_QID_LINK)
        return type == S_IFLNK;
    return type == S_IFREG || type == S_IFCHR || type == S_IFBLK || type == S_IFIFO ||
           type == S_IFSOCK;
}

int p9_get_attributes(struct p9_in *in, struct p9_attributes *out)
{
    uint64_t valid = p9_get(in, 8);

    memset(out, 0, sizeof(*out));
    out->qid = take_qid(in);
    out->mode = (uint32_t)p9_get(in, 4);
    out->uid = (uint32_t)p9_get(in, 4);
    out->gid = (uint32_t)p9_get(in, 4);
    out->links = p9_get(in, 8);
    out->device = p9_get(in, 8);
    out->size = p9_get(in, 8);
    p9_get(in, 8); /* bytes of a block for transfers */
    out->blocks = p9_get(in, 8);
    out->accessed = take_time(in);
    out->modified = take_time(in);
    out->changed = take_time(in);
    for (unsigned i = 0; i < 4; i++) /* time of birth, generation, version of data */
        p9_get(in, 8);
    if ((valid & BASIC) != BASIC || out->size > INT64_MAX || out->links > LINKS_MAX ||
        !is_consistent(out->mode, &out->qid))
        return -EPROTO;
    return p9_end(in);
}

int p9_get_usage(struct p9_in *in, struct p9_usage *out)
{
    out->type = (uint32_t)p9_get(in, 4);
    out->block_bytes = (uint32_t)p9_get(in, 4);
    out->blocks = p9_get(in, 8);
    out->free = p9_get(in, 8);
    out->available = p9_get(in, 8);
    out->files = p9_get(in, 8);
    out->files_free = p9_get(in, 8);
    p9_get(in, 8); /* the file system's number */
    out->name_max = (uint32_t)p9_get(in, 4);
    return p9_end(in) ?: out->block_bytes && out->block_bytes <= BLOCK_MAX ? 0 : -EPROTO;
}

int p9_get_target(struct p9_in *in, const char **s, size_t *n)
{
    *s = p9_get_text(in, n);
    if (p9_end(in) || !*n || *n > P9_TARGET_MAX)
        return -EPROTO;
    for (size_t i = 0; i < *n; i++)
        if (!(*s)[i])
            return -EPROTO;
    return 0;
}

int p9_get_count(struct p9_in *in, uint32_t asked, uint32_t *out)
{
    *out = (uint32_t)p9_get(in, 4);
    return p9_end(in) ?: *out > asked ? -EPROTO : 0;
}

int p9_get_data(struct p9_in *in, uint32_t asked, const void **data, uint32_t *n)
{
    *n = (uint32_t)p9_get(in, 4);
    *data = in->at;
    return in->bad || *n > asked || in->left != *n ? -EPROTO : 0;
}

bool p9_name_is_good(const char *name, size_t n)
{
    if (!n || n > P9_NAME_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!name[i] || name[i] == '/')
            return false;
    return true;
}

int p9_next_entry(struct p9_in *entries, struct p9_entry *out)
{
    if (!entries->left)
        return entries->bad ? -EPROTO : -ENOENT;
    out->qid = take_qid(entries);
    out->cursor = p9_get(entries, 8);
    out->type = (uint32_t)p9_get(entries, 1) << 12;
    out->name = p9_get_text(entries, &out->n);
    return entries->bad || !p9_name_is_good(out->name, out->n) ? -EPROTO : 0;
}
