/* A chain of trees that sequences may descend from; see phylogeny.c. */
#pragma once
#include "apps/workloads/phylogeny/likelihood.h"

/* A change that can be undone. */
struct proposal {
    bool swap; /* of a node with its parent's sibling; else the branch above it is stretched */
    uint32_t node, uncle;
    double was; /* the old length */
    /* of the priors, and of the chances to propose this change and its reverse */
    double log_ratio;
    uint32_t path[TAXA_MAX]; /* nodes with changed partials, children first */
    size_t path_length;
};

struct phylogeny {
    uint64_t sites, taxa, moves; /* of a round */
    struct family family;
    struct prng prng;
    struct proposal proposal;
    double likelihood; /* logarithm of the present tree's */
    uint64_t accepted;
};

extern const struct spmd_program phylogeny_program;
extern struct phylogeny phylogeny_state;
