/*
 * Frames as a virtio network device receives and sends them (Virtual I/O Device 1.2, 5.1.6). Pure:
 * all that the device writes is checked here, and the host tests it.
 */
#pragma once
#include "kernel/lib/base.h"

/* struct virtio_net_hdr, 5.1.6 */
struct virtio_net_header {
    uint8_t flags, gso_type;
    uint16_t header_bytes, gso_bytes, sum_from, sum_at, buffers;
};

/* What a received frame's header says. */
struct virtio_net_frame {
    unsigned buffers; /* that the frame takes, 1 or more */
    uint8_t flags;    /* NET_CHECKED or 0, of net_device.h */
};

/* Reads the header at the start of a frame's first buffer of `room` bytes, of which the device has
 * written `written`. `merges`: it may spread a frame over several buffers, `buffers_max` at most;
 * `checks`: it may vouch for checksums. Returns 0, or -EINVAL: the device broke the rules. */
int virtio_net_read_header(const void *header, uint32_t written, uint32_t room, bool merges,
                           bool checks, unsigned buffers_max, struct virtio_net_frame *out);
/* Fills the header of a frame to be sent. sum_from 0: the device makes no checksum. */
void virtio_net_write_header(struct virtio_net_header *h, uint16_t sum_from, uint16_t sum_at);
