/*
 * Curves of misses by memory (mm/policy/curve/mrc.h), one for each watched space, made by a sink of
 * trackers, and one for the pool of files.
 *
 * Pages are numbered as they come, whether in a pool or not. Where the tracker logs only a sample
 * of the pages, one of 2^shift, the curve is that of a memory smaller by the same factor (SHARDS,
 * Waldspurger 2015); when shift changes, the curve begins anew. MRU's curve is made only where it
 * is used. All is guarded by the delivery's turn, [D] of track.c.
 */
#include "hpm/path/path.h"
#include "kernel/core/printf.h"
#include "mm/policy/curve/mrc.h"
#include "mm/object.h"
#include "mm/pool.h"
#include "mm/track/page_index.h"
#include "mm/space.h"
#include "mm/track/curve.h"
#include "mm/track/internal.h"
#include "kernel/mem/mem.h"

#define NUMBERS_FIRST 2048
#define BATCH         256 /* entries numbered together */
#define LOOKED        32  /* pages looked at in one hold of a lock */

struct curve {
    unsigned shift;
    uint64_t epoch_began; /* in ticks */
    bool ended;           /* by track_curve_last */
    bool full;            /* no memory for more pages: new ones are left out */
    struct page_index *index;
    struct mrc *mrc;
    uint64_t of_sample[BATCH]; /* working memory of touch_sample and touch_pages */
    uint32_t number[BATCH];
};

static bool decays; /* an epoch counts half as much as the next one */

static bool mru_wanted(const struct space *s)
{
    return mem_curves == TRACK_CURVES_ON || s->pool->share.mru_decides;
}

/* Returns the configuration of a curve: groups of one page, or larger ones where there would be too
 * many groups. */
static struct mrc_config config_for(uint32_t numbers, bool lru_only)
{
    return (struct mrc_config){.nodes = numbers,
                               .group = 1,
                               .memory = numbers,
                               .decay_shift = decays,
                               .lru_only = lru_only};
}

/* Returns the pages of a row, as a power of two. Where less than every fourth page is sampled,
 * numbers for whole rows would take more memory than a slot for each page. */
static unsigned row_shift(unsigned shift)
{
    return shift <= 2 ? PAGE_INDEX_ROW_SHIFT_MAX : 0;
}

static void free_curve(struct curve *c)
{
    if (!c)
        return;
    kfree(c->index);
    kfree(c->mrc);
    kfree(c);
}

/* Returns a power-of-two multiple of `least` that has a number for each page of the space, resident
 * or out, if all are in whole rows. */
static uint32_t numbers_for(const struct space *s, unsigned shift, uint32_t least)
{
    uint64_t pages = __atomic_load_n(&s->resident_pages, __ATOMIC_RELAXED) +
                     __atomic_load_n(&s->out_pages, __ATOMIC_RELAXED);
    uint64_t wanted = row_shift(shift) ? pages : pages >> shift;

    while (least < wanted && least < PAGE_INDEX_NUMBERS_MAX)
        least *= 2;
    return least;
}

static struct curve *make_curve(const struct space *s, unsigned shift, uint32_t numbers)
{
    struct mrc_config config = config_for(numbers, !mru_wanted(s));
    struct curve *c = kmalloc(sizeof(*c));

    if (!c)
        return NULL;
    c->shift = shift;
    c->epoch_began = arch_ticks_near();
    c->index = kmalloc(page_index_bytes(numbers, row_shift(shift)));
    c->mrc = kmalloc(mrc_bytes(&config));
    if (!c->index || !c->mrc) {
        free_curve(c);
        return NULL;
    }
    page_index_init(c->index, numbers, row_shift(shift));
    mrc_init(c->mrc, &config);
    return c;
}

/* Makes room for at least twice the pages. Returns false if there is no memory. */
static bool grow_curve(const struct space *s, struct curve *c)
{
    const struct mrc_config now = c->mrc->config,
                            config =
                                config_for(numbers_for(s, c->shift, 2 * now.nodes), now.lru_only);

    if (config.nodes > PAGE_INDEX_NUMBERS_MAX || !mrc_bytes(&config))
        return false;
    struct page_index *index = kmalloc(page_index_bytes(config.nodes, row_shift(c->shift)));
    struct mrc *mrc = kmalloc(mrc_bytes(&config));
    if (!index || !mrc) {
        kfree(index);
        kfree(mrc);
        return false;
    }
    page_index_init(index, config.nodes, row_shift(c->shift));
    page_index_copy(index, c->index);
    memcpy(mrc, c->mrc, mrc_bytes(&now));
    mrc_grow(mrc, log2_floor(config.nodes / now.nodes));
    kfree(c->index);
    kfree(c->mrc);
    c->index = index;
    c->mrc = mrc;
    return true;
}

static void touch_pages(struct space *s, const uint64_t *entry, size_t n)
{
    struct curve *c = s->curve;
    uint32_t *number = c->number;

    while (n) {
        size_t part = MIN(n, (size_t)BATCH);
        size_t known = page_index_of_all(c->index, entry, PAGE_ENTRY_PAGE, number, part);
        mrc_touch_all(c->mrc, number, known);
        if (known < part && (c->full || !grow_curve(s, c))) {
            c->full = true;
            known++;
        }
        entry += known;
        n -= known;
    }
}

/* Touches the pages of the sample. Entries logged by software, or before sampling began, have other
 * pages, too. */
static void touch_sample(struct space *s, const uint64_t *entry, size_t n)
{
    uint64_t *of_sample = s->curve->of_sample;
    unsigned count = 0;

    for (size_t i = 0; i < n; i++) {
        if (path_sampled(entry[i] & PAGE_ENTRY_PAGE, s->curve->shift))
            of_sample[count++] = entry[i];
        if (count == BATCH || i == n - 1) {
            touch_pages(s, of_sample, count);
            count = 0;
        }
    }
}

/* Copies those of n entries whose pages are the space's own, not an object's, which are in the
 * curve of files. Returns their number. */
static size_t own_pages(struct space *s, const uint64_t *entry, size_t n, uint64_t *out)
{
    size_t own = 0;
    bool irq = spin_lock(&s->lock);

    for (size_t i = 0; i < n; i++) {
        vaddr_t va = (entry[i] & PAGE_ENTRY_PAGE) << PAGE_SHIFT;
        struct arch_page page = {.kind = ARCH_PAGE_NONE};
        if (va < USER_MAX)
            arch_space_look(&s->arch, va, 1, &page);
        const struct region *r = page.kind == ARCH_PAGE_NONE ? regions_find(&s->regions, va) : NULL;
        if (page.kind == ARCH_PAGE_HERE ? pool_owns(s->pool, page.pa) : !r || !object_mapped(r))
            out[own++] = entry[i];
    }
    spin_unlock(&s->lock, irq);
    return own;
}

static void touch(struct space *s, const uint64_t *entry, size_t n)
{
    (s->curve->shift ? touch_sample : touch_pages)(s, entry, n);
}

/* The same without pages of objects, where the space maps any. */
static void touch_own(struct space *s, const uint64_t *entry, size_t n)
{
    uint64_t own[LOOKED];

    if (list_empty(&s->objects))
        touch(s, entry, n);
    else
        for (size_t part; n; entry += part, n -= part) {
            part = MIN(n, (size_t)LOOKED);
            touch(s, own, own_pages(s, entry, part, own));
        }
}

static uint64_t epoch_ticks(void)
{
    return mem_epoch_ms * arch_ticks_hz() / 1000;
}

static void update_curve(struct space *s, const struct page_run *run)
{
    struct curve *c = s->curve;
    unsigned shift = path_sample_shift();

    if (!c || c->shift != shift) {
        free_curve(c);
        s->curve = make_curve(s, shift, numbers_for(s, shift, NUMBERS_FIRST));
        if (!s->curve) /* there may be no memory for that many */
            s->curve = make_curve(s, shift, NUMBERS_FIRST);
        c = s->curve;
        if (!c)
            return;
    }
    for (unsigned part = 0; part < 2; part++)
        touch_own(s, run->entry[part], run->count[part]);
    /* The run may have ended before the curve began. */
    if (run->time < c->epoch_began + epoch_ticks())
        return;
    c->epoch_began = run->time;
    mrc_epoch(c->mrc);
}

/* Takes out up to LOOKED nodes of files that were used, the earliest first. Returns how many. */
static unsigned take_uses(struct pool *p, uint64_t *node)
{
    struct pool_uses *u = p->uses;
    unsigned n = 0;

    if (!u)
        return 0;
    bool irq = spin_lock(&p->lock);
    uint32_t tail = u->tail;
    while (n < LOOKED && tail != u->head)
        node[n++] = u->node[tail++ % POOL_USES];
    __atomic_store_n(&u->tail, tail, __ATOMIC_RELAXED);
    spin_unlock(&p->lock, irq);
    return n;
}

void track_curve_files(struct space *s)
{
    uint64_t now = arch_ticks_near();
    uint64_t node[LOOKED];
    unsigned n;

    if (!s->curve && s->pool->uses)
        s->curve = make_curve(s, 0, NUMBERS_FIRST);
    if (!s->curve)
        return;
    while ((n = take_uses(s->pool, node)))
        touch_pages(s, node, n);
    if (now < s->curve->epoch_began + epoch_ticks())
        return;
    s->curve->epoch_began = now;
    mrc_epoch(s->curve->mrc);
}

uint32_t track_curve_epochs(struct space *s)
{
    struct curve *c = s->curve;
    uint64_t now = arch_ticks_near();

    if (s->watched && now >= c->epoch_began + 2 * epoch_ticks()) {
        c->epoch_began = now;
        mrc_epoch(c->mrc);
    }
    return c->mrc->epochs;
}

bool track_curve(struct space *s, struct track_curve *out)
{
    const struct curve *c = s->curve;

    if (!c)
        return false;
    *out = (struct track_curve){
        .pages = (uint64_t)mrc_pages(c->mrc) << c->shift,
        .accesses = mrc_accesses(c->mrc) << c->shift,
        .cold = mrc_cold(c->mrc) << c->shift,
        .shift = c->shift,
        .epochs = c->mrc->epochs,
        .epoch_ms = mem_epoch_ms,
        .has_mru = !c->mrc->config.lru_only,
    };
    for (unsigned i = 0; i < TRACK_CURVE_POINTS; i++) {
        uint32_t memory = (uint32_t)((uint64_t)mrc_pages(c->mrc) * (i + 1) / TRACK_CURVE_POINTS);
        out->lru[i] = mrc_misses(c->mrc, MRC_LRU, memory) << c->shift;
        if (out->has_mru)
            out->mru[i] = mrc_misses(c->mrc, MRC_MRU, memory) << c->shift;
    }
    return true;
}

uint64_t track_curve_misses(const struct space *s, enum mrc_policy policy, uint32_t pages)
{
    const struct curve *c = s->curve;

    return mrc_misses(c->mrc, policy, pages >> c->shift) << c->shift;
}

uint64_t track_curve_pages(const struct space *s)
{
    return (uint64_t)mrc_pages(s->curve->mrc) << s->curve->shift;
}

uint64_t track_curve_first_uses(const struct space *s)
{
    const struct curve *c = s->curve;
    uint64_t first = mrc_cold(c->mrc);

    return 2 * first >= mrc_accesses(c->mrc) ? first << c->shift : 0;
}

bool track_curve_tells(const struct space *s, uint64_t page)
{
    uint32_t number = page_index_find(s->curve->index, page);

    return number != PAGE_INDEX_NONE && mrc_is_recent(s->curve->mrc, number);
}

unsigned track_curve_shift(const struct space *s)
{
    return s->curve->shift;
}

/* Prints the misses with a 16th of the pages as memory, with two 16ths and so on. */
static void print_misses(const char *policy, const uint64_t *misses)
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

    if (s->curve && mem_curves_print) {
        if (!s->curve->ended)
            mrc_epoch(s->curve->mrc);
        track_curve(s, &out);
        kprintf("curve: space=%u pages=%llu accesses=%llu cold=%llu sampled=1/%u", s->number,
                (unsigned long long)out.pages, (unsigned long long)out.accesses,
                (unsigned long long)out.cold, 1u << out.shift);
        print_misses("lru", out.lru);
        if (out.has_mru)
            print_misses("mru", out.mru);
        kprintf("\n");
    }
    free_curve(s->curve);
    s->curve = NULL;
}

void track_curves_start(bool decay)
{
    decays = decay;
    track_attach(update_curve);
}
