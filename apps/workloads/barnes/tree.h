/* Bodies in space, in order of their places, and the tree over them; see tree.c. */
#pragma once
#include "apps/common/spmd.h"

enum { TREE_LEVELS = 21, TREE_LEAF = 8, TREE_DIGITS = 256 };

struct body {
    double position[3], velocity[3], acceleration[3], mass;
};

/* A body's place in the order: its cell of the finest level, by the bits of its coordinates in
 * turns (Morton, 1966). */
struct place {
    uint64_t key;
    uint64_t body;
};

/* A cell. Cells follow one another with what is inside them first, so that next leads past
 * that. */
struct node {
    double centre[3], mass; /* of mass */
    double side;
    uint32_t next;
    uint32_t first, count; /* places of the bodies in it; count 0: it has cells inside */
};

struct tree {
    size_t n;     /* bodies */
    size_t nodes; /* in use: 0: they were too few */
    struct body *body;
    struct place *order[2];          /* sorted, and room for sorting */
    uint32_t (*counts)[TREE_DIGITS]; /* of each chunk, while sorting */
    struct node *node;               /* room for n */
    double half;                     /* of the cube's side; its middle is 0 */
    double reach[SPMD_THREADS_MAX];  /* the largest coordinate of each thread's bodies */
};

/* Of a place in the cube. */
uint64_t tree_key(const struct tree *tree, const double position[3]);
/* Cube and order of all bodies. All threads; ends with a barrier. */
void tree_sort(struct spmd_thread *t, struct tree *tree);
/* Over the order. One thread. */
void tree_build(struct tree *tree);
/* What pulls at a body: cells whose side is below opening times their distance are taken as one
 * mass. */
void tree_pull(const struct tree *tree, const struct body *body, double opening, double out[3]);
/* The same by every single body. */
void tree_pull_exactly(const struct tree *tree, const struct body *body, double out[3]);
/* NULL, or the name of the law that is broken. */
const char *tree_check(const struct tree *tree);
