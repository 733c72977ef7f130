/* Likelihoods of trees, compared with sums over all possible histories; and the convergence of the
 * chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "apps/workloads/phylogeny/phylogeny.h"
#include "test/host/double/spmd_run.h"

static struct spmd_run run;
static struct family *const family = &phylogeny_state.family;

static void begin(const char *arguments)
{
    assert_int_equal(program_begin(&run, &phylogeny_program, arguments), 0);
    spmd_work(&run);
}

/* ---- Every base at every inner node ---------------------------------------------------------- */

/* Kimura's probabilities by his formulas, with his two rates. */
static double substitution(double length, double rate, unsigned from, unsigned to)
{
    double beta = length * rate / 4, alpha = 2 * beta;
    double p = 0.25 + 0.25 * exp(-4 * beta) - 0.5 * exp(-2 * (alpha + beta));
    double q = 0.5 - 0.5 * exp(-4 * beta);

    if (from == to)
        return 1 - p - q;
    return from / 2 == to / 2 ? p : q / 2;
}

static double site_by_brute_force(size_t site)
{
    static const double rates[RATES] = {0.0334, 0.2519, 0.8203, 2.8944};
    size_t inner = family->taxa - 1, ways = (size_t)1 << 2 * inner;
    double sum = 0;

    for (unsigned r = 0; r < RATES; r++) {
        for (size_t way = 0; way < ways; way++) {
            double chance = 1.0 / RATES / BASES;
            for (uint32_t node = 0; node < family_root(family); node++) {
                unsigned above = way >> 2 * (family->parent[node] - family->taxa) & 3;
                unsigned below = node < family->taxa ? family->sequence[node * family->sites + site]
                                                     : way >> 2 * (node - family->taxa) & 3;
                chance *= substitution(family->length[node], rates[r], above, below);
            }
            sum += chance;
        }
    }
    return log(sum);
}

static void likelihoods_are_sums_over_all_ways(void **state)
{
    static const char *const shapes[] = {"taxa=4 sites=16 moves=1",
                                         "taxa=5 sites=20 moves=30 threads=3",
                                         "taxa=6 sites=16 moves=40 rounds=2"};

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        double sum = 0;
        begin(shapes[s]);
        for (size_t site = 0; site < family->sites; site++)
            sum += site_by_brute_force(site);
        assert_true(fabs(phylogeny_state.likelihood / sum - 1) < 1e-12);
        spmd_end(&run);
    }
}

/* ---- Without scaling, in a type with room for it --------------------------------------------- */

static void prune_unscaled(uint32_t node, size_t site, unsigned rate, long double out[BASES])
{
    long double below[BASES];

    if (node < family->taxa) {
        for (unsigned base = 0; base < BASES; base++)
            out[base] = family->sequence[node * family->sites + site] == base;
        return;
    }
    for (unsigned base = 0; base < BASES; base++)
        out[base] = 1;
    for (unsigned c = 0; c < 2; c++) {
        uint32_t child = family->child[node][c];
        const struct transition *t = &family->transition[child][rate];
        prune_unscaled(child, site, rate, below);
        for (unsigned base = 0; base < BASES; base++)
            out[base] *= (long double)t->same * below[base] +
                         (long double)t->partner * below[base ^ 1] +
                         (long double)t->other * (below[base ^ 2] + below[base ^ 3]);
    }
}

static void many_tips_do_not_underflow(void **state)
{
    long double sum = 0;

    (void)state;
    begin("taxa=256 sites=16 moves=100");
    int32_t scaled = 0;
    for (size_t site = 0; site < family->sites; site++) {
        long double chance = 0, of[BASES];
        for (unsigned r = 0; r < RATES; r++) {
            prune_unscaled(family_root(family), site, r, of);
            chance += (of[0] + of[1] + of[2] + of[3]) / 16;
        }
        sum += logl(chance);
    }
    for (size_t i = 0; i < 2 * 255 * family->sites; i++)
        scaled = family->scale[i] > scaled ? family->scale[i] : scaled;
    assert_true(scaled >= 2);
    assert_true(fabsl(phylogeny_state.likelihood / sum - 1) < 1e-12L);
    spmd_end(&run);
}

/* ---- The chain ------------------------------------------------------------------------------- */

static void the_chain_comes_to_trees_as_likely_as_the_true_one(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 5; seed++) {
        char arguments[80];
        struct prng data = prng_seeded(seed, 0);
        snprintf(arguments, sizeof arguments, "taxa=8 sites=300 moves=3000 seed=%u", seed);
        begin(arguments);
        double found = phylogeny_state.likelihood,
               accepted = (double)phylogeny_state.accepted / 3000;
        family_make(family, &data);
        uint32_t order[TAXA_MAX];
        size_t count = family_order(family, order);
        for (size_t i = 0; i < count; i++)
            family_prune(family, order[i], 0, family->sites);
        double truth = family_likelihood(family, 0, family->sites);
        assert_true(found > truth - 15 && found < truth + 30);
        assert_true(accepted > 0.05 && accepted < 0.9);
        spmd_end(&run);
    }
}

static void what_is_changed_is_named(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 3; which++) {
        static const char *const wanted[] = {"family_is_a_tree", "likelihoods_follow_from_children",
                                             "likelihood_is_that_of_the_tree"};
        begin("taxa=10 sites=50");
        if (which == 0)
            family->child[12][0] = family->child[12][1];
        else if (which == 1)
            family->sequence[77] ^= 1;
        else
            phylogeny_state.likelihood += 1e-3;
        spmd_check(&run);
        assert_string_equal(run.violation ? run.violation : "nothing", wanted[which]);
        spmd_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihoods_are_sums_over_all_ways),
        cmocka_unit_test(many_tips_do_not_underflow),
        cmocka_unit_test(the_chain_comes_to_trees_as_likely_as_the_true_one),
        cmocka_unit_test(what_is_changed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
