/* Fusion of connections whose two ends are on this machine; see fusion.h. */
#include "kernel/net/lwip/fusion.h"
#include "kernel/mem/mem.h"
#include <linux/poll.h>

/* A chunk of this size stays when all of it was read, for what is sent next: an exchange of short
 * messages then allocates nothing, and uses the same few cache lines again. */
#define CHUNK_KEPT ((uint32_t)(512 - sizeof(struct net_chunk)))

#define INPUT  (POLLIN | POLLRDNORM)
#define OUTPUT (POLLOUT | POLLWRNORM)

uint64_t net_fusion = true;
static uint64_t fused_count; /* atomic */

/* ---- Chunks ---------------------------------------------------------------------------------- */

struct net_chunk *net_chunk_make(struct memory_account *account, uint32_t n)
{
    uint32_t bytes = (uint32_t)sizeof(struct net_chunk) + n;

    if (memory_charge(account, bytes))
        return NULL;
    struct net_chunk *c = kmalloc_unfilled(bytes);
    if (!c) {
        memory_uncharge(account, bytes);
        return NULL;
    }
    *c = (struct net_chunk){.bytes = n, .charged = bytes};
    return c;
}

void net_chunks_free(struct memory_account *account, struct net_chunk *first)
{
    while (first) {
        struct net_chunk *c = first;
        first = c->next;
        memory_uncharge(account, c->charged);
        kfree(c);
    }
}

/* Bytes that a chunk has room for. */
static uint32_t size_of(const struct net_chunk *c)
{
    return c->charged - (uint32_t)sizeof(*c);
}

/* ---- Fusing and parting ---------------------------------------------------------------------- */

/* Whether lwIP has no data of a connected stream, and shall have none. Lock held. */
static bool may_fuse(const struct net_stream *t)
{
    return t->state == STREAM_CONNECTED && !t->closed && !t->shut && t->sent == t->unwritten &&
           !(t->sent && t->sent->written) && !t->queued;
}

/* Passes on what waits to be sent. `to` is known to no other thread. Lock of t held. */
static void pass_waiting(struct net_stream *t, struct net_stream *to)
{
    to->passed = t->sent;
    to->passed_last = t->sent ? t->sent_last : NULL;
    to->queued = t->unacked;
    t->sent = t->unwritten = NULL;
    t->unacked = 0;
}

/* Makes `other` the other end of t. */
static void join(struct net_stream *t, struct net_stream *other)
{
    other->owner->keep(other);
    t->fused = other;
    t->passed_account = memory_account_get(other->account);
}

void net_fuse(struct net_stream *connected, struct net_stream *arrived)
{
    if (!net_fusion)
        return;
    bool irq = spin_lock(connected->lock);
    if (may_fuse(connected)) {
        pass_waiting(connected, arrived);
        join(connected, arrived);
        join(arrived, connected);
        __atomic_fetch_add(&fused_count, 1, __ATOMIC_RELAXED);
    }
    spin_unlock(connected->lock, irq);
}

/* Takes the reference to the other end, to `is` if that is not NULL, out of a stream. */
static struct net_stream *take_fused(struct net_stream *t, const struct net_stream *is)
{
    bool irq = spin_lock(t->lock);
    struct net_stream *other = t->fused;

    if (is && other != is)
        other = NULL;
    if (other) {
        t->fused = NULL;
        if (__atomic_exchange_n(&t->room_wanted, 0, __ATOMIC_RELAXED))
            t->owner->changed(t, OUTPUT);
    }
    spin_unlock(t->lock, irq);
    return other;
}

void net_unfuse(struct net_stream *t)
{
    struct net_stream *other = take_fused(t, NULL);

    if (!other)
        return;
    if (take_fused(other, t))
        t->owner->let_go(t);
    other->owner->let_go(other);
}

uint64_t net_fused_count(void)
{
    return __atomic_load_n(&fused_count, __ATOMIC_RELAXED);
}

/* ---- Passing --------------------------------------------------------------------------------- */

/* Finds room for n bytes in the last chunk. The reader leaves it as it is while it is filled. */
static bool reserve_in_last(struct net_stream *to, uint32_t n, struct net_stream_part *part)
{
    bool irq = spin_lock(to->lock);
    struct net_chunk *last = to->passed_last;
    bool fits = last && size_of(last) - last->bytes >= n;

    if (fits) {
        to->filling = true;
        *part = (struct net_stream_part){to, last, false, last->data + last->bytes, n};
    }
    spin_unlock(to->lock, irq);
    return fits;
}

int net_fused_reserve(const struct net_stream *t, uint32_t n, struct net_stream_part *part)
{
    if (reserve_in_last(part->to, n, part))
        return 0;
    struct net_chunk *c = net_chunk_make(t->account, MAX(n, CHUNK_KEPT));
    if (!c)
        return -ENOBUFS;
    c->bytes = 0;
    *part = (struct net_stream_part){part->to, c, true, c->data, n};
    return 0;
}

static void append_chunk(struct net_stream *to, struct net_chunk *c)
{
    if (to->passed_last)
        to->passed_last->next = c;
    else
        to->passed = c;
    to->passed_last = c;
}

bool net_fused_commit(const struct net_stream *t, const struct net_stream_part *part)
{
    struct net_stream *to = part->to;
    bool irq = spin_lock(to->lock), open = to->fused == t && !to->closed;

    if (open) {
        if (part->is_new)
            append_chunk(to, part->chunk);
        part->chunk->bytes += part->bytes;
        to->filling = false;
        __atomic_store_n(&to->queued, to->queued + part->bytes, __ATOMIC_RELAXED);
        to->owner->changed(to, INPUT);
    }
    spin_unlock(to->lock, irq);
    return open;
}

void net_fused_drop(const struct net_stream *t, const struct net_stream_part *part)
{
    struct net_stream *to = part->to;

    if (part->is_new) {
        net_chunks_free(t->account, part->chunk);
        return;
    }
    bool irq = spin_lock(to->lock);
    to->filling = false;
    spin_unlock(to->lock, irq);
}

/* ---- Reading --------------------------------------------------------------------------------- */

uint64_t net_fused_take(struct net_stream *t, uint64_t n, struct net_chunk **unused)
{
    struct net_chunk *c, **end = unused;

    while ((c = t->passed)) {
        uint32_t here = (uint32_t)MIN(n, (uint64_t)(c->bytes - c->acked));
        c->acked += here;
        n -= here;
        bool last = c == t->passed_last;
        if (c->acked < c->bytes || (last && t->filling))
            break;
        if (last && size_of(c) == CHUNK_KEPT) {
            c->acked = c->bytes = 0;
            break;
        }
        t->passed = c->next;
        if (last)
            t->passed_last = NULL;
        c->next = NULL;
        *end = c;
        end = &c->next;
    }
    return n;
}

struct net_stream *net_fused_waiting(struct net_stream *t)
{
    struct net_stream *other = t->fused;

    if (!other)
        return NULL;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* of `queued`; net_stream_has_room() has the other */
    if (t->queued >= __atomic_load_n(&other->room_wanted, __ATOMIC_RELAXED))
        return NULL;
    other->owner->keep(other);
    return other;
}

void net_fused_tell(struct net_stream *other)
{
    bool irq = spin_lock(other->lock);

    if (__atomic_exchange_n(&other->room_wanted, 0, __ATOMIC_RELAXED))
        other->owner->changed(other, OUTPUT);
    spin_unlock(other->lock, irq);
    other->owner->let_go(other);
}
