/* See buddy.h. Invariant: no two free buddies of one order exist; they would have been merged. */
#include "kernel/mem/buddy.h"

static uint32_t buddy_of(uint32_t page, unsigned order)
{
    return page ^ (uint32_t)1 << order;
}

static void list_add(struct buddy *b, uint32_t page, unsigned order)
{
    struct page *p = &b->pages[page];

    p->state = PAGE_FREE;
    p->order = order;
    p->prev = 0;
    p->next = b->head[order];
    if (p->next)
        b->pages[p->next].prev = page;
    b->head[order] = page;
}

static void list_del(struct buddy *b, uint32_t page)
{
    struct page *p = &b->pages[page];

    if (p->prev)
        b->pages[p->prev].next = p->next;
    else
        b->head[p->order] = p->next;
    if (p->next)
        b->pages[p->next].prev = p->prev;
    p->state = PAGE_TAIL;
}

static bool is_free_block(const struct buddy *b, uint32_t page, unsigned order)
{
    return page < b->count && b->pages[page].state == PAGE_FREE && b->pages[page].order == order;
}

void buddy_init(struct buddy *b, struct page *pages, uint32_t count)
{
    *b = (struct buddy){.pages = pages, .count = count};
    memset(pages, 0, (size_t)count * sizeof(*pages));
}

static void merge_in(struct buddy *b, uint32_t page, unsigned order)
{
    b->pages[page].state = PAGE_TAIL;
    while (order < BUDDY_ORDERS - 1 && is_free_block(b, buddy_of(page, order), order)) {
        list_del(b, buddy_of(page, order));
        page &= ~((uint32_t)1 << order);
        order++;
    }
    list_add(b, page, order);
}

void buddy_add(struct buddy *b, uint32_t first, uint32_t n)
{
    ASSERT(first > 0 && first <= b->count && n <= b->count - first);
    for (uint32_t i = first; i < first + n; i++) {
        ASSERT(b->pages[i].state == PAGE_RESERVED);
        b->pages[i].state = PAGE_TAIL;
    }
    b->total_pages += n;
    b->free_pages += n;
    while (n) {
        unsigned order = MIN((unsigned)__builtin_ctz(first), (unsigned)BUDDY_ORDERS - 1);
        order = MIN(order, log2_floor(n));
        merge_in(b, first, order);
        first += (uint32_t)1 << order;
        n -= (uint32_t)1 << order;
    }
}

uint32_t buddy_alloc(struct buddy *b, unsigned order)
{
    unsigned found = order;

    while (found < BUDDY_ORDERS && !b->head[found])
        found++;
    if (found >= BUDDY_ORDERS)
        return 0;
    uint32_t page = b->head[found];
    list_del(b, page);
    while (found > order) {
        found--;
        list_add(b, buddy_of(page, found), found);
    }
    b->pages[page].state = PAGE_USED;
    b->pages[page].order = order;
    b->free_pages -= (uint64_t)1 << order;
    return page;
}

void buddy_free(struct buddy *b, uint32_t page, unsigned order)
{
    if (page >= b->count || b->pages[page].state != PAGE_USED || b->pages[page].order != order)
        panic("frame: freeing page %#x of order %u, which is not allocated so", page, order);
    b->free_pages += (uint64_t)1 << order;
    merge_in(b, page, order);
}

static void check_links(const struct buddy *b, uint32_t page, unsigned order)
{
    const struct page *p = &b->pages[page];

    ASSERT(p->prev ? b->pages[p->prev].next == page : b->head[order] == page);
    ASSERT(!p->next || (b->pages[p->next].prev == page && b->pages[p->next].order == order));
}

static void check_block(const struct buddy *b, uint32_t page, unsigned order)
{
    ASSERT(page < b->count && IS_ALIGNED(page, (uint32_t)1 << order));
    ASSERT(b->pages[page].state == PAGE_FREE && b->pages[page].order == order);
    for (uint32_t i = 1; i < (uint32_t)1 << order; i++)
        ASSERT(b->pages[page + i].state == PAGE_TAIL);
    ASSERT(order == BUDDY_ORDERS - 1 || !is_free_block(b, buddy_of(page, order), order));
}

void buddy_check_blocks(const struct buddy *b, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < MIN(b->count, first + n); i++) {
        unsigned order = b->pages[i].order;
        if (b->pages[i].state != PAGE_FREE)
            continue;
        ASSERT(order < BUDDY_ORDERS);
        check_block(b, i, order);
        check_links(b, i, order);
    }
}

void buddy_check(const struct buddy *b)
{
    uint64_t listed = 0, marked = 0;

    for (unsigned order = 0; order < BUDDY_ORDERS; order++) {
        uint32_t prev = 0;
        for (uint32_t page = b->head[order]; page; prev = page, page = b->pages[page].next) {
            ASSERT(b->pages[page].prev == prev);
            check_block(b, page, order);
            listed += (uint64_t)1 << order;
        }
    }
    for (uint32_t i = 0; i < b->count; i++)
        if (b->pages[i].state == PAGE_FREE)
            marked += (uint64_t)1 << b->pages[i].order;
    ASSERT(listed == b->free_pages && marked == listed);
    ASSERT(b->free_pages <= b->total_pages);
}
