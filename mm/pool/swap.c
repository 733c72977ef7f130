/* See swap.h. */
#include "mm/pool/swap.h"
#include "mm/pool/args.h"
#include "mm/pool/page_io.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define LINES_MAX 8 /* printed about lost slots; then one each time their number doubles */
/* pages keep no slots when less than 1/8 of them is free */
#define SCARCE_PART 8

static struct {
    struct block_device *device; /* [-] */
    struct spinlock lock;
    struct slots *slots;                               /* [lock] */
    uint32_t free_slots, bad_slots;                    /* [lock], also read without it */
    uint64_t reads, writes, pages_read, pages_written; /* [A] */
} swap = {.lock = SPINLOCK(LOCK_SWAP, "swap")};

/* ---- Set-up ---- */

static bool begins(const char *name, const char *kind)
{
    while (*kind && *name == *kind)
        name++, kind++;
    return !*kind;
}

static struct block_device *find_device(void)
{
    static const char *const kinds[] = {
        [SWAP_ANY] = "", [SWAP_RAM] = "ram", [SWAP_VIRTIO] = "virtio", [SWAP_MODEL] = "model"};

    for (struct block_device *d = block_first(); d; d = d->next)
        if (begins(d->kind, kinds[swap_wanted]) && !d->read_only && d->pages >= 2 * SWAP_CLUSTER)
            return d;
    kprintf(
        "swap: event=none kind=%s: no such disk of %u KB or more that can be written: pages stay "
        "in memory\n",
        *kinds[swap_wanted] ? kinds[swap_wanted] : "any",
        (unsigned)(2 * SWAP_CLUSTER * PAGE_SIZE / KIB));
    return NULL;
}

void swap_init(void)
{
    struct block_device *d = swap_wanted == SWAP_NONE ? NULL : find_device();

    if (!d)
        return;
    uint64_t pages = MIN(MIN(d->pages, swap_size / PAGE_SIZE), (uint64_t)UINT32_MAX - SWAP_CLUSTER);
    swap.slots = area_alloc(slots_bytes((uint32_t)pages));
    if (!swap.slots) {
        kprintf("swap: event=none reason=memory: no memory for it: pages stay in memory\n");
        return;
    }
    slots_init(swap.slots, (uint32_t)pages);
    swap.free_slots = swap.slots->free;
    swap.device = d;
    kprintf("swap: event=ready name=%s kind=%s kb=%llu\n", d->name, d->kind,
            (unsigned long long)((uint64_t)swap.slots->slots * PAGE_SIZE / KIB));
}

bool swap_present(void)
{
    return swap.device;
}

bool swap_uses(const struct block_device *d)
{
    return d == swap.device;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static uint32_t free_slots(void)
{
    return __atomic_load_n(&swap.free_slots, __ATOMIC_RELAXED);
}

static void count_free_locked(void)
{
    __atomic_store_n(&swap.free_slots, swap.slots->free, __ATOMIC_RELAXED);
}

uint32_t swap_slot_take(uint32_t want, unsigned index)
{
    /* A failed disk has lost the pages that are out, and gets no more pages. */
    if (!swap.device || swap_failed())
        return SLOT_NONE;
    bool irq = spin_lock(&swap.lock);
    uint32_t slot = slots_take(swap.slots, want, index);
    count_free_locked();
    spin_unlock(&swap.lock, irq);
    return slot;
}

void swap_slot_give(uint32_t slot)
{
    bool irq = spin_lock(&swap.lock);

    slots_give(swap.slots, slot);
    count_free_locked();
    spin_unlock(&swap.lock, irq);
}

void swap_slot_bad(void)
{
    bool irq = spin_lock(&swap.lock);

    swap.bad_slots++;
    spin_unlock(&swap.lock, irq);
}

void swap_report_lost(uint32_t slot)
{
    uint32_t n = __atomic_load_n(&swap.bad_slots, __ATOMIC_RELAXED);

    if (n <= LINES_MAX || is_pow2(n))
        kprintf("swap: event=write-failed slot=%u lost=%u: its page stays in memory\n", slot, n);
}

bool swap_full(void)
{
    return swap.device && free_slots() < SWAP_CLUSTER;
}

bool swap_failed(void)
{
    return swap.device && __atomic_load_n(&swap.device->failed, __ATOMIC_RELAXED);
}

bool swap_scarce(void)
{
    return !swap.device || free_slots() < swap.slots->slots / SCARCE_PART;
}

void swap_stats(struct swap_stats *out)
{
    bool irq = spin_lock(&swap.lock);

    *out = (struct swap_stats){
        .slots = swap.device ? swap.slots->slots : 0,
        .free_slots = free_slots(),
        .bad_slots = swap.bad_slots,
        .reads = __atomic_load_n(&swap.reads, __ATOMIC_RELAXED),
        .writes = __atomic_load_n(&swap.writes, __ATOMIC_RELAXED),
        .pages_read = __atomic_load_n(&swap.pages_read, __ATOMIC_RELAXED),
        .pages_written = __atomic_load_n(&swap.pages_written, __ATOMIC_RELAXED),
    };
    spin_unlock(&swap.lock, irq);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void start_io(struct page_io *io)
{
    bool write = io->request.write;

    __atomic_fetch_add(write ? &swap.writes : &swap.reads, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(write ? &swap.pages_written : &swap.pages_read, io->request.count,
                       __ATOMIC_RELAXED);
    page_io_start(io, swap.device);
}

/* Sorts pages by slot, by insertion: they mostly are in order. */
static void sort_by_slot(struct swap_page *page, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        struct swap_page it = page[i];
        unsigned j = i;
        for (; j > 0 && page[j - 1].slot > it.slot; j--)
            page[j] = page[j - 1];
        page[j] = it;
    }
}

static bool add_page(struct page_io *io, const struct swap_page *page)
{
    return page_io_add(io, swap.device, page->slot, page->frame, page->node);
}

void swap_pages(struct pool *p, bool write, struct swap_page *page, unsigned n)
{
    struct page_io *io = NULL;

    sort_by_slot(page, n);
    for (unsigned i = 0; i < n; i++) {
        bool together = io && !page[i].alone && !page[i - 1].alone;
        if (together && add_page(io, &page[i]))
            continue;
        if (io)
            start_io(io);
        io = page_io_get(p, write);
        add_page(io, &page[i]);
    }
    if (io)
        start_io(io);
}
