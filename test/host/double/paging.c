/* A memory that replaces by LRU and prefetches. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/paging.h"

struct memory {
    const struct trace *trace;
    uint32_t frames, pages;
    struct lrustack *order[PREFETCH_ORDERS]; /* every page ever used */
    struct lrustack *resident; /* ... those in memory; prefetched and touched ones rise as well */
    bool *unused;              /* [pages] prefetched, and not used yet */
    struct prefetch *prefetch;
    uint64_t now, *arrives; /* [pages] when a prefetched page has been read */
    unsigned latency;
    struct paging_result result;
};

static void *room(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        abort();
    return memory;
}

static struct lrustack *stack(uint32_t pages)
{
    struct lrustack *s = room(lrustack_bytes(pages));

    lrustack_init(s, pages);
    return s;
}

static void evict(struct memory *m)
{
    uint32_t page = m->resident->bottom;

    lrustack_remove(m->resident, page);
    prefetch_left(m->prefetch, page);
    if (m->unused[page])
        prefetch_wasted(m->prefetch, page);
    m->unused[page] = false;
}

static void bring_in(struct memory *m, uint32_t page)
{
    if (m->resident->size == m->frames)
        evict(m);
    lrustack_touch(m->resident, page);
}

static void serve(struct memory *m, const struct prefetch_list *list)
{
    unsigned fetched = 0;

    for (unsigned i = 0; i < list->length; i++) {
        if (list->page[i] >= m->pages || !lrustack_holds(m->order[0], (uint32_t)list->page[i]))
            continue;
        uint32_t page = (uint32_t)list->page[i];
        if (lrustack_holds(m->resident, page)) {
            if (list->touch)
                lrustack_touch(m->resident, page);
        } else if (fetched < list->fetch) {
            bring_in(m, page);
            m->unused[page] = true;
            m->arrives[page] = m->now + m->latency;
            prefetch_fetched(m->prefetch, page);
            fetched++;
        }
    }
}

static void wait(struct memory *m, uint64_t time)
{
    m->now += time;
    m->result.waited += time;
}

static bool is_out(const struct memory *m, uint32_t page)
{
    return page < m->pages && lrustack_holds(m->order[PREFETCH_BY_USE], page) &&
           !lrustack_holds(m->resident, page);
}

static uint32_t node_of(const struct memory *m, uint64_t page)
{
    return page < m->pages && lrustack_holds(m->order[PREFETCH_BY_USE], (uint32_t)page)
               ? (uint32_t)page
               : PREFETCH_NO_NODE;
}

static void complete_list(struct memory *m, struct prefetch_list *list)
{
    struct prefetch_ask *ask;

    while ((ask = prefetch_asks(m->prefetch))) {
        if (ask->node == PREFETCH_NO_NODE)
            ask->node = node_of(m, ask->page);
        ask->out = is_out(m, ask->node);
    }
    prefetch_decide(m->prefetch, list);
}

static void access_page(struct memory *m, uint32_t page)
{
    static struct prefetch_list list;
    struct prefetch_use use = {.node = page,
                               .page = page,
                               .region = (uint8_t)trace_region(m->trace, page),
                               .order = {m->order[0], m->order[1]}};
    bool known = lrustack_holds(m->order[0], page), resident = lrustack_holds(m->resident, page);
    bool first = m->unused[page];

    list.length = 0;
    m->now++;
    if (first) {
        m->unused[page] = false;
        use.late = m->arrives[page] > m->now;
        if (use.late)
            wait(m, m->arrives[page] - m->now);
        prefetch_first_use(m->prefetch, &use, &list);
        complete_list(m, &list);
    } else if (!resident && known) {
        m->result.faults++;
        wait(m, m->latency);
        prefetch_fault(m->prefetch, &use, &list);
        complete_list(m, &list);
    }
    lrustack_touch(m->order[PREFETCH_BY_USE], page);
    if (first || !resident)
        lrustack_touch(m->order[PREFETCH_BY_MISS], page);
    if (resident)
        lrustack_touch(m->resident, page);
    else
        bring_in(m, page);
    serve(m, &list);
}

static void check_all(const struct memory *m)
{
    const char *broken = prefetch_check(m->prefetch);

    for (unsigned i = 0; i < PREFETCH_ORDERS && !broken; i++)
        broken = lrustack_check(m->order[i]);
    if (!broken)
        broken = lrustack_check(m->resident);
    if (broken)
        panic("%s", broken);
}

struct paging_result paging_run(const struct prefetch_ops *ops, const struct trace *t,
                                uint32_t frames, unsigned latency, bool check)
{
    struct memory m = {.trace = t,
                       .frames = frames,
                       .pages = t->pages,
                       .latency = latency,
                       .result = {.accesses = t->length}};

    for (unsigned i = 0; i < PREFETCH_ORDERS; i++)
        m.order[i] = stack(t->pages);
    m.resident = stack(t->pages);
    m.unused = room(t->pages);
    m.arrives = room(t->pages * sizeof *m.arrives);
    m.prefetch = room(prefetch_bytes(ops, t->pages));
    prefetch_init(m.prefetch, ops, t->pages, frames);
    for (size_t i = 0; i < t->length; i++) {
        access_page(&m, t->page[i]);
        if (check)
            check_all(&m);
    }
    m.result.fetched = m.prefetch->fetched;
    m.result.used = m.prefetch->used;
    m.result.wasted = m.prefetch->wasted;
    m.result.late = m.prefetch->late;
    m.result.level = ops->level(m.prefetch->state);
    for (unsigned i = 0; i < PREFETCH_ORDERS; i++)
        free(m.order[i]);
    free(m.resident);
    free(m.unused);
    free(m.arrives);
    free(m.prefetch);
    return m.result;
}
