/*
 * Evicts pages in batches. The policy names one victim after another. Each is taken out of its page
 * table, the TLBs forget all of them together, and then the frames of clean pages are freed and
 * dirty pages are written, neighbours in one request.
 *
 * The policy is asked with [P] held, but a page is taken out of its table under its space's [S],
 * which comes first in the order of locks. So the space is pinned, and the victim is checked again
 * under both locks.
 *
 * A page that relatives share is first asked for in all of them, without taking it. Then it is
 * GOING, so that no table gets it any more, and is taken out of one table after the other.
 *
 * If the policy's victims cannot be evicted for want of a slot, it may name the same few pages for
 * ever. So after a number of looks in vain, all nodes are looked at in turn, a part of them in each
 * call; pool->vain counts looks across calls.
 */
#include "mm/pool/reclaim.h"
#include "mm/pool/prefetching.h"
#include "kernel/mem/frame.h"
#include "mm/object.h"
#include "mm/space.h"
#include "mm/pool/swap.h"
#include "mm/track/track.h"
#include "kernel/mem/mem.h"

#define BATCH       32
#define STRETCH     64   /* pages looked at before the thread yields */
#define VICTIMS_MAX 1024 /* victims of the policy in vain, before all nodes are looked at in turn */
/* pages in a batch that found no free slot, before the batch ends */
#define NO_SLOTS_MAX 256

struct evicted {
    struct space *space; /* pinned; NULL: the page was not mapped */
    vaddr_t va;
    /* GOING: no other thread changes its slot, frame and NODE_ALONE until it is settled */
    uint32_t node;
};

struct batch {
    struct pool *pool;
    bool in_turn; /* nodes are looked at in turn, not as the policy says */
    struct evicted page[BATCH];
    unsigned n;
};

/* Result of looking at a page: evicted; not to be evicted now; no free slot for it; the node has
 * changed, look at another one. */
enum verdict { EVICTED, KEPT, NO_SLOT, CHANGED };

static void pin_space(struct space *s)
{
    __atomic_add_fetch(&s->pins, 1, __ATOMIC_RELAXED);
}

/* Returns the slot that keeps the page beside its neighbours, which are looked for in its aligned
 * cluster of pages, or SLOT_NONE. [S] and [P] held. */
static NOINLINE uint32_t slot_beside_neighbours(struct pool *p, struct space *s, vaddr_t va)
{
    struct arch_page row[SWAP_CLUSTER];
    unsigned index = (va >> PAGE_SHIFT) % SWAP_CLUSTER;

    arch_space_look(&s->arch, ALIGN_DOWN(va, SWAP_CLUSTER * PAGE_SIZE), SWAP_CLUSTER, row);
    for (unsigned i = 0; i < SWAP_CLUSTER; i++) {
        if (row[i].kind == ARCH_PAGE_NONE || i == index ||
            (row[i].kind == ARCH_PAGE_HERE && !pool_owns(p, row[i].pa)))
            continue;
        uint32_t n = row[i].kind == ARCH_PAGE_OUT ? row[i].number : frame_page(row[i].pa)->next;
        uint32_t slot = p->nodes[n].slot;
        if (slot != SLOT_NONE && slot % SWAP_CLUSTER == i)
            return slot - i + index;
    }
    return SLOT_NONE;
}

static void add_page_locked(struct batch *b, struct space *s, uint32_t n)
{
    struct pool *p = b->pool;
    struct node *node = &p->nodes[n];

    pool_set_state(p, n, NODE_GOING);
    node->flags &= ~NODE_FRESH;
    p->ops->leave(p->state, n);
    prefetching_left(p, n);
    b->page[b->n++] = (struct evicted){s, node->page << PAGE_SHIFT, n};
}

/* Evicts node n, which is READY. [P] held. */
static enum verdict evict_unmapped(struct batch *b, uint32_t n)
{
    struct pool *p = b->pool;
    struct node *node = &p->nodes[n];

    if ((node->flags & NODE_DIRTY) && node->slot == SLOT_NONE) {
        node->slot = swap_slot_take(SLOT_NONE, node->page % SWAP_CLUSTER);
        if (node->slot == SLOT_NONE)
            return NO_SLOT;
    }
    prefetching_wasted(p, n);
    add_page_locked(b, NULL, n);
    return EVICTED;
}

/* Tells whether the program has locked the memory at va. */
static bool is_locked(const struct space *s, vaddr_t va)
{
    const struct region *r = s->locked_pages ? regions_find(&s->regions, va) : NULL;

    return r && (r->flags & REGION_LOCKED);
}

/* Tells whether the table has the node's page at va. [S] and [P] held. */
static bool maps_locked(struct space *s, vaddr_t va, const struct node *node,
                        struct arch_page *page)
{
    arch_space_look(&s->arch, va, 1, page);
    return page->kind == ARCH_PAGE_HERE && frame_number(frame_page(page->pa)) == node->frame;
}

/* Evicts node n, which is HERE at va, if it can be evicted. [S] and [P] held. */
static enum verdict evict_mapped(struct batch *b, struct space *s, vaddr_t va, uint32_t n)
{
    struct pool *p = b->pool;
    struct node *node = &p->nodes[n];
    struct arch_page page;
    unsigned marks;
    paddr_t pa;

    if ((node->flags & NODE_RESCUED) || is_locked(s, va))
        return KEPT;
    if (pool_is_shared(node) || node->mapped > 1 || !maps_locked(s, va, node, &page))
        return CHANGED;
    if (p->accessed && !space_tells(s) && (page.marks & ARCH_USED)) {
        arch_space_mark(&s->arch, va, ARCH_USED, 0);
        return KEPT;
    }
    /* A page of zeros may be written to until it is out of the table: not one of files, which
     * processes have lost. */
    bool zeros =
        node->slot == SLOT_NONE && !(node->flags & NODE_DIRTY) && !(page.marks & ARCH_WRITTEN);
    if (node->slot == SLOT_NONE && (!zeros || ((page.prot & PROT_W) && !s->files))) {
        node->slot =
            swap_slot_take(slot_beside_neighbours(p, s, va), (va >> PAGE_SHIFT) % SWAP_CLUSTER);
        if (node->slot == SLOT_NONE)
            return NO_SLOT;
    }
    int err = arch_space_evict(&s->arch, va, n, &pa, &marks);
    ASSERT(!err);
    if (marks & ARCH_WRITTEN)
        node->flags |= NODE_DIRTY;
    if (zeros && !(node->flags & NODE_DIRTY) && node->slot != SLOT_NONE) {
        swap_slot_give(node->slot);
        node->slot = SLOT_NONE;
    }
    s->resident_pages--;
    s->out_pages++;
    node->mapped = 0;
    pin_space(s);
    add_page_locked(b, s, n);
    return EVICTED;
}

/* ---- Shared pages ---------------------------------------------------------------------------- */

bool evict_keeps_page(struct space *s, vaddr_t va)
{
    bool hot = track_hot(s, va), irq = spin_lock(&s->lock);

    if (s->pool->accessed && !s->watched &&
        (arch_space_mark(&s->arch, va, ARCH_USED, 0) & ARCH_USED))
        hot = true;
    hot |= is_locked(s, va);
    spin_unlock(&s->lock, irq);
    return hot;
}

/* Makes node n GOING, which is to be at va in the spaces of l, if it can be evicted. A page that is
 * COMMON may be written to until it is out of all tables: it gets a slot in any case, which is then
 * *fresh. [P] held. */
static enum verdict begin_shared(struct batch *b, const struct lineage *l, vaddr_t va, uint32_t n,
                                 bool *fresh)
{
    struct node *node = &b->pool->nodes[n];

    if (node->lineage != l || node->page != va >> PAGE_SHIFT || node->state != NODE_HERE ||
        node->sharers < 2)
        return CHANGED;
    if (node->holds || (node->flags & NODE_RESCUED))
        return KEPT;
    *fresh = (node->flags & (NODE_DIRTY | NODE_COMMON)) && node->slot == SLOT_NONE;
    if (*fresh) {
        node->slot = swap_slot_take(SLOT_NONE, node->page % SWAP_CLUSTER);
        if (node->slot == SLOT_NONE)
            return NO_SLOT;
    }
    add_page_locked(b, NULL, n);
    return EVICTED;
}

/* Gives back the slot of node n, which is out of all tables, if the page is still zeros. */
static void give_unused_slot(struct pool *p, uint32_t n)
{
    bool irq = spin_lock(&p->lock);
    struct node *node = &p->nodes[n];

    if (!(node->flags & NODE_DIRTY)) {
        swap_slot_give(node->slot);
        node->slot = SLOT_NONE;
    }
    spin_unlock(&p->lock, irq);
}

/* Takes node n, which is GOING, out of the table of s, if it is in there. A table that has its
 * number has forgotten the page; one that has nothing any more may belong to a thread that has not
 * told the TLBs yet. */
static void take_out(struct pool *p, struct space *s, vaddr_t va, uint32_t n)
{
    struct arch_page page;
    unsigned marks;
    paddr_t pa;
    bool irq = spin_lock(&s->lock);

    arch_space_look(&s->arch, va, 1, &page);
    spin_lock_irqoff(&p->lock);
    struct node *node = &p->nodes[n];
    bool here = page.kind == ARCH_PAGE_HERE && frame_number(frame_page(page.pa)) == node->frame,
         out = page.kind == ARCH_PAGE_OUT && page.number == n;
    if (here) {
        int err = arch_space_evict(&s->arch, va, n, &pa, &marks);
        ASSERT(!err);
        if (marks & ARCH_WRITTEN)
            node->flags |= NODE_DIRTY;
        s->resident_pages--;
        s->out_pages++;
        pool_unmapped(p, n);
    }
    spin_unlock_irqoff(&p->lock);
    spin_unlock(&s->lock, irq);
    if (!out)
        tlb_shootdown(&s->arch, va, 1);
}

/* Evicts node n, at va in spaces of the lineage, if none of them keeps it. `s`: the first of them,
 * pinned. */
static NOINLINE enum verdict evict_shared(struct batch *b, struct space *s, vaddr_t va, uint32_t n)
{
    struct pool *p = b->pool;
    struct lineage *l = s->lineage;
    bool hot = false, fresh = false;

    for (struct space *x = s; x && !hot;) {
        hot = evict_keeps_page(x, va);
        struct space *next = hot ? NULL : lineage_next(l, x);
        if (x != s)
            lineage_unpin(x);
        x = next;
    }
    bool irq = spin_lock(&p->lock);
    enum verdict v = hot ? KEPT : begin_shared(b, l, va, n, &fresh);
    if ((v == KEPT || (v == NO_SLOT && !b->in_turn)) && p->nodes[n].state == NODE_HERE)
        pool_touch_locked(p, n);
    spin_unlock(&p->lock, irq);
    for (struct space *x = v == EVICTED ? s : NULL; x;) {
        take_out(p, x, va, n);
        struct space *next = lineage_next(l, x);
        if (x != s)
            lineage_unpin(x);
        x = next;
    }
    if (v == EVICTED && fresh)
        give_unused_slot(p, n);
    return v;
}

/* Returns the space whose table has the page of node n at va, pinned, of relatives of s, which is
 * pinned and becomes unpinned; or NULL. */
static struct space *find_mapper(struct pool *p, struct space *s, vaddr_t va, uint32_t n)
{
    while (s) {
        struct arch_page page;
        bool irq = spin_lock(&s->lock);
        spin_lock_irqoff(&p->lock);
        bool is = maps_locked(s, va, &p->nodes[n], &page);
        spin_unlock_irqoff(&p->lock);
        spin_unlock(&s->lock, irq);
        if (is)
            break;
        struct space *next = lineage_next(s->lineage, s);
        lineage_unpin(s);
        s = next;
    }
    return s;
}

/* ---- One page -------------------------------------------------------------------------------- */

/* Tells whether the program has advised that it reads sequentially at va. */
static bool is_sequential(const struct space *s, vaddr_t va)
{
    const struct region *r = regions_find(&s->regions, va);

    return r && r->advice == ADVICE_SEQUENTIAL;
}

/* Evicts node n, a victim of the policy or a page that a sequential reader has passed (`passed`),
 * unless it has changed since. `hot`: the tracker knows that the page is in use. [S] and [P]
 * held. */
static enum verdict evict_victim(struct batch *b, struct space *s, vaddr_t va, uint32_t n, bool hot,
                                 bool passed)
{
    struct node *node = &b->pool->nodes[n];

    if (node->lineage != s->lineage || node->page != va >> PAGE_SHIFT || node->state != NODE_HERE)
        return CHANGED;
    if (passed && !is_sequential(s, va))
        return CHANGED;
    if (passed) /* it has been used: that is how the reader passed it */
        arch_space_mark(&s->arch, va, ARCH_USED, 0);
    enum verdict v = hot ? KEPT : evict_mapped(b, s, va, n);
    if (v == KEPT || (v == NO_SLOT && !b->in_turn))
        pool_touch_locked(b->pool, n);
    return v;
}

static uint64_t resident_locked(const struct pool *p)
{
    return p->held - p->leaving - p->coming;
}

/* Returns the next resident node in order of nodes, or NODE_NONE if the next STRETCH nodes have
 * none. */
static uint32_t next_in_turn(struct pool *p)
{
    for (unsigned i = 0; i < STRETCH; i++) {
        p->hand = p->hand + 1 < p->capacity ? p->hand + 1 : 0;
        const struct node *node = &p->nodes[p->hand];
        if (node->lineage && (node->state == NODE_HERE || node->state == NODE_READY))
            return p->hand;
    }
    return NODE_NONE;
}

/* Returns the looks in vain after which nodes are looked at in turn. */
static uint64_t victims_max_locked(const struct pool *p)
{
    return MIN(resident_locked(p), (uint64_t)VICTIMS_MAX);
}

bool evict_tried_all_locked(const struct pool *p)
{
    uint64_t turn = resident_locked(p) + p->capacity / STRETCH + 1;

    /* twice: the first look may find an accessed bit and only clear it */
    return p->vain >= victims_max_locked(p) + 2 * turn;
}

/* Chooses a page: first those that sequential readers have passed, then the policy's victims. */
static uint32_t choose_node(struct batch *b, uint32_t incoming, bool *passed)
{
    uint32_t n = pool_passed_next(b->pool);

    *passed = n != NODE_NONE;
    if (*passed)
        return n;
    return b->in_turn ? next_in_turn(b->pool) : pool_victim_locked(b->pool, incoming);
}

/* Looks at one page and evicts it if it can be evicted. *none: the policy has no victim. */
static enum verdict evict_next(struct batch *b, uint32_t incoming, bool *none)
{
    struct pool *p = b->pool;
    enum verdict v = CHANGED;
    bool irq = spin_lock(&p->lock);
    bool passed;
    uint32_t n = choose_node(b, incoming, &passed);

    *none = n == REPLACE_NONE && !b->in_turn;
    if (n == NODE_NONE || (passed && p->nodes[n].state != NODE_HERE)) {
        spin_unlock(&p->lock, irq);
        return CHANGED;
    }
    if (p->nodes[n].state == NODE_READY) {
        v = p->nodes[n].holds ? KEPT : evict_unmapped(b, n);
        if (v == KEPT || (v == NO_SLOT && !b->in_turn))
            pool_touch_locked(p, n);
        spin_unlock(&p->lock, irq);
        return v;
    }
    ASSERT(p->nodes[n].state == NODE_HERE);
    vaddr_t va = p->nodes[n].page << PAGE_SHIFT;
    struct space *s = lineage_next(p->nodes[n].lineage, NULL);
    bool relatives = lineage_forked(s->lineage), shared = pool_is_shared(&p->nodes[n]),
         users = s->files && p->nodes[n].mapped > 1;
    spin_unlock(&p->lock, irq);
    if (shared) {
        v = evict_shared(b, s, va, n);
        lineage_unpin(s);
        return v;
    }
    if (relatives && !(s = find_mapper(p, s, va, n)))
        return CHANGED;
    bool hot = (!passed && track_hot(s, va)) || (users && object_take_back(s, va, n));
    irq = spin_lock(&s->lock);
    spin_lock_irqoff(&p->lock);
    v = evict_victim(b, s, va, n, hot, passed);
    spin_unlock_irqoff(&p->lock);
    spin_unlock(&s->lock, irq);
    lineage_unpin(s);
    return v;
}

/* ---- A batch --------------------------------------------------------------------------------- */

static void forget_translations(struct batch *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        struct space *s = b->page[i].space;
        vaddr_t low = b->page[i].va, high = low;
        bool seen = !s;
        for (unsigned j = 0; j < i && !seen; j++)
            seen = b->page[j].space == s;
        for (unsigned j = i + 1; j < b->n && !seen; j++) {
            if (b->page[j].space != s)
                continue;
            low = MIN(low, b->page[j].va);
            high = MAX(high, b->page[j].va);
        }
        if (!seen)
            tlb_shootdown(&s->arch, low, ((high - low) >> PAGE_SHIFT) + 1);
    }
    for (unsigned i = 0; i < b->n; i++)
        if (b->page[i].space)
            lineage_unpin(b->page[i].space);
}

/* Completes the eviction of node n, which no thread can write to any more, if the page is clean or
 * its space is gone. Returns true if the page must be written. [P] held. */
static bool settle_locked(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    if (node->lineage && (node->flags & NODE_DIRTY)) {
        pool_set_state(p, n, NODE_WRITING);
        return true;
    }
    p->stats.clean_outs += node->lineage != NULL;
    pool_frame_free(p, n);
    pool_set_state(p, n, NODE_OUT);
    if (!node->lineage)
        pool_node_free(p, n);
    return false;
}

static NOINLINE void finish_batch(struct batch *b)
{
    struct swap_page dirty[BATCH];
    struct pool *p = b->pool;
    unsigned n = 0;

    forget_translations(b);
    bool irq = spin_lock(&p->lock);
    for (unsigned i = 0; i < b->n; i++) {
        const struct node *node = &p->nodes[b->page[i].node];
        if (settle_locked(p, b->page[i].node))
            dirty[n++] = (struct swap_page){.node = b->page[i].node,
                                            .slot = node->slot,
                                            .frame = frame_address(frame_page_number(node->frame)),
                                            .alone = node->flags & NODE_ALONE};
    }
    spin_unlock(&p->lock, irq);
    swap_pages(p, true, dirty, n);
}

static bool is_in_turn(struct pool *p)
{
    bool irq = spin_lock(&p->lock);
    bool is = p->vain > victims_max_locked(p);

    spin_unlock(&p->lock, irq);
    return is;
}

static void note_looks(const struct batch *b, unsigned looks)
{
    struct pool *p = b->pool;
    bool irq = spin_lock(&p->lock);

    uint64_t vain = p->vain + looks;
    if (!b->in_turn)
        vain = MAX(p->vain, MIN(vain, victims_max_locked(p) + 1));
    p->vain = b->n ? 0 : vain;
    spin_unlock(&p->lock, irq);
}

unsigned evict_batch(struct pool *p, uint32_t count, uint32_t incoming)
{
    struct batch b = {.pool = p, .in_turn = is_in_turn(p)};
    uint64_t patience = 2 * (uint64_t)p->frames + 64;
    unsigned no_slots = 0, looks = 0;
    bool none = false;

    if (pool_is_short(p))
        track_deliver();
    while (b.n < MIN(count, (uint32_t)BATCH) && patience && no_slots < NO_SLOTS_MAX && !none) {
        enum verdict v = evict_next(&b, incoming, &none);
        incoming = v == EVICTED ? NODE_NONE : incoming;
        patience -= v != EVICTED;
        no_slots += v == NO_SLOT;
        if (++looks % STRETCH)
            continue;
        /* a thread that faults on one of these waits for it: do not yield before they are
         * settled */
        if (b.n)
            break;
        sched_point();
    }
    note_looks(&b, looks);
    if (b.n)
        finish_batch(&b);
    return b.n;
}
