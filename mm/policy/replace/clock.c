/*
 * CLOCK, or second chance: resident pages in a circle with a bit each that a use sets. The hand
 * goes round, clears set bits and stops at the first that is clear [Corbato, A paging experiment
 * with the Multics system, 1968].
 * A prefetched page has the second chance as well, so that there is time to use it. The hand passes
 * LOOKS_MAX pages for a victim at most; then the next one goes though it was used.
 * The circle is a list whose tail is under the hand; what the hand passes goes to the head.
 */
#include "mm/policy/replace/list.h"

enum { RESIDENT = 1, USED = 1 };

struct clock {
    uint32_t nodes, frames;
    struct replace_list circle;
    struct replace_links link;
};

static size_t clock_bytes(uint32_t nodes)
{
    return replace_bytes(nodes, sizeof(struct clock), sizeof(struct replace_link));
}

static int clock_init(void *state, const struct replace_config *config)
{
    struct clock *s = state;
    struct replace_layout place = replace_layout(config, sizeof *s, sizeof(struct replace_link));
    int rc = replace_config_check(config);

    if (rc)
        return rc;
    s->nodes = config->nodes;
    s->frames = config->frames;
    list_init(&s->circle, RESIDENT);
    links_init(&s->link, s, &place, 0);
    return 0;
}

static void clock_grow(void *state, uint32_t nodes)
{
    struct clock *s = state;

    ASSERT(nodes >= s->nodes && nodes <= REPLACE_NODES_MAX);
    s->nodes = nodes;
}

static void clock_touch(void *state, uint32_t node)
{
    struct clock *s = state;

    ASSERT(node < s->nodes && link_of(&s->link, node)->list == RESIDENT);
    link_of(&s->link, node)->mark = USED;
}

static void clock_enter(void *state, uint32_t node, uint32_t region)
{
    struct clock *s = state;

    ASSERT(node < s->nodes && region < REPLACE_REGIONS_MAX);
    list_push_head(&s->link, &s->circle, node);
    link_of(&s->link, node)->mark = USED;
}

static uint32_t clock_victim(void *state, uint32_t incoming)
{
    struct clock *s = state;
    uint32_t node = s->circle.tail;

    (void)incoming;
    for (uint32_t looks = 0;
         looks < LOOKS_MAX && node != LINK_END && link_of(&s->link, node)->mark == USED; looks++) {
        link_of(&s->link, node)->mark = 0;
        list_to_head(&s->link, &s->circle, node);
        node = s->circle.tail;
    }
    if (node != LINK_END)
        link_of(&s->link, node)->mark = 0;
    return list_named(node);
}

static void clock_leave(void *state, uint32_t node)
{
    struct clock *s = state;

    ASSERT(node < s->nodes);
    list_remove(&s->link, &s->circle, node);
    link_of(&s->link, node)->mark = 0;
}

static bool clock_resident(const void *state, uint32_t node)
{
    const struct clock *s = state;

    ASSERT(node < s->nodes);
    return link_of(&s->link, node)->list == RESIDENT;
}

static void clock_forget(void *state, uint32_t node)
{
    if (clock_resident(state, node))
        clock_leave(state, node);
}

static void clock_resize(void *state, uint32_t frames)
{
    ASSERT(frames > 0);
    ((struct clock *)state)->frames = frames;
}

static void clock_report(const void *state, struct replace_report *out)
{
    *out = (struct replace_report){.policy = replace_clock.name,
                                   .resident = ((const struct clock *)state)->circle.size};
}

static const char *clock_check(const void *state)
{
    const struct clock *s = state;

    for (uint32_t n = 0; n < s->nodes; n++)
        if (link_of(&s->link, n)->mark > USED ||
            (link_of(&s->link, n)->mark && link_of(&s->link, n)->list != RESIDENT))
            return "clock: a page that is out is marked as used";
    return list_check(&s->link, s->nodes, &s->circle);
}

const struct replace_ops replace_clock = {
    .name = "clock",
    .per_node = sizeof(struct replace_link),
    .bytes = clock_bytes,
    .init = clock_init,
    .grow = clock_grow,
    .touch = clock_touch,
    .enter = clock_enter,
    .enter_unused = clock_enter,
    .victim = clock_victim,
    .leave = clock_leave,
    .forget = clock_forget,
    .resize = clock_resize,
    .resident = clock_resident,
    .report = clock_report,
    .check = clock_check,
};
