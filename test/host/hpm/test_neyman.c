/* Weights from variances: against all weights that there are, and in turns that are played. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "hpm/policy/mux.h"
#include "hpm/policy/shares.h"
#include "test/host/double/expect_panic.h"

static uint64_t seed;

static uint32_t next_random(uint32_t below)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)((seed >> 33) % below);
}

/* ---- Against all weights --------------------------------------------------------------------- */

/* The sum of variances: the heaviest events share groups, of the same weight those that vary most,
 * and a group has as many slices as its heaviest. */
static double oracle(const uint32_t *deviation, const uint8_t *weight, unsigned n,
                     unsigned counters)
{
    bool placed[GROUP_EVENTS_MAX] = {false};
    double slices[GROUP_EVENTS_MAX], all = 0, sum = 0;

    for (unsigned i = 0, heaviest = 0; i < n; i++) {
        unsigned next = n;
        for (unsigned e = 0; e < n; e++)
            if (!placed[e] && (next == n || weight[e] > weight[next] ||
                               (weight[e] == weight[next] && deviation[e] > deviation[next])))
                next = e;
        placed[next] = true;
        if (i % counters == 0) {
            heaviest = weight[next];
            all += heaviest;
        }
        slices[next] = heaviest;
    }
    for (unsigned e = 0; e < n; e++)
        sum += (double)deviation[e] * deviation[e] * (all - slices[e]) / slices[e];
    return sum;
}

static double least_of_all(const uint32_t *deviation, unsigned n, unsigned counters)
{
    uint8_t weight[4];
    double least = -1;

    for (unsigned code = 0; code < 1u << 3 * n; code++) {
        for (unsigned e = 0; e < n; e++)
            weight[e] = (uint8_t)(1 + (code >> 3 * e & 7));
        double is = oracle(deviation, weight, n, counters);
        least = least < 0 || is < least ? is : least;
    }
    return least;
}

static void weights_are_in_range_and_nearly_the_best_that_there_are(void **state)
{
    const uint8_t equal[GROUP_EVENTS_MAX] = {1, 1, 1, 1};
    double worst = 1;

    (void)state;
    seed = 1;
    for (unsigned trial = 0; trial < 600; trial++) {
        unsigned n = 1 + next_random(4), counters = 1 + next_random(2);
        uint32_t deviation[4], scale = 1u << next_random(16);
        uint8_t weight[4] = {0};
        for (unsigned e = 0; e < n; e++)
            deviation[e] = next_random(16) * scale >> next_random(5);
        shares_neyman(deviation, n, counters, weight);
        for (unsigned e = 0; e < n; e++)
            assert_in_range(weight[e], 1, WEIGHT_MAX);
        double is = oracle(deviation, weight, n, counters),
               least = least_of_all(deviation, n, counters);
        assert_true(is <= oracle(deviation, equal, n, counters) * (1 + 1e-9));
        worst = least > 0 && is / least > worst ? is / least : worst;
    }
    printf("at worst %.3f of the least\n", worst);
    assert_true(worst < 1.05);
}

static void heavier_events_vary_more(void **state)
{
    (void)state;
    seed = 2;
    for (unsigned trial = 0; trial < 3000; trial++) {
        unsigned n = 1 + next_random(GROUP_EVENTS_MAX);
        uint32_t deviation[GROUP_EVENTS_MAX];
        uint8_t weight[GROUP_EVENTS_MAX];
        for (unsigned e = 0; e < n; e++)
            deviation[e] = next_random(4) ? next_random(DEVIATION_MAX + 1) : next_random(100);
        shares_neyman(deviation, n, 1 + next_random(6), weight);
        for (unsigned a = 0; a < n; a++)
            for (unsigned b = 0; b < n; b++)
                assert_true(deviation[a] >= deviation[b] ? weight[a] >= weight[b] : true);
    }
}

static void events_that_vary_alike_weigh_one(void **state)
{
    static const uint32_t of[] = {0, 1, 700, DEVIATION_MAX};
    uint32_t deviation[GROUP_EVENTS_MAX];
    uint8_t weight[GROUP_EVENTS_MAX];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned e = 0; e < GROUP_EVENTS_MAX; e++)
            deviation[e] = of[i];
        shares_neyman(deviation, GROUP_EVENTS_MAX, 3, weight);
        for (unsigned e = 0; e < GROUP_EVENTS_MAX; e++)
            assert_int_equal(weight[e], 1);
    }
    shares_neyman((uint32_t[]){80, 40, 20, 10}, 4, 1, weight);
    assert_memory_equal(weight, ((uint8_t[]){8, 4, 2, 1}), 4);
    EXPECT_PANIC(shares_neyman(deviation, GROUP_EVENTS_MAX + 1, 3, weight));
    EXPECT_PANIC(shares_neyman(deviation, GROUP_EVENTS_MAX, 0, weight));
}

/* ---- In turns -------------------------------------------------------------------------------- */

enum { EVENTS = 8, SLICES = 4800, TRIALS = 60 };

/* Makes the plan of these weights on two counters. */
static void make_plan(const uint8_t *weight, struct mux_plan *out)
{
    static struct shares_work work;
    static struct group_plan groups;
    struct group_event event[EVENTS];
    struct group_cause cause;
    struct mux_config config = {.unit = MUX_CYCLES, .passes = 1};
    unsigned slots = 0;

    for (unsigned e = 0; e < EVENTS; e++)
        event[e] = (struct group_event){.mask = 3, .fixed = GROUP_NIL};
    const struct group_request r = {.events = EVENTS, .counters = 2, .event = event};
    assert_int_equal(shares_pack(&r, weight, &groups, config.share, &work, &cause), 0);
    for (unsigned g = 0; g < groups.groups; g++)
        slots += config.share[g];
    config.round = (uint64_t)slots * MUX_SLICE_MIN;
    assert_int_equal(mux_plan_init(out, &config, &groups), 0);
}

/* Plays turns. In each slice each event has its mean, 10,000, plus what has its deviation. Returns
 * the sum over events of the estimates' squared relative errors. */
static double play(const uint8_t *weight, const uint32_t *deviation)
{
    static struct mux_plan plan;
    struct mux_turns turns;
    double errors = 0;

    make_plan(weight, &plan);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        double truth[EVENTS] = {0}, counted[EVENTS] = {0};
        unsigned seen[EVENTS] = {0};
        mux_turns_init(&turns, &plan.rounds, trial + 1);
        for (unsigned slice = 0; slice < SLICES; slice++) {
            uint64_t now = plan.group[mux_turns_group(&turns)].events;
            for (unsigned e = 0; e < EVENTS; e++) {
                /* Uniform within sqrt(3) deviations. */
                double is = 10000 + deviation[e] * ((double)next_random(2001) - 1000) * 1.732e-3;
                truth[e] += is;
                counted[e] += now >> e & 1 ? is : 0;
                seen[e] += now >> e & 1;
            }
            mux_turns_next(&turns, &plan.rounds);
        }
        for (unsigned e = 0; e < EVENTS; e++) {
            double off = counted[e] * SLICES / seen[e] / truth[e] - 1;
            errors += off * off;
        }
    }
    return errors;
}

static void in_turns_the_sum_of_variances_is_at_most_that_of_equal_weights(void **state)
{
    /* least: how much smaller it is to be at least, in %. */
    static const struct {
        uint32_t deviation[EVENTS];
        unsigned least;
    } mixes[] = {
        {{500, 500, 500, 500, 500, 500, 500, 500}, 0},
        {{0, 0, 0, 0, 0, 0, 0, 0}, 0},
        {{4000, 3900, 100, 100, 100, 100, 100, 100}, 40},
        {{4000, 100, 100, 100, 100, 100, 100, 100}, 40},
        {{3000, 2000, 1000, 500, 250, 125, 60, 30}, 20},
        {{8000, 8000, 8000, 8000, 10, 10, 10, 10}, 20},
        {{100, 200, 300, 400, 500, 600, 700, 800}, 5},
    };
    const uint8_t equal[EVENTS] = {1, 1, 1, 1, 1, 1, 1, 1};

    (void)state;
    for (unsigned m = 0; m < sizeof mixes / sizeof mixes[0]; m++) {
        uint8_t weight[EVENTS];
        shares_neyman(mixes[m].deviation, EVENTS, 2, weight);
        seed = 11;
        double with_equal = play(equal, mixes[m].deviation);
        seed = 11;
        double is = play(weight, mixes[m].deviation);
        if (is > with_equal * (100 - mixes[m].least) / 100)
            fail_msg("mix %u: %g, with equal weights %g", m, is, with_equal);
    }
}

/* What shares_variance expects of two plans is in proportion to what happens. */
static void the_expected_variance_is_that_of_turns(void **state)
{
    static const uint32_t deviation[EVENTS] = {3000, 2000, 1000, 500, 250, 125, 60, 30};
    static const uint8_t weights[][EVENTS] = {
        {1, 1, 1, 1, 1, 1, 1, 1}, {8, 8, 4, 4, 2, 2, 1, 1}, {1, 1, 2, 2, 4, 4, 8, 8}};
    static struct mux_plan plan;
    double ratio[3];

    (void)state;
    for (unsigned w = 0; w < 3; w++) {
        make_plan(weights[w], &plan);
        seed = 5;
        ratio[w] = play(weights[w], deviation) /
                   (double)shares_variance(deviation, plan.slots_with, EVENTS, plan.rounds.slots);
    }
    for (unsigned w = 1; w < 3; w++)
        assert_true(ratio[w] > ratio[0] * 0.7 && ratio[w] < ratio[0] * 1.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_in_range_and_nearly_the_best_that_there_are),
        cmocka_unit_test(heavier_events_vary_more),
        cmocka_unit_test(events_that_vary_alike_weigh_one),
        cmocka_unit_test(in_turns_the_sum_of_variances_is_at_most_that_of_equal_weights),
        cmocka_unit_test(the_expected_variance_is_that_of_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
