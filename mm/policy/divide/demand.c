/* See demand.h. */
#include "mm/policy/divide/demand.h"
#include "kernel/lib/fixed.h"

/* An epoch contradicts the past when it misses CONTRADICTS_TIMES as often as that predicts, and by
 * CONTRADICTS_MORE besides, which is no chance; then KEPT_TIMES its accesses are kept. */
enum { CONTRADICTS_TIMES = 4, CONTRADICTS_MORE = 8, KEPT_TIMES = 4 };

void demand_passed(struct demand *d, uint64_t us, uint64_t waited_us)
{
    d->since = MAX(d->since + (int64_t)us - (int64_t)waited_us, -(int64_t)us);
}

void demand_hot(struct demand *d, uint32_t pages)
{
    d->hot_before = pages;
}

/* Order of the numbers asked about and of the misses: pages that hot ones leave of 0, spacing,
 * 2 * spacing, ... pages, and of the pages that the program had; then, if it began with pages, 0,
 * spacing, 2 * spacing, ... pages. */
enum { LEFT = 0, LEFT_OF_HAD = DIVIDE_POINTS, ALL };

unsigned demand_asks(const struct demand *d, const struct demand_epoch *e,
                     uint32_t pages[DEMAND_ASKS_MAX])
{
    uint32_t hot = MAX(d->hot_before, e->hot);

    for (uint32_t i = 0; i < DIVIDE_POINTS; i++) {
        pages[ALL + i] = i * e->spacing;
        pages[LEFT + i] = i * e->spacing - MIN(hot, i * e->spacing);
    }
    pages[LEFT_OF_HAD] = e->has - MIN(hot, e->has);
    return e->begins ? DEMAND_ASKS_MAX : ALL;
}

/* Returns how often hot pages were used: each once at least, and as often as the others on the
 * whole. */
static uint64_t uses_of_hot(const struct demand *d, const struct demand_epoch *e)
{
    uint64_t worked = d->since > 0 ? (uint64_t)d->since : 0, uses = e->hot * worked / e->soon_us;

    return MIN(MAX(MAX(uses, d->hot), e->misses[LEFT]), (uint64_t)UINT32_MAX);
}

/* Returns the misses with `pages`. left: the others' misses with what hot pages leave of them. */
static uint64_t misses_with(const struct demand *d, uint64_t left, uint64_t uses, uint32_t pages)
{
    return left + (pages < d->hot ? (d->hot - pages) * (uses / d->hot) : 0);
}

/* Pages that were to be used again with those that there were will be with those that there are
 * now. */
static void begin_more(struct demand *d, const struct demand_epoch *e)
{
    for (uint64_t i = (d->pages + e->spacing - 1) / e->spacing;
         i < DIVIDE_POINTS && i * e->spacing < e->pages; i++)
        d->misses[i] += d->begun;
    d->begun += e->begins;
    d->pages = MAX(d->pages, e->pages);
}

/* Returns how often to halve the past, by how often the accesses of the epoch, those to hot pages
 * included, miss with the pages there were. */
static unsigned contradicted(const struct demand *d, const struct demand_epoch *e,
                             uint64_t hot_uses)
{
    uint64_t uses = misses_with(d, e->misses[LEFT], hot_uses, 0),
             missed = misses_with(d, e->misses[LEFT_OF_HAD], hot_uses, e->has);
    uint64_t before = d->misses[MIN(e->has / e->spacing, (uint32_t)DIVIDE_POINTS - 1)];
    unsigned shift = 0;

    if (!d->misses[0] ||
        missed <= CONTRADICTS_TIMES * fixed_muldiv(before, uses, d->misses[0]) + CONTRADICTS_MORE)
        return 0;
    while (d->misses[0] >> shift > KEPT_TIMES * uses)
        shift++;
    return shift;
}

/* Makes misses not rise again: halves are rounded. */
static void make_fall(struct demand *d)
{
    for (unsigned i = DIVIDE_POINTS - 1; i-- > 0;)
        d->misses[i] = MAX(d->misses[i], d->misses[i + 1]);
}

void demand_add(struct demand *d, const struct demand_epoch *e)
{
    uint64_t done = d->since > 0 ? (uint64_t)d->since : 0;

    d->hot = MAX(d->hot_before, e->hot);
    uint64_t uses = uses_of_hot(d, e);
    unsigned shift =
        MAX(contradicted(d, e, uses), (unsigned)(d->misses[0] > e->accesses || d->work > e->work));
    d->since -= (int64_t)done;
    d->work = (d->work >> shift) + done;
    d->begun >>= shift;
    for (uint32_t i = 0; i < DIVIDE_POINTS; i++)
        d->misses[i] >>= shift;
    begin_more(d, e);
    for (uint32_t i = 0; i < DIVIDE_POINTS; i++) {
        uint32_t pages = i * e->spacing;
        uint64_t misses = misses_with(d, e->misses[LEFT + i], uses, pages);
        if (e->begins && pages < e->pages) /* all of it before any of it */
            misses = MAX(misses, e->misses[ALL + i] + e->begins);
        d->misses[i] += misses;
    }
    make_fall(d);
}
