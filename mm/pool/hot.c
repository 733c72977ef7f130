/*
 * Pages that are used, but not logged: those that stay in the tracker's own buffer, or in its
 * active set. No curve knows them.
 */
#include "hpm/path/path.h"
#include "mm/pool.h"
#include "mm/space.h"
#include "mm/track/curve.h"
#include "mm/track/track.h"

#define AT_ONCE 64   /* nodes while the lock is held */
#define IN_ALL  2048 /* nodes at most: of a larger pool one in so many is looked at */

/* Those of nodes from, from + step, ... that are mapped in s, by their pages' numbers. */
static unsigned mapped(struct pool *p, const struct space *s, uint32_t from, uint32_t step,
                       uint64_t *page)
{
    unsigned n = 0;
    bool irq = spin_lock(&p->lock);

    for (uint32_t i = 0; i < AT_ONCE && from + i * step < p->capacity; i++) {
        const struct node *node = &p->nodes[from + i * step];
        if (node->state == NODE_HERE && node->space == s)
            page[n++] = node->page;
    }
    spin_unlock(&p->lock, irq);
    return n;
}

uint32_t pool_hot_pages(struct pool *p, struct space *s)
{
    uint64_t page[AT_ONCE];
    uint32_t hot = 0, capacity = __atomic_load_n(&p->capacity, __ATOMIC_RELAXED);
    /* odd: hot pages may be every other one */
    uint32_t step = (capacity + IN_ALL - 1) / IN_ALL | 1;
    unsigned shift = track_curve_shift(s);
    bool all_logged = track_curve_first_uses(s);

    for (uint32_t from = 0; from < capacity; from += AT_ONCE * step) {
        unsigned n = mapped(p, s, from, step, page);
        for (unsigned i = 0; i < n; i++)
            hot += path_sampled(page[i], shift) && (all_logged || !track_curve_tells(s, page[i])) &&
                   track_hides(s, page[i] << PAGE_SHIFT);
    }
    return (uint32_t)MIN((uint64_t)hot * step << shift, (uint64_t)capacity);
}
