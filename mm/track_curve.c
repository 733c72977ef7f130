/*
 * Curves of misses by memory (mm/mrc.h), one for each space that is watched: a sink of what trackers deliver.
 *
 * Pages are numbered as they come, whatever pool they are in or none.  Where the tracker logs a sample of the pages, one of 2^shift, the
 * curve is one of a memory as much smaller (SHARDS, Waldspurger 2015); with another shift it begins anew.
 * All under the delivery's turn, [D] of track.c.
 */
#include "hpm/path/path.h"
#include "kernel/printf.h"
#include "mm/mrc.h"
#include "mm/page_index.h"
#include "mm/space.h"
#include "mm/track_args.h"

#define NUMBERS_FIRST 1024
#define GROUP_FIRST   1 /* larger ones where that would be too many */

struct curve {
    unsigned shift;
    uint64_t epoch_began; /* ticks */
    uint64_t touches;     /* since it began */
    bool ended;           /* by track_curve_last */
    bool full;            /* there is no memory for more pages: those that come are left out */
    struct page_index *index;
    struct mrc *mrc;
};

static struct mrc_config config_for(uint32_t numbers)
{
    return (struct mrc_config){.nodes = numbers, .group = GROUP_FIRST, .memory = numbers, .decay_shift = 1};
}

static void drop(struct curve *c)
{
    if (!c)
        return;
    kfree(c->index);
    kfree(c->mrc);
    kfree(c);
}

static struct curve *make(unsigned shift)
{
    struct mrc_config config = config_for(NUMBERS_FIRST);
    struct curve *c = kmalloc(sizeof(*c));

    if (!c)
        return NULL;
    c->shift = shift;
    c->epoch_began = arch_ticks_near();
    c->index = kmalloc(page_index_bytes(NUMBERS_FIRST));
    c->mrc = kmalloc(mrc_bytes(&config));
    if (!c->index || !c->mrc) {
        drop(c);
        return NULL;
    }
    page_index_init(c->index, NUMBERS_FIRST);
    mrc_init(c->mrc, &config);
    return c;
}

/* Room for twice as many pages; what this epoch has counted goes where the groups become larger. */
static bool grow(struct curve *c)
{
    uint32_t numbers = 2 * c->index->numbers;
    struct mrc_config config = config_for(numbers);

    if (numbers > PAGE_INDEX_NUMBERS_MAX || !mrc_bytes(&config))
        return false;
    struct page_index *index = kmalloc(page_index_bytes(numbers));
    struct mrc *mrc = kmalloc(mrc_bytes(&config));
    if (!index || !mrc) {
        kfree(index);
        kfree(mrc);
        return false;
    }
    page_index_init(index, numbers);
    page_index_copy(index, c->index);
    struct mrc_config now = config_for(c->index->numbers);
    memcpy(mrc, c->mrc, mrc_bytes(&now));
    mrc_grow(mrc, numbers);
    mrc_regroup(mrc, GROUP_FIRST, numbers);
    kfree(c->index);
    kfree(c->mrc);
    c->index = index;
    c->mrc = mrc;
    return true;
}

static void touch(struct curve *c, uint64_t page)
{
    uint32_t n = page_index_of(c->index, page);

    if (n == PAGE_INDEX_NONE) {
        c->full |= !grow(c);
        n = page_index_of(c->index, page);
        if (n == PAGE_INDEX_NONE)
            return;
    }
    mrc_touch(c->mrc, n);
}

static void take(struct space *s, const struct page_run *run)
{
    struct curve *c = s->curve;
    unsigned shift = path_sample_shift();

    if (!c || c->shift != shift) {
        drop(c);
        c = s->curve = make(shift);
        if (!c)
            return;
    }
    for (unsigned part = 0; part < 2; part++)
        for (size_t i = 0; i < run->count[part]; i++) {
            uint64_t page = run->entry[part][i] & PAGE_ENTRY_PAGE;
            if (!shift || path_sampled(page, shift))
                touch(c, page);
        }
    c->touches += run->count[0] + run->count[1];
    /* A batch may have ended before the curve began. */
    if (run->time < c->epoch_began + track_epoch_ms * arch_ticks_hz() / 1000)
        return;
    c->epoch_began = run->time;
    mrc_epoch(c->mrc);
}

bool track_curve(struct space *s, struct track_curve *out)
{
    const struct curve *c = s->curve;

    if (!c)
        return false;
    *out = (struct track_curve){
        .pages = (uint64_t)c->index->used << c->shift,
        .accesses = mrc_accesses(c->mrc) << c->shift,
        .cold = mrc_cold(c->mrc) << c->shift,
        .shift = c->shift,
        .epochs = c->mrc->epochs,
        .epoch_ms = track_epoch_ms,
    };
    for (unsigned i = 0; i < TRACK_CURVE_POINTS; i++) {
        uint32_t memory = (uint32_t)((uint64_t)c->index->used * (i + 1) / TRACK_CURVE_POINTS);
        out->lru[i] = mrc_misses(c->mrc, MRC_LRU, memory) << c->shift;
        out->mru[i] = mrc_misses(c->mrc, MRC_MRU, memory) << c->shift;
    }
    return true;
}

uint64_t track_curve_misses(const struct space *s, enum mrc_policy policy, uint32_t pages)
{
    const struct curve *c = s->curve;

    return mrc_misses(c->mrc, policy, pages >> c->shift) << c->shift;
}

static void print(const char *policy, const uint64_t *misses)
{
    kprintf(" %s", policy);
    for (unsigned i = 0; i < TRACK_CURVE_POINTS; i++)
        kprintf("%c%llu", i ? ',' : '=', (unsigned long long)misses[i]);
}

void track_curve_last(struct space *s)
{
    if (!s->curve || s->curve->mrc->epochs)
        return;
    mrc_epoch(s->curve->mrc);
    s->curve->ended = true;
}

void track_curve_end(struct space *s)
{
    struct track_curve out;

    if (s->curve && track_curves_print) {
        if (!s->curve->ended)
            mrc_epoch(s->curve->mrc);
        track_curve(s, &out);
        kprintf("curve: space %u: pages=%llu accesses=%llu cold=%llu sampled=1/%u misses by memory from a "
                "16th of the pages on:",
                s->number, (unsigned long long)out.pages, (unsigned long long)out.accesses,
                (unsigned long long)out.cold, 1u << out.shift);
        print("lru", out.lru);
        print("mru", out.mru);
        kprintf("\n");
    }
    drop(s->curve);
    s->curve = NULL;
}

void track_curves_start(void)
{
    track_attach(take);
}
