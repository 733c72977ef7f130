/* See page_index.h. */
#include "mm/page_index.h"

#define NUMBER_BITS 25
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)
#define ROW         16 /* slots of a line */

static uint32_t slots_for(uint32_t numbers)
{
    return 4 * numbers;
}

size_t page_index_bytes(uint32_t numbers)
{
    ASSERT(is_pow2(numbers) && numbers >= ROW && numbers <= PAGE_INDEX_NUMBERS_MAX);
    return sizeof(struct page_index) + slots_for(numbers) * sizeof(uint64_t);
}

void page_index_init(struct page_index *x, uint32_t numbers)
{
    memset(x, 0, page_index_bytes(numbers));
    x->numbers = numbers;
    x->mask = slots_for(numbers) - 1;
}

/* Where the search begins: rows by a multiplicative hash (Knuth 3, 6.4). */
static uint32_t first_slot(const struct page_index *x, uint64_t page)
{
    uint64_t row = (page / ROW * 0x9e3779b97f4a7c15ull) >> 32;

    return (uint32_t)(row * ROW + page % ROW) & x->mask;
}

/* Its slot, or the empty one where it would be. */
static uint32_t search(const struct page_index *x, uint64_t page)
{
    uint32_t at = first_slot(x, page);

    while (x->slot[at] && x->slot[at] >> NUMBER_BITS != page + 1)
        at = (at + 1) & x->mask;
    return at;
}

uint32_t page_index_of(struct page_index *x, uint64_t page)
{
    uint64_t *slot = &x->slot[search(x, page)];

    if (*slot)
        return *slot & NUMBER_MASK;
    if (x->used == x->numbers)
        return PAGE_INDEX_NONE;
    *slot = (page + 1) << NUMBER_BITS | x->used;
    return x->used++;
}

uint32_t page_index_find(const struct page_index *x, uint64_t page)
{
    uint64_t slot = x->slot[search(x, page)];

    return slot ? slot & NUMBER_MASK : PAGE_INDEX_NONE;
}

void page_index_copy(struct page_index *x, const struct page_index *from)
{
    ASSERT(x->numbers >= from->used && !x->used);
    for (uint32_t at = 0; at <= from->mask; at++)
        if (from->slot[at])
            x->slot[search(x, (from->slot[at] >> NUMBER_BITS) - 1)] = from->slot[at];
    x->used = from->used;
}

void page_index_check(const struct page_index *x)
{
    uint32_t used = 0;

    ASSERT(x->used <= x->numbers);
    for (uint32_t at = 0; at <= x->mask; at++) {
        if (!x->slot[at])
            continue;
        used++;
        ASSERT((x->slot[at] & NUMBER_MASK) < x->used);
        ASSERT(search(x, (x->slot[at] >> NUMBER_BITS) - 1) == at);
    }
    ASSERT(used == x->used);
}
