/* A chain of trees that sequences may descend from; see phylogeny.c. */
#pragma once
#include "apps/workloads/phylogeny/likelihood.h"

/* A change that may be taken back. */
struct proposal {
    bool swap; /* of a node with its parent's sibling; else the length of the branch above it */
    uint32_t node, uncle;
    double was;              /* the length */
    double log_ratio;        /* of priors and of the chances to propose this and the way back */
    uint32_t path[TAXA_MAX]; /* nodes whose partials change, children first */
    size_t path_length;
};

struct phylogeny {
    uint64_t sites, taxa, moves; /* of a round */
    struct family family;
    struct prng prng;
    struct proposal proposal;
    double likelihood; /* its logarithm, of the tree as it is */
    uint64_t accepted;
};

extern const struct spmd_program phylogeny_program;
extern struct phylogeny phylogeny_state;
