/*
 * LIRS [Jiang and Zhang, SIGMETRICS 2002]. Pages used again after few others (LIR) stay; of the
 * others (HIR) a small part is resident, and victims come from there alone. Stack S orders pages
 * by their latest use down to the LIR page used least recently, HIR pages in between resident or
 * not; queue Q has the resident HIR pages, the next victim in front. A HIR page used while in S
 * has been reused sooner than the LIR page at the bottom, and changes places with it.
 *
 * S is not kept as a list. A page is in it if it was used later than the LIR page used least
 * recently: a list of the LIR pages alone and the time of each page's latest use say the same,
 * nothing is pruned, and each call costs a constant time.
 *
 *   lirs         as published: one frame in 100, two at least, is for HIR pages, and an access to
 *   the page accessed last is
 *                none, as in the authors' program. S has no limit but the nodes that there are.
 *   lirs-recent  our variant: more frames for HIR pages where a hundredth is few of the nodes
 *   (recent_frames), and every
 *                access counts.
 *
 * Beyond the paper, in both: memory that comes and goes, prefetched pages (out of Q until used,
 * then as if they entered), LIR pages that leave, and victims that turn out to be in use.
 */
#include "mm/policy/replace/list.h"

enum { LIR = 1, QUEUE, UNUSED_LIST };
enum { HIR_PERCENT = 1, HIR_LEAST = 2, DEMOTED_MAX = 16 };

struct page {
    struct replace_link link;
    uint64_t used; /* time of the latest use, 0: none is known */
};

struct lirs {
    uint32_t nodes, frames;
    uint32_t remembered; /* pages that are out, the time of whose latest use is known */
    /* the latest victim, until anything else is said: touched at once, it is in use now */
    uint32_t offered;
    uint32_t last;             /* the page used last, or LINK_END */
    bool recent;               /* lirs-recent */
    uint64_t now;              /* uses */
    struct replace_list lir;   /* LIR pages, latest use first */
    struct replace_list queue; /* Q: the next victim at the tail */
    struct replace_unused unused;
    struct replace_links link;
};

static size_t lirs_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct lirs), sizeof(struct page));
}

static int init(void *state, const struct replace_config *config, bool recent)
{
    struct lirs *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct page));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct lirs){.nodes = config->nodes,
                       .frames = config->frames,
                       .offered = LINK_END,
                       .last = LINK_END,
                       .recent = recent};
    list_init(&s->lir, LIR);
    list_init(&s->queue, QUEUE);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static int lirs_init(void *state, const struct replace_config *config)
{
    return init(state, config, false);
}

static int lirs_recent_init(void *state, const struct replace_config *config)
{
    return init(state, config, true);
}

static void lirs_grow(void *state, uint32_t nodes)
{
    struct lirs *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static struct page *page_of(const struct lirs *s, uint32_t node)
{
    return (struct page *)link_of(&s->link, node);
}

static bool is_in(const struct lirs *s, uint32_t node, uint32_t list)
{
    return link_of(&s->link, node)->list == list;
}

static bool lirs_resident(const void *state, uint32_t node)
{
    const struct lirs *s = state;

    ASSERT(node < s->nodes);
    return !is_in(s, node, LIST_NONE);
}

/* Lhirs. */
static uint32_t hir_frames(const struct lirs *s)
{
    uint32_t least = MIN((uint32_t)HIR_LEAST, MAX(s->frames - 1, 1u));

    if (s->recent)
        return recent_frames(s->nodes, s->frames);
    return MAX((uint32_t)((uint64_t)s->frames * HIR_PERCENT / 100), least);
}

/* Llirs: prefetched pages take their frames from the LIR pages. */
static uint32_t lir_frames(const struct lirs *s)
{
    uint32_t others = hir_frames(s) + s->unused.list.size;

    return s->frames > others ? s->frames - others : 0;
}

static bool in_stack(const struct lirs *s, uint32_t node)
{
    return s->lir.size && page_of(s, node)->used >= page_of(s, s->lir.tail)->used;
}

static void demote(struct lirs *s)
{
    uint32_t node = s->lir.tail;

    list_remove(&s->link, &s->lir, node);
    list_push_head(&s->link, &s->queue, node);
}

/* As far as one call goes. */
static void demote_excess(struct lirs *s)
{
    for (uint32_t n = 0; s->lir.size > lir_frames(s) && n < DEMOTED_MAX; n++)
        demote(s);
}

/* A page in no list is used: reused while in S, or the first while LIR pages are wanted, it is
 * LIR. */
static void use(struct lirs *s, uint32_t node)
{
    bool lir = in_stack(s, node) || s->lir.size < lir_frames(s);

    page_of(s, node)->used = ++s->now;
    s->last = node;
    list_push_head(&s->link, lir ? &s->lir : &s->queue, node);
    if (lir)
        demote_excess(s);
}

/* A page of a list of used pages is used, and stays there: the latest. */
static void use_in(struct lirs *s, struct replace_list *list, uint32_t node)
{
    page_of(s, node)->used = ++s->now;
    s->last = node;
    list_to_head(&s->link, list, node);
}

static void lirs_touch(void *state, uint32_t node)
{
    struct lirs *s = state;
    bool offered = node == s->offered;

    ASSERT(lirs_resident(s, node));
    s->offered = LINK_END;
    if (node == s->last && !offered && !s->recent)
        return;
    if (is_in(s, node, LIR)) {
        use_in(s, &s->lir, node);
    } else if (is_in(s, node, QUEUE) && offered) {
        /* The use that brought it goes on. That is no second one, or what is used for a while would
         * all be LIR. */
        use_in(s, &s->queue, node);
    } else {
        if (is_in(s, node, QUEUE))
            list_remove(&s->link, &s->queue, node);
        else
            unused_remove(&s->link, &s->unused, node);
        use(s, node);
    }
}

static void come(struct lirs *s, uint32_t node, uint32_t region)
{
    ASSERT(!lirs_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    s->remembered -= page_of(s, node)->used != 0;
}

static void lirs_enter(void *state, uint32_t node, uint32_t region)
{
    come(state, node, region);
    use(state, node);
}

/* Its place in S, if it has one, stays: that is what its first use will be judged by. */
static void lirs_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct lirs *s = state;

    come(s, node, region);
    list_push_head(&s->link, &s->unused.list, node);
}

static uint32_t lirs_victim(void *state, uint32_t incoming)
{
    struct lirs *s = state;
    uint32_t due = unused_due(&s->unused, s->frames);

    (void)incoming;
    if (due != LINK_END)
        return due;
    demote_excess(s);
    if (s->lir.size && !s->queue.size)
        demote(s);
    s->offered = s->queue.size ? s->queue.tail : s->unused.list.tail;
    return list_named(s->offered);
}

static void lirs_leave(void *state, uint32_t node)
{
    struct lirs *s = state;

    ASSERT(lirs_resident(s, node));
    s->offered = LINK_END;
    s->remembered += page_of(s, node)->used != 0;
    if (is_in(s, node, UNUSED_LIST)) {
        unused_remove(&s->link, &s->unused, node);
        return;
    }
    unused_pass(&s->unused);
    list_remove(&s->link, is_in(s, node, LIR) ? &s->lir : &s->queue, node);
}

static void lirs_forget(void *state, uint32_t node)
{
    struct lirs *s = state;

    if (lirs_resident(s, node))
        lirs_leave(s, node);
    s->remembered -= page_of(s, node)->used != 0;
    page_of(s, node)->used = 0;
    if (s->last == node)
        s->last = LINK_END;
}

/* LIR pages that are too many are demoted when frames are wanted. */
static void lirs_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct lirs *)state)->frames = frames;
}

static void lirs_report(const void *state, struct replace_report *out)
{
    const struct lirs *s = state;

    *out =
        (struct replace_report){.policy = s->recent ? replace_lirs_recent.name : replace_lirs.name,
                                .resident = s->lir.size + s->queue.size + s->unused.list.size,
                                .history = s->remembered};
}

static const char *lirs_check(const void *state)
{
    const struct lirs *s = state;
    const struct replace_list *const list[] = {&s->lir, &s->queue, &s->unused.list};
    uint32_t remembered = 0;
    uint64_t later = s->now + 1;

    for (unsigned i = 0; i < ARRAY_SIZE(list); i++) {
        const char *broken = list_check(&s->link, s->nodes, list[i]);
        if (broken)
            return broken;
    }
    for (uint32_t n = 0; n < s->nodes; n++)
        remembered += page_of(s, n)->used && !lirs_resident(s, n);
    for (uint32_t n = s->lir.head; n != LINK_END;
         later = page_of(s, n)->used, n = link_of(&s->link, n)->next)
        if (page_of(s, n)->used >= later)
            return "lirs: LIR pages are not in the order of their uses";
    return remembered == s->remembered ? NULL : "lirs: pages that are out are miscounted";
}

#define LIRS(name_, init_)                                                                     \
    {                                                                                          \
        .name = name_, .per_node = sizeof(struct page), .use_once = true, .bytes = lirs_bytes, \
        .init = init_, .grow = lirs_grow, .touch = lirs_touch, .enter = lirs_enter,            \
        .enter_unused = lirs_enter_unused, .victim = lirs_victim, .leave = lirs_leave,         \
        .forget = lirs_forget, .resize = lirs_resize, .resident = lirs_resident,               \
        .report = lirs_report, .check = lirs_check,                                            \
    }

const struct replace_ops replace_lirs = LIRS("lirs", lirs_init);
const struct replace_ops replace_lirs_recent = LIRS("lirs-recent", lirs_recent_init);
