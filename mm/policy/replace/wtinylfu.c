/*
 * W-TinyLFU [Einziger, Friedman and Manes, ACM TOS 2017]. New pages come into a window, a
 * hundredth of memory, replaced by LRU. The page that is to leave it is compared with the one that
 * the rest of memory would have go: whichever was used less often goes. The rest is segmented LRU:
 * a page of its probation that is used again is protected, four fifths of it at most.
 *
 *   wtinylfu         as published
 *   wtinylfu-margin  our variant: a page comes into the rest only if it was used twice more often
 *   than the one that would go. Where every page
 *                    is used once in each pass, whatever the order, what is there stays, as under
 *                    MRU: the page used just now has been used once more than one whose turn in
 *                    this pass is still to come, and that is no reason to change them.
 *
 * How often a page was used is counted up to 15, and all counts are halved once in ten accesses a
 * frame. The paper has a sketch of them, for names that are many; here each node has its own, and
 * is halved when it is looked at, by how often that was due. Beyond the paper: prefetched pages
 * wait apart for their first use, and a victim that is in use becomes the latest of its list.
 */
#include "mm/policy/replace/list.h"

enum { WINDOW = 1, PROBATION, PROTECTED, UNUSED_LIST };
enum {
    WINDOW_PERCENT = 1,
    PROTECTED_PERCENT = 80,
    USES_MAX = 15,
    SAMPLE_FRAMES = 10,
    DEMOTED_MAX = 16,
    MARGIN = 1
};

struct page {
    struct replace_link link;
    uint32_t uses;   /* up to USES_MAX */
    uint32_t halved; /* halvings that the count has had */
};

struct wtinylfu {
    uint32_t nodes, frames;
    uint32_t offered; /* the victim named last, if nothing came after */
    uint32_t halvings;
    uint32_t margin; /* a page that stays was used more often by more uses than this */
    uint32_t spare;
    uint64_t sampled;                      /* accesses since the last halving */
    struct replace_list list[UNUSED_LIST]; /* by number; latest use first */
    struct replace_unused unused;
    struct replace_links link;
};

static size_t wtinylfu_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct wtinylfu), sizeof(struct page));
}

static int init(void *state, const struct replace_config *config, uint32_t margin)
{
    struct wtinylfu *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct page));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    *s = (struct wtinylfu){
        .nodes = config->nodes, .frames = config->frames, .offered = LINK_END, .margin = margin};
    for (uint32_t i = WINDOW; i <= PROTECTED; i++)
        list_init(&s->list[i], i);
    unused_init(&s->unused, UNUSED_LIST);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static int wtinylfu_init(void *state, const struct replace_config *config)
{
    return init(state, config, 0);
}

static int wtinylfu_margin_init(void *state, const struct replace_config *config)
{
    return init(state, config, MARGIN);
}

static void wtinylfu_grow(void *state, uint32_t nodes)
{
    struct wtinylfu *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static uint32_t list_of(const struct wtinylfu *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list;
}

static bool wtinylfu_resident(const void *state, uint32_t node)
{
    return list_of(state, node) != LIST_NONE;
}

/* ---- How often a page was used --------------------------------------------------------------- */

static uint32_t uses_of(const struct wtinylfu *s, uint32_t node)
{
    const struct page *p = (const struct page *)link_of(&s->link, node);
    uint32_t due = s->halvings - p->halved;

    return due > 3 ? 0 : p->uses >> due;
}

static void count(struct wtinylfu *s, uint32_t node)
{
    struct page *p = (struct page *)link_of(&s->link, node);

    p->uses = MIN(uses_of(s, node) + 1, (uint32_t)USES_MAX);
    p->halved = s->halvings;
    if (++s->sampled >= (uint64_t)SAMPLE_FRAMES * s->frames) {
        s->halvings++;
        s->sampled = 0;
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static uint32_t window_frames(const struct wtinylfu *s)
{
    return MAX((uint32_t)((uint64_t)s->frames * WINDOW_PERCENT / 100), 1u);
}

static uint32_t protected_frames(const struct wtinylfu *s)
{
    return (uint32_t)((uint64_t)(s->frames - MIN(s->frames, window_frames(s))) * PROTECTED_PERCENT /
                      100);
}

static void take_out(struct wtinylfu *s, uint32_t node)
{
    if (list_of(s, node) == UNUSED_LIST)
        unused_remove(&s->link, &s->unused, node);
    else
        list_remove(&s->link, &s->list[list_of(s, node)], node);
}

/* The last pages of a list that is too long, as far as one call goes, become the first of
 * probation. */
static void to_probation(struct wtinylfu *s, uint32_t list, uint32_t most)
{
    for (uint32_t i = 0; s->list[list].size > most && i < DEMOTED_MAX; i++) {
        uint32_t node = s->list[list].tail;
        list_remove(&s->link, &s->list[list], node);
        list_push_head(&s->link, &s->list[PROBATION], node);
    }
}

static void come_into_window(struct wtinylfu *s, uint32_t node)
{
    count(s, node);
    list_push_head(&s->link, &s->list[WINDOW], node);
    to_probation(s, WINDOW, window_frames(s));
}

/* ---- What it is told ------------------------------------------------------------------------- */

static void wtinylfu_touch(void *state, uint32_t node)
{
    struct wtinylfu *s = state;
    uint32_t list = list_of(s, node);
    bool offered = node == s->offered;

    ASSERT(list != LIST_NONE);
    s->offered = LINK_END;
    take_out(s, node);
    if (list == UNUSED_LIST) {
        come_into_window(s, node);
        return;
    }
    if (!offered) {
        count(s, node);
        list = list == PROBATION ? PROTECTED : list;
    }
    list_push_head(&s->link, &s->list[list], node);
    to_probation(s, PROTECTED, protected_frames(s));
}

static void wtinylfu_enter(void *state, uint32_t node, uint32_t region)
{
    struct wtinylfu *s = state;

    ASSERT(!wtinylfu_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    come_into_window(s, node);
}

static void wtinylfu_enter_unused(void *state, uint32_t node, uint32_t region)
{
    struct wtinylfu *s = state;

    ASSERT(!wtinylfu_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->offered = LINK_END;
    list_push_head(&s->link, &s->unused.list, node);
}

/* The page that the rest would have go, or the one that is to leave the window, which comes into
 * the rest if it stays. */
static uint32_t of_lists(const struct wtinylfu *s)
{
    const struct replace_list *l = s->list;
    uint32_t goes = l[PROBATION].size ? l[PROBATION].tail : l[PROTECTED].tail,
             comes = l[WINDOW].tail;

    if (goes == LINK_END)
        return comes;
    return l[WINDOW].size >= window_frames(s) && uses_of(s, comes) <= uses_of(s, goes) + s->margin
               ? comes
               : goes;
}

static uint32_t wtinylfu_victim(void *state, uint32_t incoming)
{
    struct wtinylfu *s = state;

    (void)incoming;
    if (s->offered != LINK_END)
        return s->offered;
    s->offered = unused_due(&s->unused, s->frames);
    if (s->offered == LINK_END)
        s->offered = of_lists(s);
    if (s->offered == LINK_END)
        s->offered = s->unused.list.tail;
    return list_named(s->offered);
}

static void wtinylfu_leave(void *state, uint32_t node)
{
    struct wtinylfu *s = state;

    ASSERT(wtinylfu_resident(s, node));
    s->offered = LINK_END;
    if (list_of(s, node) != UNUSED_LIST)
        unused_pass(&s->unused);
    take_out(s, node);
}

static void wtinylfu_forget(void *state, uint32_t node)
{
    struct page *p = (struct page *)link_of(&((struct wtinylfu *)state)->link, node);

    if (wtinylfu_resident(state, node))
        wtinylfu_leave(state, node);
    p->uses = 0;
}

static void wtinylfu_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct wtinylfu *)state)->frames = frames;
}

static void wtinylfu_report(const void *state, struct replace_report *out)
{
    const struct wtinylfu *s = state;

    *out = (struct replace_report){.policy = s->margin ? replace_wtinylfu_margin.name
                                                       : replace_wtinylfu.name,
                                   .resident = s->unused.list.size};
    for (uint32_t i = WINDOW; i <= PROTECTED; i++)
        out->resident += s->list[i].size;
}

static const char *wtinylfu_check(const void *state)
{
    const struct wtinylfu *s = state;
    const char *broken = list_check(&s->link, s->nodes, &s->unused.list);

    for (uint32_t i = WINDOW; i <= PROTECTED && !broken; i++)
        broken = list_check(&s->link, s->nodes, &s->list[i]);
    for (uint32_t n = 0; n < s->nodes && !broken; n++)
        if (link_of(&s->link, n)->mark)
            broken = "wtinylfu: a page has a mark";
    return broken;
}

#define WTINYLFU(name_, init_)                                                                     \
    {                                                                                              \
        .name = name_, .per_node = sizeof(struct page), .use_once = true, .bytes = wtinylfu_bytes, \
        .init = init_, .grow = wtinylfu_grow, .touch = wtinylfu_touch, .enter = wtinylfu_enter,    \
        .enter_unused = wtinylfu_enter_unused, .victim = wtinylfu_victim, .leave = wtinylfu_leave, \
        .forget = wtinylfu_forget, .resize = wtinylfu_resize, .resident = wtinylfu_resident,       \
        .report = wtinylfu_report, .check = wtinylfu_check,                                        \
    }

const struct replace_ops replace_wtinylfu = WTINYLFU("wtinylfu", wtinylfu_init);
const struct replace_ops replace_wtinylfu_margin =
    WTINYLFU("wtinylfu-margin", wtinylfu_margin_init);
