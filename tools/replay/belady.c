/*
 * OPT: a miss evicts the resident page with the farthest next use [Belady 1966], the fewest misses
 * that any policy can have. A heap of (next use, page) pairs has the farthest on top. A pair that a
 * later use has replaced is dropped when it comes up.
 */
#include <stdlib.h>
#include "tools/replay/simulate.h"

#define NEVER UINT64_MAX

struct use {
    uint64_t next;
    uint32_t page;
};

struct opt {
    uint64_t *next; /* [length] when the page of this access is used next */
    uint64_t *due;  /* [pages] next use of a resident page, 0: not resident */
    struct use *heap;
    size_t size;
};

static void push(struct opt *o, struct use u)
{
    size_t at = o->size++;

    for (; at > 0 && o->heap[(at - 1) / 2].next < u.next; at = (at - 1) / 2)
        o->heap[at] = o->heap[(at - 1) / 2];
    o->heap[at] = u;
}

static struct use pop(struct opt *o)
{
    struct use top = o->heap[0], last = o->heap[--o->size];
    size_t at = 0;

    for (size_t child; (child = 2 * at + 1) < o->size; at = child) {
        if (child + 1 < o->size && o->heap[child + 1].next > o->heap[child].next)
            child++;
        if (o->heap[child].next <= last.next)
            break;
        o->heap[at] = o->heap[child];
    }
    o->heap[at] = last;
    return top;
}

static uint32_t farthest(struct opt *o)
{
    for (;;) {
        struct use u = pop(o);
        if (o->due[u.page] == u.next)
            return u.page;
    }
}

/* Computes next[i], 1-based, from the end backwards. `due` is scratch, and 0 again afterwards. */
static void look_ahead(struct opt *o, const struct access_trace *t)
{
    for (size_t i = t->length; i-- > 0;) {
        uint64_t *due = &o->due[t->page[i]];
        o->next[i] = *due ? *due : NEVER;
        *due = i + 1;
    }
    memset(o->due, 0, t->pages * sizeof *o->due);
}

static uint64_t run(struct opt *o, const struct access_trace *t, uint32_t frames)
{
    uint64_t misses = 0;
    uint32_t resident = 0;

    look_ahead(o, t);
    for (size_t i = 0; i < t->length; i++) {
        uint32_t page = t->page[i];
        if (!o->due[page]) {
            misses++;
            if (resident == frames)
                o->due[farthest(o)] = 0;
            else
                resident++;
        }
        o->due[page] = o->next[i];
        push(o, (struct use){o->next[i], page});
    }
    return misses;
}

int belady(const struct access_trace *t, uint32_t frames, uint64_t *misses)
{
    struct opt o = {
        .next = malloc((t->length + 1) * sizeof *o.next),
        .due = calloc(t->pages, sizeof *o.due),
        .heap = malloc((t->length + 1) * sizeof *o.heap),
    };
    int rc = o.next && o.due && o.heap ? 0 : -ENOMEM;

    if (rc == 0)
        *misses = run(&o, t, frames);
    free(o.next);
    free(o.due);
    free(o.heap);
    return rc;
}
