/*
 * A CPU's packets: one is filled with events, full ones wait to be read, by somebody else, in
 * order. One writer and one reader at a time, no lock: what each writes is its own. When no
 * packet is free events are discarded and counted. Invariant: taken = delivered + discarded +
 * events in packets that are still here. Pure: time and memory are the caller's.
 */
#pragma once
#include "kernel/trace/ctf.h"

#define RING_PACKET_BYTES 8192
#define RING_PACKETS_MIN  2
#define RING_PACKETS_MAX  128

struct ring {
    uint8_t *memory; /* packets * RING_PACKET_BYTES */
    uint32_t packets;
    const struct ctf_event *types;
    struct ctf_context context; /* writer's: sequence and discarded change */

    /* Written by the writer. */
    struct ctf_packet open;
    bool is_open;
    uint64_t taken, reported; /* events offered; discarded when the latest packet was closed */
    uint32_t closed;          /* atomic: packets ever closed */

    /* Written by the reader. */
    uint32_t given, returned; /* packets ever; returned: atomic */
    uint64_t delivered, bytes;
    bool flush_wanted; /* atomic, either way: the open packet is to be closed at the next event */

    struct ring_slot {
        uint32_t bytes, events; /* writer's, until closed */
        bool back;              /* reader's */
    } slot[RING_PACKETS_MAX];
};

/* packets: a power of two from RING_PACKETS_MIN to RING_PACKETS_MAX. An empty packet is the first:
 * readers of the format count what is discarded from a packet on. */
void ring_init(struct ring *r, void *memory, uint32_t packets, const struct ctf_event *types,
               const uint8_t *uuid, uint32_t cpu, uint64_t now);

/* ---- Writer ---------------------------------------------------------------------------------- */
/* Times do not go back. */
void ring_put(struct ring *r, unsigned id, uint64_t now, const uint64_t *values);
/* Closes the open packet if there is anything to say: events, or that some were discarded. False:
 * no packet is free for the latter. */
bool ring_flush(struct ring *r, uint64_t now);

/* ---- Reader ---------------------------------------------------------------------------------- */
/* The oldest packet not yet given; it stays as it is until it is returned. False: there is
 * none. */
bool ring_give(struct ring *r, uint32_t *slot, void **packet, uint32_t *bytes);
/* It is read; in any order. */
void ring_return(struct ring *r, uint32_t slot);
/* Panics on a broken invariant. Neither writes meanwhile. */
void ring_check(const struct ring *r);
