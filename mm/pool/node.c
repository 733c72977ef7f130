/* See pool.h: the nodes of a pool, one for each page. */
#include "mm/pool.h"
#include "kernel/mem/frame.h"
#include "kernel/mem/mem.h"
#include "mm/pool/prefetching.h"
#include "mm/pool/reclaim.h"
#include "mm/pool/swap.h"
#include "mm/space.h"

#define READAHEAD_PART 8 /* 1/8 of a limit may be read ahead and unused */

/* Answers what the replacement policy asks. Returns whether it asked anything. [P] held. */
static bool answer_policy(struct pool *p)
{
    bool asked = false;
    uint32_t n;

    while (p->ops->asks && (n = p->ops->asks(p->state)) != REPLACE_NONE) {
        const struct node *node = &p->nodes[n];
        enum page_buffered is = BUFFER_UNKNOWN;
        if (node->lineage)
            is = lineage_buffered(node->lineage, node->page << PAGE_SHIFT);
        p->ops->tell(p->state, n, is);
        asked = true;
    }
    return asked;
}

void pool_touch_locked(struct pool *p, uint32_t n)
{
    p->ops->touch(p->state, n);
    answer_policy(p);
}

void pool_enter_locked(struct pool *p, uint32_t n)
{
    p->ops->enter(p->state, n, p->nodes[n].region);
    answer_policy(p);
}

uint32_t pool_victim_locked(struct pool *p, uint32_t incoming)
{
    uint32_t n;

    do
        n = p->ops->victim(p->state, incoming);
    while (answer_policy(p));
    return n;
}

void pool_resize_locked(struct pool *p, uint32_t frames)
{
    p->ops->resize(p->state, frames);
    answer_policy(p);
}

/* ---- Life of a node -------------------------------------------------------------------------- */

/* Takes a free node. Returns NODE_NONE if there is none. */
static uint32_t take_free_node(struct pool *p)
{
    uint32_t n = p->free_head;

    if (n == NODE_NONE)
        return NODE_NONE;
    p->free_head = (uint32_t)p->nodes[n].page;
    p->free_nodes--;
    return n;
}

uint32_t pool_node_new(struct pool *p, struct space *s, vaddr_t va, uint32_t frame, uint8_t region)
{
    uint32_t n = take_free_node(p);

    if (n == NODE_NONE)
        return NODE_NONE;
    p->nodes[n] = (struct node){.lineage = s->lineage,
                                .page = va >> PAGE_SHIFT,
                                .state = NODE_HERE,
                                .elsewhere = s->elsewhere,
                                .flags = space_tells(s) ? NODE_FRESH : 0,
                                .region = region,
                                .sharers = 1,
                                .mapped = 1};
    pool_frame_take(p, n, frame);
    pool_enter_locked(p, n);
    prefetching_missed(p, n);
    p->stats.first_faults++;
    return n;
}

uint32_t pool_node_out(struct pool *p, struct space *s, vaddr_t va, uint8_t flags, uint8_t region)
{
    uint32_t n = take_free_node(p);

    if (n != NODE_NONE)
        p->nodes[n] = (struct node){.lineage = s->lineage,
                                    .page = va >> PAGE_SHIFT,
                                    .slot = SLOT_NONE,
                                    .state = NODE_OUT,
                                    .elsewhere = s->elsewhere,
                                    .flags = flags,
                                    .region = region,
                                    .sharers = 1};
    return n;
}

/* Gives node n, which is OUT, a frame that no thread waits for. */
static void read_ahead(struct pool *p, uint32_t n, uint32_t frame)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->state == NODE_OUT && node->lineage);
    node->flags = (node->flags & ~NODE_FAILED) | NODE_UNUSED;
    pool_frame_take(p, n, frame);
    p->prefetching.unused++;
    p->stats.prefetched++;
}

void pool_node_filled(struct pool *p, uint32_t n, uint32_t frame)
{
    read_ahead(p, n, frame);
    p->stats.page_ins++;
    p->ops->enter_unused(p->state, n, p->nodes[n].region);
    pool_set_state(p, n, NODE_READY);
}

void pool_node_coming(struct pool *p, uint32_t n, uint32_t frame)
{
    read_ahead(p, n, frame);
    pool_set_state(p, n, NODE_COMING);
}

uint64_t pool_held_up_locked(struct pool *p, uint64_t now_ns)
{
    if (p->held_up.threads && now_ns > p->held_up.to_ns) {
        p->held_up.ns += now_ns - p->held_up.to_ns;
        p->held_up.to_ns = now_ns;
    }
    return p->held_up.ns;
}

void pool_wait_begins_locked(struct pool *p, uint64_t since_ns)
{
    if (!p->held_up.threads++)
        p->held_up.to_ns = MAX(p->held_up.to_ns, since_ns);
}

void pool_wait_ends_locked(struct pool *p, uint64_t since_ns, uint64_t now_ns, bool came)
{
    pool_held_up_locked(p, now_ns);
    p->held_up.threads--;
    if (came) {
        p->stats.major_faults++;
        p->stats.waited_ns += now_ns - since_ns;
    }
}

/* ---- Pages that sequential readers have passed ----------------------------------------------- */

#define PASSED_KEPT 8 /* the latest nodes, which may still be read from */

void pool_passed_add(struct pool *p, uint32_t n)
{
    p->passed.node[p->passed.head++ % POOL_PASSED] = n;
    if (p->passed.head - p->passed.tail > POOL_PASSED)
        p->passed.tail++; /* the oldest one is left to the policy */
}

uint32_t pool_passed_next(struct pool *p)
{
    struct passed_pages *x = &p->passed;

    return x->head - x->tail > PASSED_KEPT ? x->node[x->tail++ % POOL_PASSED] : NODE_NONE;
}

uint32_t pool_readahead_room(const struct pool *p)
{
    uint32_t most = p->limit / READAHEAD_PART;

    return most - MIN(p->prefetching.unused, most);
}

void pool_node_free(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(!node->frame && node->state != NODE_FREE);
    if (node->slot != SLOT_NONE)
        swap_slot_give(node->slot);
    *node = (struct node){.page = p->free_head};
    p->free_head = n;
    p->free_nodes++;
    if (p->free_nodes == p->capacity)
        wait_wake(&p->room, UINT32_MAX);
}

void pool_frame_free(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    frame_free(frame_address(frame_page_number(node->frame)), 0);
    node->frame = 0;
    pool_count_held(p, n, -1);
    pool_uncharge_locked(p, 1);
}

static bool is_leaving(enum node_state state)
{
    return state == NODE_GOING || state == NODE_WRITING;
}

void pool_set_state(struct pool *p, uint32_t n, enum node_state state)
{
    struct node *node = &p->nodes[n];

    pool_leaving_locked(p, is_leaving(state) - is_leaving(node->state));
    p->coming -= node->state == NODE_COMING;
    p->coming += state == NODE_COMING;
    node->state = state;
    wait_wake(pool_queue(p, n), UINT32_MAX);
}

/* Tells whether a transfer, or a thread that holds node n, will free it. */
static bool is_busy(const struct node *node)
{
    return node->holds || node->state == NODE_COMING || node->state == NODE_GOING ||
           node->state == NODE_WRITING;
}

uint32_t pool_forget(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];
    uint32_t frame = 0;

    prefetching_forget(p, n);
    p->ops->forget(p->state, n);
    wait_wake(pool_queue(p, n), UINT32_MAX);
    ASSERT(node->state != NODE_FREE && node->lineage && node->sharers <= 1);
    ASSERT(!(node->flags & NODE_RESCUED));
    node->sharers = 0;
    if (is_busy(node)) {
        node->lineage = NULL;
        return 0;
    }
    if (node->state == NODE_HERE) {
        frame = node->frame;
        node->frame = 0;
        pool_count_held(p, n, -1);
    } else if (node->state == NODE_READY) {
        pool_frame_free(p, n);
    }
    pool_node_free(p, n);
    return frame;
}

/* ---- Sharing --------------------------------------------------------------------------------- */

void pool_unmapped(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->mapped && !(node->flags & NODE_RESCUED && node->mapped == 1));
    if (--node->mapped == 0 && node->state == NODE_HERE)
        pool_set_state(p, n, NODE_READY);
    if (p->files)
        wait_wake(pool_queue(p, n), UINT32_MAX);
}

void pool_drop_share(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->sharers);
    if (node->sharers > 1) {
        node->sharers--;
        return;
    }
    ASSERT(!node->mapped);
    pool_forget(p, n);
}

bool pool_hold(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->frame);
    if (node->holds == UINT8_MAX)
        return false;
    node->holds++;
    return true;
}

void pool_let_go(struct pool *p, uint32_t n)
{
    struct node *node = &p->nodes[n];

    ASSERT(node->holds);
    node->holds--;
    wait_wake(pool_queue(p, n), UINT32_MAX);
    if (node->lineage || is_busy(node))
        return;
    pool_frame_free(p, n);
    pool_node_free(p, n);
}

/* ---- Checking -------------------------------------------------------------------------------- */

static void check_node(const struct pool *p, const struct node *node)
{
    ASSERT(node->state <= NODE_OUT);
    ASSERT(node->lineage || is_busy(node));
    ASSERT(!node->lineage == !node->sharers && (p->files || node->mapped <= node->sharers));
    ASSERT(node->state != NODE_HERE || node->mapped);
    ASSERT(!(node->flags & NODE_RESCUED) || node->state == NODE_HERE);
    ASSERT(!node->frame == (node->state == NODE_OUT));
    ASSERT(!(node->flags & NODE_UNUSED) || node->state == NODE_COMING || node->state == NODE_READY);
    ASSERT(!(node->flags & NODE_PREDICTED) || (node->flags & NODE_UNUSED));
    if (node->frame)
        ASSERT(frame_page_number(node->frame)->next == (uint32_t)(node - p->nodes) &&
               pool_owns(p, frame_address(frame_page_number(node->frame))));
}

void pool_check(struct pool *p)
{
    uint32_t free = 0, held = 0, elsewhere = 0, leaving = 0, unused = 0, coming = 0;
    bool irq = spin_lock(&p->lock);

    for (uint32_t n = 0; n < p->capacity; n++) {
        const struct node *node = &p->nodes[n];
        bool resident = node->lineage && (node->state == NODE_HERE || node->state == NODE_READY);
        free += node->state == NODE_FREE;
        held += node->frame != 0;
        elsewhere += node->frame && node->elsewhere;
        coming += node->state == NODE_COMING;
        leaving += node->state == NODE_GOING || node->state == NODE_WRITING;
        unused += node->flags & NODE_UNUSED ? 1 : 0;
        if (node->state != NODE_FREE)
            check_node(p, node);
        ASSERT(p->ops->resident(p->state, n) == resident);
    }
    ASSERT(free == p->free_nodes && held == p->held && held <= p->frames);
    ASSERT(elsewhere == p->elsewhere);
    ASSERT(leaving == p->leaving && coming == p->coming && unused == p->prefetching.unused);
    const char *why = p->ops->check(p->state);
    if (why)
        panic("pool: policy %s: %s", p->ops->name, why);
    prefetching_check(p);
    spin_unlock(&p->lock, irq);
}
