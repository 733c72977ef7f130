/*
 * Memory becomes a given set.  A victim that is in the page access buffer, and so answered with a touch, is a stray from then
 * on: the set does without it until it is used again, and the next most recent one is asked for.
 */
#include "mm/replace_aside.h"
#include "mm/replace_follow.h"

static void follow_touch(void *state, uint32_t node)
{
    struct aside *s = state;

    ASSERT(node < s->nodes);
    bool hot = node == s->offered;
    aside_take_out(s, node);
    list_push_head(s->link, hot ? &s->aside : &s->others, node);
    s->offered = LINK_END;
    s->tried += hot;
}

static void take_out(struct aside *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    aside_take_out(s, node);
    if (s->offered == node)
        s->offered = LINK_END;
}

void follow_stray(void *state, uint32_t node)
{
    struct aside *s = state;

    take_out(s, node);
    list_push_head(s->link, &s->aside, node);
}

void follow_first(void *state, uint32_t node)
{
    struct aside *s = state;

    take_out(s, node);
    list_push_tail(s->link, &s->aside, node);
}

void follow_member(void *state, uint32_t node)
{
    struct aside *s = state;

    take_out(s, node);
    list_push_head(s->link, &s->others, node);
}

bool follow_strays(const void *state)
{
    const struct aside *s = state;

    return s->aside.size > s->tried;
}

static uint32_t follow_victim(void *state, uint32_t incoming)
{
    struct aside *s = state;

    (void)incoming;
    return aside_victim(s, follow_strays(s));
}

const struct replace_ops replace_follow = {
    .name = "mru",
    .per_node = sizeof(struct replace_link),
    .bytes = aside_bytes,
    .init = aside_init,
    .grow = aside_grow,
    .touch = follow_touch,
    .enter = aside_enter,
    .enter_unused = aside_enter_unused,
    .victim = follow_victim,
    .leave = aside_leave,
    .forget = aside_forget,
    .resize = aside_resize,
    .resident = aside_resident,
    .report = aside_report,
    .check = aside_check,
};
