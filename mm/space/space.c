/* Address spaces: their life, and the kernel memory they take. */
#include "mm/object.h"
#include "mm/track/track.h"
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/args.h"
#include "mm/pool/swap.h"
#include "kernel/core/printf.h"
#include "sched/sched.h"
#include "kernel/mem/mem.h"

#define REGIONS_FIRST 32 /* regions that are not charged for */
#define SPARES_MAX    4  /* kept for the next change */

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

/* Makes what a space has besides a pool and a lineage. */
static struct space *begin_space(const struct space *like, struct memory_account *account)
{
    struct space *s = kmalloc(sizeof(*s));

    if (!s)
        return NULL;
    spin_init(&s->lock, LOCK_SPACE, "space");
    list_init(&s->objects);
    mutex_init(&s->map_lock, "mappings");
    s->wx_choice = like ? like->wx_choice : mem_wx;
    space_set_bundled(s, true);
    wait_init(&s->unpinned);
    s->tables = (struct space_tables){.frames = {alloc_table, free_table}, .account = account};
    return s;
}

static void tell_trackers(struct space *s)
{
    s->number = track_space_added(s);
    track_space_begins(s);
}

int space_create(const struct space *like, struct memory_account *account, struct space **out)
{
    struct space *s = begin_space(like, account);

    if (!s)
        return -ENOMEM;
    int err = arch_space_init(&s->arch, &s->tables.frames);
    if (!err && (err = pool_join(like ? like->pool : NULL, account, &s->pool)))
        arch_space_destroy(&s->arch);
    if (!err && (err = lineage_begin(s))) {
        pool_leave(s->pool);
        arch_space_destroy(&s->arch);
    }
    if (err) {
        kfree(s);
        return err;
    }
    tell_trackers(s);
    *out = s;
    return 0;
}

int space_create_relative(struct space *of, struct memory_account *account, struct space **out)
{
    struct space *s = begin_space(of, account);

    if (!s)
        return -ENOMEM;
    int err = arch_space_init(&s->arch, &s->tables.frames);
    if (err) {
        kfree(s);
        return err;
    }
    s->wx = of->wx;
    s->pool = of->pool;
    pool_join_too(s->pool);
    lineage_join(s, of);
    tell_trackers(s);
    *out = s;
    return 0;
}

int space_create_for_files(bool elsewhere, struct space **out)
{
    struct space *s = begin_space(NULL, NULL);

    if (!s)
        return -ENOMEM;
    spin_init(&s->lock, LOCK_FILES, "space of files");
    s->files = true;
    s->elsewhere = elsewhere;
    int err = arch_space_init(&s->arch, &s->tables.frames);
    if (!err && (err = lineage_begin(s)))
        arch_space_destroy(&s->arch);
    if (err) {
        kfree(s);
        return err;
    }
    err = pool_join_files(&s->pool);
    if (err) {
        lineage_leave(s);
        arch_space_destroy(&s->arch);
        kfree(s);
        return err;
    }
    s->number = track_space_added(s);
    *out = s;
    return 0;
}

uint64_t space_tables_wanted(const struct space *s)
{
    return PAGE_SIZE + pool_bytes_to_grow(s->pool);
}

bool space_shares(struct space *s, const struct arch_page *page)
{
    if (page->kind == ARCH_PAGE_HERE && !pool_owns(s->pool, page->pa))
        return true;
    if (!lineage_forked(s->lineage))
        return false;
    spin_lock_irqoff(&s->pool->lock);
    uint32_t n = page->kind == ARCH_PAGE_OUT ? page->number : frame_page(page->pa)->next;
    bool is = pool_is_copied(&s->pool->nodes[n]);
    spin_unlock_irqoff(&s->pool->lock);
    return is;
}

void space_set_pid(struct space *s, uint32_t pid)
{
    s->pid = pid;
    track_space_named(s);
}

void space_set_bundled(struct space *s, bool bundled)
{
    s->wx = s->wx_choice == MEM_WX_ALLOW || (s->wx_choice == MEM_WX_AUTO && !bundled);
}

uint16_t space_number(const struct space *s)
{
    return s->number;
}

struct arch_space *space_arch(struct space *s)
{
    return &s->arch;
}

/* ---- Nodes of regions ------------------------------------------------------------------------ */

static void free_node(struct space *s, struct region *node)
{
    kfree(node);
    if (s->region_nodes-- > REGIONS_FIRST && s->tables.account)
        memory_uncharge(s->tables.account, sizeof(*node));
}

static int add_node(struct space *s)
{
    bool charged = s->region_nodes >= REGIONS_FIRST && s->tables.account;

    if (charged && memory_charge(s->tables.account, sizeof(struct region)))
        return -ENOMEM;
    struct region *node = kmalloc(sizeof(*node));
    if (!node) {
        if (charged)
            memory_uncharge(s->tables.account, sizeof(*node));
        return -ENOMEM;
    }
    s->region_nodes++;
    regions_give(&s->regions, node);
    return 0;
}

static int reserve_nodes(struct space *s, unsigned n)
{
    int err = 0;

    while (!err && s->regions.spares < n)
        err = add_node(s);
    return err;
}

static uint32_t regions_max(const struct space *s)
{
    return s->files ? REGIONS_OF_FILES_MAX : REGIONS_MAX;
}

int space_reserve_regions(struct space *s, unsigned more)
{
    return s->regions.count + more > regions_max(s) ? -ENOMEM : reserve_nodes(s, more);
}

int space_reserve_to_remove(struct space *s, vaddr_t va, vaddr_t end)
{
    const struct region *r = regions_find(&s->regions, va);
    bool hole = r && r->start < va && r->end > end;

    return hole && s->regions.count == regions_max(s) ? -ENOMEM : reserve_nodes(s, 2);
}

void space_unlock_regions(struct space *s)
{
    while (s->regions.spares > SPARES_MAX)
        free_node(s, regions_take(&s->regions));
    if (!s->objects_gone) {
        mutex_unlock(&s->map_lock);
        return;
    }
    s->objects_gone = false;
    struct list ended;
    object_take_users(s, false, &ended);
    mutex_unlock(&s->map_lock);
    object_end_users(&ended);
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

static void free_regions(struct space *s)
{
    while (s->regions.root)
        regions_remove(&s->regions, s->regions.root);
    while (s->regions.spare)
        free_node(s, regions_take(&s->regions));
}

void space_destroy(struct space *s)
{
    check_everything(s);
    track_space_removed(s);
    for (const struct region *r = regions_above(&s->regions, 0); r; r = region_next(r))
        space_drop_pages(s, r->touched_lo, r->touched_hi);
    ASSERT(s->resident_pages == 0 && s->out_pages == 0);
    struct list ended;
    object_take_users(s, true, &ended);
    object_end_users(&ended);
    lineage_leave(s);
    pool_leave(s->pool);
    arch_space_destroy(&s->arch);
    free_regions(s);
    kfree(s);
}

/* ---- What the kernel shows ------------------------------------------------------------------- */

int space_show(struct space *s, vaddr_t va, paddr_t page, unsigned prot)
{
    bool irq = spin_lock(&s->lock);
    int err = arch_space_map(&s->arch, va, page, prot | PROT_USER);

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
