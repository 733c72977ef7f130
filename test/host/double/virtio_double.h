/*
 * A double of a virtio device on PCI, and of what its driver stands on: registers in a page of
 * memory, queues where the driver put them. The test decides what the device does with requests,
 * in virtio_double_rung().
 */
#pragma once
#include "kernel/dev/virtio/virtio.h"
#include "test/host/double/said.h"

#define VIRTIO_DOUBLE_QUEUES 64
enum {
    VIRTIO_DOUBLE_STATUS = 0x14,
    VIRTIO_DOUBLE_QUEUE_COUNT = 0x12,
    VIRTIO_DOUBLE_CONFIG = 0x2000
}; /* in bar */

struct virtio_double {
    uint16_t id; /* PCI device number */
    /* What the device does wrong. */
    bool absent, no_bar, no_messages, stuck, refuses_features, no_vector;
    uint64_t features;
    uint16_t queue_size, notify_off; /* notify_off 0: each queue has a doorbell of its own */

    uint8_t bar[0x4000] ALIGNED(4096);
    struct virtio_double_queue {
        struct virtq_descriptor *descriptors;
        struct virtq_available *available;
        struct virtq_used *used;
        uint16_t size, seen;
    } queue[VIRTIO_DOUBLE_QUEUES];
    unsigned doorbells, silenced;
    void (*handler)(void *arg); /* connected to its message */
    void *arg;
};
extern struct virtio_double virtio_double;
extern uint32_t *virtio_double_capabilities; /* its configuration space */

/* A new one, with these features and VERSION_1. */
void virtio_double_begin(uint16_t id, uint64_t features);
void virtio_double_end(void); /* frees frames */
unsigned virtio_double_lines(void);
/* The test's: the driver has rung a queue's bell. */
void virtio_double_rung(unsigned queue);
/* The next request's first descriptor, or NULL. */
struct virtq_descriptor *virtio_double_next(unsigned queue, uint32_t *id);
void virtio_double_done(unsigned queue, uint32_t id, uint32_t bytes);

uint16_t virtio_double_get16(unsigned at);
uint32_t virtio_double_get32(unsigned at);
void virtio_double_set16(unsigned at, uint16_t v);
void virtio_double_set32(unsigned at, uint32_t v);
