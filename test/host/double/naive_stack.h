/* Pages by their latest use, in an array that is searched and shifted: what faster structures are
 * compared with. */
#pragma once
#include <stdint.h>
#include <string.h>

enum { NAIVE_PAGES_MAX = 512 };

struct naive_stack {
    uint32_t page[NAIVE_PAGES_MAX]; /* [0]: used last */
    uint32_t size;
};

/* Returns the depth of the page from 1, or 0 if it is not in the stack. */
static inline uint32_t naive_depth(const struct naive_stack *s, uint32_t page)
{
    uint32_t i = 0;

    while (i < s->size && s->page[i] != page)
        i++;
    return i < s->size ? i + 1 : 0;
}

/* Removes the page if it is in the stack. Returns the depth it had, or 0. */
static inline uint32_t naive_remove(struct naive_stack *s, uint32_t page)
{
    uint32_t depth = naive_depth(s, page);

    if (depth)
        memmove(&s->page[depth - 1], &s->page[depth], (s->size-- - depth) * sizeof s->page[0]);
    return depth;
}

/* Moves the page to the top. Returns the depth it had, or 0. */
static inline uint32_t naive_touch(struct naive_stack *s, uint32_t page)
{
    uint32_t depth = naive_remove(s, page);

    memmove(&s->page[1], &s->page[0], s->size * sizeof s->page[0]);
    s->page[0] = page;
    s->size++;
    return depth;
}
