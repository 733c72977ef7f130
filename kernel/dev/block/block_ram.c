/*
 * A disk in memory: frames set aside at boot. A thread serves one request after the other, so that
 * code that uses a page before it has been read is found out.
 */
#include "block_core.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define CHUNK_ORDER 8 /* log2 of the frames allocated at a time */
#define CHUNK_PAGES ((uint64_t)1 << CHUNK_ORDER)
#define DEPTH       32

uint64_t disk_ram;

static struct {
    struct block_device device;
    paddr_t *chunk;         /* [-] */
    uint64_t chunks;        /* [-] */
    struct wait_queue work; /* [L] */
    bool copying;           /* [L] the frames of a request are in use */
    struct wait_queue idle; /* [L] waits for the end of that */
} ram;

/* Returns the oldest request that is not done yet. A request that is done, but lost by injection,
 * stays in flight. */
static struct block_request *next_asked(void)
{
    if (ram.device.failed)
        return NULL;
    list_for_each (it, &ram.device.in_flight) {
        struct block_request *r = container_of(it, struct block_request, link);
        if (!r->lost)
            return r;
    }
    return NULL;
}

static void copy_pages(const struct block_request *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t page = r->page + i;
        char *here = phys_to_virt(ram.chunk[page / CHUNK_PAGES] + page % CHUNK_PAGES * PAGE_SIZE);
        char *frame = phys_to_virt(r->frame[i]);
        memcpy(r->write ? here : frame, r->write ? frame : here, PAGE_SIZE);
    }
}

static void serve_for_ever(UNUSED void *arg)
{
    struct block_device *d = &ram.device;
    struct block_request *r;

    for (;;) {
        bool irq = block_lock(d);
        while (!(r = next_asked()))
            wait_sleep(&ram.work, &d->lock, &irq, UINT64_MAX);
        ram.copying = true;
        spin_unlock(&d->lock, irq);
        copy_pages(r);
        irq = block_lock(d);
        ram.copying = false;
        wait_wake(&ram.idle, 1);
        block_back(r, 0);
        block_unlock(d, irq);
    }
}

static void submit(UNUSED struct block_device *d, UNUSED struct block_request *r)
{
    wait_wake(&ram.work, 1);
}

static void stop(struct block_device *d)
{
    bool irq = spin_lock(&d->lock);

    while (ram.copying)
        wait_sleep_through(&ram.idle, &d->lock, &irq);
    spin_unlock(&d->lock, irq);
}

static const struct block_ops ops = {submit, stop};

static void give_back(void)
{
    while (ram.chunks)
        frame_free(ram.chunk[--ram.chunks], CHUNK_ORDER);
    kfree(ram.chunk);
}

static int set_aside(uint64_t pages)
{
    uint64_t wanted = (pages + CHUNK_PAGES - 1) / CHUNK_PAGES;
    int err = 0;

    ram.chunk = kmalloc(wanted * sizeof(*ram.chunk));
    if (!ram.chunk)
        return -ENOMEM;
    while (ram.chunks < wanted && !(err = frame_alloc(CHUNK_ORDER, &ram.chunk[ram.chunks])))
        memset(phys_to_virt(ram.chunk[ram.chunks++]), 0, CHUNK_PAGES * PAGE_SIZE);
    if (err)
        give_back();
    return err;
}

static void probe(void)
{
    uint64_t pages = disk_ram / PAGE_SIZE;

    if (!pages)
        return;
    ram.device = (struct block_device){.name = "ram",
                                       .kind = "ram",
                                       .pages = pages,
                                       .depth = DEPTH,
                                       .pages_max = BLOCK_PAGES_MAX,
                                       .ops = &ops};
    wait_init(&ram.work);
    wait_init(&ram.idle);
    if (set_aside(pages)) {
        kprintf("disk: event=refused name=ram reason=memory: no memory for %llu KB\n",
                (unsigned long long)(disk_ram / KIB));
        return;
    }
    block_add(&ram.device, "in memory");
    /* Without the thread its requests time out after disk.timeout_ms. */
    if (thread_create_kernel("disk-ram", serve_for_ever, NULL, NULL))
        kprintf("disk: event=refused name=ram reason=memory: no memory for its thread\n");
}

const struct driver block_ram_driver = {"ram", DEVICE_BLOCK, probe};
