/* A table of connections. See demux.h. */
#include "kernel/net/lwip/demux.h"

void demux_init(struct demux *d, struct demux_node **buckets, unsigned bits, uint64_t factor)
{
    *d = (struct demux){.buckets = buckets, .bits = bits, .factor = factor | 1};
}

static struct demux_node **bucket_of(const struct demux *d, uint64_t key)
{
    return &d->buckets[key * d->factor >> (64 - d->bits)];
}

bool demux_is_full(const struct demux *d)
{
    return d->keys > (size_t)1 << d->bits;
}

struct demux_node **demux_grow(struct demux *d, struct demux_node **buckets)
{
    struct demux_node **old = d->buckets;
    size_t n = (size_t)1 << d->bits;

    d->buckets = buckets;
    d->bits++;
    for (size_t i = 0; i < n; i++)
        for (struct demux_node *key = old[i], *next; key; key = next) {
            struct demux_node **bucket = bucket_of(d, key->key);
            next = key->next;
            key->next = *bucket;
            *bucket = key;
        }
    return old;
}

struct demux_node *demux_first(const struct demux *d, uint64_t key)
{
    struct demux_node *n = *bucket_of(d, key);

    while (n && n->key != key)
        n = n->next;
    return n;
}

struct demux_node *demux_after(const struct demux *d, const struct demux_node *n)
{
    return n->after == demux_first(d, n->key) ? NULL : n->after;
}

void demux_put(struct demux *d, struct demux_node *n, uint64_t key)
{
    struct demux_node **bucket = bucket_of(d, key), *first = demux_first(d, key);

    n->key = key;
    if (first) { /* the last of its ring */
        n->after = first;
        n->before = first->before;
        first->before->after = n;
        first->before = n;
        n->next = NULL;
        return;
    }
    n->after = n->before = n;
    n->next = *bucket;
    *bucket = n;
    d->keys++;
}

void demux_drop(struct demux *d, struct demux_node *n)
{
    struct demux_node **link = bucket_of(d, n->key);

    while (*link && *link != n)
        link = &(*link)->next;
    if (*link && n->after != n) { /* the first of its ring: the next one becomes it */
        n->after->next = n->next;
        *link = n->after;
    } else if (*link) {
        *link = n->next;
        d->keys--;
    }
    n->after->before = n->before;
    n->before->after = n->after;
    n->after = n->before = NULL;
}

uint64_t demux_key(const struct demux_secret *s, const struct demux_ends *e)
{
    uint64_t ports = (uint64_t)e->remote_port << 16 | e->own_port;

    return s->word[0] + s->word[1] * e->remote_ip + s->word[2] * e->own_ip + s->word[3] * ports;
}

unsigned demux_choose(const struct demux_secret *s, const struct demux_ends *e, unsigned n)
{
    uint64_t key = demux_key(s, e);

    key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53;
    return (unsigned)((key >> 32) * n >> 32);
}
