/* See prefetching.h. */
#include "mm/pool/prefetching.h"
#include "kernel/mem/frame.h"
#include "mm/space.h"
#include "kernel/mem/mem.h"

#define BATCH 128 /* pages of a list that are begun to be read together */

static uint32_t frames_for(const struct pool *p, uint32_t frames)
{
    struct frame_stats all;

    frame_stats(&all);
    return (uint32_t)MAX(MIN(MIN(frames ? frames : p->limit, p->limit), all.total_pages), 1u);
}

int prefetching_init(struct pool *p, uint32_t nodes)
{
    const struct prefetch_ops *ops = p->ahead;

    if (!ops)
        return 0;
    p->prefetch = area_alloc(prefetch_bytes(ops, nodes));
    if (!p->prefetch)
        return -ENOMEM;
    for (unsigned i = 0; i < ops->orders; i++) {
        p->order[i] = area_alloc(lrustack_bytes(nodes));
        if (!p->order[i])
            return -ENOMEM;
        lrustack_init(p->order[i], nodes);
    }
    prefetch_init(p->prefetch, ops, nodes, frames_for(p, 0));
    return 0;
}

void prefetching_resize(struct pool *p, uint32_t frames)
{
    if (p->prefetch)
        prefetch_resize(p->prefetch, frames_for(p, frames));
}

/* ---- What it hears. [P] held. --------------------------------------------------------------- */

void prefetching_used(struct pool *p, uint32_t n)
{
    if (p->order[PREFETCH_BY_USE])
        lrustack_touch(p->order[PREFETCH_BY_USE], n);
}

void prefetching_missed(struct pool *p, uint32_t n)
{
    for (unsigned i = 0; i < PREFETCH_ORDERS && p->order[i]; i++)
        lrustack_touch(p->order[i], n);
}

static bool is_out(const void *of, uint32_t n)
{
    const struct space *s = *(struct space *const *)of;
    const struct pool *p = s->pool;

    return n < p->capacity && p->nodes[n].state == NODE_OUT && p->nodes[n].slot != SLOT_NONE;
}

/* [S] held, too: an event is a fault, which is on a page of this space. */
static uint32_t node_of(const void *of, uint64_t page)
{
    struct space *s = *(struct space *const *)of;
    const struct pool *p = s->pool;
    struct arch_page at;

    if (page >= USER_MAX >> PAGE_SHIFT)
        return PREFETCH_NO_NODE;
    arch_space_look(&s->arch, page << PAGE_SHIFT, 1, &at);
    uint32_t n = at.kind == ARCH_PAGE_OUT    ? at.number
                 : at.kind == ARCH_PAGE_HERE ? frame_page(at.pa)->next
                                             : PREFETCH_NO_NODE;
    return n < p->capacity && p->nodes[n].space == s && p->nodes[n].page == page ? n
                                                                                 : PREFETCH_NO_NODE;
}

static struct prefetch_use use_of(const struct pool *p, uint32_t n, bool late,
                                  const struct prefetch_pages *pages)
{
    return (struct prefetch_use){.node = n,
                                 .region = p->nodes[n].region,
                                 .pages = pages,
                                 .late = late,
                                 .page = p->nodes[n].page,
                                 .order = {p->order[PREFETCH_BY_USE], p->order[PREFETCH_BY_MISS]}};
}

void prefetching_fault(struct pool *p, uint32_t n, struct prefetch_list *list)
{
    const struct prefetch_pages pages = {
        .node_of = node_of, .is_out = is_out, .of = &p->nodes[n].space};
    struct prefetch_use use = use_of(p, n, false, &pages);

    if (p->prefetch)
        prefetch_fault(p->prefetch, &use, list);
    prefetching_missed(p, n);
}

/* True: it was flagged; *foreseen: by the policy's wish. */
static bool take_flags(struct pool *p, uint32_t n, bool *foreseen)
{
    struct node *node = &p->nodes[n];
    bool unused = node->flags & NODE_UNUSED;

    *foreseen = node->flags & NODE_PREDICTED;
    node->flags &= ~(NODE_UNUSED | NODE_PREDICTED);
    p->unused -= unused;
    return unused;
}

void prefetching_wanted(struct pool *p, uint32_t n, bool late, struct prefetch_list *list)
{
    const struct prefetch_pages pages = {
        .node_of = node_of, .is_out = is_out, .of = &p->nodes[n].space};
    struct prefetch_use use = use_of(p, n, late, &pages);
    bool foreseen;

    if (!take_flags(p, n, &foreseen))
        return;
    p->stats.prefetched_used++;
    if (foreseen)
        prefetch_first_use(p->prefetch, &use, list);
    prefetching_missed(p, n);
}

void prefetching_left(struct pool *p, uint32_t n)
{
    if (p->prefetch)
        prefetch_left(p->prefetch, n);
}

void prefetching_wasted(struct pool *p, uint32_t n)
{
    bool foreseen;

    if (!take_flags(p, n, &foreseen))
        return;
    p->stats.wasted++;
    if (foreseen)
        prefetch_wasted(p->prefetch, n);
}

void prefetching_fetched(struct pool *p, uint32_t n)
{
    p->nodes[n].flags |= NODE_PREDICTED;
    prefetch_fetched(p->prefetch, n);
}

void prefetching_forget(struct pool *p, uint32_t n)
{
    prefetching_wasted(p, n);
    if (p->prefetch)
        prefetch_forget(p->prefetch, n);
    for (unsigned i = 0; i < PREFETCH_ORDERS && p->order[i]; i++)
        lrustack_remove(p->order[i], n);
}

void prefetching_check(const struct pool *p)
{
    const char *why = p->prefetch ? prefetch_check(p->prefetch) : NULL;

    for (unsigned i = 0; i < PREFETCH_ORDERS && p->order[i] && !why; i++)
        why = lrustack_check(p->order[i]);
    if (why)
        panic("pool: prefetch policy %s: %s", p->prefetch->ops->name, why);
}

/* ---- What it wants. No lock held. ----------------------------------------------------------- */

/* The list has pages, or nodes. */
static void fetch(struct space *s, struct prefetch_list *list, bool pages, unsigned how)
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
    if (list->length) /* p->prefetch may be replaced at any time */
        fetch(s, list, s->pool->ahead->unit == PREFETCH_PAGES,
              FETCH_PREDICTED | (list->touch ? FETCH_TOUCH : 0));
}

/* ---- What a program has said. The policy does not hear of it. ------------------------------- */

void prefetching_advised(const struct pool *p, vaddr_t va, vaddr_t end, struct prefetch_list *list)
{
    list->length = 0;
    list->fetch = MIN(pool_ahead_room(p), (uint32_t)PREFETCH_FETCH_MAX);
    list->touch = false;
    for (; va < end && list->length < list->fetch; va += PAGE_SIZE)
        list->page[list->length++] = va >> PAGE_SHIFT;
}

void prefetching_fetch_advised(struct space *s, struct prefetch_list *list)
{
    fetch(s, list, true, 0);
}
