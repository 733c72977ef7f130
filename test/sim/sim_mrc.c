/*
 * What do miss-rate curves cost, and how exact are they? Traces of several shapes (traces.h) go
 * through mrc.h and, in two forms, through an LRU stack with boundaries (bounded_stack.h). A line
 * for each says how far its curve is from the exact one, found naively (mattson.h), and how many
 * instructions an access takes, counted one by one. Further lines for each shape compare the curve
 * of a tracker's log, and that of a sample of the pages, with the curve of all accesses.
 *
 * Environment: QUICK=1 (fewer pages), SEED (1).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/dev/model/machine.h"
#include "mm/policy/curve/mrc.h"
#include "test/host/double/bounded_stack.h"
#include "test/host/double/instructions.h"
#include "test/host/double/mattson.h"

enum { GROUPS = 64, PER_PAGE = 16, COUNTED = 100, HELD_PART = 64 };

void panic(const char *fmt, ...)
{
    fprintf(stderr, "panic: %s\n", fmt);
    abort();
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void *room(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        panic("no memory");
    return memory;
}

/* A way to find curves, at multiples of a group of pages. */
struct form {
    const char *name;
    enum mrc_policy policy;
    void *(*make)(const struct trace *t, uint32_t group);
    void (*touch)(void *state, const uint32_t *page, size_t n);
    uint64_t (*misses)(void *state, uint32_t memory); /* UINT64_MAX: not known in this form */
};

/* The code that is run step by step. */
struct piece {
    const struct form *form;
    void *state;
    const uint32_t *page;
    size_t length;
};

static void work(void *data)
{
    const struct piece *p = data;

    p->form->touch(p->state, p->page, p->length);
}

/* ---- mrc.h ----------------------------------------------------------------------------------- */
static struct mrc *curves(const struct trace *t, uint32_t group, bool lru_only)
{
    struct mrc_config config = {
        .nodes = t->pages, .group = group, .memory = t->pages, .lru_only = lru_only};
    struct mrc *m = room(mrc_bytes(&config));

    mrc_init(m, &config);
    return m;
}
static void *mrc_make(const struct trace *t, uint32_t group)
{
    return curves(t, group, false);
}
static void *lru_make(const struct trace *t, uint32_t group)
{
    (void)group;
    return curves(t, 1, true);
}
static void mrc_do(void *state, const uint32_t *page, size_t n)
{
    mrc_touch_all(state, page, n);
}
static uint64_t mrc_lru(void *state, uint32_t memory)
{
    struct mrc *m = state;

    if (m->touches)
        mrc_epoch(m);
    return mrc_misses(m, MRC_LRU, memory);
}
static uint64_t mrc_mru(void *state, uint32_t memory)
{
    mrc_lru(state, memory);
    return mrc_misses(state, MRC_MRU, memory);
}

/* ---- Boundaries ------------------------------------------------------------------------------ */
struct bounded {
    uint64_t in_group[BOUNDED_MAX + 1];
    struct bounded_stack stack;
};

static struct bounded *bounded_make(const struct trace *t, const uint32_t *at, unsigned bounds)
{
    struct bounded *b = room(sizeof *b - sizeof b->stack + bounded_bytes(t->pages));

    bounded_init(&b->stack, t->pages, at, bounds);
    return b;
}
static void *every_make(const struct trace *t, uint32_t group)
{
    uint32_t at[BOUNDED_MAX];

    return bounded_make(t, at, bounded_every(at, group, t->pages));
}
static void *around_make(const struct trace *t, uint32_t group)
{
    uint32_t at[BOUNDED_MAX];

    return bounded_make(t, at, bounded_around(at, group, t->pages / 2));
}
static void bounded_do(void *state, const uint32_t *page, size_t n)
{
    struct bounded *b = state;

    for (size_t i = 0; i < n; i++) {
        unsigned group = bounded_touch(&b->stack, page[i]);
        if (group != BOUNDED_COLD)
            b->in_group[group]++;
    }
}
static uint64_t bounded_misses(void *state, uint32_t memory)
{
    const struct bounded *b = state;

    for (unsigned i = 0; i < b->stack.bounds; i++) {
        uint64_t misses = 0;
        for (unsigned group = i + 1; group <= b->stack.bounds; group++)
            misses += b->in_group[group];
        if (b->stack.at[i] == memory)
            return misses;
    }
    return UINT64_MAX;
}

static const struct form forms[] = {
    {"lru-only", MRC_LRU, lru_make, mrc_do, mrc_lru},
    {"exact", MRC_LRU, mrc_make, mrc_do, mrc_lru},
    {"exact", MRC_MRU, mrc_make, mrc_do, mrc_mru},
    {"boundaries", MRC_LRU, every_make, bounded_do, bounded_misses},
    {"four-groups", MRC_LRU, around_make, bounded_do, bounded_misses},
};

/* Returns the largest difference in points: at every size for a curve with groups of one page, else
 * at multiples of a group. */
static double farthest(const struct form *f, void *state, const struct mattson *exact,
                       uint32_t group, size_t accesses)
{
    double worst = 0;

    if (f->make == lru_make)
        group = 1;
    for (uint32_t memory = group; memory <= exact->pages; memory += group) {
        uint64_t misses = f->misses(state, memory);
        double d = (double)misses - (double)exact->misses[memory];
        if (misses != UINT64_MAX)
            worst = MAX(worst, d < 0 ? -d : d);
    }
    return 100 * worst / (double)accesses;
}

/* Returns the number of accesses until slots are assigned anew, which is measured separately. */
static uint32_t slots_left(const struct mrc *m)
{
    const struct lrudist *d = (const struct lrudist *)((const char *)m + m->lru_at);

    return d->words * 64 - d->next;
}

static void count_renumbering(const struct trace *t)
{
    struct mrc *m = mrc_make(t, t->pages / GROUPS);
    uint32_t i = 0;

    for (i = 0; i < t->length && (i < t->pages || slots_left(m) > 1); i++)
        mrc_touch_all(m, &t->page[i], 1);
    struct piece piece = {&forms[0], m, t->page + i, 1};
    uint64_t instructions = instructions_of(work, &piece);
    printf("RESULT mrc.renumber pages=%u instructions=%llu per_access=%.1f\n", t->pages,
           (unsigned long long)instructions, (double)instructions / (7.0 * t->pages));
    free(m);
}

static void run(const struct form *f, const char *shape, const struct trace *t,
                const struct mattson *exact)
{
    uint32_t group = t->pages / GROUPS;
    void *state = f->make(t, group);

    f->touch(state, t->page, t->length);
    double points = farthest(f, state, exact, group, t->length);
    const uint32_t *page = t->page + t->length / 2;
    while (f->touch == mrc_do && slots_left(state) <= COUNTED)
        f->touch(state, page++, 1);
    struct piece piece = {f, state, page, COUNTED};
    printf("RESULT mrc form=%s policy=%s shape=%s pages=%u groups=%u accesses=%zu err_pts=%.2f "
           "instructions=%.1f\n",
           f->name, mrc_policy_names[f->policy], shape, t->pages, GROUPS, t->length, points,
           (double)instructions_of(work, &piece) / COUNTED);
    fflush(stdout);
    free(state);
}

/* Returns the log of a page-access tracker: the accesses to pages that are not among the `held`
 * last used. */
static struct trace logged(const struct trace *t, uint32_t held)
{
    struct trace log = trace_room(t->pages, t->length);
    uint32_t *list = room(held * sizeof *list);

    log.length = 0;
    memset(list, 0xff, held * sizeof *list);
    for (size_t i = 0; i < t->length; i++) {
        uint32_t depth = 0;
        while (depth < held && list[depth] != t->page[i])
            depth++;
        if (depth == held)
            log.page[log.length++] = t->page[i];
        memmove(&list[1], &list[0], MIN(depth, held - 1) * sizeof *list);
        list[0] = t->page[i];
    }
    free(list);
    return log;
}

/* Compares curves of the log with those of all accesses, for memories larger than the held
 * pages. */
static void compare_log(const char *shape, const struct trace *t,
                        const struct mattson exact[MRC_POLICIES], uint32_t held)
{
    struct trace log = logged(t, held);
    struct mrc *m = mrc_make(t, t->pages / GROUPS);
    double worst[MRC_POLICIES] = {0};

    for (size_t i = 0; i < log.length; i++)
        mrc_touch_all(m, &log.page[i], 1);
    mrc_epoch(m);
    for (unsigned p = 0; p < MRC_POLICIES; p++) {
        for (uint32_t memory = t->pages / GROUPS; memory <= t->pages; memory += t->pages / GROUPS) {
            double d = (double)mrc_misses(m, p, memory) - (double)exact[p].misses[memory];
            if (memory > held)
                worst[p] = MAX(worst[p], 100 * (d < 0 ? -d : d) / (double)t->length);
        }
    }
    printf("RESULT mrc.log shape=%s pages=%u held=%u accesses=%zu logged=%zu lru_pts=%.2f "
           "mru_pts=%.2f\n",
           shape, t->pages, held, t->length, log.length, worst[MRC_LRU], worst[MRC_MRU]);
    fflush(stdout);
    free(m);
    trace_free(&log);
}

/* Compares curves of one page in 2^shift, as hardware samples them, with those of all pages, at
 * every size. A sample's rates are those of its own accesses. */
static void compare_sample(const char *shape, const struct trace *t, const struct mattson *exact,
                           unsigned shift)
{
    struct mrc *m = curves(t, 1, true);
    double worst = 0, sum = 0;

    for (size_t i = 0; i < t->length; i++)
        if (MACHINE_PATH_SAMPLED((uint64_t)t->page[i], shift))
            mrc_touch_all(m, &t->page[i], 1);
    mrc_epoch(m);
    for (uint32_t memory = 1; memory <= t->pages; memory++) {
        double rate = (double)mrc_misses(m, MRC_LRU, memory >> shift) / (double)mrc_accesses(m);
        double d = fabs(rate - (double)exact->misses[memory] / (double)t->length);
        worst = MAX(worst, 100 * d);
        sum += 100 * d;
    }
    printf("RESULT mrc.sample shape=%s pages=%u one_in=%u sampled_pages=%u mean_pts=%.2f "
           "err_pts=%.2f\n",
           shape, t->pages, 1u << shift, mrc_pages(m), sum / t->pages, worst);
    fflush(stdout);
    free(m);
}

int main(void)
{
    uint32_t pages = number("QUICK", 0) ? 2048 : 8192;

    printf("# make bench-mrc SEED=%lu\n"
           "# err_pts: the largest difference from the exact curve at multiples of a group, in "
           "points of the "
           "miss ratio.\n"
           "# instructions: of an access, a hundred of them at a time, compiled for the host with "
           "-O2; exact "
           "finds LRU's and MRU's\n"
           "# curve in one; lru-only finds LRU's, with groups of one page: at every size.\n"
           "# boundaries, four-groups: LRU only; the latter knows three sizes.\n"
           "# mrc.sample: LRU's curve of a sample of the pages, at every size: on the average, and "
           "the largest "
           "difference.\n"
           "# mrc.renumber: of giving slots anew, once in at least seven accesses a page, which "
           "comes to "
           "per_access at most.\n",
           number("SEED", 1));
    struct trace loop = trace_make(TRACE_LOOP, pages, (size_t)PER_PAGE * pages, 1);
    count_renumbering(&loop);
    trace_free(&loop);
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++) {
        struct trace t = trace_make(kind, pages, (size_t)PER_PAGE * pages, number("SEED", 1));
        struct mattson exact[MRC_POLICIES] = {mattson_lru(&t), mattson_mru(&t, pages / GROUPS)};
        for (unsigned i = 0; i < ARRAY_SIZE(forms); i++)
            run(&forms[i], trace_names[kind], &t, &exact[forms[i].policy]);
        compare_log(trace_names[kind], &t, exact, pages / HELD_PART);
        for (unsigned shift = 1; shift <= 5; shift += 2)
            compare_sample(trace_names[kind], &t, &exact[MRC_LRU], shift);
        mattson_free(&exact[0]);
        mattson_free(&exact[1]);
        trace_free(&t);
    }
    return 0;
}
