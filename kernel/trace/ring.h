/*
 * A CPU's packets: one is filled with events, full ones wait to be read, in order. One writer and
 * one reader at a time, no lock: each writes only its own fields. Events are discarded and counted
 * when no packet is free. Invariant: taken = delivered + discarded + events in packets still in the
 * ring. Pure: time and memory are the caller's.
 */
#pragma once
#include "kernel/trace/ctf.h"

#define RING_PACKET_BYTES 8192
#define RING_PACKETS_MIN  2
#define RING_PACKETS_MAX  128

struct ring {
    uint8_t *memory; /* packets * RING_PACKET_BYTES bytes */
    uint32_t packets;
    const struct ctf_event *types;
    struct ctf_context context; /* written by the writer: sequence and discarded */

    /* Written by the writer. */
    struct ctf_packet open;
    bool is_open;
    /* events offered; events discarded when the latest packet was closed */
    uint64_t taken, reported;
    uint32_t closed; /* atomic: number of packets closed so far */

    /* Written by the reader. */
    uint32_t given, returned; /* number of packets so far; returned: atomic */
    uint64_t delivered, bytes;
    bool flush_wanted; /* atomic, set and cleared: the open packet is closed at the next event */

    struct ring_slot {
        uint32_t bytes, events; /* the writer's, until closed */
        bool back;              /* the reader's */
    } slot[RING_PACKETS_MAX];
};

/* Initialises a ring of `packets` packets, a power of two from RING_PACKETS_MIN to
 * RING_PACKETS_MAX. The first packet is empty, because readers of the format count discarded events
 * relative to a packet. */
void ring_init(struct ring *r, void *memory, uint32_t packets, const struct ctf_event *types,
               const uint8_t *uuid, uint32_t cpu, uint64_t now);

/* ---- Writer ---------------------------------------------------------------------------------- */
/* Records an event. Times must not decrease. Returns false if it was discarded. */
bool ring_put(struct ring *r, unsigned id, uint64_t now, const uint64_t *values);
/* ring_place() where the open packet has no room, or the reader wants it. */
void *ring_place_anew(struct ring *r, unsigned id, uint64_t now, uint32_t bytes);
/* As ring_put, for an event without texts: returns where its fields, `bytes` bytes, are to be
 * written, or NULL. An earlier time than that of the event before becomes that one. */
static inline void *ring_place(struct ring *r, unsigned id, uint64_t now, uint32_t bytes)
{
    void *at = NULL;

    now = MAX(now, r->open.end);
    if (r->is_open && !__atomic_load_n(&r->flush_wanted, __ATOMIC_RELAXED))
        at = ctf_place(&r->open, id, now, bytes);
    if (!at)
        return ring_place_anew(r, id, now, bytes);
    r->taken++;
    return at;
}
/* Closes the open packet if it has events or if events were discarded. Returns false if no packet
 * is free to report the latter. */
bool ring_flush(struct ring *r, uint64_t now);

/* ---- Reader ---------------------------------------------------------------------------------- */
/* Gives the reader the oldest packet that it does not have yet; the packet is unchanged until it is
 * returned. Returns false if there is none. */
bool ring_give(struct ring *r, uint32_t *slot, void **packet, uint32_t *bytes);
/* Takes back a packet that was read; in any order. */
void ring_return(struct ring *r, uint32_t slot);
/* Panics on a broken invariant. Neither side writes meanwhile. */
void ring_check(const struct ring *r);
