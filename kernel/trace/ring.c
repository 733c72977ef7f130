/* See ring.h. */
#include "kernel/trace/ring.h"

static void *packet_at(const struct ring *r, uint32_t slot)
{
    return r->memory + (size_t)slot * RING_PACKET_BYTES;
}

static bool begin_packet(struct ring *r, uint64_t now)
{
    if (r->closed - __atomic_load_n(&r->returned, __ATOMIC_ACQUIRE) >= r->packets)
        return false;
    ctf_begin(&r->open, packet_at(r, r->closed % r->packets), RING_PACKET_BYTES, now);
    r->is_open = true;
    return true;
}

/* Closes the open packet. The order of these stores matters: if the writer is stopped for good
 * between any two of them, a packet is found once or not at all. */
static void end_packet(struct ring *r, uint64_t now)
{
    struct ring_slot *slot = &r->slot[r->closed % r->packets];

    slot->bytes = ctf_end(&r->open, now, &r->context);
    slot->events = r->open.events;
    r->context.sequence++;
    r->reported = r->context.discarded;
    r->is_open = false;
    __atomic_store_n(&r->closed, r->closed + 1, __ATOMIC_RELEASE);
}

void ring_init(struct ring *r, void *memory, uint32_t packets, const struct ctf_event *types,
               const uint8_t *uuid, uint32_t cpu, uint64_t now)
{
    ASSERT(is_pow2(packets) && packets >= RING_PACKETS_MIN && packets <= RING_PACKETS_MAX);
    *r = (struct ring){.memory = memory,
                       .packets = packets,
                       .types = types,
                       .context = {.uuid = uuid, .cpu = cpu}};
    begin_packet(r, now);
    end_packet(r, now);
}

static void attend_reader(struct ring *r, uint64_t now)
{
    if (__atomic_load_n(&r->flush_wanted, __ATOMIC_RELAXED)) {
        __atomic_store_n(&r->flush_wanted, false, __ATOMIC_RELAXED);
        ring_flush(r, now);
    }
}

static bool put_event(struct ring *r, unsigned id, uint64_t now, const uint64_t *values)
{
    if (r->is_open && ctf_put(&r->open, r->types, id, now, values))
        return true;
    if (r->is_open)
        end_packet(r, now);
    return begin_packet(r, now) && ctf_put(&r->open, r->types, id, now, values);
}

bool ring_put(struct ring *r, unsigned id, uint64_t now, const uint64_t *values)
{
    attend_reader(r, now);
    r->taken++;
    bool room = put_event(r, id, now, values);
    r->context.discarded += !room;
    return room;
}

void *ring_place_anew(struct ring *r, unsigned id, uint64_t now, uint32_t bytes)
{
    attend_reader(r, now);
    r->taken++;
    void *at = r->is_open ? ctf_place(&r->open, id, now, bytes) : NULL;
    if (at)
        return at;
    if (r->is_open)
        end_packet(r, now);
    at = begin_packet(r, now) ? ctf_place(&r->open, id, now, bytes) : NULL;
    r->context.discarded += !at;
    return at;
}

bool ring_flush(struct ring *r, uint64_t now)
{
    bool unsaid = r->reported != r->context.discarded;

    if (!r->is_open && (!unsaid || !begin_packet(r, now)))
        return !unsaid;
    if (r->open.events || unsaid)
        end_packet(r, now);
    return true;
}

bool ring_give(struct ring *r, uint32_t *slot, void **packet, uint32_t *bytes)
{
    if (r->given == __atomic_load_n(&r->closed, __ATOMIC_ACQUIRE))
        return false;
    *slot = r->given++ % r->packets;
    *packet = packet_at(r, *slot);
    *bytes = r->slot[*slot].bytes;
    return true;
}

void ring_return(struct ring *r, uint32_t slot)
{
    ASSERT(slot < r->packets && !r->slot[slot].back);
    r->slot[slot].back = true;
    r->delivered += r->slot[slot].events;
    r->bytes += r->slot[slot].bytes;
    while (r->returned != r->given && r->slot[r->returned % r->packets].back) {
        r->slot[r->returned % r->packets].back = false;
        __atomic_store_n(&r->returned, r->returned + 1, __ATOMIC_RELEASE);
    }
}

void ring_check(const struct ring *r)
{
    uint64_t here = r->is_open ? r->open.events : 0;

    ASSERT(r->closed - r->given <= r->packets && r->given - r->returned <= r->packets);
    ASSERT(r->closed - r->returned <= r->packets && r->reported <= r->context.discarded);
    for (uint32_t at = r->returned; at != r->closed; at++)
        here += r->slot[at % r->packets].back ? 0 : r->slot[at % r->packets].events;
    ASSERT(r->taken == r->delivered + r->context.discarded + here);
}
