/*
 * W-TinyLFU [Einziger, Friedman and Manes, ACM TOS 2017]. New pages come into a window, a
 * hundredth of memory, replaced by LRU. The page that is to leave it is compared with the one that
 * the rest of memory would evict: of the two the one used less often goes. The rest is segmented
 * LRU: a page of its probation that is used again is protected, four fifths of it at most.
 *
 *   wtinylfu         as published
 *   wtinylfu-margin  our variant: a page comes into the rest only if it was used at least two times
 *                    more than the one that would go. Where every page is used once in each pass,
 *                    in whatever order, the pages there stay, as under MRU: a page used just now
 *                    has been used once more than a page to be used later in this pass, and that is
 *                    no reason to change them.
 *
 * The uses of a page are counted up to 15, and all counts are halved once in ten accesses a frame.
 * The paper counts in a sketch, for names that are many. Here each node has a count of its own,
 * which is halved when it is read, as often as that was due. Beyond the paper: prefetched pages
 * wait apart for their first use, and a victim that is in use becomes the latest of its list.
 */
#include "mm/policy/replace/list.h"

enum { WINDOW = 1, PROBATION, PROTECTED }; /* latest use first */
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
    struct replace_base base;
    uint32_t halvings;
    uint32_t margin;  /* a page that enters the rest was used more often by more than this */
    uint64_t sampled; /* accesses since the last halving */
};

static size_t wtinylfu_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct wtinylfu), sizeof(struct page));
}

static int wtinylfu_init(void *state, const struct replace_config *config)
{
    return base_init(state, config, sizeof(struct wtinylfu), sizeof(struct page), 0);
}

static int wtinylfu_margin_init(void *state, const struct replace_config *config)
{
    ((struct wtinylfu *)state)->margin = MARGIN;
    return wtinylfu_init(state, config);
}

/* ---- How often a page was used --------------------------------------------------------------- */

static struct page *page_of(const struct wtinylfu *s, uint32_t node)
{
    return (struct page *)link_of(&s->base.link, node);
}

static uint32_t uses_of(const struct wtinylfu *s, uint32_t node)
{
    uint32_t due = s->halvings - page_of(s, node)->halved;

    return due > 3 ? 0 : page_of(s, node)->uses >> due;
}

static void count_use(struct wtinylfu *s, uint32_t node)
{
    struct page *p = page_of(s, node);

    p->uses = MIN(uses_of(s, node) + 1, (uint32_t)USES_MAX);
    p->halved = s->halvings;
    if (++s->sampled >= (uint64_t)SAMPLE_FRAMES * s->base.frames) {
        s->halvings++;
        s->sampled = 0;
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static uint32_t window_frames(const struct wtinylfu *s)
{
    return MAX((uint32_t)((uint64_t)s->base.frames * WINDOW_PERCENT / 100), 1u);
}

static uint32_t protected_frames(const struct wtinylfu *s)
{
    uint32_t rest = s->base.frames - MIN(s->base.frames, window_frames(s));

    return (uint32_t)((uint64_t)rest * PROTECTED_PERCENT / 100);
}

/* Moves the last pages of a list with more than `most`, up to DEMOTED_MAX, to probation. */
static void move_to_probation(struct wtinylfu *s, uint32_t list, uint32_t most)
{
    for (uint32_t i = 0; s->base.list[list].size > most && i < DEMOTED_MAX; i++) {
        uint32_t node = s->base.list[list].tail;
        base_take_out(&s->base, node);
        base_push_head(&s->base, PROBATION, node);
    }
}

static void enter_window(struct wtinylfu *s, uint32_t node)
{
    count_use(s, node);
    base_push_head(&s->base, WINDOW, node);
    move_to_probation(s, WINDOW, window_frames(s));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void wtinylfu_touch(void *state, uint32_t node)
{
    struct wtinylfu *s = state;
    uint32_t list = base_list_of(&s->base, node);
    bool offered = node == s->base.offered;

    ASSERT(list != LIST_NONE);
    s->base.offered = LINK_END;
    base_take_out(&s->base, node);
    if (list == UNUSED_LIST) {
        enter_window(s, node);
        return;
    }
    if (!offered) {
        count_use(s, node);
        list = list == PROBATION ? PROTECTED : list;
    }
    base_push_head(&s->base, list, node);
    move_to_probation(s, PROTECTED, protected_frames(s));
}

static void wtinylfu_enter(void *state, uint32_t node, uint32_t region)
{
    struct wtinylfu *s = state;

    ASSERT(!base_resident(s, node) && region < REPLACE_REGIONS_MAX);
    s->base.offered = LINK_END;
    enter_window(s, node);
}

/* Returns the page that the rest would evict, or the one that is to leave the window if that was
 * not used more often. */
static uint32_t of_lists(const struct wtinylfu *s)
{
    const struct replace_list *l = s->base.list;
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
    return base_name(&s->base, base_decided(&s->base) ? s->base.offered : of_lists(s));
}

static void wtinylfu_forget(void *state, uint32_t node)
{
    if (base_resident(state, node))
        base_leave(state, node);
    page_of(state, node)->uses = 0;
}

static void wtinylfu_report(const void *state, struct replace_report *out)
{
    const struct wtinylfu *s = state;

    base_report(s, s->margin ? replace_wtinylfu_margin.name : replace_wtinylfu.name, out);
}

static const char *wtinylfu_check(const void *state)
{
    const struct wtinylfu *s = state;

    for (uint32_t n = 0; n < s->base.nodes; n++)
        if (link_of(&s->base.link, n)->mark)
            return "wtinylfu: a page has a mark";
    return base_check(s);
}

#define WTINYLFU(name_, init_)                                                                     \
    {                                                                                              \
        .name = name_, .per_node = sizeof(struct page), .use_once = true, .bytes = wtinylfu_bytes, \
        .init = init_, .grow = base_grow, .touch = wtinylfu_touch, .enter = wtinylfu_enter,        \
        .enter_unused = base_enter_unused, .victim = wtinylfu_victim, .leave = base_leave,         \
        .forget = wtinylfu_forget, .resize = base_resize, .resident = base_resident,               \
        .report = wtinylfu_report, .check = wtinylfu_check,                                        \
    }

const struct replace_ops replace_wtinylfu = WTINYLFU("wtinylfu", wtinylfu_init);
const struct replace_ops replace_wtinylfu_margin =
    WTINYLFU("wtinylfu-margin", wtinylfu_margin_init);
