/*
 * LIRS [Jiang and Zhang, SIGMETRICS 2002]. Pages used again after few others (LIR) stay; of the
 * others (HIR) a small part is resident, and victims come from there alone. Stack S orders pages
 * by their latest use down to the LIR page used least recently, with HIR pages in between, resident
 * or not; queue Q has the resident HIR pages, the next victim in front. A HIR page used while in S
 * has been reused sooner than the LIR page at the bottom, and changes places with it.
 *
 * S is not kept as a list. A page is in it if it was used later than the LIR page used least
 * recently: a list of the LIR pages alone and the time of each page's latest use say the same,
 * nothing is pruned, and each call costs a constant time.
 *
 *   lirs         as published: one frame in 100, two at least, is for HIR pages, and an access to
 *                the page accessed last is none, as in the authors' program. S has no limit but the
 *                number of nodes.
 *   lirs-recent  our variant: more frames for HIR pages where a hundredth is few of the nodes
 *                (recent_frames), and every access counts.
 *
 * Beyond the paper, in both: memory that comes and goes, prefetched pages (out of Q until used,
 * then as if they entered), LIR pages that leave, and victims that turn out to be in use.
 */
#include "mm/policy/replace/list.h"

enum { LIR = 1, QUEUE }; /* LIR pages, latest use first; Q with the next victim at the tail */
enum { HIR_PERCENT = 1, HIR_LEAST = 2, DEMOTED_MAX = 16 };

struct page {
    struct replace_link link;
    uint64_t used; /* time of the latest use, 0: none is known */
};

struct lirs {
    struct replace_base base;
    uint32_t remembered; /* pages that are out with a known time of their latest use */
    uint32_t last;       /* the page used last, or LINK_END */
    uint64_t now;        /* uses */
    bool recent;         /* lirs-recent */
    /* the most prefetched pages at once: since the time `since`, and in the period before it, which
     * had as many uses as there are frames */
    uint32_t most_unused, most_unused_before;
    uint64_t since;
};

static size_t lirs_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct lirs), sizeof(struct page));
}

static int lirs_init(void *state, const struct replace_config *config)
{
    ((struct lirs *)state)->last = LINK_END;
    return base_init(state, config, sizeof(struct lirs), sizeof(struct page), 0);
}

static int lirs_recent_init(void *state, const struct replace_config *config)
{
    ((struct lirs *)state)->recent = true;
    return lirs_init(state, config);
}

static struct page *page_of(const struct lirs *s, uint32_t node)
{
    return (struct page *)link_of(&s->base.link, node);
}

/* Lhirs of the paper. */
static uint32_t hir_frames(const struct lirs *s)
{
    uint32_t frames = s->base.frames, least = MIN((uint32_t)HIR_LEAST, MAX(frames - 1, 1u));

    if (s->recent)
        return recent_frames(s->base.nodes, frames);
    return MAX((uint32_t)((uint64_t)frames * HIR_PERCENT / 100), least);
}

/* Llirs: prefetched pages take their frames from the LIR pages. As many frames as prefetched pages
 * needed lately are kept for them. Else each row that is read ahead would drive out LIR pages, and
 * its pages would become LIR in their place: in a loop LIRS would then miss as often as LRU. */
static uint32_t lir_frames(const struct lirs *s)
{
    uint32_t others = hir_frames(s) + MAX(s->most_unused, s->most_unused_before);

    return s->base.frames > others ? s->base.frames - others : 0;
}

static bool in_stack(const struct lirs *s, uint32_t node)
{
    const struct replace_list *lir = &s->base.list[LIR];

    return lir->size && page_of(s, node)->used >= page_of(s, lir->tail)->used;
}

static void demote_one(struct lirs *s)
{
    uint32_t node = s->base.list[LIR].tail;

    base_take_out(&s->base, node);
    base_push_head(&s->base, QUEUE, node);
}

/* Demotes LIR pages that are too many, up to DEMOTED_MAX. */
static void demote_excess(struct lirs *s)
{
    for (uint32_t n = 0; s->base.list[LIR].size > lir_frames(s) && n < DEMOTED_MAX; n++)
        demote_one(s);
}

static void note_use(struct lirs *s, uint32_t node)
{
    if (s->now - s->since >= s->base.frames) {
        s->since = s->now;
        s->most_unused_before = s->most_unused;
        s->most_unused = s->base.list[UNUSED_LIST].size;
    }
    page_of(s, node)->used = ++s->now;
    s->last = node;
}

/* A page in no list is used: LIR if reused while in S, or while LIR pages are wanted. */
static void use_new(struct lirs *s, uint32_t node)
{
    bool lir = in_stack(s, node) || s->base.list[LIR].size < lir_frames(s);

    note_use(s, node);
    base_push_head(&s->base, lir ? LIR : QUEUE, node);
    if (lir)
        demote_excess(s);
}

static void lirs_touch(void *state, uint32_t node)
{
    struct lirs *s = state;
    uint32_t list = base_list_of(&s->base, node);
    bool offered = node == s->base.offered;

    ASSERT(list != LIST_NONE);
    s->base.offered = LINK_END;
    if (node == s->last && !offered && !s->recent)
        return;
    /* A touch of the page just offered is the use that brought it: no second one, or every page
     * that is used for a while would be LIR. */
    if (list == LIR || (list == QUEUE && offered)) {
        note_use(s, node);
        list_to_head(&s->base.link, &s->base.list[list], node);
        return;
    }
    base_take_out(&s->base, node);
    use_new(s, node);
}

static void lirs_enter(void *state, uint32_t node, uint32_t region)
{
    struct lirs *s = state;

    ASSERT(!base_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->base.offered = LINK_END;
    s->remembered -= page_of(s, node)->used != 0;
    use_new(s, node);
}

/* The time of the page's latest use stays: its first use is judged by that. */
static void lirs_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct lirs *s = state;

    base_enter_unused(s, node, region);
    s->most_unused = MAX(s->most_unused, s->base.list[UNUSED_LIST].size);
    s->remembered -= page_of(s, node)->used != 0;
}

/* LIR pages that are too many since a resize are demoted here. */
static uint32_t lirs_victim(void *state, uint32_t incoming)
{
    struct lirs *s = state;
    const struct replace_list *l = s->base.list;
    uint32_t due = base_due(&s->base);

    (void)incoming;
    if (due != LINK_END)
        return due;
    demote_excess(s);
    if (l[LIR].size && !l[QUEUE].size)
        demote_one(s);
    return base_name(&s->base, l[QUEUE].tail);
}

static void lirs_leave(void *state, uint32_t node)
{
    struct lirs *s = state;

    base_leave(s, node);
    s->remembered += page_of(s, node)->used != 0;
}

static void lirs_forget(void *state, uint32_t node)
{
    struct lirs *s = state;

    if (base_resident(s, node))
        lirs_leave(s, node);
    s->remembered -= page_of(s, node)->used != 0;
    page_of(s, node)->used = 0;
    if (s->last == node)
        s->last = LINK_END;
}

static void lirs_report(const void *state, struct replace_report *out)
{
    const struct lirs *s = state;

    base_report(s, s->recent ? replace_lirs_recent.name : replace_lirs.name, out);
    out->history = s->remembered;
}

static const char *lirs_check(const void *state)
{
    const struct lirs *s = state;
    uint32_t remembered = 0;
    uint64_t later = s->now + 1;

    for (uint32_t n = 0; n < s->base.nodes; n++)
        remembered += page_of(s, n)->used && !base_resident(s, n);
    for (uint32_t n = s->base.list[LIR].head; n != LINK_END;
         later = page_of(s, n)->used, n = link_of(&s->base.link, n)->next)
        if (page_of(s, n)->used >= later)
            return "lirs: LIR pages are not in the order of their uses";
    return remembered == s->remembered ? base_check(s) : "lirs: pages that are out are miscounted";
}

#define LIRS(name_, init_)                                                                     \
    {                                                                                          \
        .name = name_, .per_node = sizeof(struct page), .use_once = true, .bytes = lirs_bytes, \
        .init = init_, .grow = base_grow, .touch = lirs_touch, .enter = lirs_enter,            \
        .enter_unused = lirs_enter_unused, .victim = lirs_victim, .leave = lirs_leave,         \
        .forget = lirs_forget, .resize = base_resize, .resident = base_resident,               \
        .report = lirs_report, .check = lirs_check,                                            \
    }

const struct replace_ops replace_lirs = LIRS("lirs", lirs_init);
const struct replace_ops replace_lirs_recent = LIRS("lirs-recent", lirs_recent_init);
