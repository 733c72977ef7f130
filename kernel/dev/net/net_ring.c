/* See net_ring.h. */
#include "net_ring.h"
#include "kernel/mem/mem.h"

#define RING NET_RING_ENTRIES

static void offer(struct net_queue *q, unsigned i, struct net_buffer *b)
{
    struct net_ring *r = q->driver;

    r->buffer[i] = b;
    b->data = b->memory + NET_BUFFER_AT;
    r->ops->offer(q, i, virt_to_phys(b->data));
}

bool net_ring_begin(struct net_queue *q)
{
    struct net_ring *r = q->driver;
    struct net_buffer *b;

    r->next = r->oldest = r->end = 0;
    memset(r->last, 0, sizeof(r->last));
    for (unsigned i = 0; i < RING; i++)
        if (r->buffer[i] || (b = net_take(q)))
            offer(q, i, r->buffer[i] ? r->buffer[i] : b);
        else
            return false;
    return true;
}

void net_ring_empty(struct net_queue *q)
{
    struct net_ring *r = q->driver;

    for (unsigned i = 0; r && i < RING; i++) {
        struct net_buffer *b = r->buffer[i];
        r->buffer[i] = NULL;
        if (b)
            net_free(b);
    }
}

/* ---- Receiving ------------------------------------------------------------------------------- */

/* Takes the frame of a descriptor, and gives the device another buffer, or the same one. */
static void take_frame(struct net_queue *q, const struct net_frame *f)
{
    struct net_ring *r = q->driver;
    struct net_buffer *b = r->buffer[r->next];
    struct net_buffer *other = f->broken ? NULL : net_take(q);

    offer(q, r->next, other ? other : b);
    if (!other) {
        net_dropped(q, !f->broken);
        return;
    }
    b->bytes = f->bytes;
    b->flags = f->flags;
    b->hash = f->hash;
    net_received(q, b);
}

unsigned net_ring_poll(struct net_queue *q)
{
    struct net_ring *r = q->driver;
    struct net_frame f;
    unsigned n = 0;

    for (; n < NET_BATCH && r->ops->received(q, r->next, &f); n++) {
        take_frame(q, &f);
        r->next = (r->next + 1) % RING;
    }
    return n;
}

bool net_ring_has_received(const struct net_queue *q)
{
    const struct net_ring *r = q->driver;
    struct net_frame f;

    return r->ops->received(q, r->next, &f);
}

/* ---- Sending --------------------------------------------------------------------------------- */

unsigned net_ring_room(const struct net_ring *r)
{
    return (r->oldest + RING - 1 - r->end) % RING;
}

unsigned net_ring_put(struct net_ring *r, struct net_send *last)
{
    unsigned at = r->end;

    r->last[at] = last;
    r->end = (at + 1) % RING;
    return at;
}

/* Returns the last descriptor of the oldest frame; RING: there is none. */
static unsigned oldest_last(const struct net_ring *r)
{
    unsigned at = r->oldest;

    while (at != r->end && !r->last[at])
        at = (at + 1) % RING;
    return at == r->end ? RING : at;
}

void net_ring_reclaim(struct net_queue *q)
{
    struct net_ring *r = q->driver;
    unsigned last;

    while ((last = oldest_last(r)) != RING && r->ops->was_sent(q, last)) {
        net_sent(q, r->last[last]);
        r->last[last] = NULL;
        r->oldest = (last + 1) % RING;
    }
}
