/*
 * A split virtqueue (Virtual I/O Device 1.2, 2.7): requests of one or more buffers, several in
 * flight, that a device completes in any order. What the device must not change is kept here
 * besides; what it says is checked. No register is touched, so the host tests it. Not for two
 * callers at once: the owner's lock guards it.
 */
#pragma once
#include "kernel/lib/base.h"

#define VIRTQ_SIZE_MAX 128

struct virtq_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};
struct virtq_available {
    uint16_t flags, index, ring[];
};
struct virtq_used {
    uint16_t flags, index;
    struct virtq_used_element {
        uint32_t id, bytes;
    } ring[];
};
/* The three parts of the largest queue fit into a page, which the device reads and writes. */
#define VIRTQ_BYTES      PAGE_SIZE
#define VIRTQ_AVAILABLE  ((size_t)VIRTQ_SIZE_MAX * sizeof(struct virtq_descriptor))
#define VIRTQ_USED       (VIRTQ_AVAILABLE + 8 + 2 * (size_t)VIRTQ_SIZE_MAX)
#define VIRTQ_USED_BYTES (8 + sizeof(struct virtq_used_element) * VIRTQ_SIZE_MAX)
_Static_assert(VIRTQ_USED + VIRTQ_USED_BYTES <= VIRTQ_BYTES && VIRTQ_USED % 4 == 0,
               "one page holds it");

struct virtq {
    struct virtq_descriptor *descriptors;
    struct virtq_available *available;
    struct virtq_used *used;
    uint16_t size, free, first_free; /* descriptors */
    uint16_t index, seen;            /* what was made available, what was taken back */
    uint16_t in_flight;              /* requests */
    /* the device said what cannot be: nothing is believed any more */
    bool broken;
    struct virtq_request {
        void *token;
        uint32_t writable;    /* bytes the device may have written */
        uint16_t descriptors; /* 0: no request begins here */
        uint16_t next;        /* descriptor of the same request, or free one */
    } request[VIRTQ_SIZE_MAX];
};

struct virtq_buffer {
    paddr_t at;
    uint32_t bytes;
    bool device_writes; /* these come last in a request */
};

/* memory: VIRTQ_BYTES at a page's start, zeroed here. size: a power of two up to VIRTQ_SIZE_MAX,
 * else -EINVAL. */
int virtq_init(struct virtq *q, void *memory, unsigned size);
/* Makes a request available; token comes back with it. 0; -ENOSPC: too many are in flight;
 * -EINVAL: no buffer, more than the queue is long, an empty one, or order; -EIO: the queue is
 * broken. */
int virtq_add(struct virtq *q, const struct virtq_buffer *buffers, unsigned n, void *token);
/* The same with descriptors of the caller's (2.7.5.3), for devices that have agreed on
 * VIRTIO_FEATURE_INDIRECT: a request takes one of the queue's. table: room for n, not in use; at
 * most as many as the queue is long, else -EINVAL. */
int virtq_add_indirect(struct virtq *q, struct virtq_descriptor *table, paddr_t table_at,
                       const struct virtq_buffer *buffers, unsigned n, void *token);
/* After virtq_add: must the device be told? */
bool virtq_must_notify(const struct virtq *q);
/* A request that the device is done with. 0; -EAGAIN: none is; -EIO: what it says cannot be, now
 * and from now on. */
int virtq_take(struct virtq *q, void **token, uint32_t *written);
