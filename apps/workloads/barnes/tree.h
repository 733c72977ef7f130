/* Bodies in space, in order of position, and the tree over them; see tree.c. */
#pragma once
#include "apps/common/spmd.h"

enum { TREE_LEVELS = 21, TREE_LEAF = 8, TREE_DIGITS = 256 };

struct body {
    double position[3], velocity[3], acceleration[3], mass;
};

/* A body's position in the order: its cell of the finest level, by the bits of its coordinates in
 * turn (Morton, 1966). */
struct place {
    uint64_t key;
    uint64_t body;
};

/* A cell. A cell is followed by the cells inside it; `next` is the cell behind those. */
struct node {
    double centre[3], mass; /* centre of mass */
    double side;
    uint32_t next;
    uint32_t first, count; /* elements of the order in it; count 0: it has cells inside */
};

struct tree {
    size_t n;     /* number of bodies */
    size_t nodes; /* cells in use; 0: there was room for too few */
    struct body *body;
    struct place *order[2];          /* sorted, and room for sorting */
    uint32_t (*counts)[TREE_DIGITS]; /* of each chunk, while sorting */
    struct node *node;               /* room for n */
    double half;                     /* half the side of the cube around 0 */
    double reach[SPMD_THREADS_MAX];  /* the largest coordinate of each thread's bodies */
};

/* Returns the key of a position in the cube. */
uint64_t tree_key(const struct tree *tree, const double position[3]);
/* Sets the cube and sorts all bodies. All threads; ends with a barrier. */
void tree_sort(struct spmd_thread *t, struct tree *tree);
/* Builds the tree over the order. One thread. */
void tree_build(struct tree *tree);
/* Computes the force on a body. A cell with a side below `opening` times its distance counts as one
 * mass. */
void tree_pull(const struct tree *tree, const struct body *body, double opening, double out[3]);
/* Computes the force from every single body. */
void tree_pull_exactly(const struct tree *tree, const struct body *body, double out[3]);
/* Returns NULL, or the name of a broken law. */
const char *tree_check(const struct tree *tree);
