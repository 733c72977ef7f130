/*
 * MRU: the page used last goes, so that of a loop larger than memory what came first stays.
 *
 * The page used last is in the page access buffer most of the time, and must not be evicted. A
 * victim that is answered with a touch is therefore parked, in order of use; the one used longest
 * ago is offered first next time, for it leaves the buffer first. So what goes is the latest use
 * outside the buffer, at one or two questions for an eviction.
 */
#include "mm/policy/replace/aside.h"

static void mru_touch(void *state, uint32_t node)
{
    struct aside *s = state;

    ASSERT(node < s->nodes);
    bool hot = node == s->offered, again = link_of(&s->link, node)->list == ASIDE;
    if (s->walked == node)
        s->walked = LINK_END;
    aside_take_out(s, node);
    s->offered = LINK_END;
    if (!hot) {
        list_push_head(&s->link, &s->others, node);
        return;
    }
    list_push_after(&s->link, &s->aside, again ? LINK_END : s->walked, node);
    if (!again)
        s->walked = node;
}

static uint32_t mru_victim(void *state, uint32_t incoming)
{
    struct aside *s = state;
    uint32_t victim = aside_victim(s, !s->tried);

    (void)incoming;
    s->tried |= s->offered == s->aside.tail;
    return victim;
}

const struct replace_ops replace_mru = {
    .name = "mru",
    .per_node = sizeof(struct replace_link),
    .bytes = aside_bytes,
    .init = aside_init,
    .grow = aside_grow,
    .touch = mru_touch,
    .enter = aside_enter,
    .enter_unused = aside_enter_unused,
    .victim = mru_victim,
    .leave = aside_leave,
    .forget = aside_forget,
    .resize = aside_resize,
    .resident = aside_resident,
    .report = aside_report,
    .check = aside_check,
};
