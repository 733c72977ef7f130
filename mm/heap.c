/*
 * The kernel heap: size classes cut from single pages (after Bonwick's slabs), larger sizes straight from the
 * frames. A page's descriptor says which class it serves, so objects carry no header and kfree finds
 * everything from the address.  Free objects are linked through their first two bytes.  A class keeps at most
 * one empty page.
 */
#include "mm/frame.h"
#include "kernel/lock.h"

static const uint16_t class_size[] = {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1360, 2048};
#define CLASSES ARRAY_SIZE(class_size)

static struct spinlock lock = SPINLOCK(LOCK_HEAP, "heap");
static uint32_t
    partial[CLASSES]; /* lock: pages with at least one free object; next and prev of struct page */

static unsigned class_of(size_t size)
{
    unsigned c = 0;

    while (class_size[c] < size)
        c++;
    return c;
}

static unsigned objects_in(unsigned class)
{
    return PAGE_SIZE / class_size[class];
}

static uint16_t *object_at(const struct page *page, unsigned index)
{
    return (uint16_t *)((char *)phys_to_virt(frame_address(page)) + index * class_size[page->class]);
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

/* Cuts a fresh page into objects. */
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

/* Pages of a large object as an order, or FRAME_ORDER_MAX + 1 when it is too large. */
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

void *kmalloc(size_t size)
{
    void *p;

    if (size > class_size[CLASSES - 1]) {
        p = large_take(size);
    } else {
        bool irq = spin_lock(&lock);
        p = slab_take(class_of(size));
        spin_unlock(&lock, irq);
    }
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
        bool irq = spin_lock(&lock);
        slab_give(page, p);
        spin_unlock(&lock, irq);
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

void heap_check(void)
{
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
