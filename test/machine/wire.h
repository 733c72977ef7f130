/*
 * The time of frames on the machine's wire, and the queues that they are for. Its specification is
 * in kernel/dev/model/machine.h (struct machine_wire). This file knows neither registers nor QEMU.
 * Times are in any unit, the same for all.
 */
#pragma once
#include "kernel/dev/model/machine.h"

/* A frame on its way. Its bytes are there once it has left. */
struct wire_frame {
    struct wire_frame *next;
    uint64_t leaves, arrives;
    uint32_t bytes;   /* of the frame */
    uint32_t entries; /* of the ring that it was sent from; the sender's */
    unsigned queue;   /* the sender's */
    bool tell, lost;  /* the sender's */
    uint8_t data[];
};

/* One direction, from a port to the other. */
struct wire_direction {
    struct wire_frame *first, **end; /* frames on their way, in order */
    struct wire_frame *waiting;      /* the first of them that has not left, or NULL */
    uint64_t left;                   /* time when the last of those that have left did */
    uint64_t free;                   /* time when the last of all leaves */
    uint64_t busy;                   /* time that frames took to leave, those forgotten too */
};

struct wire {
    bool there;
    uint64_t latency, cycle; /* cycle: times in one */
    uint32_t mbps;           /* 0: a frame takes no time to leave */
    struct wire_direction from[MACHINE_WIRE_PORTS];
};

/* Puts a wire into its first state. `mbps` 0: frames take no time on it. `cycle`: times in one. */
void wire_init(struct wire *w, uint64_t latency_cycles, uint32_t mbps, uint64_t cycle);
/* Offers a frame to be sent from a port at time `now`; it leaves after all others of this port.
 * Returns it, for the caller to fill in what is the sender's; NULL: no memory. */
struct wire_frame *wire_send(struct wire *w, unsigned port, uint64_t now, uint32_t bytes);
/* Returns when the next frame leaves or arrives; UINT64_MAX: none is on its way. */
uint64_t wire_next(const struct wire *w);
/* Returns the next frame from this port that has left by now, once; or NULL. */
struct wire_frame *wire_leaving(struct wire *w, unsigned port, uint64_t now);
/* Takes out the next frame from this port that has arrived at the other by now, and has left
 * before. The caller frees it. NULL: there is none. */
struct wire_frame *wire_arriving(struct wire *w, unsigned port, uint64_t now);
/* Takes out and frees frames from this port that have not left. */
void wire_forget(struct wire *w, unsigned port);

/* Returns the Toeplitz hash of up to MACHINE_WIRE_KEY_BYTES - 4 bytes. Pure. */
uint32_t wire_hash(const uint8_t *key, const uint8_t *bytes, size_t n);
/* Returns whether the frame has what it is hashed by, and the hash, 0 without. Pure. */
bool wire_hash_frame(const uint8_t *key, const uint8_t *frame, uint32_t bytes, uint32_t *hash);
/* Returns whether it is TCP or UDP over IPv4, not cut into fragments, and its checksum is there and
 * right. Pure. */
bool wire_sum_is_right(const uint8_t *frame, uint32_t bytes);
