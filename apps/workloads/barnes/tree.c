/*
 * The tree of cells of Barnes and Hut ("A hierarchical O(N log N) force-calculation algorithm",
 * Nature 324, 1986), which sums up distant bodies.
 *
 * Bodies stay where they are in memory. Their indices are sorted by a key in which cells of every
 * level are contiguous (Warren & Salmon, 1993), and the tree is built over that order. A cell with
 * no more than TREE_LEAF bodies is not divided. A cell with all bodies in the same part is left
 * out.
 */
#include "apps/workloads/barnes/tree.h"
#include <math.h>

/* Square of the distance below which attraction stops growing. */
#define SOFTENING 1e-4

/* ---- Order ----------------------------------------------------------------------------------- */

/* Spreads the bits to every third position. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

uint64_t tree_key(const struct tree *tree, const double position[3])
{
    const double cells = (double)(1 << TREE_LEVELS);
    uint64_t key = 0;

    for (unsigned d = 0; d < 3; d++) {
        double cell = (position[d] + tree->half) / (2 * tree->half) * cells;
        cell = cell < cells ? cell : cells - 1;
        key |= spread(cell > 0 ? (uint64_t)cell : 0) << d;
    }
    return key;
}

static void find_cube(struct spmd_thread *t, struct tree *tree)
{
    size_t from, to;
    double reach = 0;

    spmd_share(t, tree->n, &from, &to);
    for (size_t i = from; i < to; i++) {
        for (unsigned d = 0; d < 3; d++)
            reach = fmax(reach, fabs(tree->body[i].position[d]));
    }
    tree->reach[t->index] = reach;
    spmd_barrier(t);
    if (t->index == 0) {
        tree->half = 0;
        for (unsigned i = 0; i < t->count; i++)
            tree->half = fmax(tree->half, tree->reach[i]);
    }
    spmd_barrier(t);
}

/* Returns the chunks of the thread, or the elements of a chunk. */
static void chunks_of(const struct spmd_thread *t, size_t *from, size_t *to)
{
    spmd_share(t, SPMD_CHUNKS, from, to);
}

static size_t chunk_start(const struct tree *tree, size_t chunk)
{
    return tree->n * chunk / SPMD_CHUNKS;
}

static void count_digits(struct tree *tree, size_t chunk, const struct place *place, unsigned shift)
{
    for (unsigned digit = 0; digit < TREE_DIGITS; digit++)
        tree->counts[chunk][digit] = 0;
    for (size_t i = chunk_start(tree, chunk); i < chunk_start(tree, chunk + 1); i++)
        tree->counts[chunk][place[i].key >> shift & (TREE_DIGITS - 1)]++;
}

/* Turns the numbers of each digit into the places where each chunk's elements of it begin. */
static void add_counts(struct tree *tree)
{
    uint32_t sum = 0;

    for (unsigned digit = 0; digit < TREE_DIGITS; digit++) {
        for (size_t chunk = 0; chunk < SPMD_CHUNKS; chunk++) {
            uint32_t count = tree->counts[chunk][digit];
            tree->counts[chunk][digit] = sum;
            sum += count;
        }
    }
}

static void scatter(struct tree *tree, size_t chunk, const struct place *from, struct place *to,
                    unsigned shift)
{
    for (size_t i = chunk_start(tree, chunk); i < chunk_start(tree, chunk + 1); i++)
        to[tree->counts[chunk][from[i].key >> shift & (TREE_DIGITS - 1)]++] = from[i];
}

/* Sorts by digits, the least first. Their number is even, so that the order ends in the first
 * array. */
void tree_sort(struct spmd_thread *t, struct tree *tree)
{
    size_t from, to;

    find_cube(t, tree);
    spmd_share(t, tree->n, &from, &to);
    for (size_t i = from; i < to; i++)
        tree->order[0][i] = (struct place){tree_key(tree, tree->body[i].position), i};
    spmd_barrier(t);
    chunks_of(t, &from, &to);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        struct place *source = tree->order[shift / 8 % 2], *target = tree->order[shift / 8 % 2 ^ 1];
        for (size_t chunk = from; chunk < to; chunk++)
            count_digits(tree, chunk, source, shift);
        spmd_barrier(t);
        if (t->index == 0)
            add_counts(tree);
        spmd_barrier(t);
        for (size_t chunk = from; chunk < to; chunk++)
            scatter(tree, chunk, source, target, shift);
        spmd_barrier(t);
    }
}

/* ---- The tree -------------------------------------------------------------------------------- */

static unsigned part_of(const struct tree *tree, size_t place, unsigned level)
{
    return tree->order[0][place].key >> 3 * (TREE_LEVELS - 1 - level) & 7;
}

static void add_mass(struct node *node, const double centre[3], double mass)
{
    for (unsigned d = 0; d < 3; d++)
        node->centre[d] += mass * centre[d];
    node->mass += mass;
}

/* Sets the mass and the centre of mass of a cell, adding in order. */
static void sum_up(const struct tree *tree, struct node *node, size_t index)
{
    node->mass = node->centre[0] = node->centre[1] = node->centre[2] = 0;
    for (size_t i = node->first; i < node->first + node->count; i++) {
        const struct body *body = &tree->body[tree->order[0][i].body];
        add_mass(node, body->position, body->mass);
    }
    for (size_t i = index + 1; i < node->next; i = tree->node[i].next)
        add_mass(node, tree->node[i].centre, tree->node[i].mass);
    for (unsigned d = 0; d < 3; d++)
        node->centre[d] /= node->mass;
}

/* Builds the cell of these elements, which lie in one cell of this level. */
static void build(struct tree *tree, size_t from, size_t to, unsigned level)
{
    while (level < TREE_LEVELS && part_of(tree, from, level) == part_of(tree, to - 1, level))
        level++;
    if (tree->nodes >= tree->n)
        return;
    size_t index = tree->nodes++;
    struct node *node = &tree->node[index];
    bool leaf = level == TREE_LEVELS || to - from <= TREE_LEAF;
    *node = (struct node){.side = 2 * tree->half / (double)((uint64_t)1 << level)};
    node->first = (uint32_t)from;
    node->count = leaf ? (uint32_t)(to - from) : 0;
    for (size_t i = from, end; !leaf && i < to; i = end) {
        for (end = i + 1; end < to && part_of(tree, end, level) == part_of(tree, i, level);)
            end++;
        build(tree, i, end, level + 1);
    }
    node->next = (uint32_t)tree->nodes;
    sum_up(tree, node, index);
}

void tree_build(struct tree *tree)
{
    tree->nodes = 0;
    build(tree, 0, tree->n, 0);
    if (tree->nodes == tree->n)
        tree->nodes = 0;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

static double square_of_distance(const double a[3], const double b[3], double apart[3])
{
    double sum = 0;

    for (unsigned d = 0; d < 3; d++) {
        apart[d] = b[d] - a[d];
        sum += apart[d] * apart[d];
    }
    return sum;
}

static void pull(const double apart[3], double square, double mass, double out[3])
{
    double softened = square + SOFTENING, strength = mass / (softened * sqrt(softened));

    for (unsigned d = 0; d < 3; d++)
        out[d] += strength * apart[d];
}

static void pull_by_bodies(const struct tree *tree, const struct body *body, size_t from, size_t to,
                           double out[3])
{
    double apart[3];

    for (size_t i = from; i < to; i++) {
        const struct body *other = &tree->body[tree->order[0][i].body];
        double square = square_of_distance(body->position, other->position, apart);
        if (other != body)
            pull(apart, square, other->mass, out);
    }
}

void tree_pull(const struct tree *tree, const struct body *body, double opening, double out[3])
{
    double apart[3];

    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < tree->nodes;) {
        const struct node *node = &tree->node[i];
        double square = square_of_distance(body->position, node->centre, apart);
        bool far = node->side * node->side < opening * opening * square;
        if (node->count)
            pull_by_bodies(tree, body, node->first, node->first + node->count, out);
        else if (far)
            pull(apart, square, node->mass, out);
        i = node->count || far ? node->next : i + 1;
    }
}

void tree_pull_exactly(const struct tree *tree, const struct body *body, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    pull_by_bodies(tree, body, 0, tree->n, out);
}

/* ---- The check ------------------------------------------------------------------------------- */

static bool order_is_right(const struct tree *tree)
{
    uint64_t sum = 0, wanted = 0;

    for (size_t i = 0; i < tree->n; i++) {
        const struct place *place = &tree->order[0][i];
        if (place->body >= tree->n ||
            place->key != tree_key(tree, tree->body[place->body].position) ||
            (i && place->key < place[-1].key))
            return false;
        sum += prng_at(0, 0, place->body);
        wanted += prng_at(0, 0, i);
    }
    return sum == wanted;
}

const char *tree_check(const struct tree *tree)
{
    size_t place = 0;

    if (!tree->nodes)
        return "tree_has_room";
    if (!order_is_right(tree))
        return "order_is_that_of_places";
    for (size_t i = 0; i < tree->nodes; i++) {
        const struct node *node = &tree->node[i];
        struct node again = *node;
        if (node->next <= i || node->next > tree->nodes || node->first != place)
            return "cells_hold_each_body_once";
        place += node->count;
        sum_up(tree, &again, i);
        if (again.mass != node->mass || again.centre[0] != node->centre[0] ||
            again.centre[1] != node->centre[1] || again.centre[2] != node->centre[2])
            return "masses_add_up";
    }
    return place == tree->n ? NULL : "cells_hold_each_body_once";
}
