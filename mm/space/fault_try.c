/*
 * The try of a page fault, under the space's lock: what state the page is in, and what is missing.
 */
#include "kernel/mem/frame.h"
#include "mm/object.h"
#include "mm/pool/reclaim.h"
#include "mm/pool/swap.h"
#include "mm/space/fault_try.h"
#include "mm/track/track.h"

#define READ_ON_PAGES 32 /* pages after which more are read ahead for a sequential reader */

bool bring_allowed(const struct region *r, const struct bring *b)
{
    static const unsigned need[] = {
        [FAULT_READ] = PROT_R | PROT_W | PROT_X, [FAULT_WRITE] = PROT_W, [FAULT_EXEC] = PROT_X};

    return r && !(r->flags & REGION_CLOSED) && (b->any || (r->prot & need[b->access]));
}

void bring_waits(struct bring *b)
{
    b->slow_ns = b->since_ns;
}

/* [P] held. */
static void begin_waiting_locked(struct bring *b)
{
    bring_waits(b);
    if (!b->waits)
        pool_wait_begins_locked(b->pool, b->slow_ns);
    b->waits = true;
}

void bring_end_waiting_locked(struct bring *b, uint64_t now_ns, bool came)
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
    bring_end_waiting_locked(b, now, true);
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

void bring_let_go_locked(struct bring *b)
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
        bring_let_go_locked(b);
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
    bring_let_go_locked(b);
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

int bring_try(struct bring *b)
{
    bool irq = spin_lock(&b->space->lock);
    struct region *r = regions_find(&b->space->regions, b->va);
    int err = !bring_allowed(r, b)             ? -EFAULT
              : region_behind_source(r, b->va) ? -ENXIO
                                               : use_region_locked(b, r, &irq);

    spin_unlock(&b->space->lock, irq);
    return err;
}
