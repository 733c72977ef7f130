/*
 * Frames of physical memory: the buddy system under one lock, and in front of it a small cache of
 * single pages for each CPU, refilled and emptied in batches, so that page faults on many CPUs
 * rarely contend. The page descriptors lie in a part of the memory they describe.
 */
#include "kernel/mem/frame.h"
#include "kernel/mem/bootmem.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/mem/mem.h"

#define CACHE_PAGES 32
#define CACHE_BATCH 16
#define BLOCK_MAX   (PAGE_SIZE << FRAME_ORDER_MAX)
#define CHECK_PAGES 256 /* pages checked at a time */

/* Used by its own CPU with interrupts off; frame_stats() only reads `count`. */
struct frame_cache {
    uint32_t count;
    uint32_t pages[CACHE_PAGES];
} ALIGNED(CACHE_LINE);

static struct spinlock lock = SPINLOCK(LOCK_FRAME, "frames");
static struct buddy buddy; /* guarded by lock */
/* address of page number 0, which is never used: memory may begin at a high address */
static paddr_t origin;
static struct frame_cache caches[CPU_MAX];
static const struct boot_info *boot;
static paddr_t added_below; /* boot only: memory below this has been added to the buddy system */
static struct bootmem_range descriptors;

static uint32_t number_of(paddr_t pa)
{
    uint64_t number = (pa - origin) >> PAGE_SHIFT;

    ASSERT(number < buddy.count);
    return (uint32_t)number;
}

static paddr_t address_of(uint32_t number)
{
    return origin + ((paddr_t)number << PAGE_SHIFT);
}

struct page *frame_page(paddr_t pa)
{
    return &buddy.pages[number_of(pa)];
}

paddr_t frame_address(const struct page *page)
{
    return address_of(frame_number(page));
}

struct page *frame_page_number(uint32_t number)
{
    return &buddy.pages[number];
}

uint32_t frame_number(const struct page *page)
{
    return page - buddy.pages;
}

static paddr_t usable_end(const struct boot_info *info)
{
    struct bootmem_range r;
    paddr_t cursor = 0, end = 0;

    while (bootmem_next(info, &cursor, &r))
        end = r.end;
    return end;
}

/* Places the descriptors at the top of the first run of memory with room for them. */
static void place_descriptors(const struct boot_info *info, paddr_t limit, uint32_t count)
{
    uint64_t size = ALIGN_UP(count * sizeof(struct page), PAGE_SIZE);
    struct bootmem_range r;
    paddr_t cursor = 0;

    while (bootmem_next(info, &cursor, &r)) {
        paddr_t end = MIN(r.end, limit);
        if (end > r.base && end - r.base >= size) {
            descriptors = (struct bootmem_range){end - size, end};
            buddy_init(&buddy, phys_to_virt(descriptors.base), count);
            return;
        }
    }
    panic("frame: no room for %llu KB of page descriptors below %#llx",
          (unsigned long long)(size / KIB), (unsigned long long)limit);
}

/* Calls `run` for each run of usable memory in [low, high) without the descriptors. */
static void each_run(paddr_t low, paddr_t high, void (*run)(paddr_t base, paddr_t end, void *arg),
                     void *arg)
{
    struct bootmem_range r;
    paddr_t cursor = 0;

    while (bootmem_next(boot, &cursor, &r)) {
        paddr_t base = MAX(r.base, low), end = MIN(r.end, high);
        if (base < end && descriptors.base >= base && descriptors.end <= end) {
            if (base < descriptors.base)
                run(base, descriptors.base, arg);
            base = descriptors.end;
        }
        if (base < end)
            run(base, end, arg);
    }
}

static void add_run(paddr_t base, paddr_t end, UNUSED void *arg)
{
    buddy_add(&buddy, number_of(base), (uint32_t)((end - base) >> PAGE_SHIFT));
}

void frame_init(const struct boot_info *info, paddr_t limit)
{
    paddr_t first = bootmem_first(info), end = usable_end(info);

    /* Blocks are aligned by page number and by address alike, and the first page is not number
     * 0. */
    origin = ALIGN_DOWN(first - 1, BLOCK_MAX);
    end = MAX(end, origin);
    if ((end - origin) >> PAGE_SHIFT >= UINT32_MAX)
        panic("frame: physical memory from %#llx to %#llx is more than 16 TB",
              (unsigned long long)origin, (unsigned long long)end);
    boot = info;
    place_descriptors(info, limit, (uint32_t)((end - origin) >> PAGE_SHIFT));
    each_run(0, limit, add_run, NULL);
    added_below = limit;
}

void frame_init_rest(void)
{
    each_run(added_below, UINT64_MAX, add_run, NULL);
    added_below = UINT64_MAX;
}

void frame_each_run(void (*run)(paddr_t base, paddr_t end, void *arg), void *arg)
{
    each_run(0, added_below, run, arg);
}

/* ---- Per-CPU caches of single pages; interrupts off ------------------------------------------ */

static bool cache_refill(struct frame_cache *c)
{
    spin_lock_irqoff(&lock);
    while (c->count < CACHE_BATCH) {
        uint32_t page = buddy_alloc(&buddy, 0);
        if (!page)
            break;
        buddy.pages[page].state = PAGE_CACHED;
        c->pages[c->count++] = page;
    }
    spin_unlock_irqoff(&lock);
    return c->count > 0;
}

static void cache_drain(struct frame_cache *c)
{
    spin_lock_irqoff(&lock);
    while (c->count > CACHE_PAGES - CACHE_BATCH) {
        uint32_t page = c->pages[--c->count];
        buddy.pages[page].state = PAGE_USED;
        buddy_free(&buddy, page, 0);
    }
    spin_unlock_irqoff(&lock);
}

static int cache_take(paddr_t *out)
{
    struct frame_cache *c = &caches[this_cpu()->index];

    if (!c->count && !cache_refill(c))
        return -ENOMEM;
    uint32_t page = c->pages[--c->count];
    ASSERT(buddy.pages[page].state == PAGE_CACHED);
    buddy.pages[page].state = PAGE_USED;
    *out = address_of(page);
    return 0;
}

static void cache_give(paddr_t pa)
{
    struct frame_cache *c = &caches[this_cpu()->index];
    struct page *page = frame_page(pa);

    if (page->state != PAGE_USED || page->order != 0)
        panic("frame: freeing %#llx, which is not an allocated page", (unsigned long long)pa);
    page->state = PAGE_CACHED;
    if (c->count == CACHE_PAGES)
        cache_drain(c);
    c->pages[c->count++] = number_of(pa);
}

/* ---- Interface ------------------------------------------------------------------------------- */

int frame_alloc(unsigned order, paddr_t *out)
{
    ASSERT(order <= FRAME_ORDER_MAX);
    if (order == 0) {
        bool irq = arch_irq_save();
        int err = cache_take(out);
        arch_irq_restore(irq);
        return err;
    }
    bool irq = spin_lock(&lock);
    uint32_t page = buddy_alloc(&buddy, order);
    spin_unlock(&lock, irq);
    *out = page ? address_of(page) : 0;
    return page ? 0 : -ENOMEM;
}

int frame_alloc_zeroed(paddr_t *out)
{
    int err = frame_alloc(0, out);

    if (!err)
        arch_zero_page(phys_to_virt(*out));
    return err;
}

void frame_free(paddr_t pa, unsigned order)
{
    ASSERT(IS_ALIGNED(pa, PAGE_SIZE << order));
    if (order == 0) {
        bool irq = arch_irq_save();
        cache_give(pa);
        arch_irq_restore(irq);
        return;
    }
    bool irq = spin_lock(&lock);
    buddy_free(&buddy, number_of(pa), order);
    spin_unlock(&lock, irq);
}

static int alloc_page_table(UNUSED const struct arch_frames *self, paddr_t *out)
{
    return frame_alloc_zeroed(out);
}

static void free_page_table(UNUSED const struct arch_frames *self, paddr_t frame)
{
    frame_free(frame, 0);
}

const struct arch_frames frame_page_tables = {.alloc = alloc_page_table, .free = free_page_table};

void frame_stats(struct frame_stats *out)
{
    bool irq = spin_lock(&lock);

    out->total_pages = buddy.total_pages;
    out->free_pages = buddy.free_pages;
    for (unsigned i = 0; i < CPU_MAX; i++)
        out->free_pages += __atomic_load_n(&caches[i].count, __ATOMIC_RELAXED);
    spin_unlock(&lock, irq);
}

void frame_check_blocks(void)
{
    for (uint32_t first = 0; first < buddy.count; first += CHECK_PAGES) {
        bool irq = spin_lock(&lock);
        buddy_check_blocks(&buddy, first, CHECK_PAGES);
        spin_unlock(&lock, irq);
    }
}

uint64_t frame_free_about(void)
{
    return __atomic_load_n(&buddy.free_pages, __ATOMIC_RELAXED);
}

void frame_check(void)
{
    bool irq = spin_lock(&lock);

    buddy_check(&buddy);
    spin_unlock(&lock, irq);
}
