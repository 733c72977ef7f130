/* Periods: adapted to a rate, lengthened to a limit, and drawn as primes. */
#include "test/host/double/expect_panic.h"
#include "hpm/policy/period.h"

enum { CPUS = 4, WINDOW = 1000000 };

/* CPUs that sample events of a rate. A change of the period does not reset their counters. */
struct sampled {
    struct period p;
    struct governor g;
    uint64_t random;
    uint64_t left[CPUS], period[CPUS]; /* distance to the next sample, and its period */
    uint64_t samples;                  /* of the latest window */
};

static struct sampled sampling(uint64_t wanted, uint64_t first, uint64_t seed)
{
    const struct period_config config = {
        .samples = wanted, .window = WINDOW, .min = 1, .max = PERIOD_MAX};
    struct sampled s = {.random = seed * 0x9e3779b97f4a7c15 | 1};

    period_init(&s.p, &config, first);
    governor_init(&s.g);
    for (unsigned c = 0; c < CPUS; c++) {
        s.left[c] = 1 + test_random(&s.random) % s.p.period;
        s.period[c] = s.left[c];
    }
    return s;
}

/* Takes n samples; the first ends the present distance. */
static void take(struct sampled *s, unsigned cpu, uint64_t n, uint64_t period,
                 struct period_window *w)
{
    w->samples += n;
    w->events += s->period[cpu] + (n - 1) * period;
    s->left[cpu] = s->period[cpu] = period;
}

/* Follows a shorter period, which shortens the distance to the next sample and the period of that
 * sample. */
static void follow(struct sampled *s, unsigned cpu)
{
    uint64_t period = governor_stretched(&s->g, s->p.period);

    if (s->left[cpu] > period) {
        s->period[cpu] -= s->left[cpu] - period;
        s->left[cpu] = period;
    }
}

/* Lets events come in time `length`, on all CPUs alike. */
static void pass(struct sampled *s, uint64_t events, uint64_t length)
{
    struct period_window w = {.length = length};

    for (unsigned c = 0; c < CPUS; c++) {
        uint64_t more = events / CPUS;
        uint64_t period = period_draw(governor_stretched(&s->g, s->p.period), &s->random);
        if (more >= s->left[c]) {
            more -= s->left[c];
            take(s, c, 1 + more / period, period, &w);
            more %= period;
        }
        s->left[c] -= more;
    }
    s->samples = w.samples;
    period_update(&s->p, &w);
    for (unsigned c = 0; c < CPUS; c++)
        follow(s, c);
    assert_null(period_check(&s->p));
}

static void assert_close(uint64_t is, uint64_t should, unsigned percent)
{
    if (is * 100 < should * (100 - percent) || is * 100 > should * (100 + percent))
        fail_msg("%llu is not within %u %% of %llu", (unsigned long long)is, percent,
                 (unsigned long long)should);
}

/* ---- Adaptation ------------------------------------------------------------------------------ */

static void a_constant_rate_is_settled_in_one_update_from_any_period(void **state)
{
    const uint64_t wanted = 64 << 10, right = 1 << 13;

    (void)state;
    for (int off = -10; off <= 10; off++) {
        struct sampled s =
            sampling(wanted, off < 0 ? right >> -off : right << off, 1 + (unsigned)off);
        pass(&s, wanted * right, WINDOW);
        assert_close(s.p.period, right, 4); /* 64 samples determine it that well */
        pass(&s, wanted * right, WINDOW);
        assert_close(s.samples, wanted, 8); /* one prime per CPU and window */
    }
}

static void few_samples_shorten_the_period_step_by_step(void **state)
{
    const uint64_t wanted = 100, right = 1 << 13;
    struct sampled s = sampling(wanted, right << 10, 1);
    unsigned updates = 0;

    (void)state;
    for (uint64_t last = s.p.period; s.p.period > right * 5 / 4; last = s.p.period, updates++) {
        pass(&s, wanted * right, WINDOW);
        assert_true(s.p.period >= last / PERIOD_SHRINK_MAX);
        assert_true(updates < 6);
    }
    for (unsigned i = 0; i < PERIOD_WINDOWS + 1; i++)
        pass(&s, wanted * right, WINDOW);
    assert_close(s.p.period, right, 4);
}

static void nothing_sampled_does_not_lead_to_the_shortest_period_at_once(void **state)
{
    struct sampled s = sampling(100, PERIOD_MAX, 1);

    (void)state;
    for (uint64_t expected = PERIOD_MAX / PERIOD_SHRINK_MAX; expected > 1;
         expected /= PERIOD_SHRINK_MAX) {
        pass(&s, 0, WINDOW);
        assert_int_equal(s.p.period, expected);
    }
    for (unsigned i = 0; i < 100; i++)
        pass(&s, 0, WINDOW);
    assert_int_equal(s.p.period, 1);
}

static void a_pause_is_not_followed_by_a_flood(void **state)
{
    const uint64_t wanted = 100, events = wanted << 13;
    struct sampled s = sampling(wanted, 1000, 1);

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        pass(&s, events, WINDOW);
    for (unsigned i = 0; i < 20; i++)
        pass(&s, 0, WINDOW);
    pass(&s, events, WINDOW);
    assert_in_range(s.samples, wanted, 2 * PERIOD_BURST * wanted);
    pass(&s, 0, 0); /* a window without time is ignored */
    pass(&s, events, WINDOW);
    pass(&s, events, WINDOW);
    pass(&s, events, WINDOW);
    pass(&s, events, WINDOW);
    assert_close(s.samples, wanted, 5);
}

static void a_fall_of_the_rate_is_followed_to_any_depth_in_the_end(void **state)
{
    const uint64_t wanted = 100;
    struct sampled s = sampling(wanted, 1000, 1);

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        pass(&s, wanted << 20, WINDOW);
    for (unsigned i = 0; i < 300; i++)
        pass(&s, wanted << 7, WINDOW);
    assert_close(s.p.period, 1 << 7, 5);
}

static void a_step_is_settled_when_it_fills_the_average_and_never_overshot(void **state)
{
    const uint64_t wanted = 100, low = 4000, high = 40000;
    struct sampled s = sampling(wanted, 77, 1);

    (void)state;
    for (unsigned i = 0; i < 20; i++)
        pass(&s, wanted * low, WINDOW);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t last = s.p.period;
        pass(&s, wanted * high, WINDOW);
        assert_true(s.p.period <= high * 21 / 20);
        assert_true(s.p.period >= last * 19 / 20);
    }
    assert_close(s.p.period, high, 5);
    for (unsigned i = 0; i < PERIOD_WINDOWS; i++)
        pass(&s, wanted * low, WINDOW);
    assert_close(s.p.period, low, 8);
}

static void noise_is_averaged_not_amplified(void **state)
{
    const uint64_t wanted = 200, right = 5000;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct sampled s = sampling(wanted, right << 5, seed);
        for (unsigned i = 0; i < 300; i++) {
            /* Uniform, from half to one and a half of it. */
            uint64_t noise = right / 2 + test_random(&s.random) % right;
            pass(&s, wanted * noise, WINDOW);
            if (i >= 3)
                assert_in_range(s.p.period, right * 45 / 100, right * 155 / 100);
        }
    }
}

static void phases_do_not_excite_an_oscillation(void **state)
{
    const uint64_t wanted = 200, low = 2000, high = 10000;

    (void)state;
    for (unsigned half = 1; half <= 40; half++) {
        struct sampled s = sampling(wanted, 1, half);
        for (unsigned i = 0; i < 200; i++) {
            pass(&s, wanted * (i / half % 2 ? high : low), WINDOW);
            if (i)
                assert_in_range(s.p.period, low * 95 / 100, high * 105 / 100);
        }
    }
}

static void short_windows_count_by_their_length(void **state)
{
    const uint64_t wanted = 100, right = 3000;
    struct sampled s = sampling(wanted, 10, 1);

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        uint64_t part = 1 + i % 10;
        pass(&s, wanted * right * part / 10, WINDOW * part / 10);
        assert_close(s.p.period, right, 25);
    }
}

static void no_rate_leads_out_of_range(void **state)
{
    const struct period_config config = {
        .samples = 1, .window = PERIOD_WINDOW_MAX, .min = 40, .max = 5000};
    const struct period_window most = {UINT64_MAX, UINT64_MAX, 1}, none = {0, 0, UINT64_MAX};
    struct period p;

    (void)state;
    period_init(&p, &config, 0);
    assert_int_equal(p.period, 40);
    period_init(&p, &config, UINT64_MAX);
    assert_int_equal(p.period, 5000);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(period_update(&p, &most), 5000);
    for (unsigned i = 0; i < 500; i++)
        period_update(&p, &none);
    assert_int_equal(p.period, 40);
    assert_null(period_check(&p));
}

static void random_windows_break_nothing(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (unsigned run = 0; run < 2000; run++) {
        uint64_t min = 1 + (test_random(&seed) >> (32 + test_random(&seed) % 32));
        struct period_config config = {
            .samples = 1 + (test_random(&seed) >> (44 + test_random(&seed) % 20)),
            .window = 1 + (test_random(&seed) >> (24 + test_random(&seed) % 40)),
            .min = min,
            .max = MIN(min + (test_random(&seed) >> 32), PERIOD_MAX)};
        struct period p;
        period_init(&p, &config, test_random(&seed) >> test_random(&seed) % 64);
        for (unsigned i = 0; i < 50; i++) {
            uint64_t before = p.period, samples = test_random(&seed) >> test_random(&seed) % 64;
            struct period_window w = {.samples = test_random(&seed) % 4 ? samples : 0,
                                      .events = test_random(&seed) >> test_random(&seed) % 64,
                                      .length = test_random(&seed) >> test_random(&seed) % 64};
            period_update(&p, &w);
            assert_null(period_check(&p));
            if (!w.length)
                assert_int_equal(p.period, before);
        }
    }
}

/* ---- Cost ------------------------------------------------------------------------------------ */

/* CPUs that sample at a cost, in windows of CYCLES cycles. */
enum { CYCLES = 200000000, EACH = 4000, PERMILLE = 10 };

/* Returns the cost of a window, in cycles of 100,000. */
static unsigned spent(struct sampled *s, uint64_t events, uint64_t fixed)
{
    pass(s, events, WINDOW);
    uint64_t cycles = s->samples * EACH + fixed;
    governor_update(&s->g, cycles, (uint64_t)CPUS * CYCLES, PERMILLE);
    assert_null(governor_check(&s->g));
    return (unsigned)(cycles * 100000 / ((uint64_t)CPUS * CYCLES));
}

static void the_limit_holds_however_many_samples_are_wanted(void **state)
{
    (void)state;
    /* 2,000 would cost exactly the limit */
    for (uint64_t wanted = 3000; wanted <= 300000; wanted *= 10) {
        struct sampled s = sampling(wanted, 100, wanted);
        spent(&s, wanted * 100, 0);
        assert_int_equal(s.g.reason, GOVERNOR_OVERHEAD);
        spent(&s, wanted * 100, 0); /* its first samples still have the old period */
        for (unsigned i = 0; i < 100; i++)
            assert_in_range(spent(&s, wanted * 100, 0), 70 * PERMILLE, 100 * PERMILLE);
        assert_int_equal(s.g.reason, GOVERNOR_OVERHEAD);
    }
}

static void the_limit_holds_with_a_cost_that_no_period_changes(void **state)
{
    const uint64_t fixed = (uint64_t)CPUS * CYCLES * PERMILLE / 1000 * 6 / 10;
    struct sampled s = sampling(20000, 100, 1);

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        unsigned part = spent(&s, 20000 * 100, fixed);
        if (i >= 20)
            assert_in_range(part, 70 * PERMILLE, 100 * PERMILLE);
    }
}

static void a_limit_that_is_not_reached_changes_nothing(void **state)
{
    struct sampled s = sampling(1500, 100, 1);

    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        spent(&s, 1500 * 100, 0);
        assert_int_equal(s.g.stretch, GOVERNOR_ONE);
        assert_int_equal(s.g.reason, GOVERNOR_IDLE);
    }
}

static void the_governor_comes_back_slowly_and_says_so(void **state)
{
    struct governor g;
    unsigned windows = 0;

    (void)state;
    governor_init(&g);
    governor_update(&g, 80, 1000, PERMILLE);
    assert_int_equal(g.reason, GOVERNOR_OVERHEAD);
    assert_close(g.stretch, 8 * GOVERNOR_ONE * 8 / 7, 1);
    for (uint64_t last = g.stretch; g.reason != GOVERNOR_IDLE; last = g.stretch, windows++) {
        governor_update(&g, 0, 1000, PERMILLE);
        assert_true(g.stretch < last &&
                    (g.stretch >= last - last / 8 || g.stretch == GOVERNOR_ONE));
    }
    assert_int_equal(g.stretch, GOVERNOR_ONE);
    assert_in_range(windows, 16, 20);
}

static void no_time_is_no_news_to_the_governor(void **state)
{
    struct governor g;

    (void)state;
    governor_init(&g);
    governor_storm(&g, 4);
    assert_int_equal(governor_update(&g, 0, 0, 1), GOVERNOR_STORM);
    assert_int_equal(g.stretch, 4 * GOVERNOR_ONE);
}

static void a_storm_lengthens_all_periods_and_passes(void **state)
{
    struct governor g;

    (void)state;
    governor_init(&g);
    governor_storm(&g, 1);
    assert_int_equal(g.reason, GOVERNOR_IDLE);
    governor_storm(&g, 16);
    assert_int_equal(g.reason, GOVERNOR_STORM);
    assert_int_equal(governor_stretched(&g, 1000), 16000);
    for (unsigned i = 0; i < 30; i++)
        governor_update(&g, 1, 1000, PERMILLE);
    assert_int_equal(g.reason, GOVERNOR_IDLE);
    assert_int_equal(governor_stretched(&g, 1000), 1000);
}

static void stretched_periods_stay_in_range(void **state)
{
    struct governor g;

    (void)state;
    governor_init(&g);
    for (unsigned i = 0; i < 100; i++) {
        governor_storm(&g, (uint64_t)1 << 32);
        assert_null(governor_check(&g));
    }
    governor_update(&g, UINT64_MAX, (uint64_t)1 << 54, 1000);
    assert_null(governor_check(&g));
    assert_int_equal(governor_stretched(&g, PERIOD_MAX), PERIOD_MAX);
    assert_int_equal(governor_stretched(&g, 1000), 1000 * (GOVERNOR_MAX / GOVERNOR_ONE) > PERIOD_MAX
                                                       ? PERIOD_MAX
                                                       : 1000 * (GOVERNOR_MAX / GOVERNOR_ONE));
    assert_int_equal(governor_stretched(&g, PERIOD_MAX * 100), PERIOD_MAX * 100);
}

/* ---- Primes ---------------------------------------------------------------------------------- */

static bool divides(uint64_t n)
{
    for (uint64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return true;
    return n < 2;
}

static void primes_are_those_that_nothing_divides(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint64_t n = 0; n < 200000; n++)
        assert_int_equal(period_is_prime(n), !divides(n));
    for (uint64_t n = ((uint64_t)1 << 32) - 500; n < (uint64_t)1 << 32; n++)
        assert_int_equal(period_is_prime(n), !divides(n));
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t n = test_random(&seed) >> 32;
        assert_int_equal(period_is_prime(n), !divides(n));
    }
}

/* Composite numbers that pass the test for one or two of the bases (OEIS A001262, A072276; Jaeschke
 * 1993). */
static void strong_pseudoprimes_are_no_primes(void **state)
{
    static const uint64_t liars[] = {
        2047,      3277,      4033,       4681,       8321,       15841,
        29341,     42799,     49141,      52633,      65281,      74665,
        80581,     314821,    476971,     1373653,    1530787,    25326001,
        161304001, 960946321, 1157839381, 3215031751, 3697278427, 2152302898747 % (1ull << 32)};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(liars); i++)
        assert_int_equal(period_is_prime(liars[i]), !divides(liars[i]));
    assert_false(period_is_prime(3215031751)); /* of bases 2, 3, 5 and 7 */
    assert_true(period_is_prime(4294967291));
}

static void drawn_periods_are_primes_near_the_mean(void **state)
{
    uint64_t random = 1, seed = 1;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t mean = 2 + (test_random(&seed) >> (32 + test_random(&seed) % 31)),
                 gap = mean < 1000 ? 34 : 336;
        uint64_t drawn = period_draw(mean, &random);
        assert_true(drawn <= PERIOD_MAX);
        if (drawn <= 4294967291)
            assert_true(period_is_prime(drawn));
        else
            assert_true(mean > PERIOD_MAX - PERIOD_MAX / 16);
        assert_in_range(drawn, mean - MIN(mean / 16 + gap, mean - 2), mean + mean / 16 + gap);
    }
}

static void the_mean_of_drawn_periods_is_the_one_asked_for(void **state)
{
    static const uint64_t means[] = {2,
                                     3,
                                     4,
                                     8,
                                     10,
                                     16,
                                     20,
                                     24,
                                     32,
                                     33,
                                     100,
                                     128,
                                     1000,
                                     4096,
                                     10000,
                                     65536,
                                     100000,
                                     1000003,
                                     16777216,
                                     100000000,
                                     1 << 30,
                                     4000000000,
                                     PERIOD_MAX - 1};
    uint64_t random = 7;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(means); i++) {
        enum { DRAWS = 20000 };
        uint64_t sum = 0;
        for (unsigned n = 0; n < DRAWS; n++)
            sum += period_draw(means[i], &random);
        uint64_t off = sum > means[i] * DRAWS ? sum - means[i] * DRAWS : means[i] * DRAWS - sum;
        if (off * 200 > means[i] * DRAWS)
            fail_msg("%llu: %f", (unsigned long long)means[i], (double)sum / DRAWS);
    }
}

static void many_periods_are_drawn_around_one_mean(void **state)
{
    uint64_t random = 1, seen[64], different = 0, least = UINT64_MAX, most = 0;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(seen); i++) {
        unsigned k = 0;
        seen[i] = period_draw(100000, &random);
        while (seen[k] != seen[i])
            k++;
        different += k == i;
        least = MIN(least, seen[i]);
        most = MAX(most, seen[i]);
    }
    assert_true(different > 50);
    assert_true(least < 95000 && most > 105000);
}

static void what_has_no_prime_near_is_left_as_it_is(void **state)
{
    uint64_t random = 1;

    (void)state;
    assert_int_equal(period_draw(1, &random), 1);
    for (unsigned i = 0; i < 100; i++)
        assert_in_range(period_draw(3600 * NS_PER_S, &random), 3375 * NS_PER_S, 3825 * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_rate_is_settled_in_one_update_from_any_period),
        cmocka_unit_test(few_samples_shorten_the_period_step_by_step),
        cmocka_unit_test(nothing_sampled_does_not_lead_to_the_shortest_period_at_once),
        cmocka_unit_test(a_pause_is_not_followed_by_a_flood),
        cmocka_unit_test(a_fall_of_the_rate_is_followed_to_any_depth_in_the_end),
        cmocka_unit_test(a_step_is_settled_when_it_fills_the_average_and_never_overshot),
        cmocka_unit_test(noise_is_averaged_not_amplified),
        cmocka_unit_test(phases_do_not_excite_an_oscillation),
        cmocka_unit_test(short_windows_count_by_their_length),
        cmocka_unit_test(no_rate_leads_out_of_range),
        cmocka_unit_test(random_windows_break_nothing),
        cmocka_unit_test(the_limit_holds_however_many_samples_are_wanted),
        cmocka_unit_test(the_limit_holds_with_a_cost_that_no_period_changes),
        cmocka_unit_test(a_limit_that_is_not_reached_changes_nothing),
        cmocka_unit_test(the_governor_comes_back_slowly_and_says_so),
        cmocka_unit_test(no_time_is_no_news_to_the_governor),
        cmocka_unit_test(a_storm_lengthens_all_periods_and_passes),
        cmocka_unit_test(stretched_periods_stay_in_range),
        cmocka_unit_test(primes_are_those_that_nothing_divides),
        cmocka_unit_test(strong_pseudoprimes_are_no_primes),
        cmocka_unit_test(drawn_periods_are_primes_near_the_mean),
        cmocka_unit_test(the_mean_of_drawn_periods_is_the_one_asked_for),
        cmocka_unit_test(many_periods_are_drawn_around_one_mean),
        cmocka_unit_test(what_has_no_prime_near_is_left_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
