/*
 * A graph with degrees that follow a power law: R-MAT (Chakrabarti, Zhan, Faloutsos, "R-MAT: a
 * recursive model for graph mining", 2004), with Graph500's probabilities.
 *
 * Phases: "generate" makes edges; "build" makes the list of neighbours of each vertex; "bfs" is a
 * breadth-first search; "rank" does sweeps in the manner of PageRank, in integers; "check".
 *
 * Laws:
 * - degrees add up to twice the edges;
 * - levels of neighbours differ by one at most, each vertex but the root has a parent one level up,
 *   and all neighbours of a reached vertex are reached;
 * - ranks add up to the initial sum.
 */
#include <string.h>
#include "apps/workloads/phases/job.h"

enum { EDGES_PER_VERTEX = 8, SWEEPS = 4, RANK_ONE = 1 << 20, RANK_LOST_OF = 8 };
enum { QUADRANT_A = 57, QUADRANT_B = 19, QUADRANT_C = 19, PERCENT = 100 };
#define NONE UINT32_MAX

struct edge {
    uint32_t from, to;
};

struct graph {
    uint32_t scale, vertices, edges, root;
    struct edge *edge;
    uint32_t *first;     /* first neighbour of each vertex; vertices + 1 elements */
    uint32_t *neighbour; /* 2 * edges elements: each edge from both sides */
    uint32_t *queue;
    uint64_t *rank, *next_rank;
    uint32_t *level, *parent; /* level lies behind rank: the product is both */
};

static struct edge random_edge(struct phases_job *job, uint32_t scale)
{
    struct edge edge = {0};

    for (uint32_t bit = 0; bit < scale; bit++) {
        uint32_t percent = prng_below(&job->prng, PERCENT);
        edge.from = edge.from << 1 | (percent >= QUADRANT_A + QUADRANT_B);
        edge.to = edge.to << 1 | ((percent >= QUADRANT_A && percent < QUADRANT_A + QUADRANT_B) ||
                                  percent >= QUADRANT_A + QUADRANT_B + QUADRANT_C);
    }
    return edge;
}

/* Counts each vertex's neighbours, sums up where they begin, and puts each in place. */
static void build(struct graph *g)
{
    memset(g->first, 0, (g->vertices + 1) * sizeof *g->first);
    for (uint32_t e = 0; e < g->edges; e++) {
        g->first[g->edge[e].from]++;
        g->first[g->edge[e].to]++;
    }
    for (uint32_t v = 1; v <= g->vertices; v++)
        g->first[v] += g->first[v - 1];
    for (uint32_t e = 0; e < g->edges; e++) {
        g->neighbour[--g->first[g->edge[e].from]] = g->edge[e].to;
        g->neighbour[--g->first[g->edge[e].to]] = g->edge[e].from;
    }
}

static void search(struct graph *g)
{
    uint32_t head = 0, tail = 0;

    memset(g->level, 0xff, g->vertices * sizeof *g->level);
    memset(g->parent, 0xff, g->vertices * sizeof *g->parent);
    g->level[g->root] = 0;
    g->queue[tail++] = g->root;
    while (head < tail) {
        uint32_t v = g->queue[head++];
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            uint32_t other = g->neighbour[i];
            if (g->level[other] != NONE)
                continue;
            g->level[other] = g->level[v] + 1;
            g->parent[other] = v;
            g->queue[tail++] = other;
        }
    }
}

/* Each vertex gives an even share to its neighbours. All vertices share the rest alike: the part
 * not given, and remainders. */
static void sweep(struct graph *g)
{
    uint64_t common = 0;

    memset(g->next_rank, 0, g->vertices * sizeof *g->next_rank);
    for (uint32_t v = 0; v < g->vertices; v++) {
        uint32_t degree = g->first[v + 1] - g->first[v];
        uint64_t share = degree ? (g->rank[v] - g->rank[v] / RANK_LOST_OF) / degree : 0;
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
            g->next_rank[g->neighbour[i]] += share;
        common += g->rank[v] - share * degree;
    }
    for (uint32_t v = 0; v < g->vertices; v++)
        g->rank[v] = g->next_rank[v] + common / g->vertices;
    g->rank[0] += common % g->vertices;
}

static const char *check_level(const struct graph *g, uint32_t v)
{
    uint32_t level = g->level[v], parent = g->parent[v];
    bool beside_parent = false;

    if (v == g->root)
        return level == 0 && parent == NONE ? NULL : "root_is_level_0";
    if ((level == NONE) != (parent == NONE))
        return "reached_have_parents";
    for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
        uint32_t other = g->neighbour[i];
        beside_parent |= other == parent;
        if ((g->level[other] == NONE) != (level == NONE))
            return "reached_reach_neighbours";
        if (level != NONE && g->level[other] > level + 1)
            return "neighbours_are_a_level_apart";
    }
    if (parent != NONE && (!beside_parent || g->level[parent] + 1 != level))
        return "parent_is_a_level_up";
    return NULL;
}

static const char *check(struct phases_job *job, const struct graph *g)
{
    uint64_t ranks = 0;

    if (g->first[0] != 0 || g->first[g->vertices] != 2 * g->edges)
        return "degrees_are_twice_the_edges";
    for (uint32_t v = 0; v < g->vertices; v++) {
        const char *violation = check_level(g, v);
        if (violation)
            return violation;
        ranks += g->rank[v];
        phases_result(job, g->level[v]);
        phases_result(job, g->rank[v]);
    }
    return ranks == (uint64_t)g->vertices * RANK_ONE ? NULL : "ranks_are_kept";
}

static const char *round_of(struct phases_job *job)
{
    struct graph *g = job->data;

    phases_enter(job, "generate");
    for (uint32_t e = 0; e < g->edges; e++)
        g->edge[e] = random_edge(job, g->scale);
    phases_enter(job, "build");
    build(g);
    phases_enter(job, "bfs");
    g->root = g->edge[0].from;
    search(g);
    phases_enter(job, "rank");
    for (uint32_t v = 0; v < g->vertices; v++)
        g->rank[v] = RANK_ONE;
    for (unsigned s = 0; s < SWEEPS; s++)
        sweep(g);
    phases_enter(job, "check");
    return check(job, g);
}

static void prepare(struct phases_job *job)
{
    struct graph *g = phases_alloc(job, sizeof *g);

    g->scale = (uint32_t)job->size;
    g->vertices = 1u << g->scale;
    g->edges = g->vertices * EDGES_PER_VERTEX;
    g->edge = phases_alloc(job, g->edges * sizeof *g->edge);
    g->first = phases_alloc(job, (g->vertices + 1) * sizeof *g->first);
    g->neighbour = phases_alloc(job, 2 * g->edges * sizeof *g->neighbour);
    g->queue = phases_alloc(job, g->vertices * sizeof *g->queue);
    g->next_rank = phases_alloc(job, g->vertices * sizeof *g->next_rank);
    g->parent = phases_alloc(job, g->vertices * sizeof *g->parent);
    job->product_bytes = g->vertices * (sizeof *g->rank + sizeof *g->level);
    job->product = g->rank = phases_alloc(job, job->product_bytes);
    g->level = (uint32_t *)(g->rank + g->vertices);
    job->data = g;
}

const struct phases_kind phases_graph = {"graph", "powers of 2 of vertices", 14, 4, 20, prepare,
                                         round_of};
