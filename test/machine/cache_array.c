/* Finding, entering and removing lines of one set-associative array, with the ways in order of
 * recency. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "test/machine/cache_array.h"

static size_t array_size(const struct cache_array *a)
{
    return (size_t)a->sets << a->way_shift;
}

int array_init(struct cache_array *a, struct geometry g)
{
    *a = (struct cache_array){.sets = g.sets, .ways = g.ways};
    if (g.ways == 0)
        return 0;
    a->set_mask = is_pow2(g.sets) ? g.sets - 1 : 0;
    a->reciprocal = UINT64_MAX / g.sets + 1;
    a->way_shift = g.ways > 1 ? log2_floor(g.ways - 1) + 1 : 0;
    a->lines = malloc(array_size(a) * sizeof(*a->lines));
    if (!a->lines)
        return -ENOMEM;
    array_clear(a);
    return 0;
}

void array_clear(struct cache_array *a)
{
    for (size_t i = 0; a->ways && i < array_size(a); i++)
        a->lines[i] = (struct cache_line){.key = LINE_INVALID};
}

void array_free(struct cache_array *a)
{
    free(a->lines);
    a->lines = NULL;
}

struct cache_line *array_peek(const struct cache_array *a, uint64_t number)
{
    if (a->ways == 0)
        return NULL;
    struct cache_line *set = array_set(a, number);
    for (uint32_t way = 0; way < a->ways; way++)
        if (line_number(&set[way]) == number)
            return &set[way];
    return NULL;
}

/* Puts a line in front of a set and moves the first `count` lines back by one. Returns the line
 * pushed out. Sets are short: this is faster than a call of memmove. */
static inline struct cache_line push_front(struct cache_line *set, uint32_t count,
                                           struct cache_line line)
{
    for (uint32_t way = 0; way < count; way++) {
        struct cache_line next = set[way];
        set[way] = line;
        line = next;
    }
    return line;
}

struct cache_line *array_touch(struct cache_array *a, uint64_t number)
{
    if (a->ways == 0)
        return NULL;
    struct cache_line *set = array_set(a, number);
    for (uint32_t way = 0; way < a->ways; way++) {
        if (line_number(&set[way]) != number)
            continue;
        push_front(set, way + 1, set[way]);
        return set;
    }
    return NULL;
}

struct cache_line *array_insert(struct cache_array *a, struct cache_line line,
                                struct cache_line *victim)
{
    struct cache_line *set = array_set(a, line_number(&line));
    *victim = push_front(set, a->ways, line);
    return set;
}

void array_remove(struct cache_array *a, struct cache_line *line)
{
    struct cache_line *set = array_set(a, line_number(line));
    struct cache_line *last = set + a->ways - 1;
    memmove(line, line + 1, (size_t)(last - line) * sizeof(*set));
    *last = (struct cache_line){.key = LINE_INVALID};
}
