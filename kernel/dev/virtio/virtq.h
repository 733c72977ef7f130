/*
 * A split virtqueue (Virtual I/O Device 1.2, 2.7): requests of one or more buffers, several in
 * flight, that a device completes in any order. State that the device must not change is kept in
 * memory that it cannot access; all that it writes is checked. Accesses no register, so the host
 * tests it. The owner's lock guards it.
 */
#pragma once
#include "kernel/lib/base.h"

#define VIRTQ_SIZE_MAX 256

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
/* The three parts of the largest queue fit into two pages, which the device accesses. */
#define VIRTQ_BYTES      (2 * PAGE_SIZE)
#define VIRTQ_AVAILABLE  ((size_t)VIRTQ_SIZE_MAX * sizeof(struct virtq_descriptor))
#define VIRTQ_USED       (VIRTQ_AVAILABLE + 8 + 2 * (size_t)VIRTQ_SIZE_MAX)
#define VIRTQ_USED_BYTES (8 + sizeof(struct virtq_used_element) * VIRTQ_SIZE_MAX)
_Static_assert(VIRTQ_USED + VIRTQ_USED_BYTES <= VIRTQ_BYTES && VIRTQ_USED % 4 == 0,
               "two pages hold it");

struct virtq {
    struct virtq_descriptor *descriptors;
    struct virtq_available *available;
    struct virtq_used *used;
    uint16_t size, free, first_free; /* numbers of descriptors */
    uint16_t index, seen;            /* available requests added; used requests taken back */
    uint16_t in_flight;              /* requests */
    /* The device broke the rules: nothing it writes is used any more. */
    bool broken;
    struct virtq_request {
        void *token;
        uint32_t writable;    /* bytes that the device may write */
        uint16_t descriptors; /* 0: no request begins here */
        uint16_t next;        /* next descriptor of the request, or next free one */
    } request[VIRTQ_SIZE_MAX];
};

struct virtq_buffer {
    paddr_t at;
    uint32_t bytes;
    bool device_writes; /* such buffers come last in a request */
};

/* Initialises a queue. `memory`: VIRTQ_BYTES at the start of a page; is zeroed. Returns -EINVAL
 * unless `size` is a power of two up to VIRTQ_SIZE_MAX. */
int virtq_init(struct virtq *q, void *memory, unsigned size);
/* Makes a request available to the device; virtq_take() returns its token. Returns 0; -ENOSPC: too
 * many requests in flight; -EINVAL: no buffers, more than the queue's size, an empty one, or the
 * wrong order; -EIO: the queue is broken. */
int virtq_add(struct virtq *q, const struct virtq_buffer *buffers, unsigned n, void *token);
/* Does the same with descriptors of the caller (2.7.5.3), for devices that have negotiated
 * VIRTIO_FEATURE_INDIRECT: a request takes one descriptor of the queue. `table`: has room for `n`
 * descriptors and is not in use; `n` is at most the queue's size, else -EINVAL. */
int virtq_add_indirect(struct virtq *q, struct virtq_descriptor *table, paddr_t table_at,
                       const struct virtq_buffer *buffers, unsigned n, void *token);
/* Returns whether the device must be notified, after virtq_add(). */
bool virtq_must_notify(const struct virtq *q);
/* Takes a request that the device has completed. Returns 0; -EAGAIN: none; -EIO: the device broke
 * the rules, now or before. */
int virtq_take(struct virtq *q, void **token, uint32_t *written);
/* Says whether the device shall send interrupts when it has completed requests; it does so until
 * the device is told otherwise. It may send one for a request completed before. Returns whether
 * requests are to be taken already. */
bool virtq_interrupts(struct virtq *q, bool wanted);
/* Takes back the token of a request in flight, any one, once the device accesses no memory any
 * more; returns NULL if there is none. Until virtq_init() the queue is good for nothing else. */
void *virtq_abandon(struct virtq *q);
