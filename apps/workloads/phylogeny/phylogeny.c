/*
 * Bayesian inference of phylogeny, as in MrBayes (Huelsenbeck & Ronquist, 2001): a Markov chain
 * over trees (Metropolis, 1953; Hastings, 1970), from a random one, for sequences that descend by
 * another.
 *
 * A move stretches a branch, or swaps a node with its parent's sibling (nearest-neighbour
 * interchange). Partials from there up to the root are computed anew, into each node's other
 * buffer, so that a rejected move needs no computing. Branches are exponential a priori, with mean
 * 0.1. Each thread computes its share of the sites; the first proposes and decides.
 *
 * Laws:
 * - the tree is one, and each partial follows from those of the children (likelihood.c);
 * - the chain's likelihood is the tree's.
 */
#include "apps/workloads/phylogeny/phylogeny.h"
#include <math.h>
#include <stdio.h>
#include "apps/common/real.h"

enum { STREAM_DATA = 0, STREAM_START = 1, STREAM_CHAIN = 2 };
#define PRIOR_RATE   10.0
#define STRETCH      1.0 /* range of the logarithm by which a branch is stretched */
#define LENGTH_LEAST 1e-5
#define LENGTH_MOST  10.0
#define TOLERANCE    1e-12

struct phylogeny phylogeny_state = {.sites = 512, .taxa = 16, .moves = 60};

/* ---- Moves: the first thread ----------------------------------------------------------------- */

/* Lists all nodes above; their other buffers become the current ones. */
static void set_path(struct family *f, struct proposal *p, uint32_t from)
{
    p->path_length = 0;
    for (uint32_t node = from; node != NO_NODE; node = f->parent[node]) {
        p->path[p->path_length++] = node;
        f->current[node] ^= 1;
    }
}

static void stretch_branch(struct family *f, struct proposal *p, struct prng *prng)
{
    double factor, length;

    p->swap = false;
    p->node = prng_below(prng, (uint32_t)family_nodes(f) - 1); /* not the root */
    p->was = f->length[p->node];
    factor = real_exp(STRETCH * (prng_unit(prng_next(prng)) - 0.5));
    length = p->was * factor;
    p->log_ratio = length < LENGTH_LEAST || length > LENGTH_MOST
                       ? -INFINITY
                       : real_log(factor) - PRIOR_RATE * (length - p->was);
    family_set_length(f, p->node, length);
    set_path(f, p, f->parent[p->node]);
}

static void exchange(struct family *f, uint32_t a, uint32_t b)
{
    uint32_t above_a = f->parent[a], above_b = f->parent[b];

    family_replace(f, above_a, a, b);
    family_replace(f, above_b, b, a);
}

static void swap_neighbours(struct family *f, struct proposal *p, struct prng *prng)
{
    uint32_t parent =
        /* an inner node, not the root */
        (uint32_t)f->taxa + prng_below(prng, (uint32_t)f->taxa - 2);

    p->swap = true;
    p->node = f->child[parent][prng_below(prng, 2)];
    p->uncle = family_sibling(f, parent);
    p->log_ratio = 0;
    exchange(f, p->node, p->uncle);
    set_path(f, p, parent);
}

static void take_back(struct family *f, const struct proposal *p)
{
    for (size_t i = 0; i < p->path_length; i++)
        f->current[p->path[i]] ^= 1;
    if (p->swap)
        exchange(f, p->node, p->uncle);
    else
        family_set_length(f, p->node, p->was);
}

static void propose(struct phylogeny *chain)
{
    if (prng_below(&chain->prng, 3) == 0)
        swap_neighbours(&chain->family, &chain->proposal, &chain->prng);
    else
        stretch_branch(&chain->family, &chain->proposal, &chain->prng);
}

static void decide(struct phylogeny *chain, double likelihood)
{
    double chance = likelihood - chain->likelihood + chain->proposal.log_ratio;

    if (chance >= 0 || real_log(prng_unit(prng_next(&chain->prng)) + 0x1p-60) < chance) {
        chain->likelihood = likelihood;
        chain->accepted++;
    } else {
        take_back(&chain->family, &chain->proposal);
    }
}

/* ---- The work: all threads ------------------------------------------------------------------- */

static double prune_path(void *arg, size_t from, size_t to)
{
    struct phylogeny *chain = arg;

    for (size_t i = 0; i < chain->proposal.path_length; i++)
        family_prune(&chain->family, chain->proposal.path[i], from, to);
    return family_likelihood(&chain->family, from, to);
}

static void round_of(struct spmd_thread *t)
{
    struct phylogeny *chain = &phylogeny_state;

    for (uint64_t move = 0; move < chain->moves; move++) {
        if (t->index == 0)
            propose(chain);
        spmd_phase(t, "move");
        double likelihood = spmd_sum(t, chain->sites, prune_path, chain);
        if (t->index == 0)
            decide(chain, likelihood);
    }
}

static void fill(struct spmd_thread *t)
{
    struct phylogeny *chain = &phylogeny_state;
    struct family *f = &chain->family;

    if (t->index == 0) {
        struct prng data = prng_seeded(t->run->seed, STREAM_DATA),
                    start = prng_seeded(t->run->seed, STREAM_START);
        chain->prng = prng_seeded(t->run->seed, STREAM_CHAIN);
        family_make(f, &data);
        family_evolve(f, &data);
        family_make(f, &start);
        chain->proposal.path_length = family_order(f, chain->proposal.path);
    }
    spmd_barrier(t);
    double likelihood = spmd_sum(t, chain->sites, prune_path, chain);
    if (t->index == 0)
        chain->likelihood = likelihood;
}

/* ---- The check ------------------------------------------------------------------------------- */

static const char *check(struct spmd_run *run)
{
    const struct phylogeny *chain = &phylogeny_state;
    const struct family *f = &chain->family;
    const char *violation = family_check(f, &run->error);
    double likelihood = family_likelihood(f, 0, f->sites);

    spmd_result(run, chain->accepted);
    spmd_results(run, &chain->likelihood, 1);
    spmd_results(run, f->length, family_nodes(f));
    for (size_t node = 0; node < family_nodes(f); node++)
        spmd_result(run, f->parent[node]);
    if (violation)
        return violation;
    return fabs(likelihood / chain->likelihood - 1) < TOLERANCE ? NULL
                                                                : "likelihood_is_that_of_the_tree";
}

static void spoil(struct spmd_run *run, struct prng *prng)
{
    struct family *f = &phylogeny_state.family;
    size_t node = f->taxa + prng_below(prng, (uint32_t)f->taxa - 1);
    size_t at = ((node - f->taxa) * 2 + f->current[node]) * f->sites + prng_next(prng) % f->sites;

    (void)run;
    spmd_spoil(&f->partial[at].of[0][0], RATES * BASES, prng);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int accept(const struct spmd_run *run, char *why, size_t size)
{
    (void)run, (void)why, (void)size;
    return 0;
}

/* Returns the partials of all inner nodes, twice. */
static uint64_t partials(void)
{
    return 2 * (phylogeny_state.taxa - 1) * phylogeny_state.sites;
}

static uint64_t bytes(const struct spmd_run *run)
{
    (void)run;
    return partials() * (sizeof(struct partial) + sizeof(int32_t)) +
           phylogeny_state.taxa * phylogeny_state.sites;
}

static void prepare(struct spmd_run *run)
{
    struct family *f = &phylogeny_state.family;

    f->taxa = phylogeny_state.taxa;
    f->sites = phylogeny_state.sites;
    f->partial = spmd_array(run, "phylo.partials", partials() * sizeof *f->partial);
    f->scale = spmd_array(run, "phylo.scales", partials() * sizeof *f->scale);
    f->sequence = spmd_array(run, "phylo.sequences", f->taxa * f->sites);
}

/* Counts the sites computed. */
static uint64_t ops(const struct spmd_run *run)
{
    (void)run;
    return phylogeny_state.sites * phylogeny_state.moves;
}

static const uint64_t step = 1;
static const struct args_entry entries[] = {
    {"sites", ARGS_NUMBER, &phylogeny_state.sites, 16, 16777216, NULL,
     "bases of a sequence; 265 taxa - 264 bytes for each"},
    {"taxa", ARGS_NUMBER, &phylogeny_state.taxa, 4, TAXA_MAX, NULL, "sequences"},
    {"moves", ARGS_NUMBER, &phylogeny_state.moves, 1, 1000000, NULL, "of a round"},
};

SPMD_PROGRAM(phylogeny, &step, "a Markov chain over trees that sequences may descend from");
