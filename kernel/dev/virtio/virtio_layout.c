/* See virtio_layout.h. */
#include "virtio_layout.h"

enum {
    WORD_STATUS = 0x04 / 4,
    WORD_CAPABILITIES = 0x34 / 4,
    CONFIG_BYTES = VIRTIO_CONFIG_WORDS * 4
};
#define STATUS_CAPABILITIES (1u << 20)
#define CAPABILITY_FIRST    0x40
#define CAPABILITIES_MAX    48
#define CAPABILITY_VENDOR   0x09

/* struct virtio_pci_cap */
enum { KIND_COMMON = 1, KIND_NOTIFY = 2, KIND_DEVICE = 4 };
enum { CAP_BYTES = 16, CAP_NOTIFY_BYTES = 20 };
#define CAP_LENGTH(head) ((head) >> 16 & 0xff)
#define CAP_KIND(head)   ((head) >> 24)
#define DOORBELL_BYTES   2

static void take_region(struct virtio_region *r, const uint32_t *cap)
{
    if (!r->bytes)
        *r = (struct virtio_region){.bar = cap[1] & 0xff, .at = cap[2], .bytes = cap[3]};
}

static int take_capability(struct virtio_layout *out, const uint32_t *config, unsigned at)
{
    const uint32_t *cap = &config[at / 4];
    unsigned kind = CAP_KIND(cap[0]), bytes = kind == KIND_NOTIFY ? CAP_NOTIFY_BYTES : CAP_BYTES;

    if (kind != KIND_COMMON && kind != KIND_NOTIFY && kind != KIND_DEVICE)
        return 0;
    if (CAP_LENGTH(cap[0]) < bytes || at + bytes > CONFIG_BYTES)
        return -EINVAL;
    if ((cap[1] & 0xff) >= VIRTIO_BARS)
        return 0; /* a reserved value, not for this driver */
    if (kind == KIND_NOTIFY && !out->notify.bytes)
        out->notify_multiplier = cap[4];
    take_region(kind == KIND_COMMON   ? &out->common
                : kind == KIND_NOTIFY ? &out->notify
                                      : &out->device,
                cap);
    return 0;
}

int virtio_layout_find(const uint32_t config[VIRTIO_CONFIG_WORDS], struct virtio_layout *out)
{
    unsigned at = config[WORD_CAPABILITIES] & 0xfc;

    *out = (struct virtio_layout){0};
    if (!(config[WORD_STATUS] & STATUS_CAPABILITIES))
        return -ENOENT;
    for (unsigned i = 0; at >= CAPABILITY_FIRST; i++) {
        uint32_t head = config[at / 4];
        if (i == CAPABILITIES_MAX)
            return -EINVAL; /* the list is circular */
        int err = (head & 0xff) == CAPABILITY_VENDOR && at + CAP_BYTES <= CONFIG_BYTES
                      ? take_capability(out, config, at)
                      : 0;
        if (err)
            return err;
        at = head >> 8 & 0xfc;
    }
    if (!out->common.bytes || !out->notify.bytes)
        return -ENOENT;
    bool aligned = IS_ALIGNED(out->common.at, 4) && IS_ALIGNED(out->notify.at, 2) &&
                   IS_ALIGNED(out->device.at, 4);
    bool spaced = !out->notify_multiplier ||
                  (out->notify_multiplier >= DOORBELL_BYTES && is_pow2(out->notify_multiplier));
    return aligned && spaced ? 0 : -EINVAL;
}

bool virtio_region_fits(const struct virtio_region *r, uint64_t bar_bytes, uint32_t wanted)
{
    return r->bytes >= wanted && r->bytes <= bar_bytes && r->at <= bar_bytes - r->bytes;
}

int virtio_doorbell(const struct virtio_layout *l, uint16_t notify_off, uint32_t region_bytes,
                    uint32_t *at)
{
    uint64_t offset = (uint64_t)notify_off * l->notify_multiplier;

    if (offset + DOORBELL_BYTES > region_bytes)
        return -ERANGE;
    *at = (uint32_t)offset;
    return 0;
}
