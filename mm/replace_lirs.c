/*
 * LIRS [Jiang and Zhang, SIGMETRICS 2002].  Pages used again after few others (LIR) stay; of the others (HIR) a small part
 * is resident, and victims come from there alone.  Stack S orders pages by their latest use down to the LIR page used least
 * recently, HIR pages in between resident or not; queue Q has the resident HIR pages, the next victim in front.  A HIR page
 * used while in S has been reused sooner than the LIR page at the bottom, and changes places with it.
 *
 * As in the paper, S has no limit but the nodes that there are.  Beyond it: memory that comes and goes, prefetched pages
 * (out of Q until used, then as if they entered), LIR pages that leave, and more resident HIR pages than the paper's hundredth where that
 * is few of the nodes (recent_frames).
 */
#include "mm/replace_list.h"

enum { STACK = 1 };              /* list of link              */
enum { QUEUE = 1, UNUSED_LIST }; /* list of queued            */
enum { HIR = 0, LIR = 1 };       /* mark of link              */

#define PER_NODE (2 * sizeof(struct replace_link))

struct lirs {
    uint32_t nodes, frames;
    uint32_t lir;     /* pages, all resident */
    uint32_t history; /* pages of S that are out */
    uint32_t offered; /* the latest victim, until anything else is said: touched at once, it is in use now */
    struct replace_list stack; /* S: latest use at the head      */
    struct replace_list queue; /* Q: the next victim at the tail */
    struct replace_unused unused;
    struct replace_links link;   /* in S                      */
    struct replace_links queued; /* in Q, or among the unused */
};

static size_t lirs_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct lirs), PER_NODE);
}

static int lirs_init(void *state, const struct replace_config *config)
{
    struct lirs *s = state;
    struct replace_place place = replace_place(config, sizeof *s, PER_NODE);
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct lirs){.nodes = config->nodes, .frames = config->frames, .offered = LINK_END};
    list_init(&s->stack, STACK);
    list_init(&s->queue, QUEUE);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    links_init(&s->queued, s, &place, sizeof(struct replace_link));
    return 0;
}

static void lirs_grow(void *state, uint32_t nodes)
{
    struct lirs *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

/* Lhirs. */
static uint32_t hir_frames(const struct lirs *s)
{
    return recent_frames(s->nodes, s->frames);
}

/* Llirs: prefetched pages take their frames from the LIR pages. */
static uint32_t lir_frames(const struct lirs *s)
{
    uint32_t others = hir_frames(s) + s->unused.list.size;

    return s->frames > others ? s->frames - others : 0;
}

static bool is_lir(const struct lirs *s, uint32_t node)
{
    return link_of(&s->link, node)->mark == LIR;
}

static bool in_stack(const struct lirs *s, uint32_t node)
{
    return link_of(&s->link, node)->list == STACK;
}

static bool lirs_resident(const void *state, uint32_t node)
{
    const struct lirs *s = state;

    ASSERT(node < s->nodes);
    return is_lir(s, node) || link_of(&s->queued, node)->list != LIST_NONE;
}

/* Stack pruning: a LIR page is at the bottom of S, or S is empty. */
static void prune(struct lirs *s)
{
    while (s->stack.size && !is_lir(s, s->stack.tail)) {
        s->history -= !lirs_resident(s, s->stack.tail);
        list_remove(&s->link, &s->stack, s->stack.tail);
    }
}

static void demote(struct lirs *s)
{
    uint32_t node = s->stack.tail;

    ASSERT(node != LINK_END && is_lir(s, node));
    list_remove(&s->link, &s->stack, node);
    link_of(&s->link, node)->mark = HIR;
    s->lir--;
    list_push_head(&s->queued, &s->queue, node);
    prune(s);
}

static void to_top(struct lirs *s, uint32_t node)
{
    if (in_stack(s, node))
        list_remove(&s->link, &s->stack, node);
    list_push_head(&s->link, &s->stack, node);
}

/* A page in no queue is used: reused while in S, or the first while LIR pages are wanted, it is LIR. */
static void use(struct lirs *s, uint32_t node)
{
    bool lir = in_stack(s, node) || s->lir < lir_frames(s);

    to_top(s, node);
    if (lir) {
        link_of(&s->link, node)->mark = LIR;
        s->lir++;
        while (s->lir > lir_frames(s))
            demote(s);
    } else {
        list_push_head(&s->queued, &s->queue, node);
    }
    prune(s);
}

/* The use that brought it goes on.  That is no second one, or what is used for a while would all be LIR. */
static void spare(struct lirs *s, uint32_t node)
{
    to_top(s, node);
    list_remove(&s->queued, &s->queue, node);
    list_push_head(&s->queued, &s->queue, node);
    prune(s);
}

static void lirs_touch(void *state, uint32_t node)
{
    struct lirs *s = state;
    bool offered = node == s->offered;

    ASSERT(lirs_resident(s, node));
    s->offered = LINK_END;
    if (offered && link_of(&s->queued, node)->list == QUEUE) {
        spare(s, node);
        return;
    }
    if (is_lir(s, node)) {
        to_top(s, node);
        prune(s);
        return;
    }
    if (link_of(&s->queued, node)->list == QUEUE)
        list_remove(&s->queued, &s->queue, node);
    else
        unused_remove(&s->queued, &s->unused, node);
    use(s, node);
}

static void lirs_enter(void *state, uint32_t node, uint32_t region)
{
    struct lirs *s = state;

    ASSERT(!lirs_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    s->history -= in_stack(s, node);
    use(s, node);
}

/* Its place in S, if it has one, stays: that is what its first use will be judged by. */
static void lirs_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct lirs *s = state;

    ASSERT(!lirs_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    s->history -= in_stack(s, node);
    list_push_head(&s->queued, &s->unused.list, node);
}

static uint32_t lirs_victim(void *state, uint32_t incoming)
{
    struct lirs *s = state;
    uint32_t due = unused_due(&s->unused, s->frames);

    (void)incoming;
    if (due != LINK_END)
        return due;
    while (s->lir > lir_frames(s) || (s->lir && !s->queue.size))
        demote(s);
    s->offered = s->queue.size ? s->queue.tail : s->unused.list.tail;
    return list_named(s->offered);
}

static void lirs_leave(void *state, uint32_t node)
{
    struct lirs *s = state;

    ASSERT(lirs_resident(s, node));
    s->offered = LINK_END;
    s->history += in_stack(s, node);
    if (link_of(&s->queued, node)->list == UNUSED_LIST) {
        unused_remove(&s->queued, &s->unused, node);
        return;
    }
    unused_pass(&s->unused);
    if (is_lir(s, node)) {
        link_of(&s->link, node)->mark = HIR;
        s->lir--;
        prune(s);
    } else {
        list_remove(&s->queued, &s->queue, node);
    }
}

static void lirs_forget(void *state, uint32_t node)
{
    struct lirs *s = state;

    if (lirs_resident(s, node))
        lirs_leave(s, node);
    if (in_stack(s, node)) {
        list_remove(&s->link, &s->stack, node);
        s->history--;
    }
    prune(s);
}

static void lirs_resize(void *state, uint32_t frames)
{
    struct lirs *s = state;

    ASSERT(frames > 0);
    s->frames = frames;
    while (s->lir > lir_frames(s))
        demote(s);
}

static void lirs_report(const void *state, struct replace_report *out)
{
    const struct lirs *s = state;

    *out = (struct replace_report){.policy = replace_lirs.name,
                                   .resident = s->lir + s->queue.size + s->unused.list.size,
                                   .history = s->history};
}

static const char *lirs_check(const void *state)
{
    const struct lirs *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->stack);
    uint32_t lir = 0, history = 0;

    if (!broken)
        broken = list_check(&s->queued, s->nodes, &s->queue);
    if (!broken)
        broken = list_check(&s->queued, s->nodes, &s->unused.list);
    for (uint32_t n = 0; n < s->nodes && !broken; n++) {
        lir += is_lir(s, n);
        history += in_stack(s, n) && !lirs_resident(s, n);
        if (is_lir(s, n) && (!in_stack(s, n) || link_of(&s->queued, n)->list != LIST_NONE))
            broken = "lirs: a LIR page is not in S, or in Q as well";
    }
    if (!broken && s->stack.size && !is_lir(s, s->stack.tail))
        broken = "lirs: what is at the bottom of S is not LIR";
    if (!broken && (lir != s->lir || history != s->history))
        broken = "lirs: LIR pages, or those that are out, are miscounted";
    return broken;
}

const struct replace_ops replace_lirs = {
    .name = "lirs",
    .per_node = PER_NODE,
    .use_once = true,
    .bytes = lirs_bytes,
    .init = lirs_init,
    .grow = lirs_grow,
    .touch = lirs_touch,
    .enter = lirs_enter,
    .enter_unused = lirs_enter_unused,
    .victim = lirs_victim,
    .leave = lirs_leave,
    .forget = lirs_forget,
    .resize = lirs_resize,
    .resident = lirs_resident,
    .report = lirs_report,
    .check = lirs_check,
};
