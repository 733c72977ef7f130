/*
 * MRU: the page used last goes, so that of a loop larger than memory what came first stays.
 *
 * The page used last is in the page access buffer most of the time, and must not be evicted.  A victim that is answered with
 * a touch is therefore parked, in order of use; the one used longest ago is offered first next time, for it leaves the buffer
 * first.  So what goes is the latest use outside the buffer, at one or two questions for an eviction.
 */
#include "mm/replace_list.h"

enum { RECENT = 1, PARKED, UNUSED_LIST };

struct mru {
    uint32_t nodes, frames;
    struct replace_list recent; /* latest use first                           */
    struct replace_list parked; /* were in the buffer when offered; latest use first */
    struct replace_unused unused;
    uint32_t offered; /* the victim named last, if nothing came after   */
    uint32_t tried;   /* the parked page of this eviction has been offered */
    uint32_t walked;  /* parked last in this eviction, those used before it follow; or LINK_END */
    uint32_t spare;
    struct replace_link link[];
};

static size_t mru_bytes(uint32_t nodes)
{
    if (nodes < 1 || nodes > REPLACE_NODES_MAX)
        return 0;
    return sizeof(struct mru) + nodes * sizeof(struct replace_link);
}

static void new_round(struct mru *s)
{
    s->offered = LINK_END;
    s->tried = 0;
    s->walked = LINK_END;
}

static int mru_init(void *state, const struct replace_config *config)
{
    struct mru *s = state;
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    s->nodes = config->nodes;
    s->frames = config->frames;
    list_init(&s->recent, RECENT);
    list_init(&s->parked, PARKED);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(s->link, 0, s->nodes);
    new_round(s);
    return 0;
}

static void mru_grow(void *state, uint32_t nodes)
{
    struct mru *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    links_init(s->link, s->nodes, nodes);
    s->nodes = nodes;
}

static void take_out(struct mru *s, uint32_t node)
{
    switch (s->link[node].list) {
    case RECENT:
        list_remove(s->link, &s->recent, node);
        return;
    case PARKED:
        list_remove(s->link, &s->parked, node);
        return;
    default:
        unused_remove(s->link, &s->unused, node);
    }
}

static void mru_touch(void *state, uint32_t node)
{
    struct mru *s = state;

    ASSERT(node < s->nodes);
    bool hot = node == s->offered, again = s->link[node].list == PARKED;
    if (s->walked == node)
        s->walked = LINK_END;
    take_out(s, node);
    s->offered = LINK_END;
    if (!hot) {
        list_push_head(s->link, &s->recent, node);
        return;
    }
    list_push_after(s->link, &s->parked, again ? LINK_END : s->walked, node);
    if (!again)
        s->walked = node;
}

static void mru_enter(void *state, uint32_t node, uint32_t region)
{
    struct mru *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(s->link, &s->recent, node);
    new_round(s);
}

static void mru_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct mru *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(s->link, &s->unused.list, node);
    new_round(s);
}

static uint32_t mru_victim(void *state, uint32_t incoming)
{
    struct mru *s = state;
    uint32_t due = unused_due(&s->unused, s->frames);

    (void)incoming;
    if (s->offered != LINK_END)
        return s->offered;
    if (due != LINK_END)
        s->offered = due;
    else if (s->parked.size && (!s->tried || !s->recent.size))
        s->offered = s->parked.tail;
    else
        s->offered = s->recent.size ? s->recent.head : s->unused.list.tail;
    s->tried |= s->offered == s->parked.tail;
    return list_named(s->offered);
}

static void mru_leave(void *state, uint32_t node)
{
    struct mru *s = state;

    ASSERT(node < s->nodes);
    if (s->link[node].list != UNUSED_LIST)
        unused_pass(&s->unused);
    take_out(s, node);
    new_round(s);
}

static bool mru_resident(const void *state, uint32_t node)
{
    const struct mru *s = state;

    ASSERT(node < s->nodes);
    return s->link[node].list != LIST_NONE;
}

static void mru_forget(void *state, uint32_t node)
{
    struct mru *s = state;

    if (mru_resident(s, node)) {
        take_out(s, node);
        new_round(s);
    }
}

static void mru_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct mru *)state)->frames = frames;
}

static void mru_report(const void *state, struct replace_report *out)
{
    const struct mru *s = state;

    *out = (struct replace_report){.policy = replace_mru.name,
                                   .resident = s->recent.size + s->parked.size + s->unused.list.size};
}

static const char *mru_check(const void *state)
{
    const struct mru *s = state;
    const char *broken = list_check(s->link, s->nodes, &s->recent);

    if (!broken)
        broken = list_check(s->link, s->nodes, &s->parked);
    if (!broken)
        broken = list_check(s->link, s->nodes, &s->unused.list);
    if (!broken && s->offered != LINK_END && !mru_resident(s, s->offered))
        broken = "mru: offered a page that is out";
    return broken;
}

const struct replace_ops replace_mru = {
    .name = "mru",
    .per_node = sizeof(struct replace_link),
    .bytes = mru_bytes,
    .init = mru_init,
    .grow = mru_grow,
    .touch = mru_touch,
    .enter = mru_enter,
    .enter_unused = mru_enter_unused,
    .victim = mru_victim,
    .leave = mru_leave,
    .forget = mru_forget,
    .resize = mru_resize,
    .resident = mru_resident,
    .report = mru_report,
    .check = mru_check,
};
