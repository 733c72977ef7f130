/*
 * Finds the registers of a virtio device by the capabilities in its configuration space (Virtual
 * I/O Device 1.2, 4.1.4). Pure: checks everything that the device says, and accesses no register.
 */
#pragma once
#include "kernel/lib/base.h"

#define VIRTIO_CONFIG_WORDS 64 /* 32-bit words: the PCI 3.0 part of configuration space */
#define VIRTIO_COMMON_BYTES 56
#define VIRTIO_BARS         6

struct virtio_region {
    unsigned bar;
    uint32_t at, bytes; /* within the BAR; bytes 0: none */
};
struct virtio_layout {
    struct virtio_region common, notify, device; /* device may be missing */
    /* Bytes between the doorbells of two queues, or 0. */
    uint32_t notify_multiplier;
};

/* Finds the first usable capability of each kind. Returns 0; -ENOENT: the device has no modern
 * interface; -EINVAL: a capability is invalid. */
int virtio_layout_find(const uint32_t config[VIRTIO_CONFIG_WORDS], struct virtio_layout *out);
/* Returns whether the region lies within a BAR of `bar_bytes` and has at least `wanted` bytes. */
bool virtio_region_fits(const struct virtio_region *r, uint64_t bar_bytes, uint32_t wanted);
/* Finds the offset of a queue's doorbell in the notify region. Returns 0, or -ERANGE: it is
 * outside. */
int virtio_doorbell(const struct virtio_layout *l, uint16_t notify_off, uint32_t region_bytes,
                    uint32_t *at);
