/*
 * The registers of the machine's disk (kernel/dev/model/machine.h, struct machine_disk), its
 * arguments, and its transfers to and from the guest's memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "test/machine/engine.h"

static struct disk disk;
static volatile struct machine_disk *page; /* its registers */
static struct {
    paddr_t base;
    uint64_t entries, head; /* entries 0: there is no ring */
} ring;

/* ---- Contents -------------------------------------------------------------------------------- */

/* Returns a number of bytes, written with K, M or G behind it; 0: the text is none. */
static uint64_t size_of(const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;

    if (*text < '0' || *text > '9' || (*end && (!unit || end[1])) || n > UINT64_MAX >> 30)
        return 0;
    return (uint64_t)n << (unit ? 10 * (unit - units + 1) : 0);
}

static int open_file(const char *name)
{
    int fd = open(name, O_RDWR | O_CLOEXEC);

    if (fd < 0 && (errno == EACCES || errno == EROFS)) {
        disk.read_only = true;
        fd = open(name, O_RDONLY | O_CLOEXEC);
    }
    return fd;
}

static void *map_file(const char *name, uint64_t *bytes)
{
    struct stat s;
    int fd = open_file(name);

    if (fd < 0 || fstat(fd, &s))
        machine_error("disk=%s: %s; a size, such as 64M, or a file is wanted", name,
                      strerror(errno));
    *bytes = (uint64_t)s.st_size;
    void *at =
        *bytes < PAGE_SIZE
            ? MAP_FAILED
            : mmap(NULL, *bytes, PROT_READ | (disk.read_only ? 0 : PROT_WRITE), MAP_SHARED, fd, 0);
    close(fd);
    return at;
}

void disk_open(const char *size_or_file)
{
    uint64_t bytes = size_of(size_or_file);
    void *at;

    if (bytes)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    else
        at = map_file(size_or_file, &bytes);
    if (at == MAP_FAILED || bytes < PAGE_SIZE)
        machine_error("disk=%s: a disk has at least a page, and must fit the address space",
                      size_or_file);
    disk.bytes = at;
    disk.pages = bytes / PAGE_SIZE;
}

void disk_times(uint64_t latency_cycles, uint64_t page_cycles)
{
    disk.latency = latency_cycles << CYCLE_SHIFT;
    disk.page_time = page_cycles << CYCLE_SHIFT;
}

void disk_regs_init(void)
{
    page = (volatile struct machine_disk *)(machine.pages + MACHINE_DISK_OFFSET);
    if (!disk.bytes)
        return;
    machine.id->caps |= MACHINE_CAP_DISK;
    page->pages = disk.pages;
    page->latency_cycles = disk.latency >> CYCLE_SHIFT;
    page->page_cycles = disk.page_time >> CYCLE_SHIFT;
    page->read_only = disk.read_only;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void transfer(const struct disk_request *r)
{
    for (unsigned i = 0; i < r->count; i++) {
        uint8_t *contents = disk_page(&disk, r, i);
        if (r->write)
            dma_read(r->frame[i], contents, PAGE_SIZE);
        else
            dma_write(r->frame[i], contents, PAGE_SIZE);
    }
}

static void complete(const struct disk_request *r)
{
    struct machine_disk_done done = {.token = r->token, .time = r->done >> CYCLE_SHIFT};
    paddr_t at =
        ring.base + sizeof(struct machine_disk_ring) + ring.head % ring.entries * sizeof(done);

    transfer(r);
    ring.head++;
    dma_write(at, &done, sizeof(done));
    dma_write(ring.base, &ring.head, sizeof(ring.head));
    if (r->irq_address)
        interrupt_send_device(r->irq_address, r->irq_data);
}

uint64_t disk_deadline(void)
{
    return disk_next(&disk);
}

void disk_run(uint64_t now)
{
    struct disk_request r;

    while (disk_take(&disk, now, &r))
        complete(&r);
}

/* ---- Registers ------------------------------------------------------------------------------- */

static int reset(void)
{
    uint64_t base = page->ring_base, entries = page->ring_entries;
    const uint64_t none = 0;

    disk_reset(&disk);
    ring.entries = ring.head = 0;
    if (!entries)
        return 0;
    if (!is_pow2(entries) || entries < MACHINE_DISK_SLOTS ||
        !IS_ALIGNED(base, MACHINE_DISK_ALIGN) ||
        !dma_in_memory(base, sizeof(struct machine_disk_ring) +
                                 entries * sizeof(struct machine_disk_done)))
        return -EINVAL;
    ring.base = base;
    ring.entries = entries;
    dma_write(base, &none, sizeof(none));
    return 0;
}

static int submit(const struct vcpu *v, paddr_t at)
{
    struct machine_disk_request asked;

    if (!ring.entries || !IS_ALIGNED(at, MACHINE_DISK_ALIGN) || !dma_in_memory(at, sizeof(asked)))
        return -EINVAL;
    dma_read(at, &asked, sizeof(asked));
    struct disk_request r = {.page = asked.page,
                             .count = asked.count,
                             .write = asked.flags & MACHINE_DISK_WRITE,
                             .token = asked.token,
                             .irq_address = asked.irq_address,
                             .irq_data = asked.irq_data};
    if ((asked.flags & ~MACHINE_DISK_WRITE) || asked.count > MACHINE_DISK_PAGES_MAX)
        return -EINVAL;
    for (unsigned i = 0; i < asked.count; i++) {
        r.frame[i] = asked.frame[i];
        if (!dma_in_memory(asked.frame[i], PAGE_SIZE))
            return -EINVAL;
    }
    return disk_submit(&disk, v->now, &r);
}

void disk_store(struct vcpu *v, size_t offset)
{
    if (!disk.bytes)
        return;
    if (offset == offsetof(struct machine_disk, submit))
        page->result = submit(v, page->submit);
    else if (offset == offsetof(struct machine_disk, reset))
        page->result = reset();
    else
        return;
    page->in_flight = disk.in_flight;
    v->slice_end = v->stop = 0; /* the earliest due time may have changed */
}

const struct disk *disk_state(void)
{
    return &disk;
}
