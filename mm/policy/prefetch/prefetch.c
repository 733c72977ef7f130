/* The common part of prefetching policies: the limit on pages fetched and not used yet, the outcome
 * of fetched pages, the table. */
#include "mm/policy/prefetch/prefetch.h"

static void no_init(void *state, uint32_t nodes)
{
    (void)state, (void)nodes;
}
static void no_list(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    (void)state, (void)use, (void)list;
}
static void no_outcome(void *state, bool soon)
{
    (void)state, (void)soon;
}
static unsigned no_level(const void *state)
{
    (void)state;
    return 0;
}
static const char *no_check(const void *state)
{
    (void)state;
    return NULL;
}

const struct prefetch_ops prefetch_none = {
    .name = "none",
    .unit = PREFETCH_PAGES,
    .orders = 0,
    .per_node = ALIGN_UP(sizeof(struct prefetch_node), 4),
    .init = no_init,
    .grow = no_init,
    .resize = no_init,
    .fault = no_list,
    .first_use = no_list,
    .outcome = no_outcome,
    .left = no_init,
    .forget = no_init,
    .level = no_level,
    .check = no_check,
};

const struct prefetch_ops *const prefetch_policies[] = {&prefetch_chooser,
                                                        &prefetch_none,
                                                        &prefetch_spatial,
                                                        &prefetch_streams,
                                                        &prefetch_ppg,
                                                        &prefetch_ppg_published,
                                                        NULL};

static uint16_t *waiting_of(const struct prefetch *p, uint32_t node)
{
    uintptr_t nodes = (uintptr_t)p->state + p->ops->bytes;

    return &((struct prefetch_node *)(nodes + (uintptr_t)node * p->ops->per_node))->waiting;
}

size_t prefetch_bytes(const struct prefetch_ops *ops, uint32_t nodes)
{
    ASSERT(nodes >= 1 && nodes <= LRUSTACK_NODES_MAX);
    return ALIGN_UP(sizeof(struct prefetch) + ops->bytes + nodes * ops->per_node, sizeof(uint64_t));
}

void prefetch_init(struct prefetch *p, const struct prefetch_ops *ops, uint32_t nodes,
                   uint32_t frames)
{
    ASSERT(nodes >= 1 && nodes <= LRUSTACK_NODES_MAX);
    p->ops = ops;
    p->nodes = nodes;
    ops->init(p->state, nodes);
    prefetch_resize(p, frames);
}

void prefetch_grow(struct prefetch *p, uint32_t nodes)
{
    ASSERT(nodes >= p->nodes && nodes <= LRUSTACK_NODES_MAX);
    p->nodes = nodes;
    p->ops->grow(p->state, nodes);
}

void prefetch_resize(struct prefetch *p, uint32_t frames)
{
    ASSERT(frames >= 1);
    p->unused_max = (uint32_t)((uint64_t)frames * PREFETCH_UNUSED_PCT / 100);
    p->soon = (uint32_t)MIN((uint64_t)frames * PREFETCH_SOON_PCT / 100, (uint64_t)PREFETCH_SOON);
    p->ops->resize(p->state, p->unused_max);
}

/* Tells the policy the outcome of a page, once. */
static void judge_page(struct prefetch *p, uint32_t node, bool soon)
{
    uint16_t *waiting = waiting_of(p, node);

    if (*waiting) {
        *waiting = 0;
        p->ops->outcome(p->state, soon);
    }
}

/* Judges the oldest page of the ring, unless it was used and fetched again: then its index is
 * another. */
static void judge_oldest(struct prefetch *p)
{
    uint32_t place = p->judged++ % PREFETCH_JUDGED, node = p->ring[place].node;

    if (*waiting_of(p, node) == place + 1)
        judge_page(p, node, false);
}

static void count_event(struct prefetch *p)
{
    p->events++;
    while (p->judged != p->fetches &&
           p->events - p->ring[p->judged % PREFETCH_JUDGED].since > p->soon)
        judge_oldest(p);
}

static void begin_list(const struct prefetch *p, struct prefetch_list *list, bool touch)
{
    list->length = 0;
    list->touch = touch;
    list->fetch = p->unused_max - MIN(p->unused, p->unused_max);
}

static bool has_orders(const struct prefetch *p, const struct prefetch_use *use)
{
    return !p->ops->orders || use->order[p->ops->orders - 1];
}

void prefetch_fault(struct prefetch *p, const struct prefetch_use *use, struct prefetch_list *list)
{
    ASSERT(use->node < p->nodes && use->region < REPLACE_REGIONS_MAX && has_orders(p, use));
    count_event(p);
    begin_list(p, list, true);
    p->ops->fault(p->state, use, list);
}

void prefetch_first_use(struct prefetch *p, const struct prefetch_use *use,
                        struct prefetch_list *list)
{
    ASSERT(use->node < p->nodes && use->region < REPLACE_REGIONS_MAX && has_orders(p, use) &&
           p->unused);
    p->unused--;
    p->used++;
    p->late += use->late;
    judge_page(p, use->node, true);
    count_event(p);
    begin_list(p, list, false);
    p->ops->first_use(p->state, use, list);
}

struct prefetch_ask *prefetch_asks(struct prefetch *p)
{
    return p->ops->asks ? p->ops->asks(p->state) : NULL;
}

void prefetch_decide(struct prefetch *p, struct prefetch_list *list)
{
    if (p->ops->decide)
        p->ops->decide(p->state, list);
    ASSERT(list->length <= PREFETCH_LIST_MAX);
    p->stopped += list->length && !list->fetch;
    list->fetch = MIN(list->fetch, (unsigned)PREFETCH_FETCH_MAX);
}

void prefetch_fetched(struct prefetch *p, uint32_t node)
{
    ASSERT(node < p->nodes);
    if (p->fetches - p->judged == PREFETCH_JUDGED)
        judge_oldest(p);
    uint32_t place = p->fetches++ % PREFETCH_JUDGED;
    p->ring[place] = (struct prefetch_fetched){node, p->events};
    *waiting_of(p, node) = (uint16_t)(place + 1);
    p->unused++;
    p->fetched++;
}

void prefetch_left(struct prefetch *p, uint32_t node)
{
    ASSERT(node < p->nodes);
    p->ops->left(p->state, node);
}

void prefetch_wasted(struct prefetch *p, uint32_t node)
{
    ASSERT(node < p->nodes && p->unused);
    p->unused--;
    p->wasted++;
    judge_page(p, node, false);
}

void prefetch_forget(struct prefetch *p, uint32_t node)
{
    ASSERT(node < p->nodes);
    judge_page(p, node, false);
    p->ops->forget(p->state, node);
}

const char *prefetch_check(const struct prefetch *p)
{
    uint32_t waiting = 0;

    if (p->fetched != p->used + p->wasted + p->unused)
        return "a fetched page is not accounted for";
    if (p->fetches - p->judged > PREFETCH_JUDGED)
        return "the ring holds more than it can";
    for (uint32_t node = 0; node < p->nodes; node++)
        waiting += *waiting_of(p, node) != 0;
    if (waiting > p->fetches - p->judged || waiting > p->unused)
        return "an outcome is waited for that is known";
    return p->ops->check(p->state);
}
