/* Counts of turns, scaled, against an oracle in floating point. */
#include <math.h>
#include "test/host/double/expect_panic.h"
#include "hpm/policy/estimate.h"
#include "test/host/double/mux_work.h"

/* The same statistics in floating point. */
struct oracle {
    long double open[EVENTS], seen[GROUPS], length, total[EVENTS], rate[EVENTS], variance[EVENTS];
    unsigned units;
};

static bool in_group(unsigned event, unsigned group)
{
    return event == PINNED || event == group || (event == 4 && (group == 0 || group == 2));
}

static void oracle_add(struct oracle *o, unsigned group, uint64_t length, const uint64_t *by_event)
{
    o->length += length;
    o->seen[group] += length;
    for (unsigned e = 0; e < EVENTS; e++)
        if (in_group(e, group))
            o->open[e] += by_event[e];
}

static void oracle_close(struct oracle *o, long double pass)
{
    for (unsigned e = 0; e < EVENTS; e++) {
        long double seen = 0;
        for (unsigned g = 0; g < GROUPS; g++)
            seen += in_group(e, g) ? o->seen[g] : 0;
        long double rate = o->open[e] * pass / seen, difference = rate - o->rate[e];
        o->total[e] += o->open[e] * o->length / seen;
        if (o->units)
            o->variance[e] +=
                difference * difference / 2 * o->length * (o->length - seen) / pass / pass;
        o->rate[e] = rate;
        o->open[e] = 0;
    }
    o->units++;
    o->length = 0;
    memset(o->seen, 0, sizeof o->seen);
}

static void assert_as_oracle(const struct mux_counts *c, const struct oracle *o)
{
    for (unsigned e = 0; e < EVENTS; e++) {
        const struct mux_count *got = &c->event[e];
        assert_int_equal(got->units, o->units);
        long double total = got->total + got->fraction / 4294967296.0L,
                    variance = got->variance / 65536.0L;
        assert_true(fabsl(total - o->total[e]) <= 1e-6L + o->total[e] * 1e-9L);
        /* A rate is known to 2^-8, a weight to 2^-12. */
        assert_true(fabsl(variance - o->variance[e]) <=
                    o->variance[e] * 2e-3L +
                        0.01L * (sqrtl(o->variance[e] * (o->units + 1)) + o->units));
    }
}

/* Slices in pieces, cut rounds and overruns, at random; turns of the thread's own and of others. */
static void random_work_is_summed_up_as_by_an_oracle(void **state)
{
    static const uint8_t shares[][GROUPS] = {{1, 1, 1, 1}, {1, 2, 3, 1}};

    (void)state;
    for (unsigned run = 0; run < 20; run++) {
        struct mux_plan p = plan_of(1 + (unsigned)below(4), shares[run % 2]);
        static struct mux_counts c;
        struct oracle o = {0};
        struct mux_turns t;
        uint64_t pinned = 0, scale = 1ull << 4 * (run % 8);
        memset(&c, 0, sizeof c);
        mux_turns_init(&t, &p.rounds, run);
        for (unsigned step = 0; step < 3000; step++) {
            unsigned group = below(8) ? mux_turns_group(&t) : (unsigned)below(GROUPS);
            uint64_t length = below(3) ? t.left : below(t.left + 100), by_event[EVENTS],
                     count[GROUP_COUNTERS_ALL];
            for (unsigned e = 0; e < EVENTS; e++)
                by_event[e] = below(1 + scale * (step / 500 + 1));
            pinned += by_event[PINNED];
            count_by_counter(group, by_event, count);
            mux_add(&c, &p, group, length, count);
            oracle_add(&o, group, length, by_event);
            if (mux_turns_spend(&t, &p.rounds, length) >= MUX_PASS_ENDS && mux_close(&c, &p))
                oracle_close(&o, p.rounds.pass);
            if (!below(50))
                mux_turns_cut(&t, &p.rounds);
            assert_sound(&c, &p);
            assert_null(mux_turns_check(&t, &p.rounds));
            assert_int_equal(c.event[PINNED].total + c.open[PINNED].count, pinned);
        }
        assert_true(o.units > 50);
        assert_as_oracle(&c, &o);
    }
}

/* Events 0 to 3 are in a group each, 4 in two, PINNED in all; an alias is in the groups of its
 * event. */
static void events_of_the_same_groups_are_in_a_row(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    uint64_t events = 0;

    (void)state;
    mux_plan_alias(&p, 1, 60);
    mux_plan_alias(&p, PINNED, 7);
    assert_int_equal(p.counted, EVENTS + 2);
    for (unsigned i = 0; i < p.counted; i++)
        events |= 1ull << p.order[i];
    assert_int_equal(events, p.events);
    for (unsigned i = 0; i < p.counted; i++) {
        if (p.order[i] == 1)
            assert_int_equal(p.order[i + 1], 60);
        if (p.order[i] == PINNED)
            assert_int_equal(p.order[i + 1], 7);
    }
    for (unsigned g = 0; g < GROUPS; g++)
        assert_int_equal(p.group[g].events, 1ull << g | (g % 2 ? 0 : 1 << 4) | 1 << PINNED |
                                                1 << 7 | (g == 1 ? 1ull << 60 : 0));
}

/* Nothing differs but the interval. */
static void a_rough_event_has_no_interval(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_sum sure, rough;
    struct mux_counts c = {0};
    struct estimate e;

    (void)state;
    mux_plan_alias(&p, 0, 20);
    p.rough = 1 << 20;
    for (unsigned unit = 0; unit < 100; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            add_slice(&c, &p, g, p.rounds.slice, below(1000));
        assert_true(mux_close(&c, &p));
        assert_sound(&c, &p);
    }
    add_slice(&c, &p, 1, p.rounds.slice, 5); /* the open unit goes by the rate of the unit before */
    mux_read(&c, &p, 0, &sure);
    mux_read(&c, &p, 20, &rough);
    assert_true(sure.variance > 0);
    assert_true(rough.variance == 0);
    assert_int_equal(rough.pairs, 0);
    rough.pairs = sure.pairs;
    rough.variance = sure.variance;
    assert_memory_equal(&rough, &sure, sizeof sure);
    mux_read(&c, &p, 20, &rough);
    estimate_make(&rough, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_SHORT);
}

static void a_unit_stays_open_until_each_event_had_a_quarter_of_its_share(void **state)
{
    static const uint8_t share[GROUPS] = {1, 2, 3, 1};
    struct mux_plan p = plan_of(1, share);
    struct mux_counts c = {0};
    uint64_t pass = p.rounds.pass;

    (void)state;
    assert_false(mux_close(&c, &p));
    add_slice(&c, &p, 0, pass, 5);
    add_slice(&c, &p, 2, pass, 5);
    assert_false(mux_close(&c, &p));
    add_slice(&c, &p, 3, pass, 5);
    assert_false(mux_close(&c, &p));
    /* Event 1 has 2 of 7 parts; a quarter of them is 1 of 14, of 3 passes and its own slice. */
    add_slice(&c, &p, 1, 3 * pass / 13 - 100, 5);
    assert_false(mux_close(&c, &p));
    add_slice(&c, &p, 1, 200, 5);
    assert_true(mux_close(&c, &p));
    assert_int_equal(c.open_length, 0);
    assert_int_equal(c.event[1].units, 1);
    assert_sound(&c, &p);
}

static void a_unit_is_no_shorter_than_a_pass_but_for_a_sixteenth(void **state)
{
    struct mux_plan p = plan_of(2, NULL);
    struct mux_counts c = {0};
    uint64_t pass = p.rounds.pass;

    (void)state;
    for (unsigned g = 0; g < GROUPS; g++)
        add_slice(&c, &p, g, (pass - pass / 16) / GROUPS - 1, 1);
    assert_false(mux_close(&c, &p));
    add_slice(&c, &p, 0, GROUPS, 1);
    assert_true(mux_close(&c, &p));
}

/* The slices of a pass have different lengths; each group stands for as much of the pass as the
 * others. */
static void counts_are_scaled_by_the_lengths_that_were_measured(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_counts c = {0};
    struct mux_sum sum;

    (void)state;
    add_slice(&c, &p, 0, 200000, 1000);
    add_slice(&c, &p, 1, 400000, 1000);
    add_slice(&c, &p, 2, 300000, 1000);
    add_slice(&c, &p, 3, 300000, 1000);
    assert_true(mux_close(&c, &p));
    mux_read(&c, &p, 0, &sum);
    assert_int_equal(sum.count, 6000);
    mux_read(&c, &p, 1, &sum);
    assert_int_equal(sum.count, 3000);
    mux_read(&c, &p, 4, &sum); /* in groups 0 and 2: 2000 in 500,000 */
    assert_int_equal(sum.count, 4800);
    assert_int_equal(sum.seen, 500000);
    mux_read(&c, &p, PINNED, &sum);
    assert_int_equal(sum.count, 4000);
    assert_int_equal(sum.seen, sum.length);
}

/* One event in every third unit, scaled by 4: fractions are carried, not dropped. */
static void what_is_rare_is_not_rounded_away(void **state)
{
    struct mux_plan p = plan_of(4, NULL);
    struct mux_counts c = {0};
    struct mux_sum sum;

    (void)state;
    for (unsigned unit = 0; unit < 3000; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            add_slice(&c, &p, g, p.rounds.slice + (g ? 0 : 7), unit % 3 == 0);
        assert_true(mux_close(&c, &p));
    }
    mux_read(&c, &p, 0, &sum);
    assert_int_equal(sum.counted, 1000);
    uint64_t length = 4 * p.rounds.slice + 7, seen = p.rounds.slice + 7;
    assert_in_range(sum.count, 1000 * length / seen, 1000 * length / seen + 1);
}

static void an_open_unit_goes_by_itself_or_by_the_rate_of_the_one_before(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_counts c = {0};
    struct mux_sum sum;

    (void)state;
    mux_read(&c, &p, 0, &sum);
    assert_int_equal(sum.count, 0);
    add_slice(&c, &p, 1, 1000, 10); /* event 0 has not been seen */
    mux_read(&c, &p, 0, &sum);
    assert_int_equal(sum.count, 0);
    add_slice(&c, &p, 0, 1000, 10);
    mux_read(&c, &p, 0, &sum);
    assert_int_equal(sum.count, 20);
    memset(&c, 0, sizeof c);
    for (unsigned g = 0; g < GROUPS; g++)
        add_slice(&c, &p, g, 300000, 3000);
    assert_true(mux_close(&c, &p));
    add_slice(&c, &p, 1, 10000, 500);
    add_slice(&c, &p, 0, 100, 7);
    mux_read(&c, &p, 0, &sum); /* 100 of 10,100 is not enough: 7, and 1 in 100 of the rest */
    assert_int_equal(sum.count, 12000 + 7 + 100);
    mux_read(&c, &p, 1, &sum);
    assert_int_equal(sum.count, 12000 + 505);
    for (unsigned g = 0; g < GROUPS; g++)
        add_slice(&c, &p, g, 300000, 0);
    assert_true(mux_close(&c, &p));
    mux_read(&c, &p, 0, &sum);
    uint64_t closed = sum.count;
    add_slice(&c, &p, 1, 10000, 0); /* nothing is counted any more */
    mux_read(&c, &p, 0, &sum);
    assert_in_range(sum.count, closed, closed + 1);
}

/* Figures beyond the ranges saturate and say so. */
static void figures_beyond_the_ranges_saturate(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    static struct mux_counts c;
    struct estimate e;
    struct mux_sum sum;

    (void)state;
    for (unsigned bits = 20; bits < 63; bits++) {
        memset(&c, 0, sizeof c);
        for (unsigned unit = 0; unit < 60; unit++) {
            for (unsigned g = 0; g < GROUPS; g++)
                add_slice(&c, &p, g, p.rounds.slice, unit % 2 ? 1ull << bits : 0);
            assert_true(mux_close(&c, &p));
        }
        mux_read(&c, &p, 0, &sum);
        estimate_make(&sum, &p.rounds, ESTIMATE_SINGLES, &e);
        if (bits < 37) {
            assert_int_equal(e.sure, ESTIMATE_INTERVAL);
            assert_int_equal(e.count, 120ull << bits);
            assert_true(e.low < e.count && e.count < e.high);
        } else {
            assert_int_equal(e.sure, ESTIMATE_BEYOND);
        }
        mux_sum_add(&sum, &sum);
        estimate_make(&sum, &p.rounds, ESTIMATE_SINGLES, &e);
        assert_int_equal(e.sure == ESTIMATE_BEYOND, bits >= 37);
    }
}

static void a_unit_too_long_for_its_weight_has_no_interval(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    static struct mux_counts c;
    struct estimate e;
    struct mux_sum sum;

    (void)state;
    for (unsigned unit = 0; unit < 60; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            add_slice(&c, &p, g, unit == 30 ? p.rounds.pass << 14 : p.rounds.slice, 1000);
        assert_true(mux_close(&c, &p));
    }
    mux_read(&c, &p, 0, &sum);
    estimate_make(&sum, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_BEYOND);
    mux_read(&c, &p, PINNED, &sum);
    estimate_make(&sum, &p.rounds, ESTIMATE_SINGLES, &e);
    assert_int_equal(e.sure, ESTIMATE_EXACT);
}

static void a_group_that_there_is_not_is_a_broken_invariant(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    struct mux_counts c = {0};
    uint64_t count[GROUP_COUNTERS_ALL] = {0};

    (void)state;
    EXPECT_PANIC(mux_add(&c, &p, GROUPS, 1, count));
}

static void damage_is_noticed(void **state)
{
    struct mux_plan p = plan_of(1, NULL);
    static struct mux_counts good, c;
    struct mux_turns t, turns;

    (void)state;
    memset(&good, 0, sizeof good);
    for (unsigned unit = 0; unit < 2; unit++) {
        for (unsigned g = 0; g < GROUPS; g++)
            add_slice(&good, &p, g, p.rounds.slice, 10);
        assert_true(mux_close(&good, &p));
    }
#define DAMAGE(what)                        \
    do {                                    \
        c = good;                           \
        what;                               \
        assert_non_null(mux_check(&c, &p)); \
    } while (0)
    assert_sound(&good, &p);
    DAMAGE(c.open_length = c.length + 1);
    DAMAGE(c.open[0].seen = 1);
    DAMAGE(c.open[0].count = 1);
    DAMAGE(c.open[EVENTS].count = 1);
    DAMAGE((c.open_length = 1, c.open[0].seen = 1));
    DAMAGE(c.generation = 1);
    DAMAGE(c.event[0].length = c.length + 1);
    DAMAGE(c.event[0].seen = c.length + 1);
    DAMAGE(c.event[0].seen = 0);
    DAMAGE(c.event[0].counted = c.event[0].total + 1);
    DAMAGE(c.event[PINNED].variance = 1);
    DAMAGE((c.event[0].units = 1, c.event[0].variance = 1));
    mux_turns_init(&turns, &p.rounds, 1);
#undef DAMAGE
#define DAMAGE(what)                                     \
    do {                                                 \
        t = turns;                                       \
        what;                                            \
        assert_non_null(mux_turns_check(&t, &p.rounds)); \
    } while (0)
    assert_null(mux_turns_check(&turns, &p.rounds));
    DAMAGE(t.random = 0);
    DAMAGE(t.position = p.rounds.slots);
    DAMAGE(t.pass = p.rounds.passes);
    DAMAGE(t.left = 0);
    DAMAGE(t.left = p.rounds.slice + 1);
    DAMAGE(t.order[0] = GROUPS);
    DAMAGE(t.order[0] = t.order[1]);
#undef DAMAGE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_work_is_summed_up_as_by_an_oracle, mux_set_up),
        cmocka_unit_test_setup(events_of_the_same_groups_are_in_a_row, mux_set_up),
        cmocka_unit_test_setup(a_rough_event_has_no_interval, mux_set_up),
        cmocka_unit_test_setup(a_unit_stays_open_until_each_event_had_a_quarter_of_its_share,
                               mux_set_up),
        cmocka_unit_test_setup(a_unit_is_no_shorter_than_a_pass_but_for_a_sixteenth, mux_set_up),
        cmocka_unit_test_setup(counts_are_scaled_by_the_lengths_that_were_measured, mux_set_up),
        cmocka_unit_test_setup(what_is_rare_is_not_rounded_away, mux_set_up),
        cmocka_unit_test_setup(an_open_unit_goes_by_itself_or_by_the_rate_of_the_one_before,
                               mux_set_up),
        cmocka_unit_test_setup(figures_beyond_the_ranges_saturate, mux_set_up),
        cmocka_unit_test_setup(a_unit_too_long_for_its_weight_has_no_interval, mux_set_up),
        cmocka_unit_test_setup(a_group_that_there_is_not_is_a_broken_invariant, mux_set_up),
        cmocka_unit_test_setup(damage_is_noticed, mux_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
