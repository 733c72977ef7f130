/*
 * Temporal prefetching by the page proximity graph ([Azimi 2007, 4.5]).
 *
 * An edge p -> q says that q was wanted soon after p, its weight how often of late. A miss of p is
 * a fault or the first use of a page that was fetched, which is a miss avoided. At a miss of p the
 * graph learns from the WINDOW pages that came after p when it was last used, or last missed. Edges
 * to pages seen there gain one. Pages that have no edge yet take the free room, the soonest first.
 * The other edges, in the room that remains, lose one and go at 0. Edges are kept in the order of
 * the window, so that the list of a breadth-first walk is in the order in which the pages are
 * likely to be wanted.
 *
 * Last used or last missed: whichever order has led to more of the pages missed of late. Where two
 * passes over memory take turns and one finds its pages there, the pages after the last use
 * predict, at each miss of the other, the wrong pass (blocked LU by rows: down a column of blocks,
 * and over all behind it). Where the pages in memory change from pass to pass, the last miss may be
 * long ago.
 *
 * At a fault the walk goes DEPTH edges far, at a first use one. Where threads wait for pages that
 * are being read it goes farther, up to AHEAD, but not so far that pages fetched for later keep
 * those wanted next from being fetched. Edges of less than half the weight of their page's heaviest
 * are not followed, and where many pages were not used soon, only those of a larger weight still,
 * until guesses by lighter ones are right again.
 *
 * As published ([A]) the order is that of uses, which the LRU stack has; edges give room when they
 * have lost their weight; first uses are ignored, and every edge is followed.
 */
#include "mm/policy/prefetch/prefetch.h"

enum {
    DEGREE = 10,
    WINDOW = 64,
    DEPTH = 3,
    /* edges that a walk goes where threads wait for pages that are being read, at most */
    AHEAD = 8,
    /* ... and no farther than to 1 / AHEAD_PART of the pages that may wait */
    AHEAD_PART = 4,
    WEIGHT_MAX = 7,            /* low, so that new behaviour soon outweighs old */
    WEIGHT_MAX_PUBLISHED = 63, /* [A] names no bound */
    ROUND = 64,                /* outcomes; first uses */
    GOOD_PCT = 75,             /* percent of a round used soon: lighter edges are followed */
    POOR_PCT = 50,             /* ... heavier ones only below this */
    /* first uses in a row without a wait, after which walks become shorter */
    CALM = 512,
    FLOOR_MAX = 8,
    BY_MISS_MAX = 64,
    SEEN = 512, /* entries for the pages of a walk, which are fewer than half of this */
};

struct edge {
    uint32_t node : LRUSTACK_NODE_BITS;
    uint32_t weight : 6; /* 0: none */
};

struct ppg_node {
    struct prefetch_node common;
    struct edge edge[DEGREE]; /* edges first, then free ones */
};

/* The pages of a walk, to tell whether one has been seen: open addressing. */
struct seen {
    uint32_t node[SEEN]; /* + 1 */
};

struct ppg {
    uint32_t nodes;
    uint32_t weight_max;
    bool published;
    uint32_t floor;       /* edges of less weight are not followed, 1..FLOOR_MAX */
    uint32_t soon, known; /* outcomes of this round */
    uint32_t ahead;       /* edges from a page first used, 1..ahead_max */
    uint32_t ahead_max;   /* 2..AHEAD */
    uint32_t in_time;     /* first uses in a row without a wait, below CALM */
    uint32_t by_miss;     /* 0..BY_MISS_MAX; above half of it the order is that of misses */
    uint32_t next[PREFETCH_ORDERS][DEGREE]; /* page + 1 that comes next by each order; 0: none */
    uint32_t right, guesses;                /* of this round: guesses that were used since; all */
    /* page + 1 at an edge too light to be followed; 0: none, or used since */
    uint32_t guess[ROUND];
    struct seen seen; /* in the present walk */
    struct ppg_node node[];
};
_Static_assert(sizeof(struct ppg) == PREFETCH_PPG_BYTES &&
                   sizeof(struct ppg_node) == PREFETCH_PPG_NODE_BYTES,
               "where it is a part, its nodes are in a row behind it");

static void ppg_init(void *state, uint32_t nodes)
{
    struct ppg *g = state;

    g->nodes = nodes;
    g->weight_max = WEIGHT_MAX;
    g->floor = 1;
    g->ahead = 1;
}

static void ppg_init_published(void *state, uint32_t nodes)
{
    struct ppg *g = state;

    ppg_init(g, nodes);
    g->weight_max = WEIGHT_MAX_PUBLISHED;
    g->published = true;
}

static void ppg_grow(void *state, uint32_t nodes)
{
    struct ppg *g = state;

    g->nodes = nodes;
}

static void ppg_resize(void *state, uint32_t unused_max)
{
    struct ppg *g = state;

    g->ahead_max = MIN(MAX(unused_max / (AHEAD_PART * DEGREE), 2u), (uint32_t)AHEAD);
    g->ahead = MIN(g->ahead, g->ahead_max);
}

/* Appends an edge if there is room. */
static void append_edge(struct ppg_node *n, unsigned *edges, uint32_t node, unsigned weight)
{
    if (*edges < DEGREE && weight)
        n->edge[(*edges)++] = (struct edge){node, weight};
}

/* Returns the index of the edge to `node`, or DEGREE. */
static unsigned edge_to(const struct ppg_node *n, uint32_t node)
{
    unsigned i = 0;

    while (i < DEGREE && !(n->edge[i].weight && n->edge[i].node == node))
        i++;
    return i;
}

/* Appends the edges that were not seen in the window, each with one less. */
static void append_others(struct ppg_node *n, unsigned *edges, const struct ppg_node *old)
{
    for (unsigned e = 0; e < DEGREE; e++) {
        if (old->edge[e].weight)
            append_edge(n, edges, old->edge[e].node, old->edge[e].weight - 1u);
    }
}

/* Counts for the order that would have led from the page missed last to this one, and notes the
 * pages that come next by each. */
static void compare_orders(struct ppg *g, uint32_t node, const uint32_t window[][WINDOW],
                           const unsigned *seen)
{
    bool led[PREFETCH_ORDERS] = {false};

    for (unsigned order = 0; order < PREFETCH_ORDERS; order++) {
        uint32_t *next = g->next[order];
        for (unsigned i = 0; i < DEGREE; i++) {
            led[order] |= next[i] == node + 1;
            next[i] = i < seen[order] ? window[order][i] + 1 : 0;
        }
    }
    if (led[PREFETCH_BY_MISS] && !led[PREFETCH_BY_USE])
        g->by_miss = MIN(g->by_miss + 1, (uint32_t)BY_MISS_MAX);
    else if (led[PREFETCH_BY_USE] && !led[PREFETCH_BY_MISS])
        g->by_miss -= g->by_miss > 0;
}

static void learn_edges(struct ppg *g, const struct prefetch_use *use)
{
    uint32_t windows[PREFETCH_ORDERS][WINDOW];
    unsigned seen[PREFETCH_ORDERS] = {0}, edges = 0, fresh = 0;
    struct ppg_node *n = &g->node[use->node], old = *n;

    if (!lrustack_holds(use->order[PREFETCH_BY_USE], use->node))
        return; /* its first use: nothing is known of the pages that come after */
    for (unsigned i = 0; i < PREFETCH_ORDERS && use->order[i]; i++)
        seen[i] = lrustack_used_after(use->order[i], use->node, windows[i], WINDOW);
    if (!g->published)
        compare_orders(g, use->node, windows, seen);
    enum prefetch_order by = g->by_miss > BY_MISS_MAX / 2 ? PREFETCH_BY_MISS : PREFETCH_BY_USE;
    uint32_t *window = windows[by];
    memset(n->edge, 0, sizeof n->edge);
    for (unsigned i = 0; i < seen[by]; i++) {
        unsigned e = edge_to(&old, window[i]);
        if (e < DEGREE) {
            append_edge(n, &edges, window[i], MIN(old.edge[e].weight + 1u, g->weight_max));
            old.edge[e].weight = 0;
        } else {
            window[fresh++] = window[i];
        }
    }
    if (g->published)
        append_others(n, &edges, &old);
    for (unsigned i = 0; i < fresh; i++)
        append_edge(n, &edges, window[i], 1);
    if (!g->published)
        append_others(n, &edges, &old);
}

/* Adds the node. Returns false if it was seen before. */
static bool see_node(struct seen *s, uint32_t node)
{
    uint32_t i = node * 2654435761u >> 23; /* SEEN places: 9 bits */

    while (s->node[i] && s->node[i] != node + 1)
        i = (i + 1) % SEEN;
    if (s->node[i])
        return false;
    s->node[i] = node + 1;
    return true;
}

/* Returns the least weight to be followed: half of the heaviest, as edges seen once are chance
 * beside edges seen every time. */
static unsigned least_weight(const struct ppg *g, const struct ppg_node *n)
{
    unsigned heaviest = 0;

    for (unsigned e = 0; e < DEGREE; e++)
        heaviest = MAX(heaviest, (unsigned)n->edge[e].weight);
    return MAX(g->floor, heaviest / 2);
}

static void follow_edges(struct ppg *g, uint32_t from, struct prefetch_list *list)
{
    unsigned least = g->published ? 1 : least_weight(g, &g->node[from]);
    unsigned most =
        list->most ? MIN((unsigned)list->most, (unsigned)PREFETCH_LIST_MAX) : PREFETCH_LIST_MAX;

    for (unsigned e = 0; e < DEGREE && list->length < most; e++) {
        struct edge edge = g->node[from].edge[e];
        if (edge.weight && edge.weight >= least && see_node(&g->seen, edge.node))
            list->page[list->length++] = edge.node;
    }
}

/* Walks breadth first, `far` edges far. */
static void walk_graph(struct ppg *g, uint32_t from, unsigned far, struct prefetch_list *list)
{
    unsigned done = 0;

    memset(&g->seen, 0, sizeof g->seen);
    see_node(&g->seen, from);
    follow_edges(g, from, list);
    for (unsigned depth = 2; depth <= far && !(list->most && list->length >= list->most); depth++) {
        for (unsigned level = list->length; done < level; done++)
            follow_edges(g, (uint32_t)list->page[done], list);
    }
}

/* Guesses. While light edges are not followed nothing that is fetched tells whether they lead
 * anywhere. So the first of each page is remembered: if most of these are used next, lighter edges
 * are followed again. */
static void guess_next(struct ppg *g, uint32_t used)
{
    const struct edge *first = g->node[used].edge;

    if (g->floor == 1 || g->published)
        return;
    for (unsigned i = 0; i < ROUND; i++) {
        g->right += g->guess[i] == used + 1;
        g->guess[i] = g->guess[i] == used + 1 ? 0 : g->guess[i];
    }
    if (!first->weight || first->weight >= g->floor)
        return;
    g->guess[g->guesses++] = first->node + 1;
    if (g->guesses < ROUND)
        return;
    if (g->right * 100 >= GOOD_PCT * ROUND)
        g->floor /= 2;
    g->right = g->guesses = 0;
    memset(g->guess, 0, sizeof g->guess);
}

static void ppg_fault(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    struct ppg *g = state;

    learn_edges(g, use);
    guess_next(g, use->node);
    walk_graph(g, use->node, MAX(g->ahead, (uint32_t)DEPTH), list);
}

/* Makes walks longer at once where threads wait for pages that are being read, and shorter only
 * when that has not been for long. */
static void look_ahead(struct ppg *g, bool late)
{
    if (late)
        g->ahead = MIN(g->ahead + 1, g->ahead_max);
    else if (g->in_time + 1 == CALM)
        g->ahead = MAX(g->ahead - 1, 1u);
    g->in_time = late ? 0 : (g->in_time + 1) % CALM;
}

static void ppg_first_use(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    struct ppg *g = state;

    look_ahead(g, use->late);
    learn_edges(g, use);
    guess_next(g, use->node);
    walk_graph(g, use->node, g->ahead, list);
}

static void ppg_ignore_use(void *state, const struct prefetch_use *use, struct prefetch_list *list)
{
    (void)state, (void)use, (void)list;
}

static void ppg_outcome(void *state, bool soon)
{
    struct ppg *g = state;

    g->soon += soon;
    if (++g->known < ROUND)
        return;
    if (g->soon * 100 >= GOOD_PCT * ROUND)
        g->floor = MAX(g->floor / 2, 1u);
    else if (g->soon * 100 < POOR_PCT * ROUND)
        g->floor = MIN(g->floor * 2, (uint32_t)FLOOR_MAX);
    g->soon = g->known = 0;
}

static void ppg_ignore_outcome(void *state, bool soon)
{
    (void)state, (void)soon;
}

static void ppg_keep(void *state, uint32_t node)
{
    (void)state, (void)node;
}

/* Removes the edges of the page. Edges to it lead to another page, until they have lost their
 * weight. */
static void ppg_forget(void *state, uint32_t node)
{
    struct ppg *g = state;

    memset(g->node[node].edge, 0, sizeof g->node[node].edge);
}

static unsigned ppg_level(const void *state)
{
    return ((const struct ppg *)state)->floor;
}

static const char *check_node(const struct ppg *g, const struct ppg_node *n)
{
    bool end = false;

    for (unsigned e = 0; e < DEGREE; e++) {
        struct edge edge = n->edge[e];
        if (edge.weight == 0) {
            end = true;
            continue;
        }
        if (end)
            return "an edge is behind the last";
        if (edge.node >= g->nodes || edge.node == (uint32_t)(n - g->node))
            return "an edge leads nowhere";
        if (edge_to(n, edge.node) != e)
            return "two edges lead to one page";
    }
    return NULL;
}

static const char *ppg_check(const void *state)
{
    const struct ppg *g = state;
    const char *broken = NULL;

    if (g->floor < 1 || g->floor > FLOOR_MAX || g->soon > g->known || g->known >= ROUND)
        return "the least weight, or a round of outcomes, is out of range";
    if (g->ahead < 1 || g->ahead > g->ahead_max || g->ahead_max > AHEAD || g->in_time >= CALM ||
        g->right > g->guesses || g->guesses >= ROUND)
        return "the way ahead, or a round of uses, is out of range";
    if (g->by_miss > BY_MISS_MAX)
        return "no choice of an order";
    for (uint32_t node = 0; node < g->nodes && !broken; node++)
        broken = check_node(g, &g->node[node]);
    return broken;
}

const struct prefetch_ops prefetch_ppg = {
    .name = "ppg",
    .unit = PREFETCH_NODES,
    .orders = PREFETCH_ORDERS,
    .bytes = sizeof(struct ppg),
    .per_node = sizeof(struct ppg_node),
    .init = ppg_init,
    .grow = ppg_grow,
    .resize = ppg_resize,
    .fault = ppg_fault,
    .first_use = ppg_first_use,
    .outcome = ppg_outcome,
    .left = ppg_keep,
    .forget = ppg_forget,
    .level = ppg_level,
    .check = ppg_check,
};

const struct prefetch_ops prefetch_ppg_published = {
    .name = "ppg-published",
    .unit = PREFETCH_NODES,
    .orders = PREFETCH_BY_USE + 1,
    .bytes = sizeof(struct ppg),
    .per_node = sizeof(struct ppg_node),
    .init = ppg_init_published,
    .grow = ppg_grow,
    .resize = ppg_resize,
    .fault = ppg_fault,
    .first_use = ppg_ignore_use,
    .outcome = ppg_ignore_outcome,
    .left = ppg_keep,
    .forget = ppg_forget,
    .level = ppg_level,
    .check = ppg_check,
};
