/*
 * MRU: the page used last goes, so that of a loop larger than memory the pages that came first
 * stay.
 *
 * The page used last is in the page access buffer most of the time, and must not be evicted. A
 * victim that is answered with a touch is therefore parked, in the order of use. The parked page
 * used longest ago is offered first next time, for it leaves the buffer first. So the page that
 * goes is the latest used outside the buffer, at one or two questions for an eviction.
 */
#include "mm/policy/replace/list.h"

enum { OTHERS = 1, PARKED }; /* latest use first */

struct mru {
    struct replace_base base;
    uint32_t tried;  /* a parked page was offered for this eviction */
    uint32_t walked; /* the page parked last in this eviction, or LINK_END */
};

static size_t mru_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct mru), sizeof(struct replace_link));
}

static void begin_eviction(struct mru *s)
{
    s->tried = 0;
    s->walked = LINK_END;
}

static int mru_init(void *state, const struct replace_config *config)
{
    begin_eviction(state);
    return base_init(state, config, sizeof(struct mru), sizeof(struct replace_link), 0);
}

static void mru_touch(void *state, uint32_t node)
{
    struct mru *s = state;
    bool hot = node == s->base.offered, again = base_list_of(&s->base, node) == PARKED;

    if (s->walked == node)
        s->walked = LINK_END;
    s->base.offered = LINK_END;
    base_take_out(&s->base, node);
    if (!hot) {
        base_push_head(&s->base, OTHERS, node);
        return;
    }
    list_push_after(&s->base.link, &s->base.list[PARKED], again ? LINK_END : s->walked, node);
    if (!again)
        s->walked = node;
}

static void mru_enter(void *state, uint32_t node, uint32_t region)
{
    struct mru *s = state;

    ASSERT(region < REPLACE_REGIONS_MAX);
    s->base.offered = LINK_END;
    base_push_head(&s->base, OTHERS, node);
    begin_eviction(s);
}

static void mru_enter_unused(void *state, uint32_t node, uint32_t region)
{
    base_enter_unused(state, node, region);
    begin_eviction(state);
}

static uint32_t mru_victim(void *state, uint32_t incoming)
{
    struct mru *s = state;
    const struct replace_list *others = &s->base.list[OTHERS], *parked = &s->base.list[PARKED];
    bool tries = parked->size && (!s->tried || !others->size);

    (void)incoming;
    uint32_t victim = base_name(&s->base, base_decided(&s->base) ? s->base.offered
                                          : tries                ? parked->tail
                                                                 : others->head);
    s->tried |= s->base.offered == parked->tail;
    return victim;
}

static void mru_leave(void *state, uint32_t node)
{
    base_leave(state, node);
    begin_eviction(state);
}

static void mru_forget(void *state, uint32_t node)
{
    if (base_resident(state, node))
        begin_eviction(state);
    base_forget(state, node);
}

static void mru_report(const void *state, struct replace_report *out)
{
    base_report(state, replace_mru.name, out);
}

const struct replace_ops replace_mru = {
    .name = "mru",
    .per_node = sizeof(struct replace_link),
    .bytes = mru_bytes,
    .init = mru_init,
    .grow = base_grow,
    .touch = mru_touch,
    .enter = mru_enter,
    .enter_unused = mru_enter_unused,
    .victim = mru_victim,
    .leave = mru_leave,
    .forget = mru_forget,
    .resize = base_resize,
    .resident = base_resident,
    .report = mru_report,
    .check = base_check,
};
