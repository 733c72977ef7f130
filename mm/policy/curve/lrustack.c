/* The LRU stack. See lrustack.h. */
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
    s->link[node] = (struct lrustack_link){.up = NONE, .down = s->top, .held = 1};
    if (s->top != NONE)
        s->link[s->top].up = node;
    else
        s->bottom = node;
    s->top = node;
}

void lrustack_touch(struct lrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    if (s->top == node)
        return;
    if (lrustack_holds(s, node))
        unlink(s, node);
    else
        s->size++;
    push(s, node);
}

void lrustack_remove(struct lrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    if (!lrustack_holds(s, node))
        return;
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

    for (uint32_t node = s->top; node != NONE; node = s->link[node].down) {
        if (node >= s->nodes || ++depth > s->size)
            return "the list leads out of the stack";
        if (s->link[node].up != above)
            return "up is not the opposite of down";
        if (!lrustack_holds(s, node))
            return "a page in the list is not held";
        above = node;
    }
    if (depth != s->size || s->bottom != above)
        return "size or bottom is wrong";
    for (uint32_t node = 0; node < s->nodes; node++)
        held += lrustack_holds(s, node);
    return held == s->size ? NULL : "a page that is not in the list is held";
}
