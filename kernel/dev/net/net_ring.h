/*
 * Rings of descriptors: what drivers have in common whose devices put each received frame into one
 * buffer, and say in the descriptors themselves what is done. A driver has a struct net_ring first
 * in what it keeps for a queue.
 */
#pragma once
#include "net_core.h"

/* A frame that the device has received. */
struct net_frame {
    uint32_t bytes;
    uint32_t hash;
    uint8_t flags; /* NET_CHECKED, NET_HASHED of net_device.h */
    bool broken;   /* it is to be dropped: an error on the wire, or impossible lengths */
};

/* What the driver knows of its descriptors, by their places in the rings. */
struct net_ring_ops {
    void (*offer)(struct net_queue *q, unsigned i, paddr_t at); /* room for a frame; `work` held */
    /* Reads what the device has received there, in up to NET_RING_ROOM bytes. Returns false if it
     * has not. `work` held. */
    bool (*received)(const struct net_queue *q, unsigned i, struct net_frame *out);
    /* Returns whether the device has sent the frame whose last descriptor this is. `send` held. */
    bool (*was_sent)(const struct net_queue *q, unsigned i);
};

/* Locking: as in net_device.h, of the queue. */
struct net_ring {
    const struct net_ring_ops *ops;              /* [-] */
    struct net_buffer *buffer[NET_RING_ENTRIES]; /* [W] of each descriptor for received frames */
    unsigned next;                               /* [W] the device fills it next */
    /* [S] the frame whose last descriptor this is, or NULL */
    struct net_send *last[NET_RING_ENTRIES];
    unsigned oldest, end; /* [S] descriptors of sent frames that the device has */
};

#define NET_BUFFER_AT (NET_BUFFER_MARGIN + 2) /* frames begin there in their buffers */
#define NET_RING_ROOM (NET_BUFFER_BYTES - NET_BUFFER_AT)

/* Begins anew: nothing is sent, and all descriptors for received frames are offered. Returns false
 * if there are not as many buffers. In start(). */
bool net_ring_begin(struct net_queue *q);
/* Gives all buffers back, if the queue has a ring. In stop(). */
void net_ring_empty(struct net_queue *q);
/* Takes up to NET_BATCH frames, and offers other buffers for them. Returns how many; the driver
 * tells the device. `work` held. */
unsigned net_ring_poll(struct net_queue *q);
bool net_ring_has_received(const struct net_queue *q); /* `work` held */
/* Returns how many descriptors there are for frames to be sent. `send` held. */
unsigned net_ring_room(const struct net_ring *r);
/* Takes the next descriptor for a frame to be sent, which the driver fills afterwards; `last`: the
 * frame, if it is its last. There is room. Returns its place. `send` held. */
unsigned net_ring_put(struct net_ring *r, struct net_send *last);
void net_ring_reclaim(struct net_queue *q); /* `send` held */
