/*
 * Virtio devices on PCI, by the modern interface (Virtual I/O Device 1.2, 4.1): finding one,
 * negotiating features, setting up queues. A device that breaks the rules is reported in one line,
 * reset and no longer used. Thread context, one call at a time for a device, unless stated
 * otherwise.
 */
#pragma once
#include "kernel/dev/pci/pci_msi.h"
#include "virtio_layout.h"
#include "virtq.h"

#define VIRTIO_VECTORS_MAX 16     /* of a device, that can be connected */
#define VIRTIO_NO_VECTOR   0xffff /* for a queue that sends no interrupt */

#define VIRTIO_FEATURE_INDIRECT  ((uint64_t)1 << 28)
#define VIRTIO_FEATURE_VERSION_1 ((uint64_t)1 << 32)

struct virtio_device {
    struct pci_device pci;
    const char *what;  /* names the device in messages */
    uint64_t features; /* negotiated */
    bool failed;
    struct virtio_layout layout;
    char *common, *notify, *config; /* config: registers of the device's own kind; NULL: none */
    uint32_t notify_bytes;
    struct pci_msi msi[VIRTIO_VECTORS_MAX];
};

/* A queue and its doorbell. */
struct virtio_queue {
    struct virtq ring;
    struct virtio_device *device;
    unsigned number, vector;
    char *doorbell;
};

/*
 * Opens the nth device (from 0) of a kind (5, device types): resets it and negotiates all features
 * of `needed`, and those of `wanted` that it has. It sends no interrupt yet. Returns 0; -ENODEV:
 * there is no such device; -EIO: it cannot be used, and the reason was printed.
 */
int virtio_open(unsigned kind, unsigned nth, const char *what, uint64_t needed, uint64_t wanted,
                struct virtio_device *out);
/* Connects interrupt `vector`, 0 to VIRTIO_VECTORS_MAX - 1: it calls handler(arg) on CPU `target`,
 * interrupts off, whenever a queue opened with it has completed requests. Returns 0; -ENOENT: the
 * device has no such interrupt beside number 0; -EIO, and the reason was printed. */
int virtio_connect(struct virtio_device *d, unsigned vector, struct cpu *target,
                   void (*handler)(void *arg), void *arg);
/* Makes the device send interrupt `vector`, which is connected, or none (VIRTIO_NO_VECTOR, as after
 * virtio_open()), when its own registers change. Returns 0 or -ENOENT: it cannot. */
int virtio_config_vector(struct virtio_device *d, unsigned vector);
/* Resets the device, also one that has failed, and negotiates the same features again. Interrupts
 * stay connected; virtio_config_vector() and virtio_queue_again() for each queue, and
 * virtio_start() are next. Returns 0 or -EIO, and the reason was printed. */
int virtio_restart(struct virtio_device *d);
/* Read a register of the device's own kind, at a multiple of its size; 0 if there is none. */
uint32_t virtio_config(const struct virtio_device *d, unsigned at);
uint16_t virtio_config16(const struct virtio_device *d, unsigned at);
uint8_t virtio_config8(const struct virtio_device *d, unsigned at);
/* Sets up a queue of at most `size_max` requests, before virtio_start(), which sends interrupt
 * `vector` or none (VIRTIO_NO_VECTOR). Returns 0; -ENOENT: the device has no such queue; -ENOMEM;
 * -EIO, and the reason was printed. */
int virtio_queue_open(struct virtio_device *d, unsigned number, unsigned size_max, unsigned vector,
                      struct virtio_queue *q);
/* Sets up a queue again, empty, after virtio_restart(). Returns 0 or -EIO, and the reason was
 * printed. */
int virtio_queue_again(struct virtio_queue *q);
void virtio_start(struct virtio_device *d); /* the device works from now on */
/* Notifies the device of requests that were added, if it wants that. Any context. */
void virtio_notify(const struct virtio_queue *q);
/* Stops the device; it accesses no memory when this returns. Takes up to a tenth of a second if the
 * device does not obey. Any context. */
void virtio_stop(struct virtio_device *d);
/* Stops a device that broke the rules, and prints `why`, "REASON: text", once. Any context. */
void virtio_fail(struct virtio_device *d, const char *why);
