/* See virtio_net_frame.h. */
#include "virtio_net_frame.h"
#include "net_device.h"

/* 5.1.6 */
enum { HEADER_NEEDS_SUM = 1, HEADER_DATA_VALID = 2 };
#define GSO_NONE 0

int virtio_net_read_header(const void *header, uint32_t written, uint32_t room, bool merges,
                           bool checks, unsigned buffers_max, struct virtio_net_frame *out)
{
    struct virtio_net_header h;

    if (written < sizeof(h) || written > room)
        return -EINVAL;
    memcpy(&h, header, sizeof(h)); /* once: the device may write to it again */
    *out = (struct virtio_net_frame){.buffers = merges ? h.buffers : 1};
    if (!out->buffers || out->buffers > buffers_max)
        return -EINVAL;
    if (h.gso_type != GSO_NONE) /* not negotiated */
        return -EINVAL;
    if (checks && (h.flags & (HEADER_NEEDS_SUM | HEADER_DATA_VALID)))
        out->flags = NET_CHECKED;
    return 0;
}

void virtio_net_write_header(struct virtio_net_header *h, uint16_t sum_from, uint16_t sum_at)
{
    *h = (struct virtio_net_header){0};
    if (!sum_from)
        return;
    h->flags = HEADER_NEEDS_SUM;
    h->sum_from = sum_from;
    h->sum_at = sum_at;
}
