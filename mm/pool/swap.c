/* See swap.h. */
#include "mm/pool/swap.h"
#include "mm/pool/args.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

/* in flight at most; allocated at the start, so that pages can be written without free memory */
#define REQUESTS  64
#define LINES_MAX 8 /* printed about lost slots; then one each time their number doubles */
/* pages keep no slots when less than 1/8 of them is free */
#define SCARCE_PART 8

/* A request and the nodes of its pages. */
struct swap_io {
    struct block_request request;
    struct pool *pool;
    uint32_t node[BLOCK_PAGES_MAX];
    struct list link; /* [lock] in swap.idle */
};

static struct {
    struct block_device *device; /* [-] */
    struct spinlock lock;
    struct slots *slots;                               /* [lock] */
    uint32_t free_slots, bad_slots;                    /* [lock], also read without it */
    struct list idle;                                  /* [lock] struct swap_io */
    struct wait_queue idle_wait;                       /* [lock] */
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

static int make_requests(void)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct swap_io *io = kmalloc(sizeof(*io));
        if (!io)
            return -ENOMEM;
        list_push_back(&swap.idle, &io->link);
    }
    return 0;
}

void swap_init(void)
{
    struct block_device *d = swap_wanted == SWAP_NONE ? NULL : find_device();

    if (!d)
        return;
    list_init(&swap.idle);
    wait_init(&swap.idle_wait);
    uint64_t pages = MIN(MIN(d->pages, swap_size / PAGE_SIZE), (uint64_t)UINT32_MAX - SWAP_CLUSTER);
    swap.slots = area_alloc(slots_bytes((uint32_t)pages));
    if (!swap.slots || make_requests()) {
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

static void end_io(struct swap_io *io, int status)
{
    bool alone = io->request.count == 1;

    for (uint32_t i = 0; i < io->request.count; i++)
        if (io->request.write)
            swap_write_done(io->pool, io->node[i], status, alone);
        else
            swap_read_done(io->pool, io->node[i], status, alone);
    bool irq = spin_lock(&swap.lock);
    list_push_front(&swap.idle, &io->link);
    wait_wake(&swap.idle_wait, 1);
    spin_unlock(&swap.lock, irq);
}

static void request_done(struct block_request *r, int status)
{
    end_io(r->owner, status);
}

/* Waits for an idle request, for pages of p. */
static struct swap_io *get_io(struct pool *p, bool write)
{
    bool irq = spin_lock(&swap.lock);

    while (list_empty(&swap.idle))
        wait_sleep_through(&swap.idle_wait, &swap.lock, &irq);
    struct swap_io *io = container_of(list_pop_front(&swap.idle), struct swap_io, link);
    spin_unlock(&swap.lock, irq);
    io->request.count = 0;
    io->request.write = write;
    io->request.done = request_done;
    io->request.owner = io;
    io->pool = p;
    return io;
}

/* Adds a page, in order of slots. Returns false if it does not fit. */
static bool add_page(struct swap_io *io, const struct swap_page *page)
{
    struct block_request *r = &io->request;

    if (r->count == swap.device->pages_max || (r->count && r->page + r->count != page->slot))
        return false;
    if (!r->count)
        r->page = page->slot;
    r->frame[r->count] = page->frame;
    io->node[r->count++] = page->node;
    return true;
}

static void start_io(struct swap_io *io)
{
    uint32_t count = io->request.count;

    __atomic_fetch_add(io->request.write ? &swap.writes : &swap.reads, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(io->request.write ? &swap.pages_written : &swap.pages_read, count,
                       __ATOMIC_RELAXED);
    int err = block_submit_wait(swap.device, &io->request);
    if (!err)
        return;
    bool irq = arch_irq_save();
    end_io(io, err);
    arch_irq_restore(irq);
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

void swap_pages(struct pool *p, bool write, struct swap_page *page, unsigned n)
{
    struct swap_io *io = NULL;

    sort_by_slot(page, n);
    for (unsigned i = 0; i < n; i++) {
        bool together = io && !page[i].alone && !page[i - 1].alone;
        if (together && add_page(io, &page[i]))
            continue;
        if (io)
            start_io(io);
        io = get_io(p, write);
        add_page(io, &page[i]);
    }
    if (io)
        start_io(io);
}
