/*
 * Likelihood of sequences by a tree, by pruning (Felsenstein, "Evolutionary trees from DNA
 * sequences", 1981).
 *
 * Each inner node has, for each site and each base at the node, the likelihood of everything below
 * it, which follows from its children's. Substitutions are after Kimura (1980), partners twice as
 * often as others. Sites evolve at one of four rates, which stand for a gamma distribution of shape
 * 0.5 (Yang, 1994). Likelihoods of many tips are tiny: when all of a site's are below 2^-SCALE they
 * are multiplied by 2^SCALE, and the multiplications are counted.
 */
#include "apps/workloads/phylogeny/likelihood.h"
#include <math.h>
#include "apps/common/real.h"

enum { SCALE = 128 };
#define LENGTH_LEAST 0.02
#define LENGTH_RANGE 0.2
#define TOLERANCE    1e-12

static const double rate_of[RATES] = {0.0334, 0.2519, 0.8203, 2.8944};

/* ---- Trees ----------------------------------------------------------------------------------- */

/* Kimura's model with kappa 2. */
void family_set_length(struct family *f, uint32_t node, double length)
{
    f->length[node] = length;
    for (unsigned r = 0; r < RATES; r++) {
        double all = real_exp(-length * rate_of[r]), half = real_exp(-1.5 * length * rate_of[r]);
        f->transition[node][r] = (struct transition){0.25 + all / 4 + half / 2,
                                                     0.25 + all / 4 - half / 2, 0.25 - all / 4};
    }
}

void family_replace(struct family *f, uint32_t parent, uint32_t was, uint32_t node)
{
    f->child[parent][f->child[parent][1] == was] = node;
    f->parent[node] = parent;
}

void family_make(struct family *f, struct prng *prng)
{
    uint32_t open[TAXA_MAX], count = (uint32_t)f->taxa;

    for (uint32_t i = 0; i < count; i++)
        open[i] = i;
    for (uint32_t node = (uint32_t)f->taxa; count > 1; node++) {
        for (unsigned c = 0; c < 2; c++) {
            uint32_t at = prng_below(prng, count);
            f->child[node][c] = open[at];
            f->parent[open[at]] = node;
            open[at] = open[--count];
        }
        open[count++] = node;
    }
    f->parent[family_root(f)] = NO_NODE;
    for (uint32_t node = 0; node < family_nodes(f); node++)
        family_set_length(f, node, LENGTH_LEAST + LENGTH_RANGE * prng_unit(prng_next(prng)));
}

size_t family_order(const struct family *f, uint32_t order[TAXA_MAX])
{
    uint32_t stack[NODES_MAX], depth = 0;
    size_t count = f->taxa - 1, left = count;

    stack[depth++] = family_root(f);
    while (depth) { /* parents first, from the end */
        uint32_t node = stack[--depth];
        order[--left] = node;
        for (unsigned c = 0; c < 2; c++) {
            if (!family_is_tip(f, f->child[node][c]))
                stack[depth++] = f->child[node][c];
        }
    }
    return count;
}

static unsigned descend(const struct transition *t, unsigned base, struct prng *prng)
{
    double chance = prng_unit(prng_next(prng));

    if (chance < t->same)
        return base;
    if (chance < t->same + t->partner)
        return base ^ 1;
    return base ^ (chance < t->same + t->partner + t->other ? 2 : 3);
}

void family_evolve(struct family *f, struct prng *prng)
{
    uint32_t order[TAXA_MAX];
    uint8_t base[NODES_MAX];
    size_t count = family_order(f, order);

    for (size_t site = 0; site < f->sites; site++) {
        unsigned rate = prng_below(prng, RATES);
        base[family_root(f)] = (uint8_t)prng_below(prng, BASES);
        for (size_t i = count; i-- > 0;) {
            for (unsigned c = 0; c < 2; c++) {
                uint32_t child = f->child[order[i]][c];
                base[child] = (uint8_t)descend(&f->transition[child][rate], base[order[i]], prng);
            }
        }
        for (size_t tip = 0; tip < f->taxa; tip++)
            f->sequence[tip * f->sites + site] = base[tip];
    }
}

/* ---- Pruning --------------------------------------------------------------------------------- */

static size_t partial_at(const struct family *f, uint32_t node, size_t site)
{
    return ((node - f->taxa) * 2 + f->current[node]) * f->sites + site;
}

/* Returns the likelihood along a branch, from that at its lower end. */
static double along(const struct transition *t, const double of[BASES], unsigned base)
{
    return t->same * of[base] + t->partner * of[base ^ 1] +
           t->other * (of[base ^ 2] + of[base ^ 3]);
}

static double along_to_tip(const struct transition *t, unsigned tip, unsigned base)
{
    return tip == base ? t->same : tip == (base ^ 1) ? t->partner : t->other;
}

/* Multiplies a site by a child's likelihood, or sets it for the first child. */
static void take_child(const struct family *f, uint32_t child, size_t site, bool first,
                       struct partial *out)
{
    bool tip = family_is_tip(f, child);
    const struct partial *below = tip ? NULL : &f->partial[partial_at(f, child, site)];
    unsigned known = tip ? f->sequence[child * f->sites + site] : 0;

    for (unsigned r = 0; r < RATES; r++) {
        const struct transition *t = &f->transition[child][r];
        for (unsigned base = 0; base < BASES; base++) {
            double factor = tip ? along_to_tip(t, known, base) : along(t, below->of[r], base);
            out->of[r][base] = first ? factor : out->of[r][base] * factor;
        }
    }
}

static double largest_of(const struct partial *p)
{
    double largest = 0;

    for (unsigned i = 0; i < RATES * BASES; i++)
        largest = p->of[i / BASES][i % BASES] > largest ? p->of[i / BASES][i % BASES] : largest;
    return largest;
}

static int32_t scale_of(const struct family *f, uint32_t child, size_t site)
{
    return family_is_tip(f, child) ? 0 : f->scale[partial_at(f, child, site)];
}

void family_prune(struct family *f, uint32_t node, size_t from, size_t to)
{
    const uint32_t *child = f->child[node];

    for (size_t site = from; site < to; site++) {
        size_t at = partial_at(f, node, site);
        struct partial *p = &f->partial[at];
        take_child(f, child[0], site, true, p);
        take_child(f, child[1], site, false, p);
        f->scale[at] = scale_of(f, child[0], site) + scale_of(f, child[1], site);
        if (largest_of(p) < 0x1p-128) {
            for (unsigned i = 0; i < RATES * BASES; i++)
                p->of[i / BASES][i % BASES] *= 0x1p128;
            f->scale[at]++;
        }
    }
}

double family_likelihood(const struct family *f, size_t from, size_t to)
{
    double sum = 0;

    for (size_t site = from; site < to; site++) {
        size_t at = partial_at(f, family_root(f), site);
        double chance = 0;
        for (unsigned i = 0; i < RATES * BASES; i++)
            chance += f->partial[at].of[i / BASES][i % BASES];
        sum += real_log(chance / (RATES * BASES)) - f->scale[at] * (SCALE * 0x1.62e42fefa39efp-1);
    }
    return sum;
}

/* ---- The check ------------------------------------------------------------------------------- */

static bool is_tree(const struct family *f)
{
    uint32_t order[TAXA_MAX];
    size_t tips = 0, count;

    for (uint32_t node = (uint32_t)f->taxa; node < family_nodes(f); node++) {
        for (unsigned c = 0; c < 2; c++) {
            uint32_t child = f->child[node][c];
            if (child >= family_nodes(f) || child == family_root(f) || f->parent[child] != node)
                return false;
        }
        if (f->child[node][0] == f->child[node][1])
            return false;
    }
    count = family_order(f, order); /* each node has one parent, so it is met once */
    for (size_t i = 0; i < count; i++)
        tips += family_is_tip(f, f->child[order[i]][0]) + family_is_tip(f, f->child[order[i]][1]);
    return tips == f->taxa;
}

/* Computes a partial from the children's by the whole matrix of substitutions, unscaled but for
 * theirs. */
static double by_definition(const struct family *f, uint32_t node, size_t site, unsigned rate,
                            unsigned base)
{
    double product = 1;

    for (unsigned c = 0; c < 2; c++) {
        uint32_t child = f->child[node][c];
        const struct transition *t = &f->transition[child][rate];
        /* By difference of bases. */
        const double row[BASES] = {t->same, t->partner, t->other, t->other};
        double sum = 0;
        for (unsigned to = 0; to < BASES; to++) {
            double below = family_is_tip(f, child)
                               ? f->sequence[child * f->sites + site] == to
                               : f->partial[partial_at(f, child, site)].of[rate][to];
            sum += row[base ^ to] * below;
        }
        product *= sum;
    }
    return product;
}

static double site_difference(const struct family *f, uint32_t node, size_t site)
{
    size_t at = partial_at(f, node, site);
    int32_t scaled =
        f->scale[at] - scale_of(f, f->child[node][0], site) - scale_of(f, f->child[node][1], site);
    double worst = 0, factor = scaled == 1 ? 0x1p128 : scaled == 0 ? 1 : 0;

    for (unsigned i = 0; i < RATES * BASES; i++)
        worst = fmax(worst, fabs(f->partial[at].of[i / BASES][i % BASES] -
                                 factor * by_definition(f, node, site, i / BASES, i % BASES)));
    return worst / largest_of(&f->partial[at]);
}

const char *family_check(const struct family *f, double *worst)
{
    if (!is_tree(f))
        return "family_is_a_tree";
    *worst = 0;
    for (uint32_t node = (uint32_t)f->taxa; node < family_nodes(f); node++) {
        for (size_t site = 0; site < f->sites; site++)
            *worst = fmax(*worst, site_difference(f, node, site));
    }
    return *worst < TOLERANCE ? NULL : "likelihoods_follow_from_children";
}
