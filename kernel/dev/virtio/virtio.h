/*
 * Virtio devices on PCI, by the modern interface (Virtual I/O Device 1.2, 4.1): finding one,
 * agreeing on features, setting up queues. A device that says what cannot be gives one line and is
 * left alone, reset. Thread context, one call at a time for one device, unless said otherwise.
 */
#pragma once
#include "kernel/dev/pci/pci_msi.h"
#include "virtio_layout.h"
#include "virtq.h"

#define VIRTIO_FEATURE_INDIRECT  ((uint64_t)1 << 28)
#define VIRTIO_FEATURE_VERSION_1 ((uint64_t)1 << 32)

struct virtio_device {
    struct pci_device pci;
    const char *what;  /* for messages */
    uint64_t features; /* agreed on */
    bool failed;
    struct virtio_layout layout;
    char *common, *notify, *config; /* config NULL: it has no registers of its own kind */
    uint32_t notify_bytes;
    struct pci_msi msi;
};

/* A queue and its doorbell. */
struct virtio_queue {
    struct virtq ring;
    struct virtio_device *device;
    unsigned number;
    char *doorbell;
};

/*
 * The nth device (from 0) of this kind (5, device types). It is reset, and features that both
 * sides know are agreed on: all of needed, and what there is of wanted. handler(arg) is called on
 * the CPU, interrupts off, whenever a queue has something back. 0; -ENODEV: there is no such
 * device; -EIO: it is unusable, as a line has said.
 */
int virtio_open(unsigned kind, unsigned nth, const char *what, uint64_t needed, uint64_t wanted,
                struct cpu *target, void (*handler)(void *arg), void *arg,
                struct virtio_device *out);
/* A register of the device's own kind, at a multiple of 4; 0 where there is none. */
uint32_t virtio_config(const struct virtio_device *d, unsigned at);
/* Before virtio_start. At most size_max requests. 0; -ENOENT: the device has no such queue;
 * -ENOMEM; -EIO, as a line has said. */
int virtio_queue_open(struct virtio_device *d, unsigned number, unsigned size_max,
                      struct virtio_queue *q);
void virtio_start(struct virtio_device *d); /* the device works from now on */
/* Tells the device of what was added to the queue, if it wants to know. Any context. */
void virtio_notify(const struct virtio_queue *q);
/* The device is used no more, and accesses no memory when this returns. Any context; up to a tenth
 * of a second if it does not obey. */
void virtio_stop(struct virtio_device *d);
/* Ends with a device that broke the rules: says why once, stops it. Any context. */
void virtio_fail(struct virtio_device *d, const char *why);
