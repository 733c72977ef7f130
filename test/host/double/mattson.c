/* Misses by memory size, exactly and naively. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "test/host/double/mattson.h"

static struct mattson room(uint32_t pages)
{
    struct mattson m = {.pages = pages, .misses = calloc(pages + 1, sizeof *m.misses)};

    if (!m.misses)
        abort();
    return m;
}

/* The page's depth in the list from 1, or 0; it goes to the top. */
static uint32_t to_top(uint32_t *list, uint32_t *size, uint32_t page)
{
    uint32_t depth = 0;

    while (depth < *size && list[depth] != page)
        depth++;
    bool cold = depth == *size;
    memmove(&list[1], &list[0], depth * sizeof *list);
    list[0] = page;
    *size += cold;
    return cold ? 0 : depth + 1;
}

struct mattson mattson_lru(const struct trace *t)
{
    struct mattson m = room(t->pages);
    uint32_t *list = malloc((t->pages + 1) * sizeof *list), size = 0;
    uint64_t *at = calloc(t->pages + 1, sizeof *at);

    if (!list || !at)
        abort();
    for (size_t i = 0; i < t->length; i++)
        at[to_top(list, &size, t->page[i])]++;
    m.cold = at[0];
    m.misses[t->pages] = 0;
    for (uint32_t depth = t->pages; depth > 0; depth--)
        m.misses[depth - 1] = m.misses[depth] + at[depth];
    free(list);
    free(at);
    return m;
}

/* Misses on pages used before, of one memory. */
static uint64_t run_mru(const struct trace *t, uint32_t memory, uint64_t *cold)
{
    bool *holds = calloc(t->pages, 1), *seen = calloc(t->pages, 1);
    uint32_t used = 0, last = 0;
    uint64_t misses = 0;

    *cold = 0;
    for (size_t i = 0; holds && seen && i < t->length; i++) {
        uint32_t page = t->page[i];
        if (!holds[page]) {
            *cold += !seen[page];
            misses += seen[page];
            if (used == memory)
                holds[last] = false;
            else
                used++;
            holds[page] = memory > 0;
        }
        seen[page] = true;
        last = page;
    }
    free(holds);
    free(seen);
    return misses;
}

struct mattson mattson_mru(const struct trace *t, uint32_t step)
{
    struct mattson m = room(t->pages);

    for (uint32_t memory = 0; memory <= t->pages; memory += step)
        m.misses[memory] = run_mru(t, memory, &m.cold);
    return m;
}

void mattson_free(struct mattson *m)
{
    free(m->misses);
}
