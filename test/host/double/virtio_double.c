/* See virtio_double.h. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/virtio_double.h"
#include "kernel/arch/arch.h"
#include "kernel/mem/mem.h"
#include "test/host/double/virtio_config.h"

#define BAR 0x40000000

bool host_irqs_on;
struct cpu *host_cpu;
uint64_t host_ticks;
struct virtio_double virtio_double;
uint32_t *virtio_double_capabilities = config;
static void *frames[512];
static unsigned frame_count;

static void require(bool ok)
{
    if (!ok)
        abort();
}

uint16_t virtio_double_get16(unsigned at)
{
    uint16_t v;
    memcpy(&v, virtio_double.bar + at, sizeof(v));
    return v;
}
uint32_t virtio_double_get32(unsigned at)
{
    uint32_t v;
    memcpy(&v, virtio_double.bar + at, sizeof(v));
    return v;
}
void virtio_double_set16(unsigned at, uint16_t v)
{
    memcpy(virtio_double.bar + at, &v, sizeof(v));
}
void virtio_double_set32(unsigned at, uint32_t v)
{
    memcpy(virtio_double.bar + at, &v, sizeof(v));
}
static void *address(unsigned at)
{
    return phys_to_virt(virtio_double_get32(at) | (uint64_t)virtio_double_get32(at + 4) << 32);
}

/* ---- What the driver stands on --------------------------------------------------------------- */

int pci_find(uint16_t vendor, uint16_t device, unsigned nth, struct pci_device *out)
{
    *out = (struct pci_device){.vendor = vendor, .device = device};
    return !virtio_double.absent && vendor == 0x1af4 && device == virtio_double.id && !nth
               ? 0
               : -ENODEV;
}
uint32_t pci_read(const struct pci_device *d, unsigned reg)
{
    (void)d;
    return config[reg / 4];
}
int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size)
{
    (void)d;
    *base = BAR;
    *size = sizeof(virtio_double.bar);
    return n == 4 && !virtio_double.no_bar ? 0 : -ENOENT;
}
void pci_enable(const struct pci_device *d, bool master)
{
    (void)d, (void)master;
}
void pci_silence(const struct pci_device *d)
{
    (void)d;
    virtio_double.silenced++;
}
int pci_msi_connect(const struct pci_device *d, unsigned n, struct cpu *target,
                    void (*handler)(void *arg), void *arg, struct pci_msi *out)
{
    (void)d, (void)n, (void)target, (void)out;
    virtio_double.handler = handler;
    virtio_double.arg = arg;
    return virtio_double.no_messages ? -ENODEV : 0;
}
void *arch_map_device(paddr_t pa, uint64_t size)
{
    require(pa >= BAR && pa + size <= BAR + sizeof(virtio_double.bar));
    return virtio_double.bar + (pa - BAR);
}
uint64_t arch_clock_ns(void)
{
    return host_ticks += NS_PER_MS;
}
int frame_alloc(unsigned order, paddr_t *out)
{
    void *p = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);

    require(p && frame_count < ARRAY_SIZE(frames));
    frames[frame_count++] = p;
    *out = virt_to_phys(p);
    return 0;
}
int frame_alloc_zeroed(paddr_t *out)
{
    int err = frame_alloc(0, out);
    memset(phys_to_virt(*out), 0, PAGE_SIZE);
    return err;
}
void frame_free(paddr_t pa, unsigned order)
{
    (void)order;
    for (unsigned i = 0; i < frame_count; i++) {
        if (frames[i] != phys_to_virt(pa))
            continue;
        free(frames[i]);
        frames[i] = frames[--frame_count];
        return;
    }
    abort();
}

/* ---- The device ------------------------------------------------------------------------------ */

void virtio_double_done(unsigned queue, uint32_t id, uint32_t bytes)
{
    struct virtq_used *u = virtio_double.queue[queue].used;

    u->ring[u->index % virtio_double.queue[queue].size] = (struct virtq_used_element){id, bytes};
    u->index++;
}

struct virtq_descriptor *virtio_double_next(unsigned queue, uint32_t *id)
{
    struct virtio_double_queue *q = &virtio_double.queue[queue];

    if (!q->available || q->seen == q->available->index)
        return NULL;
    *id = q->available->ring[q->seen++ % q->size];
    return &q->descriptors[*id];
}

void host_io_read(const volatile void *reg)
{
    (void)reg;
}

static void enable_queue(unsigned n)
{
    require(n < VIRTIO_DOUBLE_QUEUES);
    struct virtio_double_queue *q = &virtio_double.queue[n];
    q->size = virtio_double_get16(0x18);
    q->seen = 0;
    q->descriptors = address(0x20);
    q->available = address(0x28);
    q->used = address(0x30);
}

void host_io_written(volatile void *reg)
{
    struct virtio_double *d = &virtio_double;
    size_t at = (size_t)((volatile uint8_t *)reg - d->bar);
    unsigned queue = virtio_double_get16(0x16);

    if (at >= 0x3000) {
        d->doorbells++;
        virtio_double_rung((unsigned)(at - 0x3000) / 4);
        return;
    }
    switch (at) {
    case 0x00:
        virtio_double_set32(4, virtio_double_get32(0) < 2
                                   ? (uint32_t)(d->features >> 32 * virtio_double_get32(0))
                                   : 0);
        break;
    case 0x14:
        if (d->stuck)
            d->bar[0x14] = 0x40;
        if (d->refuses_features)
            d->bar[0x14] &= (uint8_t)~8;
        break;
    case 0x16:
        virtio_double_set16(0x18, d->queue_size);
        virtio_double_set16(0x1a, 0xffff);
        virtio_double_set16(0x1e, d->notify_off ? d->notify_off : (uint16_t)queue);
        break;
    case 0x1a:
        if (d->no_vector)
            virtio_double_set16(0x1a, 0xffff);
        break;
    case 0x1c:
        enable_queue(queue);
        break;
    }
}

void virtio_double_begin(uint16_t id, uint64_t features)
{
    make_device();
    memset(&virtio_double, 0, sizeof(virtio_double));
    said[0] = '\0';
    virtio_double.id = id;
    virtio_double.features = VIRTIO_FEATURE_VERSION_1 | features;
    virtio_double.queue_size = 64;
    virtio_double_set16(VIRTIO_DOUBLE_QUEUE_COUNT, VIRTIO_DOUBLE_QUEUES);
}

void virtio_double_end(void)
{
    while (frame_count)
        free(frames[--frame_count]);
}

unsigned virtio_double_lines(void)
{
    unsigned n = 0;

    for (const char *c = said; *c; c++)
        n += *c == '\n';
    return n;
}
