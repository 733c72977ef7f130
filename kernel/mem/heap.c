/*
 * The kernel heap: size classes cut from single pages (after Bonwick's slabs); larger sizes come
 * directly from the frames. The page descriptor names the class, so objects carry no header and
 * kfree() finds everything from the address. Free objects are linked through their first two bytes.
 * A class keeps at most one empty page.
 *
 * In front of the classes each CPU has a cache of free objects of each class (magazines, Bonwick
 * and Adams 2001). It is used with interrupts off and without the lock, and filled and emptied by
 * several objects at a time. For their pages, cached objects are in use.
 */
#include "kernel/mem/frame.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/mem/mem.h"

static const uint16_t class_size[] = {16,  32,  48,  64,  96,   128,  192,
                                      256, 384, 512, 768, 1024, 1360, 2048};
#define CLASSES ARRAY_SIZE(class_size)

static struct spinlock lock = SPINLOCK(LOCK_HEAP, "heap");
/* Pages with at least one free object, linked by next and prev of struct page; guarded by lock. */
static uint32_t partial[CLASSES];

/* The class of sizes from 16 (n - 1) + 1 to 16 n. */
static const uint8_t class_by[] = {0,
                                   0,
                                   1,
                                   2,
                                   3,
                                   [5 ... 6] = 4,
                                   [7 ... 8] = 5,
                                   [9 ... 12] = 6,
                                   [13 ... 16] = 7,
                                   [17 ... 24] = 8,
                                   [25 ... 32] = 9,
                                   [33 ... 48] = 10,
                                   [49 ... 64] = 11,
                                   [65 ... 85] = 12,
                                   [86 ... 128] = 13};
_Static_assert(ARRAY_SIZE(class_by) == 2048 / 16 + 1, "up to the largest class");

/* A free object in a cache. The tag tells it from an object in use, whatever cache holds it. */
struct cached {
    struct cached *next;
    uint64_t tag;
};
#define TAG 0x667265656f626a00ull

/* Written by its own CPU only, interrupts off. */
static struct cache {
    struct {
        struct cached *first;
        uint32_t count;
    } of[CLASSES];
} ALIGNED(CACHE_LINE) caches[CPU_MAX];

/* largest total of a class, but CACHED_LEAST objects are always allowed */
#define CACHED_BYTES 2048
#define CACHED_LEAST 4

static unsigned class_of(size_t size)
{
    return class_by[(size + 15) / 16];
}

/* Returns the number of objects that a cache may hold; it is filled and emptied to half of that. */
static unsigned cached_max(unsigned class)
{
    return MAX(CACHED_BYTES / class_size[class], CACHED_LEAST);
}

static unsigned objects_in(unsigned class)
{
    return PAGE_SIZE / class_size[class];
}

static uint16_t *object_at(const struct page *page, unsigned index)
{
    return (uint16_t *)((char *)phys_to_virt(frame_address(page)) +
                        index * class_size[page->class]);
}

static void partial_add(struct page *page)
{
    uint32_t *head = &partial[page->class];

    page->prev = 0;
    page->next = *head;
    if (page->next)
        frame_page_number(page->next)->prev = frame_number(page);
    *head = frame_number(page);
}

static void partial_del(struct page *page)
{
    if (page->prev)
        frame_page_number(page->prev)->next = page->next;
    else
        partial[page->class] = page->next;
    if (page->next)
        frame_page_number(page->next)->prev = page->prev;
}

/* Allocates a page and cuts it into objects. */
static struct page *slab_create(unsigned class)
{
    paddr_t pa;

    if (frame_alloc(0, &pa))
        return NULL;
    struct page *page = frame_page(pa);
    page->state = PAGE_SLAB;
    page->class = class;
    page->used = 0;
    page->free_head = 1;
    for (unsigned i = 0; i < objects_in(class); i++)
        *object_at(page, i) = i + 1 < objects_in(class) ? i + 2 : 0;
    partial_add(page);
    return page;
}

static void *slab_take(unsigned class)
{
    struct page *page = partial[class] ? frame_page_number(partial[class]) : slab_create(class);

    if (!page)
        return NULL;
    uint16_t *object = object_at(page, page->free_head - 1);
    page->free_head = *object;
    page->used++;
    if (!page->free_head)
        partial_del(page);
    return object;
}

#ifdef DEBUG
static void check_not_free(const struct page *page, unsigned index)
{
    for (unsigned i = page->free_head; i; i = *object_at(page, i - 1))
        if (i - 1 == index)
            panic("heap: %p is freed twice", (void *)object_at(page, index));
}
#else
static void check_not_free(UNUSED const struct page *page, UNUSED unsigned index)
{
}
#endif

static void slab_give(struct page *page, void *p)
{
    uint64_t offset = (vaddr_t)p & PAGE_MASK;
    unsigned index = offset / class_size[page->class];

    if (offset % class_size[page->class] || index >= objects_in(page->class) || !page->used)
        panic("heap: freeing %p, which is no object of size %u", p, class_size[page->class]);
    check_not_free(page, index);
    if (!page->free_head)
        partial_add(page);
    *object_at(page, index) = page->free_head;
    page->free_head = index + 1;
    page->used--;
    if (page->used || (partial[page->class] == frame_number(page) && !page->next))
        return;
    partial_del(page);
    page->state = PAGE_USED;
    page->order = 0;
    frame_free(frame_address(page), 0);
}

/* ---- Caches; interrupts off ------------------------------------------------------------------ */

static uint64_t tag_of(const struct cached *c)
{
    return TAG ^ (vaddr_t)c;
}

static void cache_push(struct cache *cache, unsigned class, void *object)
{
    struct cached *c = object;

    c->next = cache->of[class].first;
    c->tag = tag_of(c);
    cache->of[class].first = c;
    cache->of[class].count++;
}

static void *cache_pop(struct cache *cache, unsigned class)
{
    struct cached *c = cache->of[class].first;

    if (!c)
        return NULL;
    ASSERT(c->tag == tag_of(c)); /* otherwise the object was written to after it was freed */
    cache->of[class].first = c->next;
    cache->of[class].count--;
    c->tag = 0;
    return c;
}

static void cache_fill(struct cache *cache, unsigned class)
{
    spin_lock_irqoff(&lock);
    while (cache->of[class].count < cached_max(class) / 2) {
        void *object = slab_take(class);
        if (!object)
            break;
        cache_push(cache, class, object);
    }
    spin_unlock_irqoff(&lock);
}

static void cache_empty(struct cache *cache, unsigned class)
{
    spin_lock_irqoff(&lock);
    while (cache->of[class].count > cached_max(class) / 2) {
        void *object = cache_pop(cache, class);
        slab_give(frame_page(virt_to_phys(object)), object);
    }
    spin_unlock_irqoff(&lock);
}

static void *take_object(unsigned class)
{
    struct cache *cache = &caches[this_cpu()->index];

    if (!cache->of[class].first)
        cache_fill(cache, class);
    return cache_pop(cache, class);
}

static void give_object(unsigned class, void *p)
{
    struct cache *cache = &caches[this_cpu()->index];
    const struct cached *c = p;

    if ((vaddr_t)p % PAGE_SIZE % class_size[class] ||
        ((vaddr_t)p & PAGE_MASK) / class_size[class] >= objects_in(class))
        panic("heap: freeing %p, which is no object of size %u", p, class_size[class]);
    if (c->tag == tag_of(c))
        panic("heap: %p is freed twice", p);
    if (cache->of[class].count == cached_max(class))
        cache_empty(cache, class);
    cache_push(cache, class, p);
}

/* Returns the order of a large object's pages, or FRAME_ORDER_MAX + 1 if it is too large. */
static unsigned order_of(size_t size)
{
    unsigned order = 0;

    while (order <= FRAME_ORDER_MAX && PAGE_SIZE << order < size)
        order++;
    return order;
}

static void *large_take(size_t size)
{
    unsigned order = order_of(size);
    paddr_t pa;

    if (order > FRAME_ORDER_MAX || frame_alloc(order, &pa))
        return NULL;
    return phys_to_virt(pa);
}

void *kmalloc_unfilled(size_t size)
{
    if (size > class_size[CLASSES - 1])
        return large_take(size);
    bool irq = arch_irq_save();
    void *p = take_object(class_of(size));
    arch_irq_restore(irq);
    return p;
}

void *kmalloc(size_t size)
{
    void *p = kmalloc_unfilled(size);

    if (p)
        memset(p, 0, size);
    return p;
}

void kfree(void *p)
{
    if (!p)
        return;
    struct page *page = frame_page(virt_to_phys(p));
    if (page->state == PAGE_SLAB) {
        bool irq = arch_irq_save();
        give_object(page->class, p);
        arch_irq_restore(irq);
    } else {
        frame_free(virt_to_phys(p), page->order);
    }
}

static void check_page(const struct page *page, unsigned class)
{
    unsigned n = 0;

    ASSERT(page->state == PAGE_SLAB && page->class == class && page->free_head);
    for (unsigned i = page->free_head; i; i = *object_at(page, i - 1)) {
        ASSERT(i <= objects_in(class));
        n++;
        ASSERT(n <= objects_in(class));
    }
    ASSERT(n + page->used == objects_in(class));
}

/* Checks this CPU's caches. */
static void check_caches(void)
{
    bool irq = arch_irq_save();
    const struct cache *cache = &caches[this_cpu()->index];

    for (unsigned class = 0; class < CLASSES; class ++) {
        uint32_t n = 0;
        for (const struct cached *c = cache->of[class].first; c; c = c->next, n++) {
            const struct page *page = frame_page(virt_to_phys(c));
            ASSERT(c->tag == tag_of(c) && page->state == PAGE_SLAB && page->class == class &&
                   page->used);
        }
        ASSERT(n == cache->of[class].count && n <= cached_max(class));
    }
    arch_irq_restore(irq);
}

void heap_check(void)
{
    check_caches();
    for (unsigned c = 0; c < CLASSES; c++) {
        uint32_t prev = 0;
        bool irq = spin_lock(&lock);
        for (uint32_t n = partial[c]; n; prev = n, n = frame_page_number(n)->next) {
            ASSERT(frame_page_number(n)->prev == prev);
            check_page(frame_page_number(n), c);
        }
        spin_unlock(&lock, irq);
    }
}
