/*
 * The LRU stack. See lrustack.h. last[i] is the page at depth at[i], for each boundary that the
 * stack reaches. When a page comes up from below boundary i, or is new, the pages above it sink by
 * one: last[i] sinks below the boundary, and the page above it becomes the last.
 */
#include "mm/policy/curve/lrustack.h"

enum { NONE = LRUSTACK_NONE };

size_t lrustack_bytes(uint32_t nodes)
{
    return sizeof(struct lrustack) + nodes * sizeof(struct lrustack_link);
}

void lrustack_init(struct lrustack *s, uint32_t nodes)
{
    ASSERT(nodes >= 1 && nodes <= LRUSTACK_NODES_MAX);
    s->nodes = nodes;
    s->top = s->bottom = NONE;
}

void lrustack_grow(struct lrustack *s, uint32_t nodes)
{
    ASSERT(nodes >= s->nodes && nodes <= LRUSTACK_NODES_MAX);
    s->nodes = nodes;
}

/* Finds the pages at the boundaries and every page's group, from the top down. */
static void walk_stack(struct lrustack *s)
{
    uint32_t depth = 0;

    s->reached = 0;
    for (uint32_t node = s->top; node != NONE; node = s->link[node].down) {
        s->link[node].place = s->reached + 1;
        if (s->reached < s->bounds && ++depth == s->at[s->reached])
            s->last[s->reached++] = node;
    }
}

int lrustack_set_bounds_for_test(struct lrustack *s, const uint32_t *at, unsigned bounds)
{
    if (bounds > LRUSTACK_BOUNDS_MAX)
        return -EINVAL;
    for (unsigned i = 0; i < bounds; i++) {
        if (at[i] <= (i ? at[i - 1] : 0))
            return -EINVAL;
    }
    memcpy(s->at, at, bounds * sizeof *at);
    s->bounds = bounds;
    walk_stack(s);
    return 0;
}

unsigned lrustack_bounds_every_for_test(uint32_t at[LRUSTACK_BOUNDS_MAX], uint32_t group,
                                        uint32_t pages)
{
    unsigned n = 0;

    ASSERT(group >= 1);
    for (uint64_t depth = group; depth <= pages && n < LRUSTACK_BOUNDS_MAX; depth += group)
        at[n++] = (uint32_t)depth;
    return n;
}

unsigned lrustack_bounds_around_for_test(uint32_t at[LRUSTACK_BOUNDS_MAX], uint32_t group,
                                         uint32_t memory)
{
    unsigned n = 0;

    ASSERT(group >= 1 && memory >= 1);
    if (memory > group)
        at[n++] = memory - group;
    at[n++] = memory;
    at[n++] = memory + group;
    return n;
}

/* Puts `node` at the top; the pages above the first `bounds` boundaries sink by one. */
static void sink_pages(struct lrustack *s, unsigned bounds, uint32_t node)
{
    for (unsigned i = 0; i < bounds; i++) {
        struct lrustack_link *last = &s->link[s->last[i]];

        s->last[i] = last->up != NONE ? (uint32_t)last->up : node;
        last->place = i + 2;
    }
}

static void unlink(struct lrustack *s, uint32_t node)
{
    uint32_t up = s->link[node].up, down = s->link[node].down;

    if (up != NONE)
        s->link[up].down = down;
    else
        s->top = down;
    if (down != NONE)
        s->link[down].up = up;
    else
        s->bottom = up;
}

static void push(struct lrustack *s, uint32_t node)
{
    s->link[node] = (struct lrustack_link){.up = NONE, .down = s->top, .place = 1};
    if (s->top != NONE)
        s->link[s->top].up = node;
    else
        s->bottom = node;
    s->top = node;
}

static void enter(struct lrustack *s, uint32_t node)
{
    sink_pages(s, s->reached, node);
    push(s, node);
    s->size++;
    if (s->reached < s->bounds && s->size == s->at[s->reached])
        s->last[s->reached++] = s->bottom;
}

unsigned lrustack_touch(struct lrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    unsigned group = lrustack_group(s, node);

    if (group == LRUSTACK_COLD) {
        enter(s, node);
    } else if (s->top != node) {
        /* The page may be the last of its own group: then the page above, which sinks to its depth,
         * becomes the last. */
        if (group < s->reached && s->last[group] == node)
            s->last[group] = s->link[node].up;
        sink_pages(s, group, node);
        unlink(s, node);
        push(s, node);
    }
    return group;
}

void lrustack_remove(struct lrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    unsigned group = lrustack_group(s, node);

    if (group == LRUSTACK_COLD)
        return;
    /* The pages below it rise by one. */
    for (unsigned i = group; i < s->reached; i++) {
        uint32_t below = s->link[s->last[i]].down;

        if (below == NONE) {
            ASSERT(i == s->reached - 1);
            s->reached = i;
        } else {
            s->link[below].place = i + 1;
            s->last[i] = below;
        }
    }
    unlink(s, node);
    s->size--;
    s->link[node] = (struct lrustack_link){0};
}

unsigned lrustack_used_after(const struct lrustack *s, uint32_t node, uint32_t *out, unsigned max)
{
    unsigned n = 0;

    ASSERT(node < s->nodes);
    if (!lrustack_holds(s, node))
        return 0;
    for (node = s->link[node].up; node != NONE && n < max; node = s->link[node].up)
        out[n++] = node;
    return n;
}

const char *lrustack_check(const struct lrustack *s)
{
    uint32_t depth = 0, above = NONE, held = 0;
    unsigned group = 0;

    for (uint32_t node = s->top; node != NONE; node = s->link[node].down) {
        if (node >= s->nodes || ++depth > s->size)
            return "the list leads out of the stack";
        if (s->link[node].up != above)
            return "up is not the opposite of down";
        if (lrustack_group(s, node) != group)
            return "a page's group is not the number of boundaries above it";
        if (group < s->bounds && depth == s->at[group]) {
            if (group >= s->reached || s->last[group] != node)
                return "a boundary's page is another";
            group++;
        }
        above = node;
    }
    if (depth != s->size || s->bottom != above || s->reached != group)
        return "size, bottom or boundaries reached are wrong";
    for (uint32_t node = 0; node < s->nodes; node++)
        held += lrustack_holds(s, node);
    return held == s->size ? NULL : "a page that is in no list has a group";
}
