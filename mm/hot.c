/*
 * Pages that are used, but not logged: those that stay in the tracker's own buffer, or in its active set.  No curve knows them.
 */
#include "hpm/path/path.h"
#include "mm/pool.h"
#include "mm/space.h"
#include "mm/track_args.h"

#define LOOKED_AT 64 /* nodes while the lock is held */

/* Those of nodes from..to that are mapped in s, by their pages' numbers. */
static unsigned mapped(struct pool *p, const struct space *s, uint32_t from, uint64_t *page)
{
    unsigned n = 0;
    bool irq = spin_lock(&p->lock);
    uint32_t end = MIN(from + LOOKED_AT, p->capacity);

    for (uint32_t i = from; i < end; i++)
        if (p->nodes[i].state == NODE_HERE && p->nodes[i].space == s)
            page[n++] = p->nodes[i].page;
    spin_unlock(&p->lock, irq);
    return n;
}

uint32_t pool_hot_pages(struct pool *p, struct space *s)
{
    uint64_t page[LOOKED_AT];
    uint32_t hot = 0, capacity = __atomic_load_n(&p->capacity, __ATOMIC_RELAXED);
    unsigned shift = track_curve_shift(s);
    bool all_logged = track_curve_begins(s);

    for (uint32_t from = 0; from < capacity; from += LOOKED_AT) {
        unsigned n = mapped(p, s, from, page);
        for (unsigned i = 0; i < n; i++)
            hot += path_sampled(page[i], shift) && (all_logged || !track_curve_tells(s, page[i])) &&
                   track_hides(s, page[i] << PAGE_SHIFT);
    }
    return hot << shift;
}
