/* See page_index.h. */
#include "mm/track/page_index.h"

#define NUMBER_BITS 25
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)
#define NO_PAGE     (1ull << 63)
#define LINE        16 /* slots; a power of two */

static uint32_t slots_for(uint32_t numbers, unsigned row_shift)
{
    return 4 * (numbers >> row_shift);
}

size_t page_index_bytes(uint32_t numbers, unsigned row_shift)
{
    ASSERT(row_shift <= PAGE_INDEX_ROW_SHIFT_MAX);
    ASSERT(is_pow2(numbers) && numbers >= 1u << row_shift && numbers <= PAGE_INDEX_NUMBERS_MAX);
    return sizeof(struct page_index) + slots_for(numbers, row_shift) * sizeof(uint64_t);
}

void page_index_init(struct page_index *x, uint32_t numbers, unsigned row_shift)
{
    ASSERT(!x->used && !x->slot[0]);
    x->numbers = numbers;
    x->row_shift = row_shift;
    x->mask = slots_for(numbers, row_shift) - 1;
    x->last_page = NO_PAGE;
}

/*
 * Returns the row's slot, or the empty slot where it would be: by a multiplicative hash (Knuth 3,
 * 6.4) of LINE rows, which are next to each other. If the slot is taken, the next line is tried,
 * one slot further on, so that in the end all slots are.
 */
static uint32_t search(const struct page_index *x, uint64_t row)
{
    uint64_t line = row / LINE * 0x9e3779b97f4a7c15ull >> 32;
    uint32_t at = (uint32_t)(line * LINE + row % LINE) & x->mask;

    for (uint64_t slot; (slot = x->slot[at]) && slot >> NUMBER_BITS != row + 1;)
        at = (at + LINE + 1) & x->mask;
    return at;
}

/* Finds or adds the row and makes it the last one. Returns false if there is no room. */
static bool find_row(struct page_index *x, uint64_t row)
{
    uint64_t *slot = &x->slot[search(x, row)];

    if (!*slot) {
        if (x->used == x->numbers)
            return false;
        *slot = (row + 1) << NUMBER_BITS | x->used;
        x->used += 1u << x->row_shift;
    }
    x->last_page = row << x->row_shift;
    x->last_number = *slot & NUMBER_MASK;
    return true;
}

size_t page_index_of_all(struct page_index *x, const uint64_t *entry, uint64_t mask,
                         uint32_t *number, size_t n)
{
    uint64_t first = x->last_page;
    uint32_t its_number = x->last_number;

    for (size_t i = 0; i < n; i++) {
        uint64_t page = entry[i] & mask;
        if ((page - first) >> x->row_shift) {
            if (!find_row(x, page >> x->row_shift))
                return i;
            first = x->last_page;
            its_number = x->last_number;
        }
        number[i] = its_number + (uint32_t)(page - first);
    }
    return n;
}

uint32_t page_index_of_for_test(struct page_index *x, uint64_t page)
{
    uint32_t number;

    return page_index_of_all(x, &page, ~0ull, &number, 1) ? number : PAGE_INDEX_NONE;
}

uint32_t page_index_find(const struct page_index *x, uint64_t page)
{
    uint64_t slot = x->slot[search(x, page >> x->row_shift)];

    return slot ? (slot & NUMBER_MASK) + (page & ((1u << x->row_shift) - 1)) : PAGE_INDEX_NONE;
}

void page_index_copy(struct page_index *x, const struct page_index *from)
{
    ASSERT(x->numbers >= from->used && !x->used && x->row_shift == from->row_shift);
    for (uint32_t at = 0; at <= from->mask; at++)
        if (from->slot[at])
            x->slot[search(x, (from->slot[at] >> NUMBER_BITS) - 1)] = from->slot[at];
    x->used = from->used;
}

void page_index_check_for_test(const struct page_index *x)
{
    uint32_t used = 0;

    ASSERT(x->used <= x->numbers);
    for (uint32_t at = 0; at <= x->mask; at++) {
        if (!x->slot[at])
            continue;
        ASSERT((x->slot[at] & NUMBER_MASK) < x->used &&
               !(x->slot[at] & ((1u << x->row_shift) - 1)));
        used += 1u << x->row_shift;
        ASSERT(search(x, (x->slot[at] >> NUMBER_BITS) - 1) == at);
    }
    ASSERT(used == x->used);
    if (x->last_page != NO_PAGE)
        ASSERT((x->slot[search(x, x->last_page >> x->row_shift)] & NUMBER_MASK) == x->last_number);
}
