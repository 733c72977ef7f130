/* See prefetching.h. */
#include "mm/pool/prefetching.h"
#include "kernel/mem/frame.h"
#include "mm/space.h"
#include "kernel/mem/mem.h"

#define BATCH 128 /* entries of a list that are started together */

/* Returns the frames that the policy reckons with, if the pool is to have `frames` (0: its
 * limit). */
static uint32_t frames_for(const struct pool *p, uint32_t frames)
{
    struct frame_stats all;

    frame_stats(&all);
    return (uint32_t)MAX(MIN(MIN(frames ? frames : p->limit, p->limit), all.total_pages), 1u);
}

static unsigned orders_of(const struct pool *p)
{
    return p->prefetching.ops ? p->prefetching.ops->orders : 0;
}

int prefetching_init(struct pool *p, uint32_t nodes)
{
    struct prefetching *x = &p->prefetching;

    if (!x->ops)
        return 0;
    x->policy = area_alloc(prefetch_bytes(x->ops, nodes));
    if (!x->policy)
        return -ENOMEM;
    for (unsigned i = 0; i < x->ops->orders; i++) {
        x->order[i] = area_alloc(lrustack_bytes(nodes));
        if (!x->order[i])
            return -ENOMEM;
        lrustack_init(x->order[i], nodes);
    }
    prefetch_init(x->policy, x->ops, nodes, frames_for(p, 0));
    return 0;
}

void prefetching_free_tables(struct prefetching_tables *t)
{
    for (unsigned i = 0; i < PREFETCH_ORDERS; i++)
        area_free(t->order[i]);
    area_free(t->policy);
}

void prefetching_end(struct pool *p)
{
    struct prefetching_tables t = {.policy = p->prefetching.policy};

    memcpy(t.order, p->prefetching.order, sizeof(t.order));
    prefetching_free_tables(&t);
}

uint64_t prefetching_tables_bytes(const struct pool *p, uint32_t nodes)
{
    const struct prefetch_ops *ops = p->prefetching.ops;

    return ops ? ALIGN_UP(prefetch_bytes(ops, nodes), PAGE_SIZE) +
                     ops->orders * ALIGN_UP(lrustack_bytes(nodes), PAGE_SIZE)
               : 0;
}

bool prefetching_can_hold(const struct pool *p, uint32_t nodes)
{
    return !orders_of(p) || nodes <= LRUSTACK_NODES_MAX;
}

int prefetching_extend(const struct pool *p, uint32_t nodes, struct prefetching_tables *t)
{
    const struct prefetching *x = &p->prefetching;

    *t = (struct prefetching_tables){0};
    if (!x->ops)
        return 0;
    t->policy = area_extend(x->policy, prefetch_bytes(x->ops, nodes));
    bool all = t->policy;
    for (unsigned i = 0; i < x->ops->orders; i++) {
        t->order[i] = area_extend(x->order[i], lrustack_bytes(nodes));
        all = all && t->order[i];
    }
    if (all)
        return 0;
    prefetching_free_tables(t);
    return -ENOMEM;
}

void prefetching_replace_tables(struct pool *p, struct prefetching_tables *t, uint32_t nodes)
{
    struct prefetching *x = &p->prefetching;
    struct prefetching_tables had = {.policy = x->policy};

    if (!x->policy)
        return;
    area_replace(had.policy, t->policy);
    prefetch_grow(t->policy, nodes);
    x->policy = t->policy;
    for (unsigned i = 0; i < orders_of(p); i++) {
        had.order[i] = x->order[i];
        area_replace(had.order[i], t->order[i]);
        lrustack_grow(t->order[i], nodes);
        x->order[i] = t->order[i];
    }
    *t = had;
}

void prefetching_resize(struct pool *p, uint32_t frames)
{
    if (p->prefetching.policy)
        prefetch_resize(p->prefetching.policy, frames_for(p, frames));
}

/* ---- What the policy is told ----------------------------------------------------------------- */

void prefetching_used(struct pool *p, uint32_t n)
{
    if (p->prefetching.order[PREFETCH_BY_USE])
        lrustack_touch(p->prefetching.order[PREFETCH_BY_USE], n);
}

void prefetching_missed(struct pool *p, uint32_t n)
{
    for (unsigned i = 0; i < PREFETCH_ORDERS && p->prefetching.order[i]; i++)
        lrustack_touch(p->prefetching.order[i], n);
}

static bool is_out(const struct pool *p, uint32_t n)
{
    return n < p->capacity && p->nodes[n].state == NODE_OUT && p->nodes[n].slot != SLOT_NONE;
}

/* Returns the node of a page of s, or PREFETCH_NO_NODE. [S] and [P] held. */
static uint32_t node_of(const struct pool *p, struct space *s, uint64_t page)
{
    struct arch_page at;

    if (page >= USER_MAX >> PAGE_SHIFT)
        return PREFETCH_NO_NODE;
    arch_space_look(&s->arch, page << PAGE_SHIFT, 1, &at);
    uint32_t n = at.kind == ARCH_PAGE_OUT    ? at.number
                 : at.kind == ARCH_PAGE_HERE ? frame_page(at.pa)->next
                                             : PREFETCH_NO_NODE;
    return n < p->capacity && p->nodes[n].lineage == s->lineage && p->nodes[n].page == page
               ? n
               : PREFETCH_NO_NODE;
}

/* Answers what the policy asks about pages of s, and has it complete the list. */
static void complete_list(struct pool *p, struct space *s, struct prefetch_list *list)
{
    struct prefetch_ask *ask;

    while ((ask = prefetch_asks(p->prefetching.policy))) {
        if (ask->node == PREFETCH_NO_NODE)
            ask->node = node_of(p, s, ask->page);
        ask->out = is_out(p, ask->node);
    }
    prefetch_decide(p->prefetching.policy, list);
}

static struct prefetch_use use_of(const struct pool *p, uint32_t n, bool late)
{
    return (struct prefetch_use){
        .node = n,
        .region = p->nodes[n].region,
        .late = late,
        .page = p->nodes[n].page,
        .order = {p->prefetching.order[PREFETCH_BY_USE], p->prefetching.order[PREFETCH_BY_MISS]}};
}

void prefetching_fault(struct pool *p, struct space *s, uint32_t n, struct prefetch_list *list)
{
    struct prefetch_use use = use_of(p, n, false);

    if (p->prefetching.policy) {
        prefetch_fault(p->prefetching.policy, &use, list);
        complete_list(p, s, list);
    }
    prefetching_missed(p, n);
}

/* Clears NODE_UNUSED and NODE_PREDICTED of node n. Returns whether it was UNUSED. */
static bool clear_unused(struct pool *p, uint32_t n, bool *predicted)
{
    struct node *node = &p->nodes[n];
    bool unused = node->flags & NODE_UNUSED;

    *predicted = node->flags & NODE_PREDICTED;
    node->flags &= ~(NODE_UNUSED | NODE_PREDICTED);
    p->prefetching.unused -= unused;
    return unused;
}

void prefetching_wanted(struct pool *p, struct space *s, uint32_t n, bool late,
                        struct prefetch_list *list)
{
    struct prefetch_use use = use_of(p, n, late);
    bool predicted;

    if (!clear_unused(p, n, &predicted))
        return;
    p->stats.prefetched_used++;
    if (predicted) {
        prefetch_first_use(p->prefetching.policy, &use, list);
        complete_list(p, s, list);
    }
    prefetching_missed(p, n);
}

void prefetching_left(struct pool *p, uint32_t n)
{
    if (p->prefetching.policy)
        prefetch_left(p->prefetching.policy, n);
}

void prefetching_wasted(struct pool *p, uint32_t n)
{
    bool predicted;

    if (!clear_unused(p, n, &predicted))
        return;
    p->stats.wasted++;
    if (predicted)
        prefetch_wasted(p->prefetching.policy, n);
}

void prefetching_fetched(struct pool *p, uint32_t n)
{
    p->nodes[n].flags |= NODE_PREDICTED;
    prefetch_fetched(p->prefetching.policy, n);
}

void prefetching_forget(struct pool *p, uint32_t n)
{
    prefetching_wasted(p, n);
    if (p->prefetching.policy)
        prefetch_forget(p->prefetching.policy, n);
    for (unsigned i = 0; i < PREFETCH_ORDERS && p->prefetching.order[i]; i++)
        lrustack_remove(p->prefetching.order[i], n);
}

void prefetching_check(const struct pool *p)
{
    const char *why = p->prefetching.policy ? prefetch_check(p->prefetching.policy) : NULL;

    for (unsigned i = 0; i < PREFETCH_ORDERS && p->prefetching.order[i] && !why; i++)
        why = lrustack_check(p->prefetching.order[i]);
    if (why)
        panic("pool: prefetch policy %s: %s", p->prefetching.policy->ops->name, why);
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* Starts reading what `list` wants, and empties it. `pages`: the list has virtual page numbers,
 * else nodes. */
static void fetch_list(struct space *s, struct prefetch_list *list, bool pages, unsigned how)
{
    uint32_t nodes[BATCH];
    unsigned begun = 0;

    for (unsigned at = 0, n; at < list->length; at += n) {
        unsigned found = n = MIN(list->length - at, (unsigned)BATCH);
        if (pages)
            found = space_nodes(s, list->page + at, n, nodes);
        else
            for (unsigned i = 0; i < n; i++)
                nodes[i] = (uint32_t)list->page[at + i];
        begun += pool_fetch(s->pool, nodes, found, list->fetch - begun, how);
    }
    list->length = 0;
}

void prefetching_fetch(struct space *s, struct prefetch_list *list)
{
    if (list->length) /* p->prefetching.policy may be replaced at any time: ops stays */
        fetch_list(s, list, s->pool->prefetching.ops->unit == PREFETCH_PAGES,
                   FETCH_PREDICTED | (list->touch ? FETCH_TOUCH : 0));
}

void prefetching_advised(const struct pool *p, vaddr_t va, vaddr_t end, struct prefetch_list *list)
{
    list->length = 0;
    list->fetch = MIN(pool_readahead_room(p), (uint32_t)PREFETCH_FETCH_MAX);
    list->touch = false;
    for (; va < end && list->length < list->fetch; va += PAGE_SIZE)
        list->page[list->length++] = va >> PAGE_SHIFT;
}

void prefetching_fetch_advised(struct space *s, struct prefetch_list *list)
{
    fetch_list(s, list, true, 0);
}
