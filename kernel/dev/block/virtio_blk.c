/*
 * Virtio block devices (Virtual I/O Device 1.2, 5.2) on PCI: one queue each, with its interrupt on
 * the CPU that found the device. A request consists of a header that the device reads, the frames,
 * and a status byte that it writes.
 */
#include "block_core.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"
#include "kernel/dev/virtio/virtio.h"

#define KIND_BLOCK        2
#define DISKS_MAX         16
#define DEPTH_MAX         64
#define SEGMENTS_MAX      (BLOCK_PAGES_MAX + 2)
#define SECTORS_PER_PAGE  (PAGE_SIZE / 512)
#define FEATURE_SIZE_MAX  ((uint64_t)1 << 1)
#define FEATURE_SEG_MAX   ((uint64_t)1 << 2)
#define FEATURE_READ_ONLY ((uint64_t)1 << 5)
#define FEATURE_BLK_SIZE  ((uint64_t)1 << 6)
#define FEATURE_FLUSH     ((uint64_t)1 << 9)
#define FEATURES                                                                                 \
    (FEATURE_SIZE_MAX | FEATURE_SEG_MAX | FEATURE_READ_ONLY | FEATURE_BLK_SIZE | FEATURE_FLUSH | \
     VIRTIO_FEATURE_INDIRECT)

/* 5.2.4 */
enum { CONFIG_CAPACITY = 0, CONFIG_SIZE_MAX = 8, CONFIG_SEG_MAX = 12, CONFIG_BLK_SIZE = 20 };
/* 5.2.6 */
enum { TYPE_IN = 0, TYPE_OUT = 1, TYPE_FLUSH = 4 };
enum { STATUS_OK = 0, STATUS_IOERR = 1, STATUS_UNSUPP = 2, STATUS_NONE = 0xff };

/* The memory besides the frames that a request in flight needs; slots are contiguous. */
struct slot {
    struct {
        uint32_t type, reserved;
        uint64_t sector;
    } header;
    uint8_t status;
    struct virtq_descriptor table[SEGMENTS_MAX] ALIGNED(16);
};
#define SLOTS_ORDER 4
_Static_assert(sizeof(struct slot) * DEPTH_MAX <= PAGE_SIZE << SLOTS_ORDER,
               "slots for all requests");

/* Locking: [L] the block device's lock. */
struct disk {
    struct block_device block;
    struct virtio_device device;
    struct virtio_queue queue; /* [L] */
    struct slot *slots;        /* [-] */
    uint8_t free[DEPTH_MAX];   /* [L] slots not in use */
    unsigned free_count;       /* [L] */
    uint32_t segment_bytes;    /* [-] largest segment */
    bool ready;                /* [A] block is set up */
};

static unsigned fill_segments(const struct disk *k, const struct block_request *r,
                              struct virtq_buffer *out)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < r->count; i++) {
        struct virtq_buffer *last = &out[n - 1];
        if (n && last->at + last->bytes == r->frame[i] &&
            last->bytes + PAGE_SIZE <= k->segment_bytes)
            last->bytes += PAGE_SIZE;
        else
            out[n++] = (struct virtq_buffer){r->frame[i], PAGE_SIZE, !r->write};
    }
    return n;
}

static int add_request(struct disk *k, struct block_request *r, struct slot *s)
{
    struct virtq_buffer b[SEGMENTS_MAX];
    unsigned n = 1 + fill_segments(k, r, b + 1);

    b[0] = (struct virtq_buffer){virt_to_phys(&s->header), sizeof(s->header), false};
    b[n++] = (struct virtq_buffer){virt_to_phys(&s->status), sizeof(s->status), true};
    return k->device.features & VIRTIO_FEATURE_INDIRECT
               ? virtq_add_indirect(&k->queue.ring, s->table, virt_to_phys(s->table), b, n, r)
               : virtq_add(&k->queue.ring, b, n, r);
}

static void submit(struct block_device *d, struct block_request *r)
{
    struct disk *k = container_of(d, struct disk, block);
    bool flush = !r->count;

    /* without the feature all completed writes are on the medium */
    if (flush && !(k->device.features & FEATURE_FLUSH)) {
        block_back(r, 0);
        return;
    }
    ASSERT(k->free_count);
    struct slot *s = &k->slots[k->free[--k->free_count]];
    s->header.type = flush ? TYPE_FLUSH : r->write ? TYPE_OUT : TYPE_IN;
    s->header.reserved = 0;
    s->header.sector = flush ? 0 : r->page * SECTORS_PER_PAGE;
    s->status = STATUS_NONE;
    r->driver = s;
    int err = add_request(k, r, s);
    ASSERT(!err); /* the device's depth is within the queue's room */
    virtio_notify(&k->queue);
}

/* Completes a request. Returns what is wrong with the answer, or NULL. */
static const char *finish_request(struct disk *k, struct block_request *r, uint32_t written)
{
    struct slot *s = r->driver;
    uint8_t status = *(volatile uint8_t *)&s->status;
    uint32_t data = r->write ? 0 : r->count * (uint32_t)PAGE_SIZE;

    if (status == STATUS_OK && written != data + sizeof(s->status))
        return "device: it has not written all that it says it has read";
    if (status != STATUS_OK && status != STATUS_IOERR && status != STATUS_UNSUPP)
        return "device: it returned a request without a status";
    k->free[k->free_count++] = (uint8_t)(s - k->slots);
    block_back(r, status == STATUS_OK ? 0 : -EIO);
    return NULL;
}

/* Handles the device's interrupt. Interrupts off. */
static void interrupt(void *arg)
{
    struct disk *k = arg;
    const char *why = NULL;
    uint32_t written;
    void *request;
    int err = 0;

    if (!__atomic_load_n(&k->ready, __ATOMIC_ACQUIRE))
        return;
    bool irq = block_lock(&k->block);
    while (!k->block.failed && !why && !(err = virtq_take(&k->queue.ring, &request, &written)))
        why = finish_request(k, request, written);
    if (err == -EIO)
        why = "device: it returned a request that was not its";
    if (why) {
        virtio_fail(&k->device, why);
        block_broken(&k->block);
    }
    block_unlock(&k->block, irq);
}

static void stop(struct block_device *d)
{
    struct disk *k = container_of(d, struct disk, block);

    virtio_stop(&k->device);
}

static const struct block_ops ops = {submit, stop};

/* ---- Probe ----------------------------------------------------------------------------------- */

/* Reads the number of sectors in two halves; it may change in between. */
static uint64_t capacity(const struct virtio_device *d)
{
    uint32_t low, high;

    do {
        high = virtio_config(d, CONFIG_CAPACITY + 4);
        low = virtio_config(d, CONFIG_CAPACITY);
    } while (high != virtio_config(d, CONFIG_CAPACITY + 4));
    return (uint64_t)high << 32 | low;
}

static uint32_t config_limit(const struct virtio_device *d, uint64_t feature, unsigned at)
{
    return d->features & feature ? virtio_config(d, at) : UINT32_MAX;
}

/* Reads the limits of requests. Returns what is wrong with the device, or NULL. */
static const char *measure_disk(struct disk *k)
{
    const struct virtio_device *d = &k->device;
    unsigned queue = k->queue.ring.size;
    uint32_t segments =
        MIN(config_limit(d, FEATURE_SEG_MAX, CONFIG_SEG_MAX), (uint32_t)BLOCK_PAGES_MAX);

    k->segment_bytes = config_limit(d, FEATURE_SIZE_MAX, CONFIG_SIZE_MAX);
    k->block.pages = capacity(d) / SECTORS_PER_PAGE;
    k->block.read_only = d->features & FEATURE_READ_ONLY;
    if (!k->block.pages)
        return "size: it has not even a page";
    if ((d->features & FEATURE_BLK_SIZE) && virtio_config(d, CONFIG_BLK_SIZE) > PAGE_SIZE)
        return "size: its blocks are larger than a page";
    if (k->segment_bytes < PAGE_SIZE || !segments || queue < 3)
        return "size: it does not take a page at once";
    k->block.pages_max = MIN(segments, queue - 2);
    k->block.depth =
        d->features & VIRTIO_FEATURE_INDIRECT ? queue : queue / (k->block.pages_max + 2);
    k->block.depth = MIN(k->block.depth, (unsigned)DEPTH_MAX);
    return NULL;
}

static const char *set_up(struct disk *k)
{
    paddr_t memory;
    int err = virtio_queue_open(&k->device, 0, VIRTQ_SIZE_MAX, 0, &k->queue);

    if (!err)
        err = frame_alloc(SLOTS_ORDER, &memory);
    if (err)
        return err == -ENOMEM ? "memory: no memory for its queue" : "queues: it has no queue";
    k->slots = phys_to_virt(memory);
    for (unsigned i = 0; i < DEPTH_MAX; i++)
        k->free[k->free_count++] = (uint8_t)i;
    const char *why = measure_disk(k);
    if (why)
        frame_free(memory, SLOTS_ORDER);
    return why;
}

/* Opens the nth device. Returns false if there is none. */
static bool open_disk(unsigned nth, unsigned number, bool *usable)
{
    struct disk *k = kmalloc(sizeof(*k));
    char where[40];

    *usable = false;
    if (!k) {
        kprintf("disk: event=refused kind=virtio reason=memory: no memory for one more\n");
        return false;
    }
    int err = virtio_open(KIND_BLOCK, nth, "disk", 0, FEATURES, &k->device);

    if (!err)
        err = virtio_connect(&k->device, 0, this_cpu(), interrupt, k);
    if (err) { /* an unusable device may still send its interrupt: its memory is kept */
        if (err == -ENODEV)
            kfree(k);
        return err != -ENODEV;
    }
    const char *why = set_up(k);
    if (why) {
        virtio_fail(&k->device, why);
        return true;
    }
    const struct pci_device *pci = &k->device.pci;
    ksnprintf(where, sizeof(where), "virtio at %02x:%02x.%u", pci->bus, pci->slot, pci->function);
    ksnprintf(k->block.name, sizeof(k->block.name), "vd%c", 'a' + number);
    k->block.kind = "virtio";
    k->block.ops = &ops;
    block_add(&k->block, where);
    __atomic_store_n(&k->ready, true, __ATOMIC_RELEASE);
    virtio_start(&k->device);
    *usable = true;
    return true;
}

static void probe(void)
{
    unsigned number = 0;
    bool usable;

    for (unsigned nth = 0; number < DISKS_MAX && open_disk(nth, number, &usable); nth++)
        number += usable;
}

const struct driver block_virtio_driver = {"virtio", DEVICE_BLOCK, probe};
