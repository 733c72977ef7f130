/*
 * Sharing samplers: whatever is sampled together, the periods of each handle's samples add up to
 * the accesses that there were. A machine with samplers as hpm/policy/sample.h describes them runs
 * many accesses, for every subset of five criteria, by samplers of their own and by one that they
 * share. ACCESSES=10000000 in the environment makes it longer.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "hpm/policy/access_share.h"
#include "hpm/policy/breakdown.h"
#include "hpm/policy/draw.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

#define BOTH .user = true, .kernel = true
static const struct hpm_sampling wants[] = {
    {.sources = SOURCES_REMOTE_CACHE, .period = 37, .jitter = 18, BOTH},
    {.sources = 3u << SOURCE_LOCAL_MEMORY, .period = 61, .user = true},
    {.walks = true, .period = 20, .jitter = 10, BOTH},
    {.sources = 0x7e, .min_latency = 200, .period = 130, BOTH},
    {.fetches = true, .period = 16, BOTH},
};
enum { WANTS = ARRAY_SIZE(wants) };

/* ---- A machine ------------------------------------------------------------------------------- */

static struct {
    unsigned samplers;
    struct hpm_sampling programme[PMU_SAMPLERS_MAX]; /* period 0: off */
    uint64_t left[PMU_SAMPLERS_MAX];
    uint64_t random;
    struct access_share share;
    struct access_deal deal;
    uint64_t truth[ACCESS_HANDLES], sum[ACCESS_HANDLES], taken[ACCESS_HANDLES];
} m;

static void begin_distance(unsigned n)
{
    const struct hpm_sampling *p = &m.programme[n];

    m.left[n] = draw_around(&m.random, p->period, p->jitter);
}

/* Does what a CPU does to follow a plan. */
static void follow(const struct access_share *now)
{
    for (unsigned n = 0; n < m.samplers; n++) {
        if (!access_share_changed(&m.share, now, n))
            continue;
        uint32_t left = m.programme[n].period ? (uint32_t)m.left[n] : 0;
        m.programme[n] = now->members[n] ? now->programme[n] : (struct hpm_sampling){0};
        if (m.programme[n].period)
            begin_distance(n);
        access_deal_cut(&m.deal, &m.share, n, left);
    }
    access_deal_follow(&m.deal, &m.share, now);
    m.share = *now;
}

static void begin(unsigned samplers, uint64_t seed)
{
    memset(&m, 0, sizeof m);
    m.samplers = samplers;
    m.random = draw_begin((unsigned)seed);
    access_share_init(&m.share, samplers);
    access_deal_init(&m.deal, (unsigned)seed + 100);
}

static void set(unsigned h, const struct hpm_sampling *want)
{
    struct access_share now = m.share;

    access_share_set(&now, h, want);
    follow(&now);
}

static void access_memory(struct hpm_sample *s)
{
    uint32_t period[ACCESS_HANDLES];

    s->samplers = 0;
    for (unsigned h = 0; h < ACCESS_HANDLES; h++)
        m.truth[h] += (m.share.on >> h & 1) && sample_wanted(&m.share.want[h], s);
    for (unsigned n = 0; n < m.samplers; n++) {
        if (!m.programme[n].period || !sample_wanted(&m.programme[n], s) || --m.left[n])
            continue;
        begin_distance(n);
        s->samplers |= (uint8_t)(1u << n);
    }
    if (!s->samplers)
        return;
    uint32_t takers = access_deal(&m.deal, &m.share, s, period);
    assert_false(takers & ~m.share.on);
    for (; takers; takers &= takers - 1) {
        unsigned h = (unsigned)__builtin_ctz(takers);
        m.sum[h] += period[h];
        m.taken[h]++;
    }
}

/* Accesses at random, or those of a loop of 64, which is in step with many periods. */
static struct hpm_sample draw_access(uint64_t i, bool loop)
{
    static const uint16_t latency[] = {0, 14, 91, 120, 205, 280, 307};
    uint64_t r = loop ? (i % 64 + 1) * 0x9e3779b97f4a7c15 : draw_bits(&m.random);
    struct hpm_sample s = {.user = r & 1, .fetch = (r >> 1) % 16 == 0};

    s.source = s.fetch ? SOURCE_L1 : (uint8_t)((r >> 8) % 7);
    s.latency = latency[s.source];
    s.walk = s.fetch || (r >> 16) % 8 == 0 ? 60 : 0;
    return s;
}

static uint64_t accesses(void)
{
    const char *wanted = getenv("ACCESSES");

    return wanted ? strtoull(wanted, NULL, 10) : 300000;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Returns the difference, in standard deviations, between the truth and what handle h has sampled
 * or has on the way. A sampler of its own errs by its distances, which are uniform; of a shared one
 * each record is there by chance. */
static double deviation(unsigned h)
{
    unsigned n = m.share.sampler[h];
    const struct hpm_sampling *p = &m.share.programme[n];
    bool alone = !(m.share.members[n] & (m.share.members[n] - 1));
    double base = p->period, truth = (double)m.truth[h], records = truth / base,
           variance = alone ? records * p->jitter * (p->jitter + 1) / 3 : records * base * base;
    double sum = (double)(m.sum[h] + m.deal.passed[h]);

    if (alone)
        sum += base - (double)m.left[n];
    return (sum - truth) / sqrt(variance + base * base);
}

static struct {
    unsigned count, beyond;
    double sum, squares;
} z;

static void note(double deviation)
{
    z.count++;
    z.beyond += fabs(deviation) > 3;
    z.sum += deviation;
    z.squares += deviation * deviation;
}

/* Without bias the mean of the deviations is 0, and one in 370 is beyond three. */
static void assert_unbiased(double squares_least)
{
    if (z.beyond > 1 + z.count / 100 || fabs(z.sum / z.count) > 3 / sqrt(z.count) ||
        z.squares / z.count > 1.5 || z.squares / z.count < squares_least)
        fail_msg("of %u, %u are beyond 3 sigma, mean %.3f, mean square %.3f", z.count, z.beyond,
                 z.sum / z.count, z.squares / z.count);
}

static void run_subsets(unsigned samplers, bool loop)
{
    uint64_t n = accesses();

    for (unsigned subset = 1; subset < 1u << WANTS; subset++) {
        begin(samplers, subset);
        for (unsigned h = 0; h < WANTS; h++)
            if (subset >> h & 1)
                set(h, &wants[h]);
        for (uint64_t i = 0; i < n; i++) {
            struct hpm_sample s = draw_access(i, loop);
            access_memory(&s);
        }
        for (unsigned h = 0; h < WANTS; h++)
            if (subset >> h & 1)
                note(deviation(h));
    }
}

static void every_subset_is_estimated_without_bias(void **state)
{
    static const unsigned samplers[] = {4, 1, 2};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(samplers); i++) {
        memset(&z, 0, sizeof z);
        run_subsets(samplers[i], false);
        assert_int_equal(z.count, 80);
        assert_unbiased(0.1);
    }
}

/* A handle alone draws its distances as it was asked to; those that share a sampler get random
 * ones, so that they are not in step with a loop. */
static void a_loop_is_estimated_without_bias_by_a_shared_sampler(void **state)
{
    (void)state;
    memset(&z, 0, sizeof z);
    run_subsets(1, true);
    assert_unbiased(0.05);
}

static void every_handle_has_about_its_period(void **state)
{
    (void)state;
    for (unsigned samplers = 1; samplers <= PMU_SAMPLERS_MAX; samplers += 3) {
        begin(samplers, 5);
        for (unsigned h = 0; h < WANTS; h++)
            set(h, &wants[h]);
        for (uint64_t i = 0; i < 1000000; i++) {
            struct hpm_sample s = draw_access(i, false);
            access_memory(&s);
        }
        for (unsigned h = 0; h < WANTS; h++) {
            double mean = (double)m.sum[h] / (double)m.taken[h];
            if (mean < wants[h].period * 0.75 || mean > wants[h].period * 1.35)
                fail_msg("%u samplers: handle %u: one in %.1f for one in %u", samplers, h, mean,
                         wants[h].period);
        }
    }
}

/* One handle changes its period all the time: nothing is lost of its own accesses, and those of
 * others do not notice. */
static void a_change_loses_nothing_and_leaves_others_alone(void **state)
{
    static const unsigned samplers[] = {4, 1};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(samplers); i++) {
        memset(&z, 0, sizeof z);
        for (unsigned seed = 0; seed < 40; seed++) {
            begin(samplers[i], seed);
            for (unsigned h = 0; h < 3; h++)
                set(h, &wants[h]);
            for (uint64_t k = 0; k < 100000; k++) {
                struct hpm_sample s = draw_access(k, false);
                access_memory(&s);
                if (k % 150 || k < 150)
                    continue;
                struct hpm_sampling other = wants[0];
                other.period = 8 + (uint32_t)(draw_bits(&m.random) % 12);
                other.jitter = other.period / 2;
                uint64_t left = m.left[1];
                set(0, &other);
                if (samplers[i] == 4)
                    assert_int_equal(m.left[1], left);
            }
            for (unsigned h = 0; h < 3; h++)
                note(deviation(h));
        }
        assert_unbiased(0.1);
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void check_plan(void)
{
    uint32_t seen = 0;

    for (unsigned n = 0; n < m.samplers; n++) {
        uint32_t members = m.share.members[n];
        assert_false(seen & members);
        assert_true(n + 1 == m.samplers || !(members & (members - 1)));
        seen |= members;
        for (unsigned h = 0; h < ACCESS_HANDLES; h++)
            if (members >> h & 1) {
                assert_int_equal(m.share.sampler[h], n);
                assert_true(m.share.programme[n].period <= m.share.want[h].period);
            }
    }
    assert_int_equal(seen, m.share.on);
    unsigned on = (unsigned)__builtin_popcount(seen);
    if (on <= m.samplers)
        for (unsigned n = 0; n < m.samplers; n++)
            assert_true(__builtin_popcount(m.share.members[n]) <= 1);
}

/* Handles come and go at random. None moves while there is a sampler for each. */
static void each_has_a_sampler_of_its_own_while_there_are_enough(void **state)
{
    (void)state;
    for (unsigned samplers = 1; samplers <= PMU_SAMPLERS_MAX; samplers++) {
        begin(samplers, samplers);
        for (unsigned step = 0; step < 10000; step++) {
            unsigned h = (unsigned)(draw_bits(&m.random) % ACCESS_HANDLES);
            struct access_share before = m.share;
            bool was = m.share.on >> h & 1;
            set(h, was ? NULL : &wants[h % WANTS]);
            check_plan();
            for (unsigned k = 0; k < ACCESS_HANDLES; k++) {
                bool shared = before.sampler[k] == samplers - 1;
                if (k != h && (before.on >> k & 1) && !shared)
                    assert_int_equal(m.share.sampler[k], before.sampler[k]);
            }
            struct hpm_sample s = draw_access(step, false);
            access_memory(&s);
        }
    }
}

static void a_handle_that_comes_again_has_nothing_of_before(void **state)
{
    struct hpm_sample s = {.source = SOURCE_REMOTE_L2, .user = true};
    struct hpm_sampling want = {.sources = 1u << SOURCE_REMOTE_L2, .period = 10, .user = true};
    struct access_share now;

    (void)state;
    begin(1, 1);
    set(0, &want);
    for (unsigned i = 0; i < 9; i++)
        access_memory(&s);
    now = m.share;
    access_share_set(&now, 0, NULL); /* the CPU follows both at once */
    access_share_set(&now, 0, &want);
    follow(&now);
    assert_int_equal(m.deal.passed[0], 0);
    for (unsigned i = 0; i < 10; i++)
        access_memory(&s);
    assert_int_equal(m.sum[0], 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_subset_is_estimated_without_bias),
        cmocka_unit_test(a_loop_is_estimated_without_bias_by_a_shared_sampler),
        cmocka_unit_test(every_handle_has_about_its_period),
        cmocka_unit_test(a_change_loses_nothing_and_leaves_others_alone),
        cmocka_unit_test(each_has_a_sampler_of_its_own_while_there_are_enough),
        cmocka_unit_test(a_handle_that_comes_again_has_nothing_of_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
