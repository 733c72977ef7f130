/* The likelihood of sequences by a tree of descent; see likelihood.c. */
#pragma once
#include "apps/common/spmd.h"

enum { TAXA_MAX = 256, NODES_MAX = 2 * TAXA_MAX - 1, RATES = 4, BASES = 4, NO_NODE = UINT32_MAX };

/* The probability that a base along a branch stays the same, becomes its partner (A and G, C and
 * T), or one of the other two. */
struct transition {
    double same, partner, other;
};

/* The likelihood of the tree below a node for a site, by rate of evolution and base of the node,
 * times 2^(SCALE times the site's scale). */
struct partial {
    double of[RATES][BASES];
};

/* A rooted binary tree. Nodes 0..taxa-1 are its tips; the last node is its root. */
struct family {
    size_t taxa, sites;
    uint32_t parent[NODES_MAX], child[NODES_MAX][2]; /* children of inner nodes */
    /* of the branch above, in substitutions a site */
    double length[NODES_MAX];
    struct transition transition[NODES_MAX][RATES]; /* from `length` */
    uint8_t *sequence;                              /* bases, tip by tip */
    struct partial *partial;                        /* of inner nodes: two each, for each site */
    int32_t *scale;                                 /* likewise */
    uint8_t current[NODES_MAX]; /* which of the two; a rejected change goes back to the other */
};

static inline uint32_t family_root(const struct family *f)
{
    return (uint32_t)(2 * f->taxa - 2);
}
static inline bool family_is_tip(const struct family *f, uint32_t node)
{
    return node < f->taxa;
}
static inline size_t family_nodes(const struct family *f)
{
    return 2 * f->taxa - 1;
}
static inline uint32_t family_sibling(const struct family *f, uint32_t node)
{
    const uint32_t *child = f->child[f->parent[node]];

    return child[0] == node ? child[1] : child[0];
}

/* Joins random pairs until one tree is left, with random branches. */
void family_make(struct family *f, struct prng *prng);
/* family_replace() puts a node below a parent in place of its child `was`. */
void family_replace(struct family *f, uint32_t parent, uint32_t was, uint32_t node);
void family_set_length(struct family *f, uint32_t node, double length);
/* Makes sequences that descend from a random one. */
void family_evolve(struct family *f, struct prng *prng);
/* Lists inner nodes, children first. Returns their number. */
size_t family_order(const struct family *f, uint32_t order[TAXA_MAX]);

/* Computes the current partials of a node from its children's, for sites from..to-1. */
void family_prune(struct family *f, uint32_t node, size_t from, size_t to);
/* Returns the log likelihood of these sites, from the root's partials. */
double family_likelihood(const struct family *f, size_t from, size_t to);
/* Returns NULL, or the name of a broken law. `worst` gets the largest difference of a partial from
 * its children's, as part of its site's. */
const char *family_check(const struct family *f, double *worst);
