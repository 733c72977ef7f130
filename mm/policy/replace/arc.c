/*
 * ARC [Megiddo and Modha, FAST 2003]: T1 has the resident pages used once, T2 those used more
 * often, B1 and B2 remember what was evicted from either. p, the part of memory meant for T1, grows
 * when a page of B1 comes back and shrinks when one of B2 does. |T1| + |B1| <= c and all four <=
 * 2c, c being the frames.
 *
 * The paper evicts inside a request; here the victim leaves before the page enters, so p is adapted
 * by whichever is told of the incoming page first, and history is cut when the page enters. The
 * decisions are the paper's. p has fractions, as there, rounded down to 2^-16.
 */
#include "mm/policy/replace/list.h"

enum { T1 = 1, B1, T2, B2, UNUSED_LIST };
enum { WAS_NEW, WAS_B1, WAS_B2 }; /* mark of a prefetched page: where it was remembered */

#define ONE ((uint64_t)1 << 16) /* page, in p */

struct arc {
    uint32_t nodes, frames;
    uint64_t p;
    struct replace_list list[B2 + 1]; /* by number, the first unused; latest first */
    struct replace_unused unused;
    uint32_t adapted; /* p is adapted to this incoming page, or LINK_END */
    /* the latest victim, until anything else is said: touched at once, it is in use now */
    uint32_t offered;
    struct replace_links link;
};

static size_t arc_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct arc), sizeof(struct replace_link));
}

static int arc_init(void *state, const struct replace_config *config)
{
    struct arc *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct replace_link));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct arc){
        .nodes = config->nodes, .frames = config->frames, .adapted = LINK_END, .offered = LINK_END};
    for (uint32_t i = 0; i <= B2; i++)
        list_init(&s->list[i], i);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static void arc_grow(void *state, uint32_t nodes)
{
    struct arc *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static bool arc_resident(const void *state, uint32_t node)
{
    const struct arc *s = state;

    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list == T1 || link_of(&s->link, node)->list == T2 ||
           link_of(&s->link, node)->list == UNUSED_LIST;
}

static uint32_t from_list(const struct arc *s, uint32_t node)
{
    uint32_t list = link_of(&s->link, node)->list;

    if (list == B1 || list == B2)
        return list == B1 ? WAS_B1 : WAS_B2;
    return list == UNUSED_LIST ? link_of(&s->link, node)->mark : WAS_NEW;
}

/* A page that was remembered is used: p moves by 1, or by how much shorter its list is than the
 * other. */
static void adapt(struct arc *s, uint32_t was)
{
    uint64_t b1 = MAX(s->list[B1].size, 1u), b2 = MAX(s->list[B2].size, 1u);

    if (was == WAS_B1)
        s->p = MIN(s->p + MAX(ONE, b2 * ONE / b1), s->frames * ONE);
    if (was == WAS_B2)
        s->p -= MIN(s->p, MAX(ONE, b1 * ONE / b2));
}

static void drop_last(struct arc *s, uint32_t list)
{
    list_remove(&s->link, &s->list[list], s->list[list].tail);
}

/* History is no more than the paper's bounds leave. */
static void cut(struct arc *s)
{
    const struct replace_list *l = s->list;

    while (l[B1].size && l[T1].size + l[B1].size > s->frames)
        drop_last(s, B1);
    while (l[B2].size &&
           (uint64_t)l[T1].size + l[B1].size + l[T2].size + l[B2].size > 2 * (uint64_t)s->frames)
        drop_last(s, B2);
}

/* The use by which a page comes into T1 or T2, out of history or of those not used. */
static void first_use(struct arc *s, uint32_t node)
{
    uint32_t was = from_list(s, node), list = link_of(&s->link, node)->list;

    if (was != WAS_NEW && s->adapted != node)
        adapt(s, was);
    s->adapted = LINK_END;
    if (list == UNUSED_LIST)
        unused_remove(&s->link, &s->unused, node);
    else if (list != LIST_NONE)
        list_remove(&s->link, &s->list[list], node);
    link_of(&s->link, node)->mark = 0;
    list_push_head(&s->link, &s->list[was == WAS_NEW ? T1 : T2], node);
    cut(s);
}

static void arc_touch(void *state, uint32_t node)
{
    struct arc *s = state;
    bool goes_on = node == s->offered &&
                   link_of(&s->link, node)->list == T1; /* the use that brought it: no second one */

    ASSERT(arc_resident(s, node));
    s->offered = LINK_END;
    if (link_of(&s->link, node)->list == UNUSED_LIST) {
        first_use(s, node);
        return;
    }
    list_remove(&s->link, &s->list[link_of(&s->link, node)->list], node);
    list_push_head(&s->link, &s->list[goes_on ? T1 : T2], node);
}

static void arc_enter(void *state, uint32_t node, uint32_t region)
{
    struct arc *s = state;

    ASSERT(!arc_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    first_use(s, node);
}

static void arc_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct arc *s = state;

    ASSERT(!arc_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    uint32_t was = from_list(s, node);
    if (was != WAS_NEW)
        list_remove(&s->link, &s->list[link_of(&s->link, node)->list], node);
    list_push_head(&s->link, &s->unused.list, node);
    link_of(&s->link, node)->mark = was;
}

/* REPLACE(x, p). */
static uint32_t arc_victim(void *state, uint32_t incoming)
{
    struct arc *s = state;
    const struct replace_list *t1 = &s->list[T1], *t2 = &s->list[T2];
    uint32_t was = incoming == REPLACE_NONE ? WAS_NEW : from_list(s, incoming);
    uint32_t due = unused_due(&s->unused, s->frames);

    if (was != WAS_NEW && s->adapted != incoming) {
        adapt(s, was);
        s->adapted = incoming;
    }
    if (due != LINK_END)
        return due;
    bool first = t1->size && (t1->size * ONE > s->p || (was == WAS_B2 && t1->size * ONE == s->p));
    if (first || (t1->size && !t2->size))
        return s->offered = t1->tail;
    return list_named(t2->size ? t2->tail : s->unused.list.tail);
}

static void arc_leave(void *state, uint32_t node)
{
    struct arc *s = state;

    ASSERT(arc_resident(s, node));
    s->offered = LINK_END;
    uint32_t list = link_of(&s->link, node)->list;
    if (list == UNUSED_LIST) {
        uint32_t was = link_of(&s->link, node)->mark;
        unused_remove(&s->link, &s->unused, node);
        link_of(&s->link, node)->mark = 0;
        if (was != WAS_NEW)
            list_push_tail(&s->link, &s->list[was == WAS_B1 ? B1 : B2], node);
    } else {
        unused_pass(&s->unused);
        list_remove(&s->link, &s->list[list], node);
        list_push_head(&s->link, &s->list[list == T1 ? B1 : B2], node);
    }
    cut(s);
}

static void arc_forget(void *state, uint32_t node)
{
    struct arc *s = state;

    ASSERT(node < s->nodes);
    uint32_t list = link_of(&s->link, node)->list;
    if (list == UNUSED_LIST)
        unused_remove(&s->link, &s->unused, node);
    else if (list != LIST_NONE)
        list_remove(&s->link, &s->list[list], node);
    link_of(&s->link, node)->mark = 0;
    if (s->adapted == node)
        s->adapted = LINK_END;
}

static void arc_resize(void *state, uint32_t frames)
{
    struct arc *s = state;

    ASSERT(frames > 0);
    s->frames = frames;
    s->p = MIN(s->p, frames * ONE);
    cut(s);
}

static void arc_report(const void *state, struct replace_report *out)
{
    const struct arc *s = state;

    *out = (struct replace_report){.policy = replace_arc.name,
                                   .resident =
                                       s->list[T1].size + s->list[T2].size + s->unused.list.size,
                                   .history = s->list[B1].size + s->list[B2].size};
}

static const char *arc_check(const void *state)
{
    const struct arc *s = state;
    const struct replace_list *l = s->list;
    uint64_t all = (uint64_t)l[T1].size + l[B1].size + l[T2].size + l[B2].size;

    for (uint32_t i = T1; i <= B2; i++) {
        const char *broken = list_check(&s->link, s->nodes, &l[i]);
        if (broken)
            return broken;
    }
    for (uint32_t n = 0; n < s->nodes; n++)
        if (link_of(&s->link, n)->mark > WAS_B2 ||
            (link_of(&s->link, n)->mark && link_of(&s->link, n)->list != UNUSED_LIST))
            return "arc: a page in use has the mark of one that is not";
    if (s->p > s->frames * ONE)
        return "arc: p is more than memory";
    if (l[B1].size && l[T1].size + l[B1].size > s->frames)
        return "arc: too much is remembered of what was used once";
    if (l[B2].size && all > 2 * (uint64_t)s->frames)
        return "arc: too much is remembered in all";
    return list_check(&s->link, s->nodes, &s->unused.list);
}

const struct replace_ops replace_arc = {
    .name = "arc",
    .per_node = sizeof(struct replace_link),
    .use_once = true,
    .bytes = arc_bytes,
    .init = arc_init,
    .grow = arc_grow,
    .touch = arc_touch,
    .enter = arc_enter,
    .enter_unused = arc_enter_unused,
    .victim = arc_victim,
    .leave = arc_leave,
    .forget = arc_forget,
    .resize = arc_resize,
    .resident = arc_resident,
    .report = arc_report,
    .check = arc_check,
};
