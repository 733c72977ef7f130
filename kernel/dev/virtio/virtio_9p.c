/* See virtio_9p.h. */
#include "virtio_9p.h"
#include "virtio.h"
#include "kernel/arch/arch.h"
#include "kernel/lib/text.h"
#include "kernel/mem/mem.h"

#define KIND_9P       9
#define DEVICES_MAX   16
#define QUEUE_REQUEST 0
#define FEATURE_TAG   ((uint64_t)1 << 0) /* VIRTIO_9P_MOUNT_TAG */
#define CONFIG_TAG_N  0
#define CONFIG_TAG    2

struct share_device {
    struct virtio_device device;
    struct virtio_queue queue;
};

static bool has_tag(const struct virtio_device *d, const char *tag)
{
    unsigned n = virtio_config16(d, CONFIG_TAG_N);
    char text[SHARE_TAG_MAX];

    if (!n || n > SHARE_TAG_MAX)
        return false;
    for (unsigned i = 0; i < n; i++)
        text[i] = (char)virtio_config8(d, CONFIG_TAG + i);
    return text_same(tag, text, n);
}

/* Opens the queue of a device that has the tag, and starts it. */
static int start(struct share_device *d, struct cpu *target, void (*wake)(void *arg), void *arg)
{
    int err = virtio_connect(&d->device, 0, target, wake, arg);

    if (err == -ENOENT)
        virtio_fail(&d->device, "interrupt: it has none");
    if (err)
        return -EIO;
    err = virtio_queue_open(&d->device, QUEUE_REQUEST, VIRTQ_SIZE_MAX, 0, &d->queue);
    if (err) {
        virtio_fail(&d->device,
                    err == -ENOMEM ? "memory: no memory for its queue" : "queues: it has no queue");
        return err == -ENOMEM ? err : -EIO;
    }
    virtio_start(&d->device);
    return 0;
}

int share_device_open(const char *tag, struct cpu *target, void (*wake)(void *arg), void *arg,
                      struct share_device **out)
{
    struct share_device *d = kmalloc(sizeof(*d));
    int err = -ENODEV;

    if (!d)
        return -ENOMEM;
    for (unsigned nth = 0; nth < DEVICES_MAX; nth++) {
        err = virtio_open(KIND_9P, nth, "share", 0, FEATURE_TAG, &d->device);
        if (err == -ENODEV)
            break;
        if (!err && has_tag(&d->device, tag)) {
            *out = d;
            return start(d, target, wake, arg); /* its memory is kept: it may still interrupt */
        }
        if (!err)
            virtio_stop(&d->device);
        memset(d, 0, sizeof(*d));
    }
    kfree(d);
    return -ENODEV;
}

int share_device_send(struct share_device *d, paddr_t message, uint32_t bytes, paddr_t reply,
                      uint32_t room, void *token)
{
    struct virtq_buffer b[] = {{message, bytes, false}, {reply, room, true}};
    int err = d->device.failed ? -EIO : virtq_add(&d->queue.ring, b, ARRAY_SIZE(b), token);

    if (!err)
        virtio_notify(&d->queue);
    return err;
}

int share_device_take(struct share_device *d, void **token, uint32_t *bytes)
{
    int err = virtq_take(&d->queue.ring, token, bytes);

    if (err == -EIO)
        virtio_fail(&d->device, "device: it returned a request that was not its");
    return err;
}
