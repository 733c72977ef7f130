/* MRU, LIRS and ARC: each against its paper by brute force, and on traces that suit it. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/replace_random.h"
#include "test/host/double/traces.h"
#include "tools/replay/simulate.h"

enum { PAGES = 48, PAGES_MANY = 2048 };

/* An ordered set of pages; the first is the oldest. */
struct order {
    uint32_t count;
    uint32_t page[PAGES_MANY];
};

static bool in(const struct order *o, uint32_t page)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (o->page[i] == page)
            return true;
    return false;
}

static void out(struct order *o, uint32_t page)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < o->count; i++)
        if (o->page[i] != page)
            o->page[kept++] = o->page[i];
    o->count = kept;
}

static void last(struct order *o, uint32_t page)
{
    out(o, page);
    o->page[o->count++] = page;
}

static uint64_t misses(const struct replace_ops *ops, const struct trace *t, uint32_t frames)
{
    struct replace_config config = {.nodes = t->pages, .frames = frames, .seed = 1};
    struct access_trace seen = {.page = t->page, .length = t->length, .pages = t->pages};
    uint64_t n;

    assert_int_equal(simulate(ops, &config, &seen, &n), 0);
    return n;
}

/* The state of a policy, by its paper. */
struct paper {
    uint32_t c;
    double p;
    struct order t1, b1, t2, b2; /* ARC; t1 alone: MRU */
    struct order s, q;           /* LIRS */
    bool lir[PAGES_MANY];
    uint32_t lirs, previous; /* the page accessed last + 1 */
};

/* ---- MRU ------------------------------------------------------------------------------------- */

static bool mru(struct paper *m, uint32_t x)
{
    bool hit = in(&m->t1, x);

    if (!hit && m->t1.count == m->c)
        m->t1.count--;
    last(&m->t1, x);
    return hit;
}

/* ---- ARC: figure 4 of the paper -------------------------------------------------------------- */

static void replace(struct paper *a, uint32_t x)
{
    bool first = a->t1.count && (a->t1.count > a->p || (in(&a->b2, x) && a->t1.count == a->p));
    struct order *from = first ? &a->t1 : &a->t2, *to = first ? &a->b1 : &a->b2;
    uint32_t page = from->page[0];

    out(from, page);
    last(to, page);
}

/* Fractions of 2^-16, as p has in mm/policy/replace/arc.c: comparisons must not depend on
 * rounding. */
static double ratio(uint32_t a, uint32_t b)
{
    return a < b ? 1 : (double)(a * 65536ull / b) / 65536;
}

static void arc_new(struct paper *a, uint32_t x)
{
    uint32_t l1 = a->t1.count + a->b1.count, all = l1 + a->t2.count + a->b2.count;

    if (l1 == a->c) {
        if (a->t1.count < a->c) {
            out(&a->b1, a->b1.page[0]);
            replace(a, x);
        } else {
            out(&a->t1, a->t1.page[0]);
        }
    } else if (all >= a->c) {
        if (all == 2 * a->c)
            out(&a->b2, a->b2.page[0]);
        replace(a, x);
    }
    last(&a->t1, x);
}

static bool arc(struct paper *a, uint32_t x)
{
    bool hit = in(&a->t1, x) || in(&a->t2, x);

    if (!hit && !in(&a->b1, x) && !in(&a->b2, x)) {
        arc_new(a, x);
        return false;
    }
    if (!hit) {
        if (in(&a->b1, x))
            a->p += ratio(a->b2.count, a->b1.count);
        else
            a->p -= ratio(a->b1.count, a->b2.count);
        a->p = a->p < 0 ? 0 : a->p > a->c ? a->c : a->p;
        replace(a, x);
    }
    out(&a->t1, x);
    out(&a->b1, x);
    out(&a->b2, x);
    last(&a->t2, x);
    return hit;
}

/* LIRS: section 3 of the paper. An access to the page that was accessed last is left out, as in the
 * authors' program. */

static uint32_t hirs(uint32_t c)
{
    return MAX(c / 100, c > 2 ? 2u : 1u);
}

static void prune(struct paper *l)
{
    while (l->s.count && !l->lir[l->s.page[0]])
        out(&l->s, l->s.page[0]);
}

static void bottom_to_queue(struct paper *l)
{
    uint32_t page = l->s.page[0];

    l->lir[page] = false;
    out(&l->s, page);
    last(&l->q, page);
    prune(l);
}

static bool lirs(struct paper *l, uint32_t x)
{
    bool hit = l->lir[x] || in(&l->q, x), in_s = in(&l->s, x);
    uint32_t wanted = l->c - hirs(l->c);

    if (l->previous == x + 1)
        return true;
    l->previous = x + 1;
    if (l->lir[x]) {
        last(&l->s, x);
        prune(l);
        return true;
    }
    if (!hit && l->lirs + l->q.count == l->c)
        out(&l->q, l->q.page[0]);
    last(&l->s, x);
    if (l->lirs < wanted) {
        l->lir[x] = true;
        l->lirs++;
    } else if (in_s) {
        out(&l->q, x);
        l->lir[x] = true;
        bottom_to_queue(l);
    } else {
        last(&l->q, x);
    }
    prune(l);
    return hit;
}

static void compare_on(const struct replace_ops *ops, bool (*hit)(struct paper *, uint32_t),
                       enum trace_kind kind, uint32_t pages, uint32_t frames, size_t length,
                       uint64_t seed)
{
    static struct paper paper;
    struct trace t = trace_make(kind, pages, length, seed);
    struct replace_config config = {.nodes = pages, .frames = frames};
    struct simulation s;

    paper = (struct paper){.c = frames};
    assert_int_equal(simulation_start(&s, ops, &config, 0), 0);
    for (size_t i = 0; i < t.length; i++) {
        uint64_t before = s.misses;
        simulation_access(&s, t.page[i]);
        if ((s.misses == before) != hit(&paper, t.page[i]))
            fail_msg("%s, %s, %u frames: access %zu differs", ops->name, trace_names[kind], frames,
                     i);
        if (pages == PAGES)
            assert_null(ops->check(s.state));
    }
    simulation_end(&s);
    trace_free(&t);
}

static void compare(const struct replace_ops *ops, bool (*hit)(struct paper *, uint32_t))
{
    for (uint64_t seed = 0; seed < 100; seed++)
        compare_on(ops, hit, seed % TRACE_KINDS, PAGES, 1 + (uint32_t)(seed * 7 % (PAGES - 1)),
                   3000, seed);
}

static void mru_hits_as_a_list_that_evicts_its_latest(void **state)
{
    (void)state;
    compare(&replace_mru, mru);
}

static void arc_hits_exactly_where_its_paper_says(void **state)
{
    (void)state;
    compare(&replace_arc, arc);
}

static void lirs_hits_exactly_where_its_paper_says(void **state)
{
    (void)state;
    compare(&replace_lirs, lirs);
}

/* Pages used once get a hundredth of memory, at larger sizes, too. */
static void lirs_has_the_papers_part_for_pages_used_once(void **state)
{
    const enum trace_kind kinds[] = {TRACE_STENCIL, TRACE_DRIFT, TRACE_PHASES};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
        compare_on(&replace_lirs, lirs, kinds[i], PAGES_MANY, 100 + 250 * i, 4 * PAGES_MANY, i);
}

/* ---- Traces that suit them ------------------------------------------------------------------- */

static void mru_is_the_optimum_on_a_loop(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LOOP, 400, 40000, 1);
    struct access_trace seen = {.page = t.page, .length = t.length, .pages = t.pages};
    uint64_t least;

    for (uint32_t frames = 20; frames < 400; frames += 60) {
        assert_int_equal(belady(&seen, frames, &least), 0);
        assert_int_equal(misses(&replace_mru, &t, frames), least);
    }
    trace_free(&t);
}

static void lirs_keeps_all_but_its_queue_of_a_loop(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_LOOP, 1000, 100000, 1);

    for (uint32_t frames = 100; frames < 1000; frames += 200) {
        uint64_t least = 100000ull * (1000 - frames) / 1000;
        assert_in_range(misses(&replace_lirs, &t, frames), least,
                        least + 100000 * frames / 100 / 1000 + 2000);
    }
    trace_free(&t);
}

static void a_scan_costs_arc_and_lirs_less_than_lru(void **state)
{
    (void)state;
    struct trace t = trace_make(TRACE_SCAN_ZIPF, 4000, 200000, 1);
    uint64_t of_lru = misses(&replace_lru, &t, 1000);

    assert_true(misses(&replace_arc, &t, 1000) + 20000 < of_lru);
    assert_true(misses(&replace_lirs, &t, 1000) + 20000 < of_lru);
    trace_free(&t);
}

/* ---- Prefetched pages ------------------------------------------------------------------------ */

static void start(const struct replace_ops *ops, uint64_t *memory, uint32_t nodes, uint32_t frames)
{
    struct replace_config config = {.nodes = nodes, .frames = frames};

    assert_true(ops->bytes(nodes) <= (1 << 15) * sizeof *memory);
    memset(memory, 0, ops->bytes(nodes));
    assert_int_equal(ops->init(memory, &config), 0);
}

static void evict(const struct replace_ops *ops, uint64_t *memory, uint32_t incoming)
{
    uint32_t victim = ops->victim(memory, incoming);

    assert_int_not_equal(victim, REPLACE_NONE);
    ops->leave(memory, victim);
}

/* Of 100 frames 10 hold prefetched pages that are not used. After 50 faults at least half of these
 * are resident, after 400 none. */
static void an_unused_prefetched_page_stays_for_a_while(void **state)
{
    (void)state;
    static uint64_t memory[1 << 15];

    for (const struct replace_ops *const *p = replace_policies; *p; p++) {
        uint32_t left = 0;
        start(*p, memory, 600, 100);
        for (uint32_t n = 0; n < 90; n++)
            (*p)->enter(memory, n, 0);
        for (uint32_t n = 90; n < 100; n++)
            (*p)->enter_unused(memory, n, 0);
        for (uint32_t n = 100; n < 500; n++) {
            if (n == 150)
                for (uint32_t i = 90; i < 100; i++)
                    left += (*p)->resident(memory, i);
            evict(*p, memory, n);
            (*p)->enter(memory, n, 0);
        }
        assert_true(left >= 5);
        for (uint32_t i = 90; i < 100; i++)
            assert_false((*p)->resident(memory, i));
    }
}

/* LIRS: a page is evicted but still in S, and prefetched. Its first use promotes it as a fault
 * would. */
static void the_first_use_of_a_prefetched_page_counts_as_a_fault(void **state)
{
    (void)state;
    static uint64_t fault[8000], ahead[8000];
    struct replace_report a, b;

    start(&replace_lirs, fault, 20, 5);
    start(&replace_lirs, ahead, 20, 5);
    for (uint32_t n = 0; n < 8; n++)
        for (unsigned i = 0; i < 2; i++) {
            uint64_t *memory = i ? ahead : fault;
            if (n >= 5)
                evict(&replace_lirs, memory, n);
            replace_lirs.enter(memory, n, 0);
        }
    assert_false(replace_lirs.resident(fault, 4));
    evict(&replace_lirs, fault, 4);
    replace_lirs.enter(fault, 4, 0);
    evict(&replace_lirs, ahead, 4);
    replace_lirs.enter_unused(ahead, 4, 0);
    replace_lirs.touch(ahead, 4);
    for (uint32_t n = 10; n < 15; n++) {
        evict(&replace_lirs, fault, n);
        evict(&replace_lirs, ahead, n);
        replace_lirs.enter(fault, n, 0);
        replace_lirs.enter(ahead, n, 0);
    }
    replace_lirs.report(fault, &a);
    replace_lirs.report(ahead, &b);
    assert_true(replace_lirs.resident(fault, 4) && replace_lirs.resident(ahead, 4));
    assert_int_equal(a.history, b.history);
}

/* ---- Pages in the page access buffer --------------------------------------------------------- */

/* The 20 pages used last are in the buffer. MRU evicts the latest other page, and does not name all
 * of the 20 each time. */
static void mru_names_few_buffered_pages_for_an_eviction(void **state)
{
    (void)state;
    static uint64_t memory[1 << 15];
    uint32_t asked = 0;

    start(&replace_mru, memory, 1000, 200);
    for (uint32_t n = 0; n < 1000; n++) {
        for (uint32_t node; n >= 200 && (node = replace_mru.victim(memory, n)) != REPLACE_NONE;) {
            asked++;
            if (node + 20 < n) {
                replace_mru.leave(memory, node);
                break;
            }
            replace_mru.touch(memory, node);
        }
        replace_mru.enter(memory, n, 0);
        assert_null(replace_mru.check(memory));
    }
    assert_true(asked < 3 * 800);
    for (uint32_t n = 0; n < 170; n++)
        assert_true(replace_mru.resident(memory, n));
}

/* A loop of 300 pages in 200 frames. Each page is found in use the first time that it is named as a
 * victim, and another victim is asked for. */
static void a_touch_of_a_victim_does_not_count_as_a_second_use(void **state)
{
    static const struct replace_ops *const all[] = {&replace_lirs, &replace_gap, &replace_chooser};
    static uint64_t memory[1 << 15];

    (void)state;
    for (const struct replace_ops *const *p = all; p < all + ARRAY_SIZE(all); p++) {
        static bool left_alone[300];
        uint32_t missed = 0;
        start(*p, memory, 300, 200);
        for (uint32_t i = 0; i < 20 * 300; i++) {
            uint32_t n = i % 300, node;
            if ((*p)->resident(memory, n)) {
                (*p)->touch(memory, n);
                continue;
            }
            missed++;
            while (i >= 200 && !left_alone[node = (*p)->victim(memory, n)]) {
                left_alone[node] = true;
                (*p)->touch(memory, node);
                assert_null((*p)->check(memory));
            }
            if (i >= 200)
                (*p)->leave(memory, node);
            (*p)->enter(memory, n, 0);
            left_alone[n] = false;
        }
        if (missed > 300 + 19 * 150) /* the optimum: 100 a round; LRU: 300 */
            fail_msg("%s: %u misses", (*p)->name, missed);
    }
}

/* The page stays in T1: it is named again after the others. In T2 it would stay longer, as p is 0
 * and pages of T1 are evicted first. */
static void arc_keeps_a_page_in_use_in_t1(void **state)
{
    static uint64_t memory[1000];

    (void)state;
    start(&replace_arc, memory, 40, 10);
    for (uint32_t n = 0; n < 10; n++)
        replace_arc.enter(memory, n, 0);
    assert_int_equal(replace_arc.victim(memory, 10), 0);
    replace_arc.touch(memory, 0);
    for (uint32_t n = 10; n < 19; n++) {
        evict(&replace_arc, memory, n);
        replace_arc.enter(memory, n, 0);
    }
    assert_int_equal(replace_arc.victim(memory, 19), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mru_hits_as_a_list_that_evicts_its_latest),
        cmocka_unit_test(arc_hits_exactly_where_its_paper_says),
        cmocka_unit_test(lirs_hits_exactly_where_its_paper_says),
        cmocka_unit_test(lirs_has_the_papers_part_for_pages_used_once),
        cmocka_unit_test(mru_is_the_optimum_on_a_loop),
        cmocka_unit_test(lirs_keeps_all_but_its_queue_of_a_loop),
        cmocka_unit_test(a_scan_costs_arc_and_lirs_less_than_lru),
        cmocka_unit_test(an_unused_prefetched_page_stays_for_a_while),
        cmocka_unit_test(the_first_use_of_a_prefetched_page_counts_as_a_fault),
        cmocka_unit_test(mru_names_few_buffered_pages_for_an_eviction),
        cmocka_unit_test(a_touch_of_a_victim_does_not_count_as_a_second_use),
        cmocka_unit_test(arc_keeps_a_page_in_use_in_t1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
