/*
 * Where a virtio device's registers lie, as the capabilities in its configuration space say
 * (Virtual I/O Device 1.2, 4.1.4). Pure: nothing a device says is believed unchecked, and no
 * register is touched.
 */
#pragma once
#include "kernel/lib/base.h"

#define VIRTIO_CONFIG_WORDS 64 /* of 32 bits: the PCI 3.0 part of configuration space */
#define VIRTIO_COMMON_BYTES 56
#define VIRTIO_BARS         6

struct virtio_region {
    unsigned bar;
    uint32_t at, bytes; /* within the BAR; bytes 0: there is none */
};
struct virtio_layout {
    struct virtio_region common, notify, device; /* device may be missing */
    /* bytes between the doorbells of two queues, or 0 */
    uint32_t notify_multiplier;
};

/* The first usable capability of each kind counts. 0; -ENOENT: it has no modern interface;
 * -EINVAL: what it says cannot be. */
int virtio_layout_find(const uint32_t config[VIRTIO_CONFIG_WORDS], struct virtio_layout *out);
/* Does the region lie in a BAR of so many bytes, and have at least the wanted ones? */
bool virtio_region_fits(const struct virtio_region *r, uint64_t bar_bytes, uint32_t wanted);
/* Where in the notify region a queue's doorbell is. 0, or -ERANGE: outside of it. */
int virtio_doorbell(const struct virtio_layout *l, uint16_t notify_off, uint32_t region_bytes,
                    uint32_t *at);
