/* Page traces for host tests and benches. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "test/host/double/random.h"
#include "test/host/double/traces.h"

const char *const trace_names[] = {"loop",    "zipf",  "uniform", "scan_zipf",  "scan_burst",
                                   "phases",  "drift", "zigzag",  "back_forth", "lu",
                                   "stencil", "again", "join",    NULL};

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) {
        fprintf(stderr, "traces: no memory for %zu x %zu bytes\n", n, size);
        exit(1);
    }
    return p;
}

static uint64_t seeded(uint64_t seed)
{
    return (seed + 1) * 0x9e3779b97f4a7c15 | 1;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

struct zipf zipf_make(uint32_t n, double alpha)
{
    struct zipf z = {.n = n, .sum = room(n, sizeof *z.sum)};
    double sum = 0;

    for (uint32_t k = 0; k < n; k++)
        z.sum[k] = sum += pow(k + 1, -alpha);
    return z;
}

uint32_t zipf_draw(const struct zipf *z, uint64_t *random)
{
    double x = (double)(test_random(random) >> 11) / 0x1p53 * z->sum[z->n - 1];
    uint32_t low = 0, high = z->n - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (z->sum[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void zipf_free(struct zipf *z)
{
    free(z->sum);
    z->sum = NULL;
}

uint32_t *trace_shuffled(uint32_t n, uint64_t *random)
{
    uint32_t *p = room(n, sizeof *p);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)(test_random(random) % (i + 1));
        p[i] = p[j];
        p[j] = i;
    }
    return p;
}

/* ---- Shapes: each fills part of a trace with pages first .. first + n - 1 ---- */

static void loop(uint32_t *out, size_t length, uint32_t first, uint32_t n)
{
    for (size_t i = 0; i < length; i++)
        out[i] = first + (uint32_t)(i % n);
}

static void zigzag(uint32_t *out, size_t length, uint32_t first, uint32_t n)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t at = (uint32_t)(i % (2 * n));
        out[i] = first + (at < n ? at : 2 * n - 1 - at);
    }
}

static void zipf(uint32_t *out, size_t length, uint32_t first, uint32_t n, uint64_t *random)
{
    struct zipf z = zipf_make(n, 0.9);
    uint32_t *place = trace_shuffled(n, random);

    for (size_t i = 0; i < length; i++)
        out[i] = first + place[zipf_draw(&z, random)];
    free(place);
    zipf_free(&z);
}

static void scan_zipf(struct trace *t, uint64_t *random)
{
    uint32_t often = t->pages / 4, at = 0;
    uint32_t *drawn = room(t->length, sizeof *drawn);

    zipf(drawn, t->length, 0, often, random);
    for (size_t i = 0; i < t->length; i++)
        t->page[i] = i % 2 ? drawn[i] : often + at++ % (t->pages - often);
    free(drawn);
}

/* A scan of everything after four times as many draws. */
static void scan_burst(struct trace *t, uint64_t *random)
{
    zipf(t->page, t->length, 0, t->pages, random);
    for (size_t i = 0; i < t->length; i++) {
        size_t at = i % ((size_t)5 * t->pages);
        if (at >= (size_t)4 * t->pages)
            t->page[i] = (uint32_t)(at - (size_t)4 * t->pages);
    }
}

static void phases(struct trace *t, uint64_t *random)
{
    size_t quarter = t->length / 4;
    uint32_t third = t->pages / 3;

    zipf(t->page, quarter, 0, third, random);
    loop(t->page + quarter, quarter, 0, t->pages);
    zipf(t->page + 2 * quarter, quarter, third, third, random);
    zigzag(t->page + 3 * quarter, t->length - 3 * quarter, 0, t->pages);
}

/* Twice through the pages; the distance to the point is the sum of two draws within an eighth. */
static void drift(struct trace *t, uint64_t *random)
{
    uint32_t wide = t->pages / 8;

    for (size_t i = 0; i < t->length; i++) {
        uint64_t point = (uint64_t)((double)i / (double)t->length * 2 * t->pages);
        t->page[i] = (uint32_t)((point + test_random(random) % wide + test_random(random) % wide) %
                                t->pages);
    }
}

static void back_forth(struct trace *t)
{
    uint32_t wide = t->pages / 8;

    for (size_t i = 0; i < t->length; i++) {
        size_t window = i / ((size_t)2 * wide) % 8;
        uint32_t at = (uint32_t)(i % ((size_t)2 * wide));
        t->page[i] = (uint32_t)(window * wide) + (at < wide ? at : 2 * wide - 1 - at);
    }
}

struct filling {
    struct trace *t;
    size_t at;
    uint32_t side;
};

/* Both pages of a block. False: the trace is full. */
static int block(struct filling *f, uint32_t row, uint32_t column)
{
    uint32_t first = (row * f->side + column) * 2;

    for (uint32_t i = 0; i < 2; i++) {
        if (f->at == f->t->length)
            return 0;
        f->t->page[f->at++] = first + i;
    }
    return 1;
}

/* One factorisation; the trace begins another when there is room for it. [Woo 1995] */
static int factor(struct filling *f)
{
    for (uint32_t k = 0; k < f->side; k++) {
        if (!block(f, k, k))
            return 0;
        for (uint32_t i = k + 1; i < f->side; i++)
            if (!block(f, k, k) || !block(f, i, k) || !block(f, k, k) || !block(f, k, i))
                return 0;
        for (uint32_t i = k + 1; i < f->side; i++)
            for (uint32_t j = k + 1; j < f->side; j++)
                if (!block(f, i, k) || !block(f, k, j) || !block(f, i, j))
                    return 0;
    }
    return 1;
}

static void lu(struct trace *t)
{
    struct filling f = {.t = t, .side = (uint32_t)sqrt(t->pages / 2)};

    while (factor(&f))
        ;
}

static void stencil(struct trace *t)
{
    uint32_t half = t->pages / 2;

    for (size_t i = 0; i < t->length; i++) {
        size_t step = i / 3, pass = step / half, at = step % half;
        uint32_t from = pass % 2 ? half : 0;
        t->page[i] = (uint32_t)(i % 3 == 0   ? from + (at ? at - 1 : at)
                                : i % 3 == 1 ? from + at
                                             : half - from + at);
    }
}

static void again(struct trace *t, uint64_t *random)
{
    zipf(t->page, t->length, 0, t->pages, random);
    for (size_t i = 7; i < t->length; i += 2)
        t->page[i] = t->page[i - 7];
}

/* A hash join: what is read in order is looked up in a table that many threads use. */
static void join(struct trace *t, uint64_t *random)
{
    uint32_t half = t->pages / 2, turn = t->pages / 4;
    size_t reads = 0;

    for (size_t i = 0; i < t->length; i++) {
        bool reading = i / turn % 3 < 2 && i % 2 == 0;
        t->page[i] = (uint32_t)(reading ? half + reads++ % half : test_random(random) % half);
    }
}

struct trace trace_room(uint32_t pages, size_t length)
{
    return (struct trace){.pages = pages, .length = length, .page = room(length, sizeof(uint32_t))};
}

struct trace trace_make(enum trace_kind kind, uint32_t pages, size_t length, uint64_t seed)
{
    struct trace t = trace_room(pages, length);
    uint64_t random = seeded(seed);

    switch (kind) {
    case TRACE_LOOP:
        loop(t.page, length, 0, pages);
        break;
    case TRACE_ZIPF:
        zipf(t.page, length, 0, pages, &random);
        break;
    case TRACE_UNIFORM:
        for (size_t i = 0; i < length; i++)
            t.page[i] = (uint32_t)(test_random(&random) % pages);
        break;
    case TRACE_SCAN_ZIPF:
        scan_zipf(&t, &random);
        break;
    case TRACE_SCAN_BURST:
        scan_burst(&t, &random);
        break;
    case TRACE_PHASES:
        phases(&t, &random);
        break;
    case TRACE_DRIFT:
        drift(&t, &random);
        break;
    case TRACE_ZIGZAG:
        zigzag(t.page, length, 0, pages);
        break;
    case TRACE_BACK_FORTH:
        back_forth(&t);
        break;
    case TRACE_LU:
        lu(&t);
        break;
    case TRACE_STENCIL:
        stencil(&t);
        break;
    case TRACE_AGAIN:
        again(&t, &random);
        break;
    case TRACE_JOIN:
        join(&t, &random);
        break;
    case TRACE_KINDS:
        break;
    }
    return t;
}

struct trace trace_turns(const struct trace_part *part, unsigned parts, size_t phase,
                         uint32_t pages, size_t length, uint64_t seed)
{
    struct trace t = trace_room(pages, length), made[TRACE_PARTS_MAX];
    size_t at[TRACE_PARTS_MAX] = {0};
    uint64_t random = seeded(seed);

    for (unsigned p = 0; p < parts; p++)
        made[p] = trace_make(part[p].kind, part[p].pages, length, seed + p);
    for (size_t i = 0; i < length; i++) {
        unsigned p = (unsigned)((phase ? i / phase : test_random(&random)) % parts);
        t.page[i] = part[p].first + made[p].page[at[p]++];
    }
    for (unsigned p = 0; p < parts; p++)
        trace_free(&made[p]);
    return t;
}

struct trace trace_again(const struct trace *t, unsigned window, uint64_t seed)
{
    struct trace a = trace_room(t->pages, 2 * t->length);

    for (size_t i = 0; i < t->length; i++) {
        size_t among = i + 1 < window ? i + 1 : window;
        a.page[2 * i] = t->page[i];
        a.page[2 * i + 1] = t->page[i - test_random(&seed) % among];
    }
    return a;
}

unsigned trace_region(const struct trace *t, uint32_t page)
{
    unsigned i = 0;

    while (i < TRACE_REGIONS_MAX && t->region[i] && t->region[i] <= page)
        i++;
    return i;
}

void trace_free(struct trace *t)
{
    free(t->page);
    t->page = NULL;
}
