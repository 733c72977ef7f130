/* SIEVE, S3-FIFO and W-TinyLFU, each against its paper by brute force; and limits on the work of
 * one call, for every policy. */
#include "test/host/double/changed.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"
#include "test/host/double/traces.h"
#include "tools/replay/simulate.h"

enum { PAGES = 48 };

/* The first is the oldest. */
struct order {
    uint32_t count, page[PAGES + 1];
};

struct paper {
    uint32_t frames, hand, margin, accesses;
    struct order q[3];    /* SIEVE's queue; S, M and G; window, probation and protected */
    uint32_t uses[PAGES]; /* by page */
};

static uint32_t place(const struct order *o, uint32_t page)
{
    uint32_t i = 0;

    while (i < o->count && o->page[i] != page)
        i++;
    return i;
}

static bool in(const struct order *o, uint32_t page)
{
    return place(o, page) < o->count;
}

static uint32_t take(struct order *o, uint32_t at)
{
    uint32_t page = o->page[at];

    o->count--;
    memmove(o->page + at, o->page + at + 1, (o->count - at) * sizeof *o->page);
    return page;
}

static void put(struct order *o, uint32_t page)
{
    o->page[o->count++] = page;
}

/* ---- SIEVE: algorithm 1 of the paper --------------------------------------------------------- */

static bool sieve(struct paper *p, uint32_t x)
{
    struct order *q = &p->q[0];

    if (in(q, x)) {
        p->uses[x] = 1;
        return true;
    }
    if (q->count == p->frames) {
        for (; p->uses[q->page[p->hand]]; p->hand = (p->hand + 1) % q->count)
            p->uses[q->page[p->hand]] = 0;
        take(q, p->hand);
        p->hand = p->hand < q->count ? p->hand : 0;
    }
    p->uses[x] = 0;
    put(q, x);
    return false;
}

/* ---- S3-FIFO: algorithm 1 of the paper, but one page is evicted at a time -------------------- */

static void evict_main(struct paper *p)
{
    struct order *m = &p->q[1];

    for (; p->uses[m->page[0]]; put(m, take(m, 0)))
        p->uses[m->page[0]]--;
    take(m, 0);
}

static void evict(struct paper *p, uint32_t small)
{
    struct order *s = &p->q[0], *m = &p->q[1], *g = &p->q[2];

    while (s->count >= small || (s->count && !m->count)) {
        uint32_t t = take(s, 0);
        if (p->uses[t] <= 1) {
            put(g, t);
            if (g->count > p->frames - small)
                take(g, 0);
            return;
        }
        p->uses[t] = 0;
        put(m, t);
        if (m->count > p->frames - small)
            break;
    }
    evict_main(p);
}

static bool s3fifo(struct paper *p, uint32_t x)
{
    struct order *s = &p->q[0], *m = &p->q[1], *g = &p->q[2];
    uint32_t small = MAX(p->frames / 10, 1u);

    if (in(s, x) || in(m, x)) {
        p->uses[x] = MIN(p->uses[x] + 1, 3u);
        return true;
    }
    if (s->count + m->count == p->frames)
        evict(p, small);
    p->uses[x] = 0;
    if (in(g, x)) {
        take(g, place(g, x));
        put(m, x);
    } else {
        put(s, x);
    }
    return false;
}

/* ---- W-TinyLFU: with a window of one page and a sketch that counts without errors ------------ */

static void count(struct paper *p, uint32_t x)
{
    p->uses[x] = MIN(p->uses[x] + 1, 15u);
    if (++p->accesses % (10 * p->frames) == 0)
        for (uint32_t i = 0; i < PAGES; i++)
            p->uses[i] /= 2;
}

static void protect(struct paper *p, uint32_t x)
{
    put(&p->q[2], x);
    if (p->q[2].count > (p->frames - 1) * 80 / 100)
        put(&p->q[1], take(&p->q[2], 0));
}

static bool wtinylfu(struct paper *p, uint32_t x)
{
    struct order *w = &p->q[0], *probation = &p->q[1], *guarded = &p->q[2];
    bool hit = true;

    if (in(w, x)) {
        put(w, take(w, place(w, x)));
    } else if (in(probation, x)) {
        protect(p, take(probation, place(probation, x)));
    } else if (in(guarded, x)) {
        protect(p, take(guarded, place(guarded, x)));
    } else {
        hit = false;
        if (w->count && w->count + probation->count + guarded->count == p->frames) {
            struct order *rest = probation->count ? probation : guarded;
            if (rest->count && p->uses[w->page[0]] > p->uses[rest->page[0]] + p->margin)
                take(rest, 0);
            else
                take(w, 0);
        }
        put(w, x);
        if (w->count > 1)
            put(probation, take(w, 0));
    }
    count(p, x);
    return hit;
}

static void compare(const struct replace_ops *ops, bool (*hit)(struct paper *, uint32_t),
                    uint32_t margin)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct trace t = trace_make(seed % TRACE_KINDS, PAGES, 3000, seed);
        struct paper paper = {.frames = 1 + (uint32_t)(seed * 7 % (PAGES - 1)), .margin = margin};
        struct replace_config config = {.nodes = PAGES, .frames = paper.frames};
        struct simulation s;
        assert_int_equal(simulation_start(&s, ops, &config, 0), 0);
        for (size_t i = 0; i < t.length; i++) {
            uint64_t before = s.misses;
            simulation_access(&s, t.page[i]);
            if ((s.misses == before) != hit(&paper, t.page[i]))
                fail_msg("%s, %s, %u frames: access %zu differs", ops->name,
                         trace_names[seed % TRACE_KINDS], paper.frames, i);
            assert_null(ops->check(s.state));
        }
        simulation_end(&s);
        trace_free(&t);
    }
}

static void sieve_hits_exactly_where_its_paper_says(void **state)
{
    (void)state;
    compare(&replace_sieve, sieve, 0);
}

static void s3fifo_hits_exactly_where_its_paper_says(void **state)
{
    (void)state;
    compare(&replace_s3fifo, s3fifo, 0);
}

static void wtinylfu_hits_exactly_where_its_paper_says(void **state)
{
    (void)state;
    compare(&replace_wtinylfu, wtinylfu, 0);
}

static void with_a_margin_a_page_needs_two_more_uses(void **state)
{
    (void)state;
    compare(&replace_wtinylfu_margin, wtinylfu, 1);
}

/* Each page is used once a pass, in random order. Resident pages must stay: each page that
 * W-TinyLFU exchanges costs a miss. */
static void with_a_margin_passes_in_any_order_miss_as_under_mru(void **state)
{
    enum { ALL = 1000, FRAMES = 500, PASSES = 10 };
    const struct replace_config config = {.nodes = ALL, .frames = FRAMES, .seed = 1};
    uint64_t random = 1;
    struct simulation s;

    (void)state;
    assert_int_equal(simulation_start(&s, &replace_wtinylfu_margin, &config, 0), 0);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        uint32_t *order = trace_shuffled(ALL, &random);
        for (uint32_t i = 0; i < ALL; i++)
            simulation_access(&s, order[i]);
        free(order);
    }
    assert_in_range(s.misses, ALL + (PASSES - 1) * (ALL - FRAMES),
                    ALL + (PASSES - 1) * (ALL - FRAMES + 6));
    simulation_end(&s);
}

/* ---- The work of one call -------------------------------------------------------------------- */

enum { NODES = 9000, FRAMES = 8000, CHANGED_MAX = FRAMES / 4 };

struct watched {
    const struct replace_ops *ops;
    size_t bytes;
    uint8_t *state, *before;
};

/* Checks that the call has changed at most CHANGED_MAX bytes of the state. */
static void check_few_bytes_changed(struct watched *w, const char *call)
{
    size_t changed = bytes_changed(w->before, w->state, w->bytes);

    if (changed > CHANGED_MAX)
        fail_msg("%s: %s changed %zu bytes of state", w->ops->name, call, changed);
}

static void remember(struct watched *w)
{
    memcpy(w->before, w->state, w->bytes);
}

/* Checks calls of the policy when all pages have been used often: an eviction, and memory that
 * shrinks. */
static void check_calls(const struct replace_ops *ops)
{
    struct replace_config config = {.nodes = NODES, .frames = FRAMES, .seed = 1};
    struct watched w = {.ops = ops, .bytes = ops->bytes(NODES)};

    w.state = calloc(1, w.bytes);
    w.before = calloc(1, w.bytes);
    assert_int_equal(ops->init(w.state, &config), 0);
    for (uint32_t n = 0; n < FRAMES; n++)
        ops->enter(w.state, n, 0);
    for (unsigned round = 0; round < 4; round++)
        for (uint32_t n = 0; n < FRAMES; n++)
            ops->touch(w.state, n);
    remember(&w);
    uint32_t victim = ops->victim(w.state, FRAMES);
    check_few_bytes_changed(&w, "victim()");
    ops->leave(w.state, victim);
    ops->enter(w.state, FRAMES, 0);
    /* These two do more work at a new size. */
    if (ops != &replace_region && ops != &replace_chooser) {
        remember(&w);
        ops->resize(w.state, FRAMES / 4);
        check_few_bytes_changed(&w, "resize()");
        remember(&w);
        ops->victim(w.state, REPLACE_NONE);
        check_few_bytes_changed(&w, "victim() of less memory");
    }
    assert_null(ops->check(w.state));
    free(w.state);
    free(w.before);
}

/* GAP: the next uses of all pages are predicted for about the same time, and do not come. */
static void pages_late_at_the_same_time_are_handled_a_few_a_call(void **state)
{
    enum { BUSY = 64, AGAIN = 3 * NODES, STEPS_CHANGED_MAX = 1500 };
    struct replace_config config = {.nodes = NODES, .frames = NODES, .seed = 1};
    struct watched w = {.ops = &replace_gap, .bytes = replace_gap.bytes(NODES)};

    (void)state;
    w.state = calloc(1, w.bytes);
    w.before = calloc(1, w.bytes);
    assert_int_equal(replace_gap.init(w.state, &config), 0);
    for (uint32_t n = 0; n < NODES; n++)
        replace_gap.enter(w.state, n, 0);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t n = 0; n < NODES; n++)
            replace_gap.touch(w.state, n);
    for (uint32_t i = 0; i < AGAIN; i++) {
        remember(&w);
        replace_gap.touch(w.state, i % BUSY);
        size_t changed = bytes_changed(w.before, w.state, w.bytes);
        if (changed > STEPS_CHANGED_MAX)
            fail_msg("gap: use %u changed %zu bytes of state", i, changed);
    }
    assert_null(replace_gap.check(w.state));
    free(w.state);
    free(w.before);
}

static void no_call_changes_every_frame(void **state)
{
    (void)state;
    for (const struct replace_ops *const *p = replace_policies; *p; p++)
        check_calls(*p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sieve_hits_exactly_where_its_paper_says),
        cmocka_unit_test(s3fifo_hits_exactly_where_its_paper_says),
        cmocka_unit_test(wtinylfu_hits_exactly_where_its_paper_says),
        cmocka_unit_test(with_a_margin_a_page_needs_two_more_uses),
        cmocka_unit_test(with_a_margin_passes_in_any_order_miss_as_under_mru),
        cmocka_unit_test(pages_late_at_the_same_time_are_handled_a_few_a_call),
        cmocka_unit_test(no_call_changes_every_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
