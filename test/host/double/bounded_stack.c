/*
 * See bounded_stack.h. last[i] is the page at depth at[i], for each boundary that the stack
 * reaches. When a page comes up from below boundary i, or is new, the pages above it sink by one:
 * last[i] sinks below the boundary, and the page above it becomes the last.
 */
#include "test/host/double/bounded_stack.h"

enum { NONE = BOUNDED_NONE };

unsigned bounded_every(uint32_t at[BOUNDED_MAX], uint32_t group, uint32_t pages)
{
    unsigned n = 0;

    for (uint64_t depth = group; depth <= pages && n < BOUNDED_MAX; depth += group)
        at[n++] = (uint32_t)depth;
    return n;
}

unsigned bounded_around(uint32_t at[BOUNDED_MAX], uint32_t group, uint32_t memory)
{
    unsigned n = 0;

    if (memory > group)
        at[n++] = memory - group;
    at[n++] = memory;
    at[n++] = memory + group;
    return n;
}

size_t bounded_bytes(uint32_t nodes)
{
    return sizeof(struct bounded_stack) + nodes * sizeof(struct bounded_link);
}

void bounded_init(struct bounded_stack *s, uint32_t nodes, const uint32_t *at, unsigned bounds)
{
    ASSERT(nodes >= 1 && nodes <= BOUNDED_NODES_MAX && bounds <= BOUNDED_MAX);
    for (unsigned i = 0; i < bounds; i++)
        ASSERT(at[i] > (i ? at[i - 1] : 0));
    s->nodes = nodes;
    s->top = s->bottom = NONE;
    s->bounds = bounds;
    memcpy(s->at, at, bounds * sizeof *at);
}

/* Puts `node` at the top; the pages above the first `bounds` boundaries sink by one. */
static void sink_pages(struct bounded_stack *s, unsigned bounds, uint32_t node)
{
    for (unsigned i = 0; i < bounds; i++) {
        struct bounded_link *last = &s->link[s->last[i]];

        s->last[i] = last->up != NONE ? (uint32_t)last->up : node;
        last->place = i + 2;
    }
}

static void unlink(struct bounded_stack *s, uint32_t node)
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

static void push(struct bounded_stack *s, uint32_t node)
{
    s->link[node] = (struct bounded_link){.up = NONE, .down = s->top, .place = 1};
    if (s->top != NONE)
        s->link[s->top].up = node;
    else
        s->bottom = node;
    s->top = node;
}

static void enter(struct bounded_stack *s, uint32_t node)
{
    sink_pages(s, s->reached, node);
    push(s, node);
    s->size++;
    if (s->reached < s->bounds && s->size == s->at[s->reached])
        s->last[s->reached++] = s->bottom;
}

unsigned bounded_touch(struct bounded_stack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    unsigned group = bounded_group(s, node);

    if (group == BOUNDED_COLD) {
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
