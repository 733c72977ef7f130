/*
 * CLOCK, or second chance: resident pages in a circle, each with a bit that a use sets. The hand
 * goes round, clears set bits and stops at the first that is clear [Corbato, A paging experiment
 * with the Multics system, 1968].
 *
 * A prefetched page has the second chance as well, so that there is time to use it. The hand passes
 * LOOKS_MAX pages for a victim at most; then the next one goes though it was used.
 * The circle is a list with its tail under the hand. Pages that the hand passes go to the head.
 */
#include "mm/policy/replace/list.h"

enum { CIRCLE = 1, USED = 1 };

static void clock_touch(void *state, uint32_t node)
{
    struct replace_base *b = state;

    ASSERT(base_resident(b, node));
    link_of(&b->link, node)->mark = USED;
}

static void clock_enter(void *state, uint32_t node, uint32_t region)
{
    struct replace_base *b = state;

    ASSERT(region < REPLACE_REGIONS_MAX);
    base_push_head(b, CIRCLE, node);
    link_of(&b->link, node)->mark = USED;
}

static uint32_t clock_victim(void *state, uint32_t incoming)
{
    struct replace_base *b = state;
    uint32_t node = b->list[CIRCLE].tail;

    (void)incoming;
    for (uint32_t looks = 0;
         looks < LOOKS_MAX && node != LINK_END && link_of(&b->link, node)->mark == USED; looks++) {
        link_of(&b->link, node)->mark = 0;
        list_to_head(&b->link, &b->list[CIRCLE], node);
        node = b->list[CIRCLE].tail;
    }
    if (node != LINK_END)
        link_of(&b->link, node)->mark = 0;
    return list_named(node);
}

static void clock_report(const void *state, struct replace_report *out)
{
    base_report(state, replace_clock.name, out);
}

static const char *clock_check(const void *state)
{
    const struct replace_base *b = state;

    for (uint32_t n = 0; n < b->nodes; n++)
        if (link_of(&b->link, n)->mark > (base_resident(b, n) ? USED : 0))
            return "clock: a page that is out is marked as used";
    return base_check(b);
}

const struct replace_ops replace_clock = {
    .name = "clock",
    .per_node = sizeof(struct replace_link),
    .bytes = base_bytes,
    .init = base_start,
    .grow = base_grow,
    .touch = clock_touch,
    .enter = clock_enter,
    .enter_unused = clock_enter,
    .victim = clock_victim,
    .leave = base_leave,
    .forget = base_forget,
    .resize = base_resize,
    .resident = base_resident,
    .report = clock_report,
    .check = clock_check,
};
