/* See unseen.h. */
#include <stdbool.h>
#include <stdlib.h>
#include "kernel/lib/base.h"
#include "test/host/double/random.h"
#include "test/host/double/unseen.h"

struct making {
    struct trace t;
    size_t at;
    uint64_t random;
};

static bool full(const struct making *m)
{
    return m->at == m->t.length;
}

/* Nothing once it is full. */
static void use(struct making *m, uint32_t page)
{
    if (!full(m))
        m->t.page[m->at++] = page;
}

static uint32_t draw(struct making *m, uint32_t n)
{
    return (uint32_t)(test_random(&m->random) % n);
}

/* Of the pages from .. to - 1. */
static void forward(struct making *m, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        use(m, i);
}

static void backward(struct making *m, uint32_t from, uint32_t to)
{
    for (uint32_t i = to; i-- > from;)
        use(m, i);
}

static void hot_scan(struct making *m)
{
    uint32_t hot = m->t.pages / 10;

    for (uint32_t at = 0; !full(m); at += 2) {
        for (unsigned i = 0; i < 3; i++)
            use(m, draw(m, hot));
        for (unsigned i = 0; i < 2; i++)
            use(m, hot + (at + i) % (m->t.pages - hot));
    }
}

static void zipf_drift(struct making *m)
{
    struct zipf z = zipf_make(m->t.pages, 1.0);
    uint32_t *place = trace_shuffled(m->t.pages, &m->random);

    for (size_t i = 0; !full(m); i++)
        use(m, place[(zipf_draw(&z, &m->random) + i / 40) % m->t.pages]);
    free(place);
    zipf_free(&z);
}

static void two_loops(struct making *m)
{
    uint32_t pages = m->t.pages;

    while (!full(m)) {
        for (unsigned round = 0; round < 4; round++)
            forward(m, 0, pages * 6 / 10);
        for (unsigned round = 0; round < 4; round++)
            forward(m, pages * 4 / 10, pages);
    }
}

static void sweeps_until(struct making *m, size_t end)
{
    for (unsigned round = 0; m->at < end; round++)
        (round % 2 ? backward : forward)(m, 0, m->t.pages);
}

static void loops_until(struct making *m, size_t end)
{
    while (m->at < end)
        forward(m, 0, m->t.pages);
}

static void sweep_loop(struct making *m)
{
    sweeps_until(m, m->t.length / 2);
    loops_until(m, m->t.length);
}

static void loop_sweep(struct making *m)
{
    loops_until(m, m->t.length / 2);
    sweeps_until(m, m->t.length);
}

static void matmul(struct making *m)
{
    uint32_t each = m->t.pages / 3, side = 1;

    while ((side + 1) * (side + 1) <= each)
        side++;
    for (uint32_t ij = 0; !full(m); ij = (ij + 1) % (side * side)) {
        for (uint32_t k = 0; k < side; k++) {
            use(m, ij / side * side + k);
            use(m, each + k * side + ij % side);
        }
        use(m, 2 * each + ij);
    }
}

static void nested(struct making *m)
{
    uint32_t inner = m->t.pages / 3, some = m->t.pages / 20;

    while (!full(m))
        for (uint32_t at = inner; at + some <= m->t.pages; at += some) {
            forward(m, at, at + some);
            forward(m, 0, inner);
        }
}

static void rows(struct making *m)
{
    uint32_t half = m->t.pages / 2, row = half / 16;

    for (uint32_t from = 0; !full(m); from = half - from)
        for (uint32_t i = row; i + row < half; i++) {
            use(m, from + i - row);
            use(m, from + i);
            use(m, from + i + row);
            use(m, half - from + i);
        }
}

static void tree(struct making *m)
{
    enum { FANOUT = 40, SCANS = 30 };
    uint32_t inner = m->t.pages / FANOUT + 1, leaves = m->t.pages - inner - 1;
    struct zipf z = zipf_make(leaves, 0.7);
    uint32_t *place = trace_shuffled(leaves, &m->random);

    while (!full(m)) {
        uint32_t leaf = place[zipf_draw(&z, &m->random)];
        use(m, 0);
        use(m, 1 + (uint32_t)((uint64_t)leaf * inner / leaves));
        for (uint32_t k = 0, n = draw(m, SCANS) ? 1 : FANOUT; k < n; k++)
            use(m, 1 + inner + (leaf + k) % leaves);
    }
    free(place);
    zipf_free(&z);
}

/* A call or a return, and one in fifty times many in a row. */
static void stack(struct making *m)
{
    uint32_t depth = 0, last = m->t.pages - 1;

    while (!full(m)) {
        bool down = draw(m, 2);
        uint32_t calls = draw(m, 50) ? 1 : 1 + draw(m, m->t.pages / 3);
        for (uint32_t i = 0; i < calls; i++) {
            depth = down ? MIN(depth + 1, last) : depth - MIN(depth, 1u);
            use(m, depth);
        }
    }
}

static void sort(struct making *m, uint32_t from, uint32_t to)
{
    if (full(m) || to - from < 2)
        return;
    for (uint32_t low = from, high = to - 1; low < high; low++, high--) {
        use(m, low);
        use(m, high);
    }
    uint32_t middle = from + (to - from) * (30 + draw(m, 40)) / 100;
    sort(m, from, middle);
    sort(m, middle, to);
}

static void quicksort(struct making *m)
{
    while (!full(m))
        sort(m, 0, m->t.pages);
}

static void ring(struct making *m)
{
    uint32_t written = m->t.pages * 6 / 10, index = m->t.pages - written;
    struct zipf z = zipf_make(index, 1.0);

    for (size_t i = 0; !full(m); i++) {
        use(m, (uint32_t)(i % written));
        use(m, written + zipf_draw(&z, &m->random));
    }
    zipf_free(&z);
}

static void collector(struct making *m)
{
    uint32_t nursery = m->t.pages / 5, old = m->t.pages - nursery;

    for (size_t made = 0; !full(m);) {
        for (uint32_t i = 0; i < 2 * m->t.pages; i++)
            use(m, i % 3 ? (uint32_t)(made++ % nursery) : nursery + draw(m, old / 3));
        forward(m, nursery, m->t.pages);
    }
}

static void report(struct making *m)
{
    struct zipf z = zipf_make(m->t.pages, 0.9);
    uint32_t *place = trace_shuffled(m->t.pages, &m->random), quarter = m->t.pages / 4;

    while (!full(m)) {
        for (uint32_t i = 0; i < 2 * m->t.pages; i++)
            use(m, place[zipf_draw(&z, &m->random)]);
        for (unsigned scan = 0; scan < 2; scan++)
            forward(m, quarter, 3 * quarter);
    }
    free(place);
    zipf_free(&z);
}

static void working_sets(struct making *m)
{
    uint32_t wide = m->t.pages / 4;

    while (!full(m)) {
        uint32_t first = draw(m, m->t.pages - wide);
        for (uint32_t i = 0; i < m->t.pages; i++)
            use(m, first + draw(m, wide));
    }
}

static void columns(struct making *m)
{
    enum { ROWS = 24, TIMES = 4 };
    uint32_t wide = m->t.pages / ROWS;

    for (uint32_t column = 0; !full(m); column = (column + 1) % wide)
        for (uint32_t i = 0; i < TIMES * ROWS; i++)
            use(m, i % ROWS * wide + column);
}

static void queries(struct making *m)
{
    while (!full(m)) {
        uint32_t first = draw(m, m->t.pages), n = m->t.pages / 20 + draw(m, m->t.pages / 3);
        for (uint32_t i = 0; i < n; i++)
            use(m, (first + i) % m->t.pages);
    }
}

static const struct {
    const char *name;
    void (*make)(struct making *m);
} shapes[] = {
    [UNSEEN_HOT_SCAN] = {"hot_scan", hot_scan},
    [UNSEEN_ZIPF_DRIFT] = {"zipf_drift", zipf_drift},
    [UNSEEN_TWO_LOOPS] = {"two_loops", two_loops},
    [UNSEEN_SWEEP_LOOP] = {"sweep_loop", sweep_loop},
    [UNSEEN_LOOP_SWEEP] = {"loop_sweep", loop_sweep},
    [UNSEEN_MATMUL] = {"matmul", matmul},
    [UNSEEN_NESTED] = {"nested", nested},
    [UNSEEN_ROWS] = {"rows", rows},
    [UNSEEN_TREE] = {"tree", tree},
    [UNSEEN_STACK] = {"stack", stack},
    [UNSEEN_QUICKSORT] = {"quicksort", quicksort},
    [UNSEEN_RING] = {"ring", ring},
    [UNSEEN_COLLECTOR] = {"collector", collector},
    [UNSEEN_REPORT] = {"report", report},
    [UNSEEN_WORKING_SETS] = {"working_sets", working_sets},
    [UNSEEN_COLUMNS] = {"columns", columns},
    [UNSEEN_QUERIES] = {"queries", queries},
};
_Static_assert(ARRAY_SIZE(shapes) == UNSEEN_KINDS, "a shape for each kind");

const char *unseen_name(enum unseen_kind kind)
{
    return shapes[kind].name;
}

struct trace unseen_make(enum unseen_kind kind, uint32_t pages, size_t length, uint64_t seed)
{
    struct making m = {.t = trace_room(pages, length),
                       .random = (seed + 1) * 0x9e3779b97f4a7c15 | 1};

    shapes[kind].make(&m);
    return m.t;
}
