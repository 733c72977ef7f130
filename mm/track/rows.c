/* A space's pages, gone through by trackers in stretches under its lock. */
#include "mm/space.h"
#include "mm/track/internal.h"

#define STRETCH 2048 /* pages, at most, under the space's lock */

static void look_at_row_locked(struct space *s, vaddr_t va, unsigned n, track_row *f, void *arg)
{
    struct arch_page page[TRACK_ROW];

    if (arch_space_look(&s->arch, va, n, page))
        f(s, va, page, n, arg);
}

vaddr_t track_rows(struct space *s, vaddr_t va, track_row *f, void *arg)
{
    bool irq = spin_lock(&s->lock);
    const struct regions *r = &s->regions;
    unsigned pages = 0;

    for (uint32_t i = regions_index(r, va); i < r->count && pages < STRETCH; i++) {
        va = MAX(va, r->items[i].touched_lo);
        while (va < r->items[i].touched_hi && pages < STRETCH) {
            vaddr_t end = MIN(ALIGN_DOWN(va, TRACK_ROW * PAGE_SIZE) + TRACK_ROW * PAGE_SIZE,
                              r->items[i].touched_hi);
            look_at_row_locked(s, va, (unsigned)((end - va) >> PAGE_SHIFT), f, arg);
            pages += TRACK_ROW;
            va = end;
        }
    }
    spin_unlock(&s->lock, irq);
    return pages < STRETCH ? USER_MAX : va;
}
