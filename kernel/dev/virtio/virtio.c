/* See virtio.h. */
#include "virtio.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define VENDOR           0x1af4
#define MODERN_ID        0x1040 /* + kind; 4.1.2 */
#define TRANSITIONAL_ID  0x1000 /* + transitional_ids[kind] */
#define RESET_WAIT_NS    (100 * NS_PER_MS)
#define NOTIFY_BYTES_MAX (64 * (uint32_t)KIB) /* of the doorbells that are mapped, at most */
/* of the registers of a device's own kind that are mapped */
#define CONFIG_BYTES 64
#define QUEUE_ORDER  1 /* of a queue's memory */
_Static_assert(VIRTQ_BYTES <= PAGE_SIZE << QUEUE_ORDER, "a queue's memory");

/* struct virtio_pci_common_cfg, 4.1.4.3 */
enum {
    DEVICE_FEATURE_SELECT = 0x00,
    DEVICE_FEATURE = 0x04,
    DRIVER_FEATURE_SELECT = 0x08,
    DRIVER_FEATURE = 0x0c,
    CONFIG_VECTOR = 0x10,
    QUEUES = 0x12,
    STATUS = 0x14,
    QUEUE_SELECT = 0x16,
    QUEUE_SIZE = 0x18,
    QUEUE_MSIX_VECTOR = 0x1a,
    QUEUE_ENABLE = 0x1c,
    QUEUE_NOTIFY_OFF = 0x1e,
    QUEUE_DESCRIPTORS = 0x20,
    QUEUE_AVAILABLE = 0x28,
    QUEUE_USED = 0x30,
};
enum {
    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    STATUS_FEATURES_OK = 8,
    STATUS_FAILED = 128,
};

/* The older numbers of devices that have such numbers (4.1.2.1). */
static const uint8_t transitional_ids[] = {
    [1] = 0x00, [2] = 0x01, [3] = 0x03, [4] = 0x05, [9] = 0x09};

static uint8_t get_status(const struct virtio_device *d)
{
    return arch_io_read8(d->common + STATUS);
}

static void add_status(const struct virtio_device *d, uint8_t bits)
{
    arch_io_write8(d->common + STATUS, get_status(d) | bits);
}

/* `why`: "REASON: text". */
static void say(const struct virtio_device *d, const char *why)
{
    kprintf("virtio: event=refused device=%s at=%02x:%02x.%u reason=%s: left alone\n", d->what,
            d->pci.bus, d->pci.slot, d->pci.function, why);
}

static int find_device(unsigned kind, unsigned nth, struct pci_device *out)
{
    unsigned modern = 0;

    while (modern <= nth && !pci_find(VENDOR, (uint16_t)(MODERN_ID + kind), modern, out))
        modern++;
    if (modern > nth)
        return 0;
    if (kind >= ARRAY_SIZE(transitional_ids) || !kind)
        return -ENODEV;
    return pci_find(VENDOR, (uint16_t)(TRANSITIONAL_ID + transitional_ids[kind]), nth - modern,
                    out);
}

/* Maps a region of registers. Returns NULL if it is not in its BAR, or there is no room to map
 * it. */
static char *map_region(const struct virtio_device *d, const struct virtio_region *r,
                        uint32_t needed, uint32_t most)
{
    paddr_t base;
    uint64_t size;

    if (pci_bar(&d->pci, r->bar, &base, &size) || !virtio_region_fits(r, size, needed))
        return NULL;
    return arch_map_device(base + r->at, MIN(r->bytes, most));
}

static const char *find_registers(struct virtio_device *d)
{
    uint32_t config[VIRTIO_CONFIG_WORDS];

    for (unsigned i = 0; i < VIRTIO_CONFIG_WORDS; i++)
        config[i] = pci_read(&d->pci, 4 * i);
    int err = virtio_layout_find(config, &d->layout);
    if (err)
        return err == -ENOENT ? "interface: it has no modern interface"
                              : "capabilities: its capabilities are broken";
    pci_enable(&d->pci, false);
    d->notify_bytes = MIN(d->layout.notify.bytes, NOTIFY_BYTES_MAX);
    d->common = map_region(d, &d->layout.common, VIRTIO_COMMON_BYTES, VIRTIO_COMMON_BYTES);
    d->notify = map_region(d, &d->layout.notify, 2, NOTIFY_BYTES_MAX);
    if (d->layout.device.bytes)
        d->config = map_region(d, &d->layout.device, 4, CONFIG_BYTES);
    return d->common && d->notify && (d->config || !d->layout.device.bytes)
               ? NULL
               : "registers: its registers cannot be reached";
}

static bool reset_device(const struct virtio_device *d)
{
    uint64_t since_ns = arch_clock_ns();

    arch_io_write8(d->common + STATUS, 0);
    while (get_status(d)) {
        if (arch_clock_ns() - since_ns > RESET_WAIT_NS)
            return false;
        arch_cpu_relax();
    }
    return true;
}

void virtio_stop(struct virtio_device *d)
{
    d->failed = true;
    if (d->common && !reset_device(d))
        pci_silence(&d->pci);
}

void virtio_fail(struct virtio_device *d, const char *why)
{
    if (d->failed)
        return;
    say(d, why);
    arch_io_write8(d->common + STATUS, STATUS_FAILED);
    virtio_stop(d);
}

static uint64_t offered(const struct virtio_device *d)
{
    uint64_t features = 0;

    for (unsigned half = 0; half < 2; half++) {
        arch_io_write32(d->common + DEVICE_FEATURE_SELECT, half);
        features |= (uint64_t)arch_io_read32(d->common + DEVICE_FEATURE) << 32 * half;
    }
    return features;
}

/* Performs steps 2 to 6 of 3.1.1. Returns NULL, or what is wrong. */
static const char *negotiate(struct virtio_device *d, uint64_t needed, uint64_t wanted)
{
    uint64_t there = offered(d);

    needed |= VIRTIO_FEATURE_VERSION_1;
    add_status(d, STATUS_ACKNOWLEDGE);
    add_status(d, STATUS_DRIVER);
    if ((there & needed) != needed)
        return "features: it lacks features that are needed";
    d->features = there & (needed | wanted);
    for (unsigned half = 0; half < 2; half++) {
        arch_io_write32(d->common + DRIVER_FEATURE_SELECT, half);
        arch_io_write32(d->common + DRIVER_FEATURE, (uint32_t)(d->features >> 32 * half));
    }
    add_status(d, STATUS_FEATURES_OK);
    return get_status(d) & STATUS_FEATURES_OK
               ? NULL
               : "features: it does not accept the features it offers";
}

static int reset_and_negotiate(struct virtio_device *d, uint64_t needed, uint64_t wanted)
{
    const char *why = reset_device(d) ? negotiate(d, needed, wanted) : "reset: it does not reset";

    if (why) {
        virtio_fail(d, why);
        return -EIO;
    }
    arch_io_write16(d->common + CONFIG_VECTOR, VIRTIO_NO_VECTOR);
    return 0;
}

int virtio_open(unsigned kind, unsigned nth, const char *what, uint64_t needed, uint64_t wanted,
                struct virtio_device *out)
{
    *out = (struct virtio_device){.what = what};
    if (find_device(kind, nth, &out->pci))
        return -ENODEV;
    const char *why = find_registers(out);
    if (why) {
        out->failed = true;
        say(out, why);
        return -EIO;
    }
    return reset_and_negotiate(out, needed, wanted);
}

int virtio_restart(struct virtio_device *d)
{
    d->failed = false;
    pci_enable(&d->pci, true);
    return reset_and_negotiate(d, d->features, 0);
}

int virtio_connect(struct virtio_device *d, unsigned vector, struct cpu *target,
                   void (*handler)(void *arg), void *arg)
{
    int err = vector < VIRTIO_VECTORS_MAX
                  ? pci_msi_connect(&d->pci, vector, target, handler, arg, &d->msi[vector])
                  : -EINVAL;

    if (!err || vector)
        return err ? -ENOENT : 0;
    virtio_fail(d, "interrupts: it has no message interrupts, or nothing here delivers them");
    return -EIO;
}

/* Writes a register that holds a vector. Returns whether the device accepts it. */
static bool set_vector(const struct virtio_device *d, unsigned reg, unsigned vector)
{
    arch_io_write16(d->common + reg, (uint16_t)vector);
    return arch_io_read16(d->common + reg) == vector;
}

int virtio_config_vector(struct virtio_device *d, unsigned vector)
{
    return set_vector(d, CONFIG_VECTOR, vector) ? 0 : -ENOENT;
}

static bool has_config(const struct virtio_device *d, unsigned at, unsigned bytes)
{
    return d->config && at + bytes <= MIN(d->layout.device.bytes, (uint32_t)CONFIG_BYTES);
}

uint32_t virtio_config(const struct virtio_device *d, unsigned at)
{
    return has_config(d, at, 4) ? arch_io_read32(d->config + at) : 0;
}

uint16_t virtio_config16(const struct virtio_device *d, unsigned at)
{
    return has_config(d, at, 2) ? arch_io_read16(d->config + at) : 0;
}

uint8_t virtio_config8(const struct virtio_device *d, unsigned at)
{
    return has_config(d, at, 1) ? arch_io_read8(d->config + at) : 0;
}

static void write_address(const struct virtio_device *d, unsigned reg, const void *memory)
{
    paddr_t pa = virt_to_phys(memory);

    arch_io_write32(d->common + reg, (uint32_t)pa);
    arch_io_write32(d->common + reg + 4, (uint32_t)(pa >> 32));
}

/* Programs the selected queue. Returns NULL, or what is wrong with it. */
static const char *program_queue(struct virtio_queue *q)
{
    struct virtio_device *d = q->device;
    uint32_t doorbell;

    if (virtio_doorbell(&d->layout, arch_io_read16(d->common + QUEUE_NOTIFY_OFF), d->notify_bytes,
                        &doorbell))
        return "doorbell: a doorbell of its lies outside of them";
    q->doorbell = d->notify + doorbell;
    arch_io_write16(d->common + QUEUE_SIZE, q->ring.size);
    if (!set_vector(d, QUEUE_MSIX_VECTOR, q->vector))
        return "interrupts: it has no message for a queue";
    write_address(d, QUEUE_DESCRIPTORS, q->ring.descriptors);
    write_address(d, QUEUE_AVAILABLE, q->ring.available);
    write_address(d, QUEUE_USED, q->ring.used);
    arch_io_write16(d->common + QUEUE_ENABLE, 1);
    return NULL;
}

int virtio_queue_open(struct virtio_device *d, unsigned number, unsigned size_max, unsigned vector,
                      struct virtio_queue *q)
{
    paddr_t memory;

    *q = (struct virtio_queue){.device = d, .number = number, .vector = vector};
    if (d->failed)
        return -EIO;
    if (number >= arch_io_read16(d->common + QUEUES))
        return -ENOENT;
    arch_io_write16(d->common + QUEUE_SELECT, (uint16_t)number);
    unsigned size = arch_io_read16(d->common + QUEUE_SIZE);
    if (!size)
        return -ENOENT;
    if (frame_alloc(QUEUE_ORDER, &memory))
        return -ENOMEM;
    const char *why = virtq_init(&q->ring, phys_to_virt(memory),
                                 MIN(MIN(size, size_max), (unsigned)VIRTQ_SIZE_MAX))
                          ? "the size of a queue is no power of two"
                          : program_queue(q);
    if (why)
        virtio_fail(d, why);
    return why ? -EIO : 0;
}

int virtio_queue_again(struct virtio_queue *q)
{
    struct virtio_device *d = q->device;

    if (d->failed)
        return -EIO;
    arch_io_write16(d->common + QUEUE_SELECT, (uint16_t)q->number);
    const char *why = arch_io_read16(d->common + QUEUE_SIZE) < q->ring.size
                          ? "queues: a queue is smaller than before"
                          : NULL;
    if (!why) {
        virtq_init(&q->ring, q->ring.descriptors, q->ring.size);
        why = program_queue(q);
    }
    if (why)
        virtio_fail(d, why);
    return why ? -EIO : 0;
}

void virtio_start(struct virtio_device *d)
{
    if (!d->failed)
        add_status(d, STATUS_DRIVER_OK);
}

void virtio_notify(const struct virtio_queue *q)
{
    if (!q->device->failed && virtq_must_notify(&q->ring))
        arch_io_write16(q->doorbell, (uint16_t)q->number);
}
