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
#include "mm/pool/prefetching.h"
#include "kernel/mem/frame.h"
#include "mm/pool.h"
#include "mm/pool/reclaim.h"
#include "mm/object.h"
#include "mm/pool/swap.h"
#include "mm/track/track.h"
#include "kernel/mem/mem.h"

/* Results of a try besides 0, the page is there, and errors. */
enum {
    NEEDS_FRAME = 1,
    NEEDS_ZEROS,
    NEEDS_NODES,
    NEEDS_READING,
    NEEDS_LIST,
    NEEDS_COPY,
    NEEDS_SHOOTDOWN,
    NEEDS_TURN,
    NEEDS_OBJECT,
    NEEDS_LEAVING,
    AGAIN
};

#define READ_ON_PAGES 32 /* pages after which more are read ahead for a sequential reader */

struct bring {
    struct space *space;
    struct pool *pool;
    vaddr_t va;
    enum fault_access access;
    bool any;      /* ignore the region's protection */
    paddr_t frame; /* charged and not yet a page's; 0: none */
    /* frame has the page's first contents: zeros, or those of the source */
    bool zeroed;
    struct page_source source; /* of the page's first contents */
    uint64_t source_page;
    uint64_t since_ns; /* time of the fault */
    uint64_t slow_ns;  /* the same if the fault waits for a read, else 0 */
    bool waits;        /* the pool counts this wait: pool_wait_begins_locked */
    bool trim;         /* the active set has become too large */
    uint32_t node;     /* of the page, if it is OUT, or NODE_NONE */
    uint32_t held;     /* a shared page that is to be copied, or NODE_NONE */
    bool copied;       /* frame has its contents */
    uint32_t slot;     /* of the page, to read it from */
    /* what else is to be read; NULL: not made yet */
    struct prefetch_list *list;
    /* list has what the program's advice asks for, not what the prefetch policy wants */
    bool advised;
    struct object *object; /* whose page is to be brought, referenced, and its number there */
    uint64_t object_page;
    uint32_t left; /* the node of an object's page that was taken out of the table */
    /* pages to read together from the source, from va on; 0: not known yet */
    unsigned readahead;
    struct read_on read_on; /* and others, which no thread waits for yet */
};

static bool allowed(const struct region *r, const struct bring *b)
{
    static const unsigned need[] = {
        [FAULT_READ] = PROT_R | PROT_W | PROT_X, [FAULT_WRITE] = PROT_W, [FAULT_EXEC] = PROT_X};

    return r && !(r->flags & REGION_CLOSED) && (b->any || (r->prot & need[b->access]));
}

/* Waiting for a read begins at the fault: getting a frame to read into is a part of it. */
static void begin_waiting(struct bring *b)
{
    b->slow_ns = b->since_ns;
}

/* [P] held. */
static void begin_waiting_locked(struct bring *b)
{
    begin_waiting(b);
    if (!b->waits)
        pool_wait_begins_locked(b->pool, b->slow_ns);
    b->waits = true;
}

static void end_waiting_locked(struct bring *b, uint64_t now_ns, bool came)
{
    pool_wait_ends_locked(b->pool, b->slow_ns, now_ns, came);
    b->waits = false;
}

static unsigned marks_of(const struct bring *b)
{
    return ARCH_USED | (b->access == FAULT_WRITE ? ARCH_WRITTEN : 0);
}

/* ---- Under the space's lock ------------------------------------------------------------------ */

/* The page is mapped, and may be used so: applies a change of the region's protection, or of who
 * shares the page, that has not come to it, and marks the access. */
static int mark_locked(struct bring *b, const struct region *r, const struct arch_page *page,
                       bool shared)
{
    struct arch_space *space = &b->space->arch;

    /* It may have been read since code was stored to it. */
    if ((r->prot & PROT_X) && !(page->prot & PROT_X))
        arch_code_written(phys_to_virt(page->pa));
    if (page->prot != space_page_prot(r->prot, shared))
        arch_space_protect(space, b->va, space_page_prot(r->prot, shared));
    if (page->prot == PROT_USER)
        b->trim |= track_soft_used_locked(b->space, b->va, b->access == FAULT_WRITE);
    if (marks_of(b) & ~page->marks)
        arch_space_mark(space, b->va, 0, marks_of(b));
    arch_tlb_flush(space, b->va, 1);
    return 0;
}

/* Maps the frame; `shared`: without the right to write. Caches are told of code before, because
 * other threads can execute it without a fault. */
static int map_locked(struct bring *b, struct region *r, paddr_t frame, bool shared)
{
    bool written = b->access == FAULT_WRITE && !shared;

    if (r->prot & PROT_X)
        arch_code_written(phys_to_virt(frame));
    int err = arch_space_map(&b->space->arch, b->va, frame,
                             space_page_prot(r->prot, shared) | (written ? PROT_WRITTEN : 0));

    if (err)
        return err;
    b->trim |= track_soft_used_locked(b->space, b->va, b->access == FAULT_WRITE);
    region_touch(r, b->va);
    b->space->resident_pages++;
    return 0;
}

/* Returns the number of the frame in hand, which is a page's from now on. */
static uint32_t hand_over_frame(struct bring *b)
{
    uint32_t number = frame_number(frame_page(b->frame));

    b->frame = 0;
    b->zeroed = b->copied = false;
    return number;
}

/* Maps the frame in hand as a new page. [S] and [P] held. */
static int new_page_locked(struct bring *b, struct region *r)
{
    struct pool *p = b->pool;
    int err = p->free_head == NODE_NONE ? NEEDS_NODES : map_locked(b, r, b->frame, false);

    if (err)
        return err;
    uint32_t n = pool_node_new(p, b->space, b->va, hand_over_frame(b), r->tag);
    if (r->advice == ADVICE_SEQUENTIAL)
        pool_passed_add(p, n);
    r->faults++;
    r->slow_faults += b->slow_ns != 0;
    return 0;
}

/* The page has never been there, or was all zeros: maps the frame in hand. */
static int begin_locked(struct bring *b, struct region *r)
{
    struct pool *p = b->pool;

    if (!b->zeroed)
        return NEEDS_ZEROS;
    spin_lock_irqoff(&p->lock);
    int err = new_page_locked(b, r);
    spin_unlock_irqoff(&p->lock);
    return err;
}

/* Asks for the pages behind this one, which the program reads sequentially. Called every
 * READ_ON_PAGES pages, while others are still to be used. */
static void read_on_locked(struct bring *b, const struct region *r)
{
    prefetching_advised(b->pool, b->va + PAGE_SIZE, r->end, b->list);
    b->advised = true;
}

/* Page n, which was read before a thread asked for it, is used for the first time, or waited for:
 * `late`. */
static void wanted_locked(struct bring *b, struct region *r, uint32_t n, bool late)
{
    struct pool *p = b->pool;

    if (p->nodes[n].flags & NODE_UNUSED)
        readahead_on_locked(r, b->va, late, pool_readahead_room(p), &b->read_on);
    prefetching_wanted(p, b->space, n, late, b->list);
}

static void first_use_locked(struct bring *b, struct region *r, uint32_t n)
{
    wanted_locked(b, r, n, false);
    pool_touch_locked(b->pool, n);
    if (r->advice == ADVICE_RANDOM)
        b->list->length = 0;
    else if (r->advice == ADVICE_SEQUENTIAL && !r->source.ops &&
             (b->va >> PAGE_SHIFT) % READ_ON_PAGES == 0)
        read_on_locked(b, r);
}

/* Counts a wait of the space: the page has come. [S] and [P] held. */
static void waited_locked(struct bring *b)
{
    uint64_t now = arch_clock_ns();

    /* it may have waited for a read of the source, which the pool does not know of */
    begin_waiting_locked(b);
    end_waiting_locked(b, now, true);
    b->space->waits++;
    b->space->waited_ns += now - b->slow_ns;
}

/* Maps the node's frame. [S] and [P] held. */
static int return_locked(struct bring *b, struct region *r, uint32_t n)
{
    struct pool *p = b->pool;
    struct node *node = &p->nodes[n];
    paddr_t frame = frame_address(frame_page_number(node->frame));

    if (node->flags & NODE_UNUSED)
        first_use_locked(b, r, n);
    track_forget(b->space, b->va);
    int err = map_locked(b, r, frame, pool_is_copied(node));
    ASSERT(!err);
    b->space->out_pages--;
    node->mapped++;
    if (r->advice == ADVICE_SEQUENTIAL)
        pool_passed_add(p, n);
    pool_set_state(p, n, NODE_HERE);
    node->flags |= space_tells(b->space) ? NODE_FRESH : 0;
    if (node->slot != SLOT_NONE && !(node->flags & NODE_RESCUED) && swap_scarce()) {
        swap_slot_give(node->slot);
        node->slot = SLOT_NONE;
        node->flags |= NODE_DIRTY;
    }
    r->faults++;
    r->slow_faults += b->slow_ns != 0;
    p->stats.minor_faults += b->slow_ns == 0;
    if (b->slow_ns)
        waited_locked(b);
    return 0;
}

/* Maps the page again while it is being written. */
static int rescue_locked(struct bring *b, struct region *r, uint32_t n)
{
    struct pool *p = b->pool;

    p->nodes[n].flags |= NODE_RESCUED;
    pool_enter_locked(p, n);
    prefetching_missed(p, n);
    p->stats.rescued++;
    return return_locked(b, r, n);
}

/* Makes the frame in hand the node's: maps it if the page is all zeros, or begins to read into
 * it. */
static int take_frame_locked(struct bring *b, struct region *r, uint32_t n)
{
    struct pool *p = b->pool;
    struct node *node = &p->nodes[n];

    b->node = n;
    if (node->flags & NODE_FAILED) {
        node->flags &= ~NODE_FAILED;
        return -EIO;
    }
    if (!b->frame)
        return NEEDS_FRAME;
    if (node->slot == SLOT_NONE && !b->zeroed)
        return NEEDS_ZEROS;
    pool_frame_take(p, n, hand_over_frame(b));
    if (node->slot == SLOT_NONE) {
        pool_enter_locked(p, n);
        prefetching_missed(p, n);
        return return_locked(b, r, n);
    }
    if (r->advice == ADVICE_NORMAL)
        prefetching_fault(p, b->space, n, b->list);
    else
        prefetching_missed(p, n);
    if (r->advice == ADVICE_SEQUENTIAL)
        read_on_locked(b, r);
    pool_set_state(p, n, NODE_COMING);
    b->slot = node->slot;
    begin_waiting_locked(b);
    return NEEDS_READING;
}

/* Releases the locks and blocks until node n changes. Takes the space's lock again. */
static int wait_for_node(struct bring *b, uint32_t n, bool *irq)
{
    struct pool *p = b->pool;

    spin_unlock_irqoff(&b->space->lock);
    int err = wait_sleep(pool_queue(p, n), &p->lock, irq, UINT64_MAX);
    spin_unlock(&p->lock, *irq);
    *irq = spin_lock(&b->space->lock);
    return err ? err : AGAIN;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* As pool_is_copied; `mine`: the caller is one of the threads that hold the node. */
static bool is_copied(const struct node *node, bool mine)
{
    return (node->sharers > 1 || node->holds > mine) && !(node->flags & NODE_COMMON);
}

static void let_go_locked(struct bring *b)
{
    pool_let_go(b->pool, b->held);
    b->held = NODE_NONE;
}

/* Holds node n. Returns 0 or NEEDS_TURN: too many threads hold it. [P] held. */
static int hold_locked(struct bring *b, uint32_t n)
{
    if (b->held == n)
        return 0;
    if (b->held != NODE_NONE)
        let_go_locked(b);
    if (!pool_hold(b->pool, n))
        return NEEDS_TURN;
    b->held = n;
    b->copied = false;
    return 0;
}

/* Has node n copied into the frame in hand. Returns 0 when it is there. [P] held. */
static int get_copy_locked(struct bring *b, uint32_t n)
{
    int err = hold_locked(b, n);

    if (err)
        return err;
    return !b->frame ? NEEDS_FRAME : !b->copied ? NEEDS_COPY : 0;
}

/* A shared page that the table has the number of is to be written to: maps a copy. [S] and [P]
 * held. */
static int copy_locked(struct bring *b, struct region *r, uint32_t n)
{
    struct pool *p = b->pool;
    int err = get_copy_locked(b, n);

    if (err)
        return err;
    if (p->nodes[n].flags & NODE_UNUSED)
        first_use_locked(b, r, n);
    else
        pool_touch_locked(p, n);
    track_forget(b->space, b->va);
    err = new_page_locked(b, r);
    if (err)
        return err;
    b->space->out_pages--;
    pool_drop_share(p, n);
    let_go_locked(b);
    return 0;
}

/* A shared page that is mapped is to be written to: it is held, and its number takes its place. It
 * is copied when the TLBs have forgotten it: a fork may have taken the right to write just now. [S]
 * and [P] held. */
static int unmap_to_copy_locked(struct bring *b, uint32_t n)
{
    struct space *s = b->space;
    unsigned marks;
    paddr_t pa;
    int err = hold_locked(b, n);

    if (err)
        return err;
    err = arch_space_evict(&s->arch, b->va, n, &pa, &marks);
    ASSERT(!err);
    track_forget(s, b->va);
    s->resident_pages--;
    s->out_pages++;
    pool_unmapped(b->pool, n);
    return NEEDS_SHOOTDOWN;
}

/* The page is mapped. */
static int use_locked(struct bring *b, const struct region *r, const struct arch_page *page,
                      bool *irq)
{
    struct pool *p = b->pool;
    uint32_t n = frame_page(page->pa)->next;

    if (!lineage_forked(b->space->lineage))
        return mark_locked(b, r, page, false);
    spin_lock_irqoff(&p->lock);
    const struct node *node = &p->nodes[n];
    bool shared = is_copied(node, b->held == n), wants = b->access == FAULT_WRITE;
    if (node->state == NODE_GOING || (shared && wants && (node->flags & NODE_RESCUED)))
        return wait_for_node(b, n, irq);
    int err = shared && wants ? unmap_to_copy_locked(b, n) : 0;
    spin_unlock_irqoff(&p->lock);
    return err ? err : mark_locked(b, r, page, shared);
}

/* The page is in no state to be used at once: node n is out or on its way. */
static int recall_locked(struct bring *b, struct region *r, uint32_t n, bool *irq)
{
    struct pool *p = b->pool;
    int err;

    if (!b->list)
        return NEEDS_LIST;
    spin_lock_irqoff(&p->lock);
    p->prefetching.spare_list.length = 0;
    switch (p->nodes[n].state) {
    case NODE_HERE: /* relatives have it */
    case NODE_READY:
        if (b->access == FAULT_WRITE && is_copied(&p->nodes[n], b->held == n))
            err = copy_locked(b, r, n);
        else
            err = return_locked(b, r, n);
        break;
    case NODE_WRITING:
        err = rescue_locked(b, r, n);
        break;
    case NODE_OUT:
        err = take_frame_locked(b, r, n);
        break;
    case NODE_COMING:
        begin_waiting_locked(b);
        wanted_locked(b, r, n, true);
        if (!b->list->length && !b->read_on.n)
            return wait_for_node(b, n, irq);
        err = AGAIN; /* begins to read others before it waits */
        break;
    default:
        ASSERT(p->nodes[n].state == NODE_GOING);
        return wait_for_node(b, n, irq);
    }
    spin_unlock_irqoff(&p->lock);
    return err;
}

/* Notes what the frame must be filled with, and whether it still is: a region may have been mapped
 * anew. */
static void expect_locked(struct bring *b, const struct region *r)
{
    uint64_t page = region_source_page(r, b->va);

    if (page_source_is(&b->source, &r->source) && b->source_page == page)
        return;
    b->source = r->source;
    b->source_page = page;
    b->zeroed = false;
}

/* Maps the object's frame. */
static int show_locked(struct bring *b, struct region *r)
{
    int err = object_map_locked(b->space, r, b->va, b->access, &b->trim);

    if (err <= 0)
        return err;
    b->object = object_get(object_mapped(r));
    b->object_page = region_source_page(r, b->va);
    return NEEDS_OBJECT;
}

/* An object's page is to be written to where it is mapped privately: takes it out. It is copied
 * when TLBs have forgotten it, so that no thread sees older contents later. */
static int leave_locked(struct bring *b)
{
    b->left = object_unmap_locked(b->space, b->va);
    b->zeroed = false;
    return NEEDS_LEAVING;
}

/* The region maps an object privately, and has no page of its own here. */
static int borrow_locked(struct bring *b, struct region *r, const struct arch_page *page)
{
    int err = b->access == FAULT_WRITE ? -EMFILE : show_locked(b, r);

    if (err != -EMFILE)
        return err;
    if (region_source_page(r, b->va) << PAGE_SHIFT >= object_bytes(object_mapped(r)))
        return -ENXIO; /* it was cut off, maybe while it was copied */
    return page->kind == ARCH_PAGE_HERE ? leave_locked(b) : begin_locked(b, r);
}

/* The access is allowed. */
static int use_region_locked(struct bring *b, struct region *r, bool *irq)
{
    struct arch_page page;

    if (object_shown(r))
        return show_locked(b, r);
    expect_locked(b, r);
    arch_space_look(&b->space->arch, b->va, 1, &page);
    int err = object_mapped(r) && !pool_owns_page(b->pool, &page) ? borrow_locked(b, r, &page)
              : page.kind == ARCH_PAGE_HERE                       ? use_locked(b, r, &page, irq)
              : page.kind == ARCH_PAGE_NONE                       ? begin_locked(b, r)
                                            : recall_locked(b, r, page.number, irq);
    if (err == NEEDS_ZEROS && b->source.ops && !b->readahead)
        b->readahead = readahead_begin_locked(b->space, r, b->va, &b->read_on);
    return err;
}

static int try_fault(struct bring *b)
{
    bool irq = spin_lock(&b->space->lock);
    struct region *r = regions_find(&b->space->regions, b->va);
    int err = !allowed(r, b)                   ? -EFAULT
              : region_behind_source(r, b->va) ? -ENXIO
                                               : use_region_locked(b, r, &irq);

    spin_unlock(&b->space->lock, irq);
    return err;
}

/* ---- Without a lock -------------------------------------------------------------------------- */

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
            begin_waiting(b);
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
    bool is = allowed(regions_find(&s->regions, b->va), b);
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
        err = try_fault(b);
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
        end_waiting_locked(b, arch_clock_ns(), false);
        spin_unlock(&b->pool->lock, irq);
    }
    if (b->held != NODE_NONE) {
        bool irq = spin_lock(&b->pool->lock);
        let_go_locked(b);
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
