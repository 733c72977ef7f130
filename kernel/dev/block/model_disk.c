/*
 * The simulated machine's disk, in model time: registers of kernel/dev/model/machine.h. A
 * completion is signalled to the CPU that submitted the request, by a message of its own if there
 * are enough messages.
 */
#include "block_core.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "kernel/dev/model/machine_find.h"
#include "kernel/mem/mem.h"
#include "kernel/dev/pci/pci.h"

#define DEPTH          MACHINE_DISK_SLOTS
#define RING_ENTRIES   MACHINE_DISK_SLOTS
#define REQUESTS_ORDER 3
#define RING_ORDER     0
_Static_assert(DEPTH * sizeof(struct machine_disk_request) <= PAGE_SIZE << REQUESTS_ORDER,
               "room for all");
_Static_assert(sizeof(struct machine_disk_ring) + RING_ENTRIES * sizeof(struct machine_disk_done) <=
                   PAGE_SIZE << RING_ORDER,
               "room for all");

static struct {
    struct block_device block;
    volatile struct machine_disk *regs;   /* [L] */
    struct machine_disk_request *asked;   /* [L] a struct for each request in flight */
    struct block_request *request[DEPTH]; /* [L] requests in flight; NULL: free slot */
    uint8_t free[DEPTH];                  /* [L] */
    unsigned free_count;                  /* [L] */
    const volatile struct machine_disk_ring *ring;
    uint64_t seen;                    /* [L] number of completions taken from the ring */
    struct arch_msi message[CPU_MAX]; /* [-] for each CPU */
    bool ready;                       /* [A] block is set up */
} disk;

/* Stops the disk, which broke the rules or refused a valid request. Lock held. */
static void fail_disk(const char *why)
{
    kprintf("disk: event=stopped name=%s reason=device: %s: not used any more\n", disk.block.name,
            why);
    arch_io_write32(&disk.regs->ring_entries, 0);
    arch_io_write32(&disk.regs->reset, 1);
    block_broken(&disk.block);
}

static void submit(UNUSED struct block_device *d, struct block_request *r)
{
    if (!r->count) { /* flush: completed writes are on the medium */
        block_back(r, 0);
        return;
    }
    ASSERT(disk.free_count);
    unsigned slot = disk.free[--disk.free_count];
    struct machine_disk_request *asked = &disk.asked[slot];
    const struct arch_msi *message = &disk.message[this_cpu()->index];

    *asked = (struct machine_disk_request){
        .page = r->page,
        .count = r->count,
        .flags = r->write ? MACHINE_DISK_WRITE : 0,
        .token = slot,
        .irq_address = message->address,
        .irq_data = message->data,
    };
    memcpy(asked->frame, r->frame, r->count * sizeof(*asked->frame));
    disk.request[slot] = r;
    arch_io_write64(&disk.regs->submit, virt_to_phys(asked));
    if (arch_io_read32(&disk.regs->result))
        fail_disk("it refused a request");
}

/* Takes a completion. Returns false if no such request is in flight. */
static bool take_completion(uint64_t token)
{
    if (token >= DEPTH || !disk.request[token])
        return false;
    struct block_request *r = disk.request[token];
    disk.request[token] = NULL;
    disk.free[disk.free_count++] = (uint8_t)token;
    block_back(r, 0);
    return true;
}

static void interrupt(UNUSED void *arg)
{
    if (!__atomic_load_n(&disk.ready, __ATOMIC_ACQUIRE))
        return;
    bool irq = block_lock(&disk.block);
    uint64_t head = __atomic_load_n(&disk.ring->head, __ATOMIC_ACQUIRE);
    while (!disk.block.failed && disk.seen != head)
        if (head - disk.seen > DEPTH ||
            !take_completion(disk.ring->done[disk.seen++ % RING_ENTRIES].token))
            fail_disk("it returned a request that was not its");
    block_unlock(&disk.block, irq);
}

static void stop(UNUSED struct block_device *d)
{
    bool irq = block_lock(&disk.block);

    arch_io_write32(&disk.regs->ring_entries, 0);
    arch_io_write32(&disk.regs->reset, 1);
    block_unlock(&disk.block, irq);
}

static const struct block_ops ops = {submit, stop};

/* ---- Probe ----------------------------------------------------------------------------------- */

/* Allocates a message for each CPU; CPUs without one use the first CPU's. */
static int connect_messages(uint32_t requester)
{
    unsigned id;

    cpu_for_each (cpu) {
        int err = arch_msi_alloc(requester, cpu, interrupt, NULL, &id);
        if (err && cpu == cpus)
            return err;
        if (err)
            disk.message[cpu->index] = disk.message[0];
        else
            arch_msi_message(id, &disk.message[cpu->index]);
    }
    return 0;
}

static int set_up_memory(void)
{
    paddr_t asked, ring;

    if (frame_alloc(REQUESTS_ORDER, &asked))
        return -ENOMEM;
    if (frame_alloc(RING_ORDER, &ring)) {
        frame_free(asked, REQUESTS_ORDER);
        return -ENOMEM;
    }
    disk.asked = phys_to_virt(asked);
    disk.ring = phys_to_virt(ring);
    for (unsigned i = 0; i < DEPTH; i++)
        disk.free[disk.free_count++] = (uint8_t)i;
    arch_io_write64(&disk.regs->ring_base, ring);
    arch_io_write32(&disk.regs->ring_entries, RING_ENTRIES);
    arch_io_write32(&disk.regs->reset, 1);
    return (int32_t)arch_io_read32(&disk.regs->result);
}

/* Sets the disk up. Returns what is wrong with it, or NULL. */
static const char *set_up(void)
{
    const struct pci_device *pci = machine_pci();

    if (!disk.block.pages)
        return "it has not even a page";
    if (connect_messages(pci_requester(pci)))
        return "nothing here delivers its messages";
    pci_enable(pci, true);
    int err = set_up_memory();
    return err == -ENOMEM ? "no memory for its requests" : err ? "it does not take a ring" : NULL;
}

static void probe(void)
{
    const volatile struct machine_id *id = machine_id();

    if (!id || !(id->caps & MACHINE_CAP_DISK))
        return;
    memset(&disk, 0, sizeof(disk));
    disk.regs = machine_disk();
    disk.block = (struct block_device){
        .name = "model",
        .kind = "model",
        .pages = arch_io_read64(&disk.regs->pages),
        .read_only = arch_io_read32(&disk.regs->read_only),
        .depth = DEPTH,
        .pages_max = MIN(BLOCK_PAGES_MAX, MACHINE_DISK_PAGES_MAX),
        .ops = &ops,
    };
    const char *why = set_up();
    if (why) {
        kprintf("disk: event=refused name=model reason=device: %s: left alone\n", why);
        return;
    }
    block_add(&disk.block, "in model time");
    kprintf("disk: event=timing name=model latency_cycles=%llu page_cycles=%llu\n",
            (unsigned long long)arch_io_read64(&disk.regs->latency_cycles),
            (unsigned long long)arch_io_read64(&disk.regs->page_cycles));
    __atomic_store_n(&disk.ready, true, __ATOMIC_RELEASE);
}

const struct driver block_model_driver = {"model", DEVICE_BLOCK, probe};
