/* See region.h. */
#include "mm/policy/region/region.h"

uint32_t regions_index(const struct regions *r, vaddr_t va)
{
    uint32_t lo = 0, hi = r->count;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (r->items[mid].end > va)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

struct region *regions_find(const struct regions *r, vaddr_t va)
{
    uint32_t i = regions_index(r, va);

    return i < r->count && r->items[i].start <= va ? &r->items[i] : NULL;
}

static void open_slot(struct regions *r, uint32_t index)
{
    memmove(&r->items[index + 1], &r->items[index], (r->count - index) * sizeof(r->items[0]));
    r->count++;
}

int regions_insert(struct regions *r, const struct region *region)
{
    uint32_t i = regions_index(r, region->start);

    if (i < r->count && r->items[i].start < region->end)
        return -EEXIST;
    if (r->count == r->capacity)
        return -ENOSPC;
    open_slot(r, i);
    r->items[i] = *region;
    return 0;
}

int regions_find_gap(const struct regions *r, uint64_t len, vaddr_t low, vaddr_t high, vaddr_t *out)
{
    uint64_t need = len + 2 * PAGE_SIZE;
    vaddr_t at = low;

    if (len > high - low || need > high - low)
        return -ENOMEM;
    for (uint32_t i = regions_index(r, low); i < r->count && r->items[i].start < high; i++) {
        if (r->items[i].start >= at && r->items[i].start - at >= need)
            break;
        at = r->items[i].end;
    }
    if (at >= high || high - at < need)
        return -ENOMEM;
    *out = at + PAGE_SIZE;
    return 0;
}

static void clip_touched(struct region *region)
{
    region->touched_lo = MAX(region->touched_lo, region->start);
    region->touched_hi = MIN(region->touched_hi, region->end);
    if (region->touched_lo >= region->touched_hi)
        region->touched_lo = region->touched_hi = region->start;
}

uint64_t region_source_page(const struct region *region, vaddr_t va)
{
    return region->source ? region->source_page + ((va - region->start) >> PAGE_SHIFT) : 0;
}

int regions_split(struct regions *r, vaddr_t va)
{
    uint32_t i = regions_index(r, va);

    if (i == r->count || r->items[i].start >= va)
        return 0;
    if (r->count == r->capacity)
        return -ENOSPC;
    open_slot(r, i);
    r->items[i + 1].source_page = region_source_page(&r->items[i], va);
    r->items[i].end = va;
    r->items[i + 1].start = va;
    r->items[i + 1].faults = r->items[i + 1].slow_faults = 0;
    clip_touched(&r->items[i]);
    clip_touched(&r->items[i + 1]);
    return 0;
}

void regions_remove(struct regions *r, uint32_t index)
{
    ASSERT(index < r->count);
    r->count--;
    memmove(&r->items[index], &r->items[index + 1], (r->count - index) * sizeof(r->items[0]));
}

bool regions_cover(const struct regions *r, vaddr_t start, vaddr_t end)
{
    for (uint32_t i = regions_index(r, start); start < end; i++) {
        if (i == r->count || r->items[i].start > start || r->items[i].dying)
            return false;
        start = r->items[i].end;
    }
    return true;
}

static bool joinable(const struct region *a, const struct region *b)
{
    return a->end == b->start && a->prot == b->prot && a->kind == b->kind &&
           a->advice == b->advice && a->source == b->source &&
           region_source_page(a, a->end) == b->source_page && !a->dying && !b->dying &&
           memcmp(a->name, b->name, sizeof(a->name)) == 0;
}

static void join(struct region *a, const struct region *b)
{
    if (a->touched_lo == a->touched_hi) {
        a->touched_lo = b->touched_lo;
        a->touched_hi = b->touched_hi;
    } else if (b->touched_lo != b->touched_hi) {
        a->touched_hi = b->touched_hi;
    }
    a->end = b->end;
    a->faults += b->faults;
    a->slow_faults += b->slow_faults;
    clip_touched(a);
}

void regions_merge(struct regions *r, vaddr_t start, vaddr_t end)
{
    uint32_t i = regions_index(r, start);

    if (i > 0)
        i--;
    while (i + 1 < r->count && r->items[i].start <= end) {
        if (joinable(&r->items[i], &r->items[i + 1])) {
            join(&r->items[i], &r->items[i + 1]);
            regions_remove(r, i + 1);
        } else {
            i++;
        }
    }
}

unsigned region_ahead(struct region *region, vaddr_t va, unsigned least, unsigned most)
{
    vaddr_t page = ALIGN_DOWN(va, PAGE_SIZE);
    unsigned twice = 2u * region->ahead;

    ASSERT(va >= region->start && va < region->end && least >= 1 && least <= most &&
           most <= UINT8_MAX);
    unsigned pages = page == region->ahead_next ? MIN(MAX(twice, least), most) : least;
    region->ahead = (uint8_t)pages;
    return (unsigned)MIN((uint64_t)pages, (region->end - page) >> PAGE_SHIFT);
}

void region_touch(struct region *region, vaddr_t va)
{
    vaddr_t page = ALIGN_DOWN(va, PAGE_SIZE);

    ASSERT(va >= region->start && va < region->end);
    if (region->touched_lo == region->touched_hi) {
        region->touched_lo = page;
        region->touched_hi = page + PAGE_SIZE;
    }
    region->touched_lo = MIN(region->touched_lo, page);
    region->touched_hi = MAX(region->touched_hi, page + PAGE_SIZE);
}

void regions_check(const struct regions *r, vaddr_t low, vaddr_t high)
{
    vaddr_t end = low;

    ASSERT(r->count <= r->capacity);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct region *x = &r->items[i];
        ASSERT(x->start >= end && x->start < x->end && x->end <= high);
        ASSERT(IS_ALIGNED(x->start | x->end | x->touched_lo | x->touched_hi, PAGE_SIZE));
        ASSERT(x->touched_lo <= x->touched_hi && x->touched_lo >= x->start &&
               x->touched_hi <= x->end);
        end = x->end;
    }
}
