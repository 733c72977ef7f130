/*
 * Address spaces: regions over page tables. Memory is demand-zero (fault.c). No region is writable
 * and executable.
 *
 * Unmapping first marks regions as dying. A dying region admits no fault and cannot be mapped over,
 * changed or unmapped by another thread. So its pages can be taken away in batches: out of the
 * tables under the lock, out of the TLBs without it, and only then the frames are freed.
 */
#include "mm/space.h"
#include "mm/track/track.h"
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/swap.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"
#include "kernel/mem/mem.h"

#define MMAP_BASE        ((vaddr_t)0x200000000000)
#define REGIONS_FIRST    32
#define REGIONS_MAX      8192
#define MAPPED_PAGES_MAX ((64 * GIB) >> PAGE_SHIFT)
#define BATCH_FRAMES     64   /* freed together after one shootdown */
#define BATCH_STEPS      2048 /* pages looked at in one hold of the lock */
#define ROW_PAGES        32   /* pages looked at in one call; an aligned block of them */

_Static_assert(REGION_NAME_MAX == REGION_NAME_SIZE, "one length of region names");

/* ---- Kernel memory --------------------------------------------------------------------------- */

static int alloc_table(const struct arch_frames *self, paddr_t *out)
{
    struct space_tables *t = container_of(self, struct space_tables, frames);
    int err = t->account ? memory_charge(t->account, PAGE_SIZE) : 0;

    if (err)
        return err;
    err = frame_alloc_zeroed(out);
    if (!t->account)
        return err;
    if (err)
        memory_uncharge(t->account, PAGE_SIZE);
    else
        t->charged++;
    return err;
}

static void free_table(const struct arch_frames *self, paddr_t frame)
{
    struct space_tables *t = container_of(self, struct space_tables, frames);

    frame_free(frame, 0);
    if (t->charged) {
        t->charged--;
        memory_uncharge(t->account, PAGE_SIZE);
    }
}

/* ---- Life ------------------------------------------------------------------------------------ */

int space_create(const struct space *like, struct memory_account *account, struct space **out)
{
    bool pooled = like ? like->pool != NULL : pools_wanted();
    struct space *s = kmalloc(sizeof(*s));

    if (!s)
        return -ENOMEM;
    spin_init(&s->lock, LOCK_SPACE, "space");
    s->regions.items = kmalloc(REGIONS_FIRST * sizeof(struct region));
    s->regions.capacity = REGIONS_FIRST;
    wait_init(&s->unpinned);
    s->tables = (struct space_tables){.frames = {alloc_table, free_table}, .account = account};
    int err = s->regions.items ? arch_space_init(&s->arch, &s->tables.frames) : -ENOMEM;
    if (!err && pooled && (err = pool_join(like ? like->pool : NULL, account, &s->pool)))
        arch_space_destroy(&s->arch);
    if (err) {
        kfree(s->regions.items);
        kfree(s);
        return err;
    }
    s->number = track_space_added(s);
    track_space_begins(s);
    *out = s;
    return 0;
}

uint64_t space_tables_wanted(const struct space *s)
{
    return PAGE_SIZE + (s->pool ? pool_bytes_to_grow(s->pool) : 0);
}

void space_set_pid(struct space *s, uint32_t pid)
{
    s->pid = pid;
    track_space_named(s);
}

uint16_t space_number(const struct space *s)
{
    return s->number;
}

struct arch_space *space_arch(struct space *s)
{
    return &s->arch;
}

/* Makes room for `more` further regions. Returns 0 or -ENOMEM. */
static int reserve_regions_locked(struct space *s, unsigned more)
{
    struct regions *r = &s->regions;

    if (r->count + more <= r->capacity)
        return 0;
    if (r->capacity >= REGIONS_MAX)
        return -ENOMEM;
    uint64_t more_bytes = r->capacity * sizeof(*r->items);
    if (s->tables.account && memory_charge(s->tables.account, more_bytes))
        return -ENOMEM;
    struct region *items = kmalloc(2 * r->capacity * sizeof(*items));
    if (!items) {
        if (s->tables.account)
            memory_uncharge(s->tables.account, more_bytes);
        return -ENOMEM;
    }
    memcpy(items, r->items, r->count * sizeof(*items));
    kfree(r->items);
    r->items = items;
    r->capacity *= 2;
    return 0;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

static bool in_user_space(vaddr_t va, uint64_t len)
{
    return va >= USER_MIN && va < USER_MAX && len <= USER_MAX - va;
}

static int check_prot(unsigned prot)
{
    if (prot & ~(unsigned)(PROT_R | PROT_W | PROT_X))
        return -EINVAL;
    return (prot & PROT_W) && (prot & PROT_X) ? -EACCES : 0;
}

static void name_region(struct region *region, const char *name)
{
    ksnprintf(region->name, sizeof(region->name), "%s", name);
}

static int insert_region_locked(struct space *s, struct region *region, vaddr_t va)
{
    uint64_t len = region->end;
    int err = reserve_regions_locked(s, 1);

    if (err || s->mapped_pages + (len >> PAGE_SHIFT) > MAPPED_PAGES_MAX)
        return -ENOMEM;
    if (!va) {
        err = regions_find_gap(&s->regions, len, MMAP_BASE, USER_MAX, &va);
        if (err)
            return err;
    }
    region->start = region->touched_lo = region->touched_hi = va;
    region->end = va + len;
    err = regions_insert(&s->regions, region);
    if (!err)
        s->mapped_pages += len >> PAGE_SHIFT;
    return err;
}

/* Inserts the region, with region->end as its length, at va, or anywhere if va is 0. Stores the
 * start in *out. */
static int insert_region(struct space *s, struct region *region, vaddr_t va, vaddr_t *out)
{
    bool irq = spin_lock(&s->lock);

    region->tag = s->next_tag++ % REPLACE_REGIONS_MAX;
    int err = insert_region_locked(s, region, va);
    spin_unlock(&s->lock, irq);
    *out = region->start;
    return err;
}

int space_map(struct space *s, vaddr_t va, uint64_t len, unsigned prot, enum region_kind kind,
              const char *name, vaddr_t *out)
{
    int err = check_prot(prot);

    if (err)
        return err;
    if (!len || !IS_ALIGNED(va, PAGE_SIZE) || len > USER_MAX ||
        (va && !in_user_space(va, ALIGN_UP(len, PAGE_SIZE))))
        return -EINVAL;
    struct region region = {.end = ALIGN_UP(len, PAGE_SIZE), .prot = prot, .kind = kind};
    name_region(&region, name);
    return insert_region(s, &region, va, out);
}

int space_map_disk(struct space *s, struct block_device *d, uint64_t page, uint64_t len,
                   unsigned prot, vaddr_t *out, uint64_t *mapped)
{
    int err = check_prot(prot);
    uint64_t left = page < d->pages ? d->pages - page : 0;

    if (err)
        return err;
    if (!left || !IS_ALIGNED(len, PAGE_SIZE) || len / PAGE_SIZE > left)
        return -EINVAL;
    if (swap_uses(d)) /* it has pages of other processes */
        return -EBUSY;
    *mapped = len ? len : left * PAGE_SIZE;
    if (*mapped > USER_MAX)
        return -ENOMEM;
    struct region region = {
        .end = *mapped, .prot = prot, .kind = REGION_DISK, .source = d, .source_page = page};
    name_region(&region, d->name);
    return insert_region(s, &region, 0, out);
}

/* ---- Taking pages away ----------------------------------------------------------------------- */

struct batch {
    paddr_t frames[BATCH_FRAMES];
    unsigned n;
    bool flush;       /* TLBs may map a page of the batch */
    uint32_t waiting; /* the node that is being written and must be waited for, or NODE_NONE */
};

/* Takes out a mapped page. Returns false, with b->waiting set, if the page is still being
 * written. */
static bool collect_here_locked(struct space *s, vaddr_t va, const struct arch_page *page,
                                struct batch *b)
{
    struct pool *p = s->pool;
    uint32_t n = p ? frame_page(page->pa)->next : NODE_NONE;

    if (p) {
        spin_lock_irqoff(&p->lock);
        b->waiting = p->nodes[n].flags & NODE_RESCUED ? n : NODE_NONE;
        if (b->waiting == NODE_NONE)
            pool_forget(p, n);
        spin_unlock_irqoff(&p->lock);
    }
    if (b->waiting != NODE_NONE)
        return false;
    int err = arch_space_unmap(&s->arch, va, &b->frames[b->n]);
    ASSERT(!err);
    track_forget(s, va);
    b->n++;
    b->flush = true;
    s->resident_pages--;
    return true;
}

/* Takes out a page that is out or on its way. If it is being evicted, TLBs may still map it. */
static void collect_out_locked(struct space *s, vaddr_t va, uint32_t n, struct batch *b)
{
    struct pool *p = s->pool;

    spin_lock_irqoff(&p->lock);
    b->flush |= p->nodes[n].state == NODE_GOING;
    pool_forget(p, n);
    spin_unlock_irqoff(&p->lock);
    arch_space_forget(&s->arch, va);
    track_forget(s, va);
    s->out_pages--;
}

/* Takes pages of [va, end) out of the tables until the batch is full or BATCH_STEPS were looked at.
 * The tracker forgets them, so that the first use of a later page there is logged. Returns how far
 * it came. */
static NOINLINE vaddr_t collect_locked(struct space *s, vaddr_t va, vaddr_t end, struct batch *b)
{
    struct arch_page row[ROW_PAGES];

    *b = (struct batch){.waiting = NODE_NONE};
    for (unsigned steps = 0; va < end && steps < BATCH_STEPS && b->n + ROW_PAGES <= BATCH_FRAMES;) {
        vaddr_t row_end = MIN(ALIGN_DOWN(va, ROW_PAGES * PAGE_SIZE) + ROW_PAGES * PAGE_SIZE, end);
        unsigned n = (unsigned)((row_end - va) >> PAGE_SHIFT),
                 some = arch_space_look(&s->arch, va, n, row);
        for (unsigned i = 0; some && i < n; i++, va += PAGE_SIZE) {
            if (row[i].kind == ARCH_PAGE_OUT)
                collect_out_locked(s, va, row[i].number, b);
            else if (row[i].kind == ARCH_PAGE_HERE && !collect_here_locked(s, va, &row[i], b))
                return va;
        }
        va = row_end;
        steps += n;
    }
    return va;
}

/* Blocks until node n is not being written any more. */
static void wait_for_writing(struct pool *p, uint32_t n)
{
    bool irq = spin_lock(&p->lock);

    if (p->nodes[n].flags & NODE_RESCUED)
        wait_sleep_through(pool_queue(p, n), &p->lock, &irq);
    spin_unlock(&p->lock, irq);
}

/* Drops all pages of [va, end). Unless the regions are dying, faults may bring new ones. */
static void drop_pages(struct space *s, vaddr_t va, vaddr_t end)
{
    struct batch b;

    while (va < end) {
        bool irq = spin_lock(&s->lock);
        vaddr_t next = collect_locked(s, va, end, &b);
        spin_unlock(&s->lock, irq);
        if (b.flush)
            tlb_shootdown(&s->arch, va, (next - va) >> PAGE_SHIFT);
        for (unsigned i = 0; i < b.n; i++)
            frame_free(b.frames[i], 0);
        if (s->pool && b.n)
            pool_uncharge(s->pool, b.n);
        if (b.waiting != NODE_NONE)
            wait_for_writing(s->pool, b.waiting);
        va = next;
        sched_point();
    }
}

/* Waits for threads that evict pages of s. */
static void wait_for_pins(struct space *s)
{
    bool irq = spin_lock(&s->lock);

    while (__atomic_load_n(&s->pins, __ATOMIC_RELAXED))
        wait_sleep_through(&s->unpinned, &s->lock, &irq);
    spin_unlock(&s->lock, irq);
}

/* Checks everything at the end of a process, in debug builds. */
#ifdef DEBUG
static void check_everything(struct space *s)
{
    space_check_end(s);
    heap_check();
    frame_check_blocks();
}
#else
static void check_everything(UNUSED struct space *s)
{
}
#endif

void space_destroy(struct space *s)
{
    check_everything(s);
    track_space_removed(s);
    for (uint32_t i = 0; i < s->regions.count; i++)
        drop_pages(s, s->regions.items[i].touched_lo, s->regions.items[i].touched_hi);
    ASSERT(s->resident_pages == 0 && s->out_pages == 0);
    wait_for_pins(s);
    if (s->pool)
        pool_leave(s->pool);
    arch_space_destroy(&s->arch);
    if (s->tables.account)
        memory_uncharge(s->tables.account,
                        (s->regions.capacity - REGIONS_FIRST) * sizeof(struct region));
    kfree(s->regions.items);
    kfree(s);
}

/* Splits regions at va and end, so that a change concerns whole regions. Returns 0 or -ENOMEM. */
static int cut_locked(struct space *s, vaddr_t va, vaddr_t end)
{
    int err = reserve_regions_locked(s, 2);

    if (err)
        return err;
    regions_split(&s->regions, va);
    regions_split(&s->regions, end);
    return 0;
}

/* Marks all regions of [va, end) that are not dying yet, cut to size, as the caller's to unmap.
 * `owner`: identifies the call. Returns 0 or -ENOMEM. */
static int condemn_locked(struct space *s, vaddr_t va, vaddr_t end, const void *owner)
{
    struct regions *r = &s->regions;
    int err = cut_locked(s, va, end);

    for (uint32_t i = regions_index(r, va); !err && i < r->count && r->items[i].start < end; i++)
        if (!r->items[i].dying)
            r->items[i].dying = owner;
    return err;
}

/* Finds the first region that `owner` marked. Returns false if none is left. Other threads may map
 * memory between these regions meanwhile. */
static bool next_condemned(struct space *s, vaddr_t va, vaddr_t end, const void *owner,
                           struct region *out)
{
    const struct regions *r = &s->regions;
    bool irq = spin_lock(&s->lock);
    uint32_t i = regions_index(r, va);

    while (i < r->count && r->items[i].start < end && r->items[i].dying != owner)
        i++;
    bool found = i < r->count && r->items[i].start < end;
    if (found)
        *out = r->items[i];
    spin_unlock(&s->lock, irq);
    return found;
}

static void remove_region(struct space *s, const struct region *dead)
{
    bool irq = spin_lock(&s->lock);
    uint32_t i = regions_index(&s->regions, dead->start);
    const struct region *r = &s->regions.items[i];

    ASSERT(r->start == dead->start && r->dying == dead->dying);
    /* Another unmapping may have split the region since; its other parts are found as regions of
     * their own. */
    s->mapped_pages -= (r->end - r->start) >> PAGE_SHIFT;
    regions_remove(&s->regions, i);
    spin_unlock(&s->lock, irq);
}

static int check_range(vaddr_t va, uint64_t len)
{
    if (!len || !IS_ALIGNED(va, PAGE_SIZE) || len > USER_MAX)
        return -EINVAL;
    return in_user_space(va, ALIGN_UP(len, PAGE_SIZE)) ? 0 : -EINVAL;
}

int space_unmap(struct space *s, vaddr_t va, uint64_t len)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = check_range(va, len);

    if (err)
        return err;
    struct region dying;
    bool irq = spin_lock(&s->lock);
    err = condemn_locked(s, va, end, &dying);
    spin_unlock(&s->lock, irq);
    while (!err && next_condemned(s, va, end, &dying, &dying)) {
        drop_pages(s, dying.touched_lo, dying.touched_hi);
        remove_region(s, &dying);
    }
    return err;
}

/* ---- Protection ------------------------------------------------------------------------------ */

/* Applies the region's protection to the page at va. Returns whether a page was there. A page that
 * is being evicted is out of the tables, but TLBs may still map it. */
static bool apply_prot_page(struct space *s, vaddr_t va, const struct region *r)
{
    struct arch_page page;

    arch_space_look(&s->arch, va, 1, &page);
    if (page.kind == ARCH_PAGE_HERE) {
        if (s->pool && (r->prot & PROT_X)) /* it may have been read since code was stored to it */
            arch_code_written(phys_to_virt(page.pa));
        arch_space_protect(&s->arch, va, space_page_prot(r->prot));
    }
    return page.kind != ARCH_PAGE_NONE;
}

/* Applies to the pages of [va, end) the protection of their regions, for BATCH_STEPS pages. Adds to
 * *changed the pages that were there. Returns how far it came. */
static vaddr_t apply_prot_locked(struct space *s, vaddr_t va, vaddr_t end, unsigned *changed)
{
    for (unsigned steps = 0; va < end && steps < BATCH_STEPS; steps++) {
        const struct region *r = regions_find(&s->regions, va);
        if (r && va < r->touched_lo)
            va = r->touched_lo;
        else if (!r || va >= r->touched_hi)
            va = r ? r->end : va + PAGE_SIZE;
        else {
            *changed += apply_prot_page(s, va, r);
            va += PAGE_SIZE;
        }
    }
    return va;
}

static void apply_prot(struct space *s, vaddr_t va, vaddr_t end)
{
    while (va < end) {
        unsigned changed = 0;
        bool irq = spin_lock(&s->lock);
        vaddr_t next = apply_prot_locked(s, va, end, &changed);
        spin_unlock(&s->lock, irq);
        if (changed)
            tlb_shootdown(&s->arch, va, (MIN(next, end) - va) >> PAGE_SHIFT);
        va = next;
        sched_point();
    }
}

static int set_prot_locked(struct space *s, vaddr_t va, vaddr_t end, unsigned prot)
{
    struct regions *r = &s->regions;

    if (!regions_cover(r, va, end) || cut_locked(s, va, end))
        return -ENOMEM;
    for (uint32_t i = regions_index(r, va); i < r->count && r->items[i].start < end; i++)
        r->items[i].prot = prot;
    regions_merge(r, va, end);
    return 0;
}

int space_protect(struct space *s, vaddr_t va, uint64_t len, unsigned prot)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = check_range(va, len);

    if (!err)
        err = check_prot(prot);
    if (err)
        return err;
    bool irq = spin_lock(&s->lock);
    err = set_prot_locked(s, va, end, prot);
    spin_unlock(&s->lock, irq);
    if (!err)
        apply_prot(s, va, end);
    return err;
}

/* ---- Advice ---------------------------------------------------------------------------------- */

static int set_advice(struct space *s, vaddr_t va, vaddr_t end, uint8_t advice)
{
    struct regions *r = &s->regions;
    bool irq = spin_lock(&s->lock);
    int err = !regions_cover(r, va, end) || cut_locked(s, va, end) ? -ENOMEM : 0;

    for (uint32_t i = regions_index(r, va); !err && i < r->count && r->items[i].start < end; i++)
        r->items[i].advice = advice;
    if (!err)
        regions_merge(r, va, end);
    spin_unlock(&s->lock, irq);
    return err;
}

int space_advise(struct space *s, vaddr_t va, uint64_t len, enum region_advice advice)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = check_range(va, len);

    if (err)
        return err;
    if (advice <= ADVICE_RANDOM)
        return set_advice(s, va, end, (uint8_t)advice);
    bool irq = spin_lock(&s->lock);
    err = regions_cover(&s->regions, va, end) ? 0 : -ENOMEM;
    spin_unlock(&s->lock, irq);
    if (!err && advice == ADVICE_DONTNEED)
        drop_pages(s, va, end);
    if (!err && advice == ADVICE_WILLNEED)
        space_fetch(s, va, end);
    return err;
}

/* ---- What the kernel shows ------------------------------------------------------------------- */

int space_show(struct space *s, vaddr_t va, paddr_t page)
{
    bool irq = spin_lock(&s->lock);
    int err = arch_space_map(&s->arch, va, page, PROT_R | PROT_USER);

    spin_unlock(&s->lock, irq);
    return err;
}

void space_hide(struct space *s, vaddr_t va)
{
    paddr_t page;
    bool irq = spin_lock(&s->lock);
    int err = arch_space_unmap(&s->arch, va, &page);

    ASSERT(!err);
    spin_unlock(&s->lock, irq);
    tlb_shootdown(&s->arch, va, 1);
}
