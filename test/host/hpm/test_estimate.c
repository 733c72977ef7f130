/* Variance and interval of multiplexed counts, against the same in floating point, and by
 * coverage. */
#include <math.h>
#include "test/host/double/expect_panic.h"
#include "hpm/policy/estimate.h"

enum { SLOTS = 10, PASSES = 4, ROUND = 400000, PASS = ROUND / PASSES, SLICE = PASS / SLOTS };

static uint64_t seed;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / (double)(1ull << 53);
}

static int set_up(void **state)
{
    (void)state;
    seed = 4711;
    return 0;
}

static const struct group_plan *ten_groups(void)
{
    static struct group_plan plan = {.groups = SLOTS};

    memset(plan.event, GROUP_NIL, sizeof plan.event);
    plan.event[0][0] = 0;
    return &plan;
}

static struct mux_plan plan_of(bool published)
{
    struct mux_config c = {.round = ROUND, .passes = PASSES, .published = published};
    struct mux_plan p;

    memset(c.share, 1, sizeof c.share);
    assert_int_equal(mux_plan_init(&p, &c, ten_groups()), 0);
    return p;
}

/* Returns a sum of `units` closed passes in which one of ten slices was seen. */
static struct mux_sum sum_of(uint64_t units, uint64_t counted, double variance)
{
    return (struct mux_sum){.length = units * PASS,
                            .closed = units * PASS,
                            .seen = units * SLICE,
                            .counted = counted,
                            .count = counted * SLOTS,
                            .units = units,
                            .pairs = units - 1,
                            .variance = (wide_t)(variance * 65536)};
}

/* 0.975 quantiles by two thirds of the pairs: 6, 30, 40, 60, 120, 1000 and many degrees of freedom
 * (tables). */
static void t_is_students(void **state)
{
    static const struct {
        uint64_t pairs;
        double t;
    } known[] = {{45, 2.0423},  {60, 2.0211},   {90, 2.0003},
                 {180, 1.9799}, {1500, 1.9623}, {1ull << 40, 1.9600}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(known); i++)
        assert_true(fabs(estimate_t(known[i].pairs) / 65536.0 - known[i].t) < 0.0002);
    assert_true(fabs(estimate_t(9) / 65536.0 - 2.4469) < 0.02); /* 6 degrees */
    assert_int_equal(estimate_t(UINT64_MAX) >> 8, 128448 >> 8);
}

/* (N - count)^2 = t^2 variance / count N, in floating point. */
static void assert_interval(const struct mux_sum *s, const struct estimate *e)
{
    double variance = (double)s->variance / 65536 * (double)s->units / (double)s->pairs;
    double f = (double)s->seen / (double)s->length, t = estimate_t(s->pairs) / 65536.0;

    variance *= (double)s->length / (double)s->closed;
    if (s->counted < 256)
        variance = fmax(variance, (double)s->count * (1 - f) / f);
    double lean = s->count ? t * t * variance / (double)s->count : t * t * (1 - f) / f;
    double half = sqrt(t * t * variance + lean * lean / 4), middle = (double)s->count + lean / 2;
    double slack = 1.01 + half * 2e-5; /* the ratio of lengths is known to 2^-16 */
    assert_int_equal(e->sure, ESTIMATE_INTERVAL);
    assert_true(fabs((double)e->low - fmax(middle - half, (double)s->counted)) <= slack);
    assert_true(fabs((double)e->high - (middle + half)) <= slack);
    assert_true(fabs((double)e->deviation - sqrt(variance)) <= slack);
    assert_true(fabs((double)e->variance - variance) <= 1 + variance * 4e-5);
    assert_true(e->low <= s->count && s->count <= e->high && e->low >= s->counted);
}

static void intervals_are_those_of_floating_point(void **state)
{
    struct mux_plan p = plan_of(false);
    struct estimate e;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t units = 200 + (uint64_t)(uniform() * exp(uniform() * 12)),
                 counted = (uint64_t)exp(uniform() * 34) - 1;
        struct mux_sum s = sum_of(units, counted, 90.0 * (double)counted * exp(uniform() * 16 - 8));
        s.length += (uint64_t)(uniform() * (double)s.length / 8);
        estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
        assert_interval(&s, &e);
        assert_in_range(e.seen_permille, 87, 100);
    }
}

/* Wilson (1927) for shares of 1 in 10; with 0 of N seen, N is below t^2 (1 - f) / f. */
static void few_counts_have_wilsons_interval(void **state)
{
    struct mux_plan p = plan_of(false);
    struct estimate e;
    struct mux_sum s = sum_of(200, 0, 0);

    (void)state;
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_INTERVAL);
    assert_int_equal(e.low, 0);
    assert_in_range(e.high, 35, 36); /* 1.979^2 x 9 */
    s = sum_of(200, 10, 0);
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_in_range(e.low, 55, 56);
    assert_in_range(e.high, 180, 181);
    s = sum_of(200, 256, 0); /* with enough counts, a variance of 0 is believed */
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_in_range(e.low, 2559, 2560);
    assert_in_range(e.high, 2560, 2561);
}

/* The limit is t^2 (1 - f) / f bunches of the size that other counts have. */
static void where_nothing_is_counted_the_limit_goes_by_the_spread_of_others(void **state)
{
    struct mux_plan p = plan_of(false);
    struct mux_sum none = sum_of(200, 0, 0), singles = sum_of(200, 100, 9.0 * 1000),
                   bunches = sum_of(200, 5000, 9.0 * 100 * 50000);
    struct estimate e;

    (void)state;
    estimate_make(&none, &p.rounds, estimate_spread(&singles), &e);
    assert_int_equal(e.sure, ESTIMATE_INTERVAL);
    assert_in_range(e.high, 35, 36);
    estimate_make(&none, &p.rounds, estimate_spread(&bunches), &e);
    assert_int_equal(e.sure, ESTIMATE_INTERVAL);
    assert_int_equal(e.low, 0);
    assert_in_range(e.high, 3525,
                    3550); /* 1.979^2 x 9 x 100, including the first unit's part of the variance */
    estimate_make(&none, &p.rounds, estimate_spread(&none), &e);
    assert_int_equal(e.sure, ESTIMATE_NONE);
    assert_true(!e.count && !e.low && e.high == UINT64_MAX);
    estimate_make(&none, &p.rounds, UINT64_MAX, &e);
    assert_int_equal(e.sure, ESTIMATE_BEYOND);
}

/* If something is counted its own variance is used, whatever other counts have. */
static void what_is_counted_does_not_go_by_others(void **state)
{
    struct mux_plan p = plan_of(false);
    struct mux_sum some = sum_of(200, 10, 0);
    struct estimate alone, beside;

    (void)state;
    estimate_make(&some, &p.rounds, 0, &alone);
    estimate_make(&some, &p.rounds, (uint64_t)1 << 40, &beside);
    assert_int_equal(alone.sure, ESTIMATE_INTERVAL);
    assert_memory_equal(&alone, &beside, sizeof alone);
}

/* With counts in fewer than two units, all may have come at once. */
static void a_spread_without_variance_is_that_of_one_bunch(void **state)
{
    struct mux_sum s = {.length = 10 * SLICE, .seen = SLICE, .counted = 70, .count = 700};
    struct mux_sum all = {.length = SLICE, .seen = SLICE, .counted = 70, .count = 70};

    (void)state;
    assert_int_equal(estimate_spread(&s), 9 * 70 << 16);
    assert_int_equal(estimate_spread(&all), ESTIMATE_SINGLES);
    s.counted = s.count = 0;
    assert_int_equal(estimate_spread(&s), 0);
}

static void there_is_no_interval_where_none_is_known(void **state)
{
    struct mux_plan p = plan_of(false), published = plan_of(true);
    struct estimate e;
    struct mux_sum good = sum_of(50 * PASSES, 1000, 5000), s;

    (void)state;
    estimate_make(&good, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_INTERVAL);
    assert_int_equal(e.count, 10000);
    s = sum_of(ESTIMATE_UNITS_MIN, 1000, 5000);
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_INTERVAL);
    s = sum_of(ESTIMATE_UNITS_MIN - 1, 1000, 5000);
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_SHORT);
    assert_int_equal(e.count, 10000);
    assert_int_equal(e.low, 1000);
    assert_true(e.high == UINT64_MAX && !e.variance && !e.deviation);
    s = good; /* of many threads with one unit each */
    s.pairs = 0;
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_SHORT);
    s = good; /* too much of it is not in closed units */
    s.length += s.closed / 7 + 10;
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_SHORT);
    s = good; /* the open unit was longer in the earlier reading than in the later one */
    s.length = s.closed - PASS / 2;
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_INTERVAL);
    estimate_make(&good, &published.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_PUBLISHED);
    assert_int_equal(e.count, 10000);
    s = good;
    s.seen = s.length;
    s.count = s.counted;
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_EXACT);
    assert_true(e.low == 1000 && e.high == 1000 && e.seen_permille == 1000);
    s.seen = s.counted = 0;
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_UNSEEN);
    memset(&s, 0, sizeof s); /* no time has passed, so nothing was missed */
    estimate_make(&s, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_EXACT);
}

static uint64_t any(void)
{
    return (uint64_t)(uniform() * exp2(uniform() * 64));
}

/* For any figures, nothing overflows and the estimate is in the interval. */
static void nothing_overflows(void **state)
{
    struct mux_plan p = plan_of(false);
    struct estimate e;
    unsigned kinds[ESTIMATE_NONE + 1] = {0};

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct mux_sum s = {.closed = any(),
                            .counted = any(),
                            .units = any(),
                            .variance = (wide_t)any() << (int)(uniform() * 64)};
        s.length = fixed_add(s.closed, (uint64_t)((double)(s.closed / 8) * uniform()));
        s.seen = MIN(any(), s.length);
        s.count = fixed_add(s.counted, any());
        if (i % 8 == 0)
            s.counted = 0;
        s.pairs = s.units ? s.units - 1 : 0;
        if (i % 16 == 0)
            s.variance = WIDE_MAX - i;
        estimate_make(&s, &p.rounds, i % 2 ? any() : s.counted ? estimate_spread(&s) : 0, &e);
        kinds[e.sure]++;
        assert_true(e.low <= e.high && s.counted <= e.low && e.seen_permille <= 1000);
        if (e.sure == ESTIMATE_INTERVAL)
            assert_true(e.low <= s.count && s.count <= e.high);
    }
    assert_true(kinds[ESTIMATE_INTERVAL] > 1000 && kinds[ESTIMATE_BEYOND] > 1000);
}

/* ---- Coverage -------------------------------------------------------------------------------- */

static uint64_t poisson(double mean)
{
    double limit = exp(-mean), product = uniform();
    uint64_t n = 0;

    for (; product > limit; product *= uniform())
        n++;
    return n;
}

/* Returns the events in the time of slice `slot`, numbered from the start of the session. */
typedef uint64_t (*events_in)(double rate, unsigned slot);

static uint64_t steady(double rate, unsigned slot)
{
    (void)slot;
    return poisson(rate);
}

static uint64_t phases(double rate, unsigned slot)
{
    return poisson(slot / 700 % 2 ? rate / 10 : rate);
}

/* One slice in 10, always at the same position of each pass. */
static uint64_t in_step_with_the_pass(double rate, unsigned slot)
{
    return slot % SLOTS == 3 ? poisson(10 * rate) : 0;
}

static uint64_t bursts(double rate, unsigned slot)
{
    static unsigned left;

    (void)slot;
    left = left ? left - 1 : uniform() < 0.02 ? 6 : 0;
    return left ? poisson(10 * rate) : 0;
}

/* A few bunches of some hundred events in the whole session. */
static uint64_t bunches(double rate, unsigned slot)
{
    (void)slot;
    return uniform() < rate ? 200 + poisson(30) : 0;
}

/* Coverage of 300 sessions of 50 rounds. 90 % is four standard deviations below 95 %. */
/* Returns the spread that another thread of the same kind has counted in a longer time. */
static uint64_t spread_of(events_in stream, double rate, const struct mux_plan *p)
{
    static struct mux_counts c;
    struct mux_turns t;
    struct mux_sum sum;

    memset(&c, 0, sizeof c);
    mux_turns_init(&t, &p->rounds, 77);
    for (unsigned slot = 0; slot < 1000 * PASSES * SLOTS; slot++) {
        uint64_t count[GROUP_COUNTERS_ALL] = {stream(rate, slot)};
        mux_add(&c, p, mux_turns_group(&t), SLICE, count);
        if (mux_turns_next(&t, &p->rounds) >= MUX_PASS_ENDS)
            mux_close(&c, p);
    }
    mux_read(&c, p, 0, &sum);
    return estimate_spread(&sum);
}

static void assert_covered(events_in stream, double lowest, double highest)
{
    struct mux_plan p = plan_of(false);
    unsigned held = 0, sessions = 300;
    static struct mux_counts c;
    struct mux_turns t;
    struct mux_sum sum;
    struct estimate e;
    uint64_t spread = spread_of(stream, sqrt(lowest * highest), &p);

    for (unsigned s = 0; s < sessions; s++) {
        double rate = lowest * pow(highest / lowest, uniform());
        uint64_t truth = 0;
        memset(&c, 0, sizeof c);
        mux_turns_init(&t, &p.rounds, s);
        for (unsigned slot = 0; slot < 50 * PASSES * SLOTS; slot++) {
            uint64_t n = stream(rate, slot), count[GROUP_COUNTERS_ALL] = {n};
            truth += n;
            mux_add(&c, &p, mux_turns_group(&t), SLICE, count);
            if (mux_turns_next(&t, &p.rounds) >= MUX_PASS_ENDS)
                assert_true(mux_close(&c, &p));
        }
        mux_read(&c, &p, 0, &sum);
        estimate_make(&sum, &p.rounds, spread, &e);
        assert_int_equal(e.sure, ESTIMATE_INTERVAL);
        held += e.low <= truth && truth <= e.high;
    }
    assert_in_range(held, sessions * 90 / 100, sessions);
}

static void intervals_hold_steady_events(void **state)
{
    (void)state;
    assert_covered(steady, 0.5, 20);
}

static void intervals_hold_rare_events(void **state)
{
    (void)state;
    assert_covered(steady, 0.005, 0.1);
}

static void intervals_hold_phases(void **state)
{
    (void)state;
    assert_covered(phases, 0.5, 20);
}

static void intervals_hold_what_is_in_step_with_the_pass(void **state)
{
    (void)state;
    assert_covered(in_step_with_the_pass, 0.5, 5);
}

static void intervals_hold_bursts(void **state)
{
    (void)state;
    assert_covered(bursts, 0.5, 5);
}

/* In most sessions the event happens but is never counted. */
static void intervals_hold_what_comes_in_bunches_and_is_missed(void **state)
{
    (void)state;
    assert_covered(bunches, 0.0005, 0.003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(t_is_students, set_up),
        cmocka_unit_test_setup(intervals_are_those_of_floating_point, set_up),
        cmocka_unit_test_setup(few_counts_have_wilsons_interval, set_up),
        cmocka_unit_test_setup(where_nothing_is_counted_the_limit_goes_by_the_spread_of_others,
                               set_up),
        cmocka_unit_test_setup(what_is_counted_does_not_go_by_others, set_up),
        cmocka_unit_test_setup(a_spread_without_variance_is_that_of_one_bunch, set_up),
        cmocka_unit_test_setup(there_is_no_interval_where_none_is_known, set_up),
        cmocka_unit_test_setup(nothing_overflows, set_up),
        cmocka_unit_test_setup(intervals_hold_steady_events, set_up),
        cmocka_unit_test_setup(intervals_hold_rare_events, set_up),
        cmocka_unit_test_setup(intervals_hold_phases, set_up),
        cmocka_unit_test_setup(intervals_hold_what_is_in_step_with_the_pass, set_up),
        cmocka_unit_test_setup(intervals_hold_bursts, set_up),
        cmocka_unit_test_setup(intervals_hold_what_comes_in_bunches_and_is_missed, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
