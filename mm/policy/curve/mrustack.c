/*
 * MRU's stack. See mrustack.h.
 *
 * Let s[1], s[2], ... be its pages; memory of C pages holds s[1..C], and s[1] is the page used
 * last. An access to s[d] misses where C < d: s[1] is evicted, and the page comes in as the new
 * s[1]. Where C >= d nothing changes but the page used last. Both are the swap of s[1] and s[d].
 */
#include "mm/policy/curve/mrustack.h"

size_t mrustack_bytes(uint32_t nodes)
{
    return ALIGN_UP(sizeof(struct mrustack) + nodes * sizeof(uint32_t), sizeof(uint64_t));
}

void mrustack_init(struct mrustack *s, uint32_t nodes)
{
    ASSERT(nodes >= 1);
    memset(s, 0, mrustack_bytes(nodes));
    s->nodes = nodes;
    s->top = MRUSTACK_NONE;
}

void mrustack_grow(struct mrustack *s, uint32_t nodes)
{
    uint32_t old = s->nodes;

    ASSERT(nodes >= old);
    s->nodes = nodes;
    memset(&s->depth[old], 0, (nodes - old) * sizeof s->depth[0]);
}

uint32_t mrustack_touch(struct mrustack *s, uint32_t node)
{
    ASSERT(node < s->nodes);
    uint32_t from = s->depth[node];

    if (from == 1)
        return 1;
    if (s->top != MRUSTACK_NONE)
        s->depth[s->top] = from ? from : s->size + 1;
    s->size += from == 0;
    s->depth[node] = 1;
    s->top = node;
    return from;
}

/* Swaps each page with the top, in a stack with a top, up to the first page that is not in it.
 * Returns the number of pages. */
static size_t swap_all(struct mrustack *s, const uint32_t *node, size_t n,
                       const struct tally *depths)
{
    uint32_t top = s->top, from;
    size_t i;

    for (i = 0; i < n && (from = s->depth[node[i]]); i++) {
        tally_add(depths, from, 1);
        s->depth[top] = from;
        top = node[i];
        s->depth[top] = 1;
    }
    s->top = top;
    return i;
}

void mrustack_touch_all(struct mrustack *s, const uint32_t *node, size_t n, struct tally depths)
{
    for (size_t i = 0; i < n;) {
        uint32_t depth = mrustack_touch(s, node[i++]);
        if (depth)
            tally_add(&depths, depth, 1);
        i += swap_all(s, node + i, n - i, &depths);
    }
}

const char *mrustack_check(const struct mrustack *s)
{
    if (s->size > s->nodes)
        return "the stack is deeper than there are pages";
    for (uint32_t depth = 1; depth <= s->nodes; depth++) {
        unsigned pages = 0;

        for (uint32_t node = 0; node < s->nodes; node++)
            pages += s->depth[node] == depth;
        if (pages != (depth <= s->size))
            return "a depth has not one page";
    }
    if (s->top == MRUSTACK_NONE ? s->size : s->top >= s->nodes || s->depth[s->top] != 1)
        return "the top is not at depth 1";
    return NULL;
}
