/* See region.h. */
#include "mm/policy/region/region.h"
#include "mm/policy/region/tree.h"

void regions_give(struct regions *r, struct region *node)
{
    node->right = r->spare;
    r->spare = node;
    r->spares++;
}

struct region *regions_take(struct regions *r)
{
    struct region *node = r->spare;

    if (node) {
        r->spare = node->right;
        r->spares--;
    }
    return node;
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct region *regions_above(const struct regions *r, vaddr_t va)
{
    struct region *x = r->root, *found = NULL;

    while (x)
        if (x->end > va) {
            found = x;
            x = x->left;
        } else {
            x = x->right;
        }
    return found;
}

struct region *regions_find(const struct regions *r, vaddr_t va)
{
    struct region *x = r->root;

    while (x && (va < x->start || va >= x->end))
        x = va < x->start ? x->left : x->right;
    return x;
}

struct region *region_next(const struct region *x)
{
    if (x->right) {
        x = x->right;
        while (x->left)
            x = x->left;
        return (struct region *)x;
    }
    while (x->parent && x->parent->right == x)
        x = x->parent;
    return x->parent;
}

struct region *region_previous(const struct region *x)
{
    if (x->left) {
        x = x->left;
        while (x->right)
            x = x->right;
        return (struct region *)x;
    }
    while (x->parent && x->parent->left == x)
        x = x->parent;
    return x->parent;
}

/* A search for a gap of len bytes in [low, high), the highest first. */
struct search {
    uint64_t len;
    vaddr_t low, high;
    vaddr_t found; /* its end */
};

static bool gap_fits(struct search *s, vaddr_t from, vaddr_t to)
{
    from = MAX(from, s->low);
    to = MIN(to, s->high);
    s->found = to;
    return from < to && to - from >= s->len;
}

/* Searches the part of the tree from x down, which lies between addresses `below` and `above`. */
static bool search_below(struct search *s, const struct region *x, vaddr_t below, vaddr_t above)
{
    if (above <= s->low || below >= s->high)
        return false;
    if (!x)
        return gap_fits(s, below, above);
    if (MAX(x->gap, MAX(x->low - below, above - x->high)) < s->len)
        return false;
    return search_below(s, x->right, x->end, above) || search_below(s, x->left, below, x->start);
}

int regions_find_gap(const struct regions *r, uint64_t len, vaddr_t low, vaddr_t high, vaddr_t *out)
{
    struct search s = {.len = len, .low = low, .high = high};

    if (!len || !search_below(&s, r->root, 0, UINT64_MAX))
        return -ENOMEM;
    *out = s.found - len;
    return 0;
}

bool regions_cover(const struct regions *r, vaddr_t start, vaddr_t end)
{
    const struct region *x = regions_above(r, start);

    for (; start < end; x = region_next(x)) {
        if (!x || x->start > start || (x->flags & REGION_CLOSED))
            return false;
        start = x->end;
    }
    return true;
}

/* ---- Changing -------------------------------------------------------------------------------- */

int regions_insert(struct regions *r, const struct region *region)
{
    const struct region *above = regions_above(r, region->start);

    if (above && above->start < region->end)
        return -EEXIST;
    struct region *x = regions_take(r);
    if (!x)
        return -ENOSPC;
    *x = *region;
    tree_insert(r, x);
    return 0;
}

static void clip_touched(struct region *region)
{
    region->touched_lo = MAX(region->touched_lo, region->start);
    region->touched_hi = MIN(region->touched_hi, region->end);
    if (region->touched_lo >= region->touched_hi)
        region->touched_lo = region->touched_hi = region->start;
}

int regions_split(struct regions *r, vaddr_t va)
{
    struct region *x = regions_find(r, va);

    if (!x || x->start == va)
        return 0;
    struct region *upper = regions_take(r);
    if (!upper)
        return -ENOSPC;
    *upper = *x;
    upper->source_page = region_source_page(x, va);
    upper->start = va;
    upper->faults = upper->slow_faults = 0;
    clip_touched(upper);
    x->end = va;
    clip_touched(x);
    tree_moved(r, x);
    tree_insert(r, upper);
    return 0;
}

void regions_remove(struct regions *r, struct region *region)
{
    tree_remove(r, region);
    regions_give(r, region);
}

void regions_resize(struct regions *r, struct region *region, vaddr_t start, vaddr_t end)
{
    bool none = region->touched_lo == region->touched_hi;

    region->start = start;
    region->end = end;
    if (none)
        region->touched_lo = region->touched_hi = start;
    clip_touched(region);
    tree_moved(r, region);
}

bool page_source_is(const struct page_source *a, const struct page_source *b)
{
    return a->ops == b->ops && a->of == b->of && a->bytes == b->bytes;
}

bool region_continues(const struct region *a, const struct region *b)
{
    return a->end == b->start && a->prot == b->prot && a->kind == b->kind &&
           a->advice == b->advice && a->flags == b->flags && !(a->flags & REGION_CLOSED) &&
           page_source_is(&a->source, &b->source) &&
           region_source_page(a, a->end) == b->source_page &&
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
    struct region *x = regions_above(r, start ? start - 1 : 0), *next;

    while (x && x->start <= end && (next = region_next(x))) {
        if (x->tag != next->tag || !region_continues(x, next)) {
            x = next;
            continue;
        }
        struct region with = *next;
        regions_remove(r, next);
        join(x, &with);
        tree_moved(r, x);
    }
}

/* ---- One region ------------------------------------------------------------------------------ */

uint64_t region_source_page(const struct region *region, vaddr_t va)
{
    return region->source.ops ? region->source_page + ((va - region->start) >> PAGE_SHIFT) : 0;
}

bool region_behind_source(const struct region *region, vaddr_t va)
{
    uint64_t bytes = region->source.bytes;

    return region->source.ops &&
           region_source_page(region, va) >= (bytes >> PAGE_SHIFT) + ((bytes & PAGE_MASK) != 0);
}

/* Returns whether a read at `page` is where a sequential reading goes on, maybe behind pages that
 * were there. */
static bool goes_on(const struct region *r, vaddr_t page)
{
    return page >= r->ahead_next && page - r->ahead_next < MAX(r->ahead, 1u) * PAGE_SIZE;
}

/* Returns whether it is one in between, of a sequential reading elsewhere. */
static bool is_stray(const struct region *r, vaddr_t page)
{
    return r->ahead > 1 && !goes_on(r, page) && page != r->stray_next;
}

unsigned region_ahead(struct region *region, vaddr_t va, unsigned least, unsigned most)
{
    vaddr_t page = ALIGN_DOWN(va, PAGE_SIZE);
    bool stray = is_stray(region, page);
    unsigned twice = goes_on(region, page)        ? 2u * region->ahead
                     : page == region->stray_next ? 2
                                                  : least;

    ASSERT(va >= region->start && va < region->end && least >= 1 && least <= most &&
           most <= UINT8_MAX);
    unsigned pages = stray ? least : MIN(MAX(twice, least), most);
    if (!stray && !goes_on(region, page))
        region->lead = 0;
    if (!stray)
        region->ahead = (uint8_t)pages;
    return (unsigned)MIN((uint64_t)pages, (region->end - page) >> PAGE_SHIFT);
}

void region_read(struct region *region, vaddr_t va, vaddr_t end)
{
    if (is_stray(region, ALIGN_DOWN(va, PAGE_SIZE)))
        region->stray_next = end;
    else
        region->ahead_next = end;
}

unsigned region_read_on(struct region *region, vaddr_t va, bool late, unsigned most)
{
    vaddr_t page = ALIGN_DOWN(va, PAGE_SIZE), from = region->ahead_next;

    if (region->ahead < 2 || page >= from || from >= region->end)
        return 0;
    uint64_t asked = (from - page) >> PAGE_SHIFT, left = (region->end - from) >> PAGE_SHIFT;
    if (late)
        region->lead =
            (uint8_t)MIN((unsigned)region->lead + region->ahead, (unsigned)REGION_LEAD_MAX);
    if (asked > MAX(region->lead, region->ahead))
        return 0;
    unsigned pages =
        (unsigned)MIN((uint64_t)MIN(2u * region->ahead, MIN(most, (unsigned)UINT8_MAX)), left);
    if (pages < region->ahead / 2u && pages < left) /* later, in fewer requests */
        return 0;
    region->ahead = (uint8_t)MAX(region->ahead, pages);
    region->ahead_next = from + pages * PAGE_SIZE;
    return pages;
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
    uint32_t spares = 0;

    for (const struct region *x = regions_above(r, 0); x; x = region_next(x)) {
        ASSERT(x->start >= end && x->start < x->end && x->end <= high);
        ASSERT(IS_ALIGNED(x->start | x->end | x->touched_lo | x->touched_hi, PAGE_SIZE));
        ASSERT(x->touched_lo <= x->touched_hi && x->touched_lo >= x->start &&
               x->touched_hi <= x->end);
        end = x->end;
    }
    for (const struct region *x = r->spare; x; x = x->right)
        spares++;
    ASSERT(tree_check(r) == r->count && spares == r->spares);
}
