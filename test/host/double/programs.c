/* The pages that programs use. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/lib/base.h"
#include "test/host/double/programs.h"
#include "test/host/double/random.h"

enum { BLOCK = 16, PAGE_DOUBLES = 512, EDGES = 4, FILTER_MAX = 256 };

const char *const program_names[] = {
    "lu",       "stream",  "loop",       "stencil", "list",      "walk",   "random",  "strided",
    "backward", "streams", "transposed", "btree",   "hash_join", "sparse", "extents", NULL};

/* Where accesses go: through the filter, which forgets the page not used for longest, into a
 * trace. */
struct log {
    struct trace trace;
    size_t room;
    unsigned filter;
    uint32_t held[FILTER_MAX]; /* [0]: used last */
};

static bool held(struct log *l, uint32_t page)
{
    unsigned i = 0;

    while (i < l->filter && l->held[i] != page)
        i++;
    bool found = i < l->filter;
    if (!l->filter)
        return false;
    memmove(&l->held[1], &l->held[0], (found ? i : l->filter - 1) * sizeof l->held[0]);
    l->held[0] = page;
    return found;
}

static void use(struct log *l, uint32_t page)
{
    if (held(l, page))
        return;
    if (l->trace.length == l->room) {
        l->room = l->room ? l->room * 2 : 1 << 16;
        l->trace.page = realloc(l->trace.page, l->room * sizeof *l->trace.page);
        if (!l->trace.page)
            abort();
    }
    l->trace.page[l->trace.length++] = page;
}

/* Column c of block (i, j): BLOCK doubles of one column of the matrix, which are in one page. */
static uint32_t column(uint32_t side, uint32_t i, uint32_t j, uint32_t c)
{
    return (uint32_t)((((uint64_t)j * BLOCK + c) * side + (uint64_t)i * BLOCK) / PAGE_DOUBLES);
}

static void use_block(struct log *l, uint32_t side, uint32_t i, uint32_t j)
{
    for (uint32_t c = 0; c < BLOCK; c++)
        use(l, column(side, i, j, c));
}

/* C(i, j) -= A(i, k) B(k, j): for a column of A, all of B's and C's; then the filter has them. */
static void multiply(struct log *l, uint32_t side, uint32_t i, uint32_t j, uint32_t k)
{
    use(l, column(side, i, k, 0));
    for (uint32_t c = 0; c < BLOCK; c++) {
        use(l, column(side, k, j, c));
        use(l, column(side, i, j, c));
    }
    for (uint32_t c = 1; c < BLOCK; c++)
        use(l, column(side, i, k, c));
}

static void lu(struct log *l, uint32_t side)
{
    uint32_t blocks = side / BLOCK;

    for (uint32_t k = 0; k < blocks; k++) {
        use_block(l, side, k, k);
        for (uint32_t i = k + 1; i < blocks; i++) {
            use_block(l, side, k, k);
            use_block(l, side, i, k);
        }
        for (uint32_t j = k + 1; j < blocks; j++) {
            use_block(l, side, k, k);
            use_block(l, side, k, j);
        }
        for (uint32_t i = k + 1; i < blocks; i++) {
            for (uint32_t j = k + 1; j < blocks; j++)
                multiply(l, side, i, j, k);
        }
    }
}

static void stream(struct log *l, const struct program *p)
{
    uint32_t array = p->pages / 3;

    for (size_t i = 0; i < p->length; i++)
        use(l, (uint32_t)(i % 3 * array + i / 3 % array));
}

static void loop(struct log *l, const struct program *p)
{
    for (size_t i = 0; i < p->length; i++)
        use(l, (uint32_t)(i % p->pages));
}

/* Rows of four pages; a point's value comes from the rows above and below. */
static void stencil(struct log *l, const struct program *p)
{
    enum { ROW = 4 };
    uint32_t rows = p->pages / 2 / ROW, from = 0, to = rows * ROW;

    for (size_t i = 0; i < p->length; i += 4) {
        uint32_t at = (uint32_t)(i / 4 % ((rows - 2) * ROW)) + ROW;
        use(l, from + at - ROW);
        use(l, from + at);
        use(l, from + at + ROW);
        use(l, to + at);
        if (at == (rows - 1) * ROW - 1)
            from = rows * ROW - from, to = rows * ROW - to;
    }
}

static void list(struct log *l, const struct program *p, uint64_t *seed)
{
    uint32_t *order = trace_shuffled(p->pages, seed);

    for (size_t i = 0; i < p->length; i++)
        use(l, order[i % p->pages]);
    free(order);
}

static void random_walk(struct log *l, const struct program *p, uint64_t *seed)
{
    uint32_t *edge = malloc(p->pages * EDGES * sizeof *edge), at = 0;

    if (!edge)
        abort();
    for (uint32_t i = 0; i < p->pages * EDGES; i++)
        edge[i] = (uint32_t)(test_random(seed) % p->pages);
    for (size_t i = 0; i < p->length; i++) {
        use(l, at);
        /* Now and then elsewhere, so that no part is left for good. */
        at = i % 64 ? edge[at * EDGES + test_random(seed) % EDGES]
                    : (uint32_t)(test_random(seed) % p->pages);
    }
    free(edge);
}

static void anywhere(struct log *l, const struct program *p, uint64_t *seed)
{
    for (size_t i = 0; i < p->length; i++)
        use(l, (uint32_t)(test_random(seed) % p->pages));
}

static void strided(struct log *l, const struct program *p)
{
    enum { STRIDE = 7 };
    uint32_t each = p->pages / STRIDE;

    for (size_t i = 0; i < p->length; i++)
        use(l, (uint32_t)(i % each * STRIDE + i / each % STRIDE));
}

static void backward(struct log *l, const struct program *p)
{
    for (size_t i = 0; i < p->length; i++)
        use(l, p->pages - 1 - (uint32_t)(i % p->pages));
}

static void streams(struct log *l, const struct program *p, uint64_t *seed)
{
    enum { READERS = 8 };
    uint32_t part = p->pages / READERS, at[READERS] = {0};

    for (size_t i = 0; i < p->length; i++) {
        uint64_t reader = test_random(seed) % READERS;
        use(l, (uint32_t)reader * part + at[reader]++ % part);
    }
}

/* Eight columns are in a page. */
static void transposed(struct log *l, const struct program *p)
{
    enum { ROW = 16, COLUMNS = 8 };
    uint32_t half = p->pages / 2, rows = half / ROW;

    l->trace.region[0] = half;
    for (size_t i = 0; i < p->length; i++) {
        size_t column = i / rows % ((size_t)ROW * COLUMNS);
        use(l, (uint32_t)(i % rows * ROW + column / COLUMNS));
        use(l, half + (uint32_t)(i / COLUMNS % half));
    }
}

/* The inner pages are in a region of their own. From 10 to 60 leaves are scanned. */
static void btree(struct log *l, const struct program *p, uint64_t *seed)
{
    uint32_t inner = p->pages / 64, leaves = p->pages - inner,
             *order = trace_shuffled(leaves, seed);
    uint32_t *popular = trace_shuffled(leaves, seed);
    struct zipf keys = zipf_make(leaves, 0.9);

    l->trace.region[0] = inner;
    for (size_t i = 0; i < p->length;) {
        uint32_t leaf = popular[zipf_draw(&keys, seed)];
        uint32_t scanned = test_random(seed) % 10 < 3 ? 10 + (uint32_t)(test_random(seed) % 51) : 1;
        use(l, 0);
        use(l, leaf % inner);
        for (uint32_t end = MIN(leaf + scanned, leaves); leaf < end; leaf++, i++)
            use(l, inner + order[leaf]);
    }
    zipf_free(&keys);
    free(popular);
    free(order);
}

static void hash_join(struct log *l, const struct program *p, uint64_t *seed)
{
    enum { PROBES = 3 };
    uint32_t table = p->pages / 3, built = p->pages / 4, probed = p->pages - table - built;

    l->trace.region[0] = built;
    l->trace.region[1] = built + probed;
    while (l->trace.length < p->length) {
        for (uint32_t i = 0; i < built; i++) {
            use(l, i);
            use(l, built + probed + (uint32_t)(test_random(seed) % table));
        }
        for (uint32_t i = 0; i < probed; i++) {
            use(l, built + i);
            for (unsigned k = 0; k < PROBES; k++)
                use(l, built + probed + (uint32_t)(test_random(seed) % table));
        }
    }
}

/* The matrix, the vector, the product. */
static void sparse(struct log *l, const struct program *p)
{
    enum { NEAR = 4, WIDE = 30, RESULT = 13 };
    uint32_t matrix = p->pages * 7 / 10, vector = p->pages / 4;

    l->trace.region[0] = matrix;
    l->trace.region[1] = matrix + vector;
    while (l->trace.length < p->length) {
        uint64_t same = 12345; /* the places of its elements are what they were */
        for (uint32_t i = 0; i < matrix; i++) {
            uint32_t diagonal = (uint32_t)((uint64_t)i * vector / matrix);
            use(l, i);
            for (unsigned k = 0; k < NEAR; k++)
                use(l, matrix + (uint32_t)((diagonal + test_random(&same) % WIDE) % vector));
            use(l, matrix + (uint32_t)(test_random(&same) % vector));
            if (i % RESULT == 0)
                use(l, matrix + vector + i / RESULT % (p->pages - matrix - vector));
        }
    }
}

static void extents(struct log *l, const struct program *p, uint64_t *seed)
{
    enum { RUN = 16 };
    uint32_t runs = p->pages / RUN, *order = trace_shuffled(runs, seed);

    for (size_t i = 0; i < p->length; i++)
        use(l, order[i / RUN % runs] * RUN + (uint32_t)(i % RUN));
    free(order);
}

struct trace program_run(const struct program *p)
{
    struct log l = {.trace = {.pages = p->pages},
                    .filter = p->filter < FILTER_MAX ? p->filter : FILTER_MAX};
    uint64_t seed = p->seed * 0x9e3779b97f4a7c15 + 1;

    memset(l.held, 0xff, sizeof l.held);
    switch (p->kind) {
    case PROGRAM_LU:
        l.trace.pages = (uint32_t)((uint64_t)p->side * p->side / PAGE_DOUBLES);
        lu(&l, p->side);
        break;
    case PROGRAM_STREAM:
        stream(&l, p);
        break;
    case PROGRAM_LOOP:
        loop(&l, p);
        break;
    case PROGRAM_STENCIL:
        stencil(&l, p);
        break;
    case PROGRAM_LIST:
        list(&l, p, &seed);
        break;
    case PROGRAM_WALK:
        random_walk(&l, p, &seed);
        break;
    case PROGRAM_RANDOM:
        anywhere(&l, p, &seed);
        break;
    case PROGRAM_STRIDED:
        strided(&l, p);
        break;
    case PROGRAM_BACKWARD:
        backward(&l, p);
        break;
    case PROGRAM_STREAMS:
        streams(&l, p, &seed);
        break;
    case PROGRAM_TRANSPOSED:
        transposed(&l, p);
        break;
    case PROGRAM_BTREE:
        btree(&l, p, &seed);
        break;
    case PROGRAM_HASH_JOIN:
        hash_join(&l, p, &seed);
        break;
    case PROGRAM_SPARSE:
        sparse(&l, p);
        break;
    case PROGRAM_EXTENTS:
        extents(&l, p, &seed);
        break;
    case PROGRAM_KINDS:
        break;
    }
    return l.trace;
}
