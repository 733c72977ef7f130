/*
 * LRU: the resident pages in order of their latest use; the last one goes.
 * A prefetched page starts as if it was used, so it has the time of one turnover to be used.
 */
#include "mm/policy/replace/list.h"

enum { RESIDENT = 1 };

struct lru {
    uint32_t nodes, frames;
    struct replace_list resident; /* latest use first */
    struct replace_links link;
};

static size_t lru_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct lru), sizeof(struct replace_link));
}

static int lru_init(void *state, const struct replace_config *config)
{
    struct lru *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct replace_link));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    s->nodes = config->nodes;
    s->frames = config->frames;
    list_init(&s->resident, RESIDENT);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static void lru_grow(void *state, uint32_t nodes)
{
    struct lru *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static void lru_touch(void *state, uint32_t node)
{
    struct lru *s = state;

    ASSERT(node < s->nodes);
    list_to_head(&s->link, &s->resident, node);
}

static void lru_enter(void *state, uint32_t node, uint32_t region)
{
    struct lru *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->resident, node);
}

static uint32_t lru_victim(void *state, uint32_t incoming)
{
    (void)incoming;
    return list_named(((struct lru *)state)->resident.tail);
}

static void lru_leave(void *state, uint32_t node)
{
    struct lru *s = state;

    ASSERT(node < s->nodes);
    list_remove(&s->link, &s->resident, node);
}

static bool lru_resident(const void *state, uint32_t node)
{
    const struct lru *s = state;

    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list == RESIDENT;
}

static void lru_forget(void *state, uint32_t node)
{
    if (lru_resident(state, node))
        lru_leave(state, node);
}

static void lru_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct lru *)state)->frames = frames;
}

static void lru_report(const void *state, struct replace_report *out)
{
    *out = (struct replace_report){.policy = replace_lru.name,
                                   .resident = ((const struct lru *)state)->resident.size};
}

static const char *lru_check(const void *state)
{
    const struct lru *s = state;

    return list_check(&s->link, s->nodes, &s->resident);
}

const struct replace_ops replace_lru = {
    .name = "lru",
    .per_node = sizeof(struct replace_link),
    .bytes = lru_bytes,
    .init = lru_init,
    .grow = lru_grow,
    .touch = lru_touch,
    .enter = lru_enter,
    .enter_unused = lru_enter,
    .victim = lru_victim,
    .leave = lru_leave,
    .forget = lru_forget,
    .resize = lru_resize,
    .resident = lru_resident,
    .report = lru_report,
    .check = lru_check,
};
