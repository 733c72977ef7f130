/* Describes address spaces, for messages and for programs that look at others. */
#include "kernel/core/printf.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/object.h"

/* an access at most this far below a stack is called an overflow of it */
#define OVERFLOW_DISTANCE (64 * KIB)
#define ROW_PAGES         32

/* Tells whether x is the guard page of a stack: the lower part of its mapping, without rights. */
static bool is_guard(const struct region *x)
{
    const struct region *next = region_next(x);

    return !x->prot && next && next->start == x->end &&
           memcmp(x->name, next->name, sizeof(x->name)) == 0;
}

/* Returns the last region that begins below va, or NULL. */
static const struct region *last_below(const struct regions *r, vaddr_t va)
{
    const struct region *x = r->root, *found = NULL;

    while (x)
        if (x->start < va) {
            found = x;
            x = x->right;
        } else {
            x = x->left;
        }
    return found;
}

static void describe_region(const struct region *r, vaddr_t va, char *buf, size_t n)
{
    ksnprintf(buf, n, "%s+%#llx, %s%s%s%s", r->name, (unsigned long long)(va - r->start),
              r->prot ? "" : "no access", r->prot & PROT_R ? "r" : "", r->prot & PROT_W ? "w" : "",
              r->prot & PROT_X ? "x" : "");
}

static const char *describe_locked(struct space *s, vaddr_t va, char *buf, size_t n)
{
    const struct regions *r = &s->regions;
    const struct region *next = regions_above(r, va), *last = last_below(r, va);

    if (next && next->start <= va && is_guard(next)) {
        ksnprintf(buf, n, "guard page of %s: stack overflow", next->name);
        return "overflow";
    }
    if (next && next->start <= va) {
        describe_region(next, va, buf, n);
        return "mapped";
    }
    if (next && next->kind == REGION_STACK && next->start - va <= OVERFLOW_DISTANCE) {
        ksnprintf(buf, n, "%llu bytes below %s: stack overflow",
                  (unsigned long long)(next->start - va), next->name);
        return "overflow";
    }
    if (va < USER_MIN) {
        ksnprintf(buf, n, "null pointer");
        return "null";
    }
    if (va >= USER_MAX) {
        ksnprintf(buf, n, "not user memory");
        return "kernel";
    }
    if (next && next->start - va <= OVERFLOW_DISTANCE)
        ksnprintf(buf, n, "unmapped, %llu bytes below %s", (unsigned long long)(next->start - va),
                  next->name);
    else if (last && va - last->end <= OVERFLOW_DISTANCE)
        ksnprintf(buf, n, "unmapped, %llu bytes behind %s", (unsigned long long)(va - last->end),
                  last->name);
    else
        ksnprintf(buf, n, "unmapped");
    return "unmapped";
}

const char *space_describe(struct space *s, vaddr_t va, char *buf, size_t n)
{
    bool irq = spin_lock(&s->lock);
    const char *kind = describe_locked(s, va, buf, n);

    spin_unlock(&s->lock, irq);
    return kind;
}

bool space_locate(struct space *s, vaddr_t va, struct space_place *out)
{
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_find(&s->regions, va);

    if (r) {
        const struct object *o = object_shown(r);
        *out = (struct space_place){.offset = va - r->start, .bytes = r->end - r->start};
        memcpy(out->region, r->name, sizeof(r->name));
        if (r->flags & REGION_SHARED) {
            out->shared = o ? o->number : s->lineage->number;
            out->shared_offset =
                o ? (region_source_page(r, va) << PAGE_SHIFT) + (va & PAGE_MASK) : va;
        }
    }
    spin_unlock(&s->lock, irq);
    return r;
}

/* [P] held. */
static void put_pool(const struct pool *p, struct space_stats *out)
{
    const struct prefetch *prefetch = p->prefetching.policy;

    out->policy = p->ops->name;
    out->limit_pages = p->limit;
    out->pool_pages = p->frames;
    out->pool = p->stats;
    p->ops->report(p->state, &out->replace);
    out->division = p->share.division;
    out->division.target = p->share.target;
    out->division.planned = p->share.planned;
    out->division.weight = p->share.weight;
    out->prefetch =
        (struct pool_prefetch){.policy = prefetch_none.name, .unused = p->prefetching.unused};
    if (prefetch)
        out->prefetch = (struct pool_prefetch){.policy = prefetch->ops->name,
                                               .level = prefetch->ops->level(prefetch->state),
                                               .unused = p->prefetching.unused,
                                               .late = prefetch->late,
                                               .stopped = prefetch->stopped};
}

void space_stats(struct space *s, struct space_stats *out)
{
    struct pool *p = s->pool;
    bool irq = spin_lock(&s->lock);

    *out = (struct space_stats){.mapped_pages = s->mapped_pages,
                                .resident_pages = s->resident_pages,
                                .locked_pages = s->locked_pages,
                                .out_pages = s->out_pages,
                                .faults = s->faults,
                                .waits = s->waits,
                                .waited_ns = s->waited_ns,
                                .watched = s->watched};
    spin_lock_irqoff(&p->lock);
    if (p->limited)
        put_pool(p, out);
    out->room_pages = pool_room_pages(p);
    spin_unlock_irqoff(&p->lock);
    spin_unlock(&s->lock, irq);
}

bool space_stats_of_files(struct space_stats *out)
{
    struct pool *p = pool_of_files();

    *out = (struct space_stats){0};
    if (!p)
        return false;
    bool irq = spin_lock(&p->lock);
    if (p->limited)
        put_pool(p, out);
    out->resident_pages = p->held;
    out->elsewhere_pages = p->elsewhere;
    spin_unlock(&p->lock, irq);
    return true;
}

/* Counts the pages of [va, end) that are resident and out, row by row. */
static void count_pages(struct space *s, vaddr_t va, vaddr_t end, struct region_stats *out)
{
    struct arch_page row[ROW_PAGES];

    while (va < end) {
        vaddr_t row_end = MIN(ALIGN_DOWN(va, ROW_PAGES * PAGE_SIZE) + ROW_PAGES * PAGE_SIZE, end);
        unsigned n = (unsigned)((row_end - va) >> PAGE_SHIFT);
        bool irq = spin_lock(&s->lock);
        unsigned some = arch_space_look(&s->arch, va, n, row);
        if (!some)
            row_end = arch_space_skip(&s->arch, row_end, end);
        spin_unlock(&s->lock, irq);
        for (unsigned i = 0; some && i < n; i++) {
            out->resident_pages += row[i].kind == ARCH_PAGE_HERE;
            out->out_pages += row[i].kind == ARCH_PAGE_OUT;
        }
        va = row_end;
    }
}

/* [S] held. */
static const char *policy_of(struct space *s, const struct region *r)
{
    struct pool *p = s->pool;
    struct replace_report report;

    if (!p->limited)
        return NULL;
    spin_lock_irqoff(&p->lock);
    p->ops->report(p->state, &report);
    spin_unlock_irqoff(&p->lock);
    return report.mru_regions >> r->tag & 1 ? replace_mru.name : report.policy;
}

bool space_next_region(struct space *s, vaddr_t from, struct region_stats *out)
{
    vaddr_t low = 0, high = 0;
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_above(&s->regions, from);
    bool is = r;

    if (is) {
        *out = (struct region_stats){.start = r->start,
                                     .end = r->end,
                                     .prot = r->prot,
                                     .advice = r->advice,
                                     .shared = r->flags & REGION_SHARED,
                                     .grows = r->flags & REGION_GROWS,
                                     .kind = r->kind,
                                     .offset = region_source_page(r, r->start) * PAGE_SIZE,
                                     .faults = r->faults,
                                     .slow_faults = r->slow_faults,
                                     .policy = policy_of(s, r)};
        memcpy(out->name, r->name, sizeof(out->name));
        low = r->touched_lo;
        high = r->touched_hi;
    }
    spin_unlock(&s->lock, irq);
    count_pages(s, low, high, out);
    return is;
}

bool space_region_name(struct space *s, unsigned tag, char name[REGION_NAME_MAX])
{
    bool irq = spin_lock(&s->lock), is = false;

    for (const struct region *r = regions_above(&s->regions, 0); r && !is; r = region_next(r))
        if ((is = r->tag == tag))
            memcpy(name, r->name, REGION_NAME_MAX);
    spin_unlock(&s->lock, irq);
    return is;
}

const void *space_word_owner(struct space *s, vaddr_t va, uint64_t *place)
{
    *place = va;
    if (!__atomic_load_n(&s->has_shared, __ATOMIC_RELAXED))
        return s;
    bool irq = spin_lock(&s->lock);
    const struct region *r = regions_find(&s->regions, va);
    const struct object *o = r ? object_shown(r) : NULL;
    const void *owner = o                               ? (const void *)o
                        : r && r->flags & REGION_SHARED ? (const void *)s->lineage
                                                        : s;
    if (o)
        *place = (region_source_page(r, va) << PAGE_SHIFT) + (va & PAGE_MASK);

    spin_unlock(&s->lock, irq);
    return owner;
}

uint64_t space_pages(const struct space *s)
{
    return __atomic_load_n(&s->resident_pages, __ATOMIC_RELAXED) +
           __atomic_load_n(&s->out_pages, __ATOMIC_RELAXED);
}
