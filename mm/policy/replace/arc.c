/*
 * ARC [Megiddo and Modha, FAST 2003]: T1 has the resident pages used once, T2 those used more
 * often, B1 and B2 remember pages that were evicted from either. p, the part of memory meant for
 * T1, grows when a page of B1 comes back and shrinks when one of B2 does. |T1| + |B1| <= c and all
 * four <= 2c, c being the frames.
 *
 * The paper evicts inside a request; here the victim leaves before the page enters. So p is adapted
 * by the first call that tells of the incoming page, and history is cut when the page enters. The
 * decisions are the paper's. p has fractions, as there, rounded down to 2^-16.
 */
#include "mm/policy/replace/list.h"

enum { T1 = 1, B1, T2, B2 }; /* latest first */
/* Mark of a prefetched page: where it was remembered. */
enum { WAS_NEW, WAS_B1, WAS_B2 };

#define ONE ((uint64_t)1 << 16) /* page, in p */

struct arc {
    struct replace_base base; /* offered: a page of T1; touched at once, it is in use now */
    uint64_t p;
    uint32_t adapted; /* the incoming page that p is adapted to, or LINK_END */
    uint32_t spare;
};

static size_t arc_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct arc), sizeof(struct replace_link));
}

static int arc_init(void *state, const struct replace_config *config)
{
    struct arc *s = state;
    int rc = base_init(&s->base, config, sizeof *s, sizeof(struct replace_link), 0);

    s->base.out = 1 << B1 | 1 << B2;
    s->adapted = LINK_END;
    return rc;
}

/* Returns where a page that is not in use is or was remembered. */
static uint32_t was_in(const struct arc *s, uint32_t node)
{
    uint32_t list = base_list_of(&s->base, node);

    if (list == B1 || list == B2)
        return list == B1 ? WAS_B1 : WAS_B2;
    return list == UNUSED_LIST ? link_of(&s->base.link, node)->mark : WAS_NEW;
}

/* Adapts p to the use of a page that was remembered: by 1, or by the ratio of the other list's size
 * to its own list's. */
static void adapt(struct arc *s, uint32_t was)
{
    uint64_t b1 = MAX(s->base.list[B1].size, 1u), b2 = MAX(s->base.list[B2].size, 1u);

    if (was == WAS_B1)
        s->p = MIN(s->p + MAX(ONE, b2 * ONE / b1), s->base.frames * ONE);
    if (was == WAS_B2)
        s->p -= MIN(s->p, MAX(ONE, b1 * ONE / b2));
}

/* Cuts history to the paper's bounds. */
static void cut_history(struct arc *s)
{
    const struct replace_list *l = s->base.list;
    uint64_t frames = s->base.frames;

    while (l[B1].size && l[T1].size + l[B1].size > frames)
        base_take_out(&s->base, l[B1].tail);
    while (l[B2].size && (uint64_t)l[T1].size + l[B1].size + l[T2].size + l[B2].size > 2 * frames)
        base_take_out(&s->base, l[B2].tail);
}

/* The use by which a page comes into T1 or T2, from history or the unused pages. */
static void use_first(struct arc *s, uint32_t node)
{
    uint32_t was = was_in(s, node);

    if (was != WAS_NEW && s->adapted != node)
        adapt(s, was);
    s->adapted = LINK_END;
    if (base_list_of(&s->base, node) != LIST_NONE)
        base_take_out(&s->base, node);
    link_of(&s->base.link, node)->mark = 0;
    base_push_head(&s->base, was == WAS_NEW ? T1 : T2, node);
    cut_history(s);
}

static void arc_touch(void *state, uint32_t node)
{
    struct arc *s = state;
    uint32_t list = base_list_of(&s->base, node);
    bool goes_on = node == s->base.offered && list == T1; /* the use that brought the page */

    ASSERT(base_resident(s, node));
    s->base.offered = LINK_END;
    if (list == UNUSED_LIST) {
        use_first(s, node);
        return;
    }
    base_take_out(&s->base, node);
    base_push_head(&s->base, goes_on ? T1 : T2, node);
}

static void arc_enter(void *state, uint32_t node, uint32_t region)
{
    struct arc *s = state;

    ASSERT(!base_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->base.offered = LINK_END;
    use_first(s, node);
}

static void arc_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct arc *s = state;
    uint32_t was = was_in(s, node);

    base_enter_unused(s, node, region);
    link_of(&s->base.link, node)->mark = was & 3;
}

/* REPLACE(x, p) of the paper. */
static uint32_t arc_victim(void *state, uint32_t incoming)
{
    struct arc *s = state;
    const struct replace_list *t1 = &s->base.list[T1], *t2 = &s->base.list[T2];
    uint32_t was = incoming == REPLACE_NONE ? WAS_NEW : was_in(s, incoming);
    uint32_t due = base_due(&s->base);

    if (was != WAS_NEW && s->adapted != incoming) {
        adapt(s, was);
        s->adapted = incoming;
    }
    if (due != LINK_END)
        return due;
    bool first = t1->size && (t1->size * ONE > s->p || (was == WAS_B2 && t1->size * ONE == s->p));
    if (first || (t1->size && !t2->size))
        return s->base.offered = t1->tail;
    return list_named(t2->size ? t2->tail : s->base.list[UNUSED_LIST].tail);
}

static void arc_leave(void *state, uint32_t node)
{
    struct arc *s = state;
    uint32_t list = base_list_of(&s->base, node), was = was_in(s, node);

    base_leave(s, node);
    if (list != UNUSED_LIST)
        base_push_head(&s->base, list == T1 ? B1 : B2, node);
    else if (was != WAS_NEW)
        list_push_tail(&s->base.link, &s->base.list[was == WAS_B1 ? B1 : B2], node);
    cut_history(s);
}

static void arc_forget(void *state, uint32_t node)
{
    struct arc *s = state;

    base_forget(s, node);
    if (s->adapted == node)
        s->adapted = LINK_END;
}

static void arc_resize(void *state, uint32_t frames)
{
    struct arc *s = state;

    base_resize(s, frames);
    s->p = MIN(s->p, frames * ONE);
    cut_history(s);
}

static void arc_report(const void *state, struct replace_report *out)
{
    base_report(state, replace_arc.name, out);
}

static const char *arc_check(const void *state)
{
    const struct arc *s = state;
    const struct replace_list *l = s->base.list;
    uint64_t all = (uint64_t)l[T1].size + l[B1].size + l[T2].size + l[B2].size;

    for (uint32_t n = 0; n < s->base.nodes; n++) {
        uint32_t mark = link_of(&s->base.link, n)->mark;
        if (mark > WAS_B2 || (mark && base_list_of(&s->base, n) != UNUSED_LIST))
            return "arc: a page in use has the mark of one that is not";
    }
    if (s->p > s->base.frames * ONE)
        return "arc: p is more than memory";
    if (l[B1].size && l[T1].size + l[B1].size > s->base.frames)
        return "arc: too much is remembered of what was used once";
    if (l[B2].size && all > 2 * (uint64_t)s->base.frames)
        return "arc: too much is remembered in all";
    return base_check(s);
}

const struct replace_ops replace_arc = {
    .name = "arc",
    .per_node = sizeof(struct replace_link),
    .use_once = true,
    .bytes = arc_bytes,
    .init = arc_init,
    .grow = base_grow,
    .touch = arc_touch,
    .enter = arc_enter,
    .enter_unused = arc_enter_unused,
    .victim = arc_victim,
    .leave = arc_leave,
    .forget = arc_forget,
    .resize = arc_resize,
    .resident = base_resident,
    .report = arc_report,
    .check = arc_check,
};
