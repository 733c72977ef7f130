/*
 * Memory becomes a given set.  A victim that is in the page access buffer, and so answered with a touch, is a stray from then
 * on: the set does without it until it is used again, and the next most recent one is asked for.
 */
#include "mm/replace_follow.h"

enum { INSIDE = 1, STRAY, UNUSED_LIST };

struct follow {
    uint32_t nodes, frames;
    struct replace_list inside, stray; /* latest use first */
    struct replace_unused unused;
    uint32_t offered; /* the victim named last, if nothing came after */
    uint32_t tried;   /* strays that were offered for this eviction   */
    struct replace_link link[];
};

static size_t follow_bytes(uint32_t nodes)
{
    if (nodes < 1 || nodes > REPLACE_NODES_MAX)
        return 0;
    return sizeof(struct follow) + nodes * sizeof(struct replace_link);
}

static void new_round(struct follow *s)
{
    s->offered = LINK_END;
    s->tried = 0;
}

static int follow_init(void *state, const struct replace_config *config)
{
    struct follow *s = state;
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    s->nodes = config->nodes;
    s->frames = config->frames;
    list_init(&s->inside, INSIDE);
    list_init(&s->stray, STRAY);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(s->link, 0, s->nodes);
    new_round(s);
    return 0;
}

static void follow_grow(void *state, uint32_t nodes)
{
    struct follow *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    links_init(s->link, s->nodes, nodes);
    s->nodes = nodes;
}

static void take_out(struct follow *s, uint32_t node)
{
    switch (s->link[node].list) {
    case INSIDE:
        list_remove(s->link, &s->inside, node);
        return;
    case STRAY:
        list_remove(s->link, &s->stray, node);
        return;
    default:
        unused_remove(s->link, &s->unused, node);
    }
}

static void follow_touch(void *state, uint32_t node)
{
    struct follow *s = state;

    ASSERT(node < s->nodes);
    bool hot = node == s->offered;
    take_out(s, node);
    list_push_head(s->link, hot ? &s->stray : &s->inside, node);
    s->offered = LINK_END;
    s->tried += hot;
}

void follow_stray(void *state, uint32_t node)
{
    struct follow *s = state;

    ASSERT(node < s->nodes);
    take_out(s, node);
    list_push_head(s->link, &s->stray, node);
    if (s->offered == node)
        s->offered = LINK_END;
}

static void follow_enter(void *state, uint32_t node, uint32_t region)
{
    struct follow *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(s->link, &s->inside, node);
    new_round(s);
}

static void follow_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct follow *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(s->link, &s->unused.list, node);
    new_round(s);
}

static uint32_t follow_victim(void *state, uint32_t incoming)
{
    struct follow *s = state;
    uint32_t due = unused_due(&s->unused, s->frames);

    (void)incoming;
    if (s->offered != LINK_END)
        return s->offered;
    if (due != LINK_END)
        s->offered = due;
    else if (s->stray.size > s->tried || (s->stray.size && !s->inside.size))
        s->offered = s->stray.tail;
    else
        s->offered = s->inside.size ? s->inside.head : s->unused.list.tail;
    return list_named(s->offered);
}

static void follow_leave(void *state, uint32_t node)
{
    struct follow *s = state;

    ASSERT(node < s->nodes);
    if (s->link[node].list != UNUSED_LIST)
        unused_pass(&s->unused);
    take_out(s, node);
    new_round(s);
}

static bool follow_resident(const void *state, uint32_t node)
{
    const struct follow *s = state;

    ASSERT(node < s->nodes);
    return s->link[node].list != LIST_NONE;
}

static void follow_forget(void *state, uint32_t node)
{
    struct follow *s = state;

    if (follow_resident(s, node)) {
        take_out(s, node);
        new_round(s);
    }
}

static void follow_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct follow *)state)->frames = frames;
}

static void follow_report(const void *state, struct replace_report *out)
{
    const struct follow *s = state;

    *out = (struct replace_report){.policy = replace_follow.name,
                                   .resident = s->inside.size + s->stray.size + s->unused.list.size};
}

static const char *follow_check(const void *state)
{
    const struct follow *s = state;
    const char *broken = list_check(s->link, s->nodes, &s->inside);

    if (!broken)
        broken = list_check(s->link, s->nodes, &s->stray);
    return broken ? broken : list_check(s->link, s->nodes, &s->unused.list);
}

const struct replace_ops replace_follow = {
    .name = "mru",
    .per_node = sizeof(struct replace_link),
    .bytes = follow_bytes,
    .init = follow_init,
    .grow = follow_grow,
    .touch = follow_touch,
    .enter = follow_enter,
    .enter_unused = follow_enter_unused,
    .victim = follow_victim,
    .leave = follow_leave,
    .forget = follow_forget,
    .resize = follow_resize,
    .resident = follow_resident,
    .report = follow_report,
    .check = follow_check,
};
