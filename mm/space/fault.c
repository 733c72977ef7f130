/*
 * Page faults. A page that is touched for the first time comes into being, all zeros or read from
 * the disk that its region maps. A page that is out is read; one that is being evicted is kept; one
 * that relatives share, and is to be written to, is copied.
 *
 * Each try looks at the page under the space's lock. What the try lacks, for example a frame of the
 * pool, or zeros in it, is got without any lock, which may evict other pages; then there is another
 * try. So there is one page, however many threads fault on it: a thread that finds it being read or
 * evicted blocks until that is done.
 */
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/object.h"
#include "mm/pool/swap.h"
#include "mm/space/fault_try.h"
#include "mm/track/track.h"

/* Tells trackers whether the space's memory is short: its own, or, `object`, that of files. What
 * was short of files stays so as long as they are. */
static void tell_short(struct space *s, bool object)
{
    const struct pool *files = pool_of_files();
    bool told = __atomic_load_n(&s->told_short, __ATOMIC_RELAXED);

    if (!s->files)
        track_short(s,
                    pool_is_short(s->pool) || ((object || told) && files && pool_is_short(files)));
}

static int get_frame(struct bring *b)
{
    int err = pool_charge(b->pool, b->node);

    if (err)
        return err;
    tell_short(b->space, false);
    err = frame_alloc(0, &b->frame);
    b->zeroed = b->copied = false;
    if (!err)
        return 0;
    b->frame = 0;
    pool_uncharge(b->pool, 1);
    return err;
}

static int get_zeros(struct bring *b)
{
    int err = b->frame ? 0 : get_frame(b);

    if (!err && b->source.ops) {
        if (b->source.ops->slow)
            bring_waits(b);
        err = b->readahead > 1
                  ? readahead_read(b->space, &b->source, b->source_page, b->va, b->readahead,
                                   b->frame)
                  : b->source.ops->read_pages(&b->source, b->source_page, 1, &b->frame);
    } else if (!err) {
        arch_zero_page(phys_to_virt(b->frame));
    }
    b->zeroed = !err;
    b->copied = false;
    return err;
}

static int read_in(struct bring *b)
{
    struct swap_page page = {.node = b->node, .slot = b->slot};

    /* The lock is for p->nodes, which may move; the node keeps its frame while COMING. */
    bool irq = spin_lock(&b->pool->lock);
    page.frame = frame_address(frame_page_number(b->pool->nodes[b->node].frame));
    spin_unlock(&b->pool->lock, irq);
    swap_pages(b->pool, false, &page, 1);
    return 0;
}

/* Makes the list. Without memory for one, the pool's spare list is used and nothing is read
 * ahead. */
static void get_list(struct bring *b)
{
    b->list = kmalloc_unfilled(sizeof(*b->list));
    if (b->list)
        b->list->length = 0;
    else
        b->list = &b->pool->prefetching.spare_list;
}

static void fetch_list(struct bring *b)
{
    if (!b->list || b->list == &b->pool->prefetching.spare_list)
        return;
    if (b->advised)
        prefetching_fetch_advised(b->space, b->list);
    else
        prefetching_fetch(b->space, b->list);
}

/* The node is held, and does not change: no table gives the right to write to it. */
static void copy(struct bring *b)
{
    bool irq = spin_lock(&b->pool->lock);
    paddr_t from = frame_address(frame_page_number(b->pool->nodes[b->held].frame));

    spin_unlock(&b->pool->lock, irq);
    memcpy(phys_to_virt(b->frame), phys_to_virt(from), PAGE_SIZE);
    b->zeroed = false;
    b->copied = true;
}

static int get_object(struct bring *b)
{
    int err = object_bring(b->object, b->object_page, b->access);

    object_put(b->object);
    tell_short(b->space, true);
    return err == -ENOSPC ? -ENXIO : err;
}

static void read_on(struct bring *b)
{
    if (b->read_on.n)
        readahead_start(b->space, &b->source,
                        b->source_page + ((b->read_on.va - b->va) >> PAGE_SHIFT), &b->read_on);
    b->read_on.n = 0;
}

static int get_what_it_needs(struct bring *b, int need)
{
    switch (need) {
    case NEEDS_OBJECT:
        return get_object(b);
    case NEEDS_FRAME:
        return get_frame(b);
    case NEEDS_ZEROS:
        return get_zeros(b);
    case NEEDS_NODES:
        return pool_grow(b->pool);
    case NEEDS_READING:
        return read_in(b);
    case NEEDS_LIST:
        get_list(b);
        return 0;
    case NEEDS_COPY:
        copy(b);
        return 0;
    case NEEDS_SHOOTDOWN:
        tlb_shootdown(&b->space->arch, b->va, 1);
        return 0;
    case NEEDS_LEAVING:
        object_unmapped(b->space, b->va, b->left);
        return 0;
    case NEEDS_TURN:
        sched_yield();
        return 0;
    default:
        return 0;
    }
}

/* The page is not mapped so that it may be used. Waits for a change of mappings that is under way,
 * and lets a stack grow. Returns AGAIN if it may be used now, else -EFAULT. */
static NOINLINE int look_again(struct bring *b)
{
    struct space *s = b->space;

    mutex_lock(&s->map_lock);
    space_grow_stack(s, b->va);
    bool is = bring_allowed(regions_find(&s->regions, b->va), b);
    space_unlock_regions(s);
    return is ? AGAIN : -EFAULT;
}

static int bring_page(struct bring *b)
{
    int err;

    may_wait("page fault");
    b->since_ns = arch_clock_ns();
    b->held = NODE_NONE;
    do {
        b->node = NODE_NONE;
        err = bring_try(b);
        read_on(b);
        if (err > 0)
            err = get_what_it_needs(b, err) ?: AGAIN;
        if (err == -EFAULT)
            err = look_again(b);
        fetch_list(b);
        b->advised = false;
    } while (err == AGAIN);
    if (b->waits) {
        bool irq = spin_lock(&b->pool->lock);
        bring_end_waiting_locked(b, arch_clock_ns(), false);
        spin_unlock(&b->pool->lock, irq);
    }
    if (b->held != NODE_NONE) {
        bool irq = spin_lock(&b->pool->lock);
        bring_let_go_locked(b);
        spin_unlock(&b->pool->lock, irq);
    }
    if (b->list && b->list != &b->pool->prefetching.spare_list)
        kfree(b->list);
    if (b->frame) {
        frame_free(b->frame, 0);
        pool_uncharge(b->pool, 1);
    }
    return err;
}

int space_fault(struct space *s, vaddr_t va, enum fault_access access)
{
    struct bring b = {
        .space = s, .pool = s->pool, .va = ALIGN_DOWN(va, PAGE_SIZE), .access = access};

    __atomic_add_fetch(&s->faults, 1, __ATOMIC_RELAXED);
    int err = bring_page(&b);
    if (b.trim)
        track_soft_trim(s);
    thread_current()->slow_faults += b.slow_ns != 0;
    return err;
}

int space_fault_own(struct space *s, vaddr_t va)
{
    struct bring b = {.space = s,
                      .pool = s->pool,
                      .va = ALIGN_DOWN(va, PAGE_SIZE),
                      .access = FAULT_WRITE,
                      .any = true};

    return bring_page(&b);
}

int space_populate(struct space *s, vaddr_t va, uint64_t len, enum fault_access access)
{
    vaddr_t end = va + ALIGN_UP(len, PAGE_SIZE);
    int err = space_check_range(va, len);

    for (; !err && va < end; va += PAGE_SIZE) {
        err = thread_current()->ending ? -EINTR : space_fault(s, va, access);
        sched_point();
    }
    return err;
}
