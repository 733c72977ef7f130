/* The sampling period under steady accesses, bursts, and too little knowledge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "apps/common/prng.h"
#include "sched/sharing/policy/sampling_period.h"

enum { CPUS = 8, PERMILLE = 12, EACH_NS = 500 };

void panic(const char *fmt, ...)
{
    (void)fmt;
    fail_msg("panic");
    abort();
}

struct fixture {
    struct sampling_period p;
    struct sampling_state s;
};

static struct fixture begin(uint64_t accesses_per_ms)
{
    struct fixture f = {.s = {.now_ns = 70 * NS_PER_MS,
                              .taken = 5000,
                              .spent_ns = 5000 * EACH_NS,
                              .cpus = CPUS,
                              .budget_permille = PERMILLE}};

    sampling_period_begin(&f.p, &f.s, accesses_per_ms);
    return f;
}

static void pass_ms(struct fixture *f, uint64_t accesses, bool settling)
{
    uint64_t samples = accesses / f->p.period;

    f->s.now_ns += NS_PER_MS;
    f->s.taken += samples;
    f->s.accesses += samples * f->p.period;
    f->s.spent_ns += samples * EACH_NS;
    sampling_period_adapt(&f->p, &f->s, settling);
}

/* Thousandths of the CPUs' time. */
static uint64_t spent_permille(const struct fixture *f)
{
    return (f->s.spent_ns - f->p.begin_spent_ns) * 1000 / ((f->s.now_ns - f->p.begin_ns) * CPUS);
}

static void a_steady_rate_is_sampled_as_densely_as_may_be(void **state)
{
    struct fixture f = begin(20000);

    (void)state;
    assert_int_equal(f.p.period, 20000 / 192);
    for (unsigned ms = 0; ms < 50; ms++)
        pass_ms(&f, 20000, false);
    assert_in_range(spent_permille(&f), PERMILLE / 2, PERMILLE);
}

static void a_wrong_first_guess_is_mended(void **state)
{
    struct fixture few = begin(1000), many = begin(100000);

    (void)state;
    for (unsigned ms = 0; ms < 150; ms++) { /* time spent above the budget is repaid first */
        pass_ms(&few, 20000, false);
        pass_ms(&many, 20000, false);
    }
    assert_in_range(few.p.period, 70, 220);
    assert_in_range(many.p.period, 70, 160);
}

static void a_rate_far_beyond_the_guess_is_braked_at_once(void **state)
{
    struct fixture f = begin(2000);

    (void)state;
    pass_ms(&f, 600000, false);
    pass_ms(&f, 600000, false);
    assert_true(f.p.period >= 600000 / 192);
}

/* CPUs follow a change at their next switch or tick. */
static void samples_taken_before_a_change_count_with_their_own_period(void **state)
{
    struct fixture f = begin(2000);

    (void)state;
    f.s.now_ns += NS_PER_MS;
    f.s.taken += 60000;
    f.s.accesses += (uint64_t)60000 * f.p.period;
    f.s.spent_ns += 60000 * EACH_NS;
    assert_true(sampling_period_adapt(&f.p, &f.s, false));
    uint64_t first = f.p.period;
    assert_int_equal(first, 600000 / 192);
    f.s.now_ns += NS_PER_MS;
    f.s.taken += 20000;
    f.s.accesses += 20000 * 10;
    f.s.spent_ns += 20000 * EACH_NS;
    sampling_period_adapt(&f.p, &f.s, false);
    assert_in_range(f.p.period, first, 2 * first);
}

static void bursts_do_not_break_the_budget(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        struct prng prng = prng_seeded(seed, 6);
        struct fixture f = begin(15000); /* the mean rate */
        for (unsigned ms = 0; ms < 40; ms++) {
            pass_ms(&f, prng_below(&prng, 4) ? 2000 : 54000, false);
            if (ms >= 20)
                assert_in_range(spent_permille(&f), 0, 20);
        }
    }
}

static void fewer_accesses_after_a_placement_are_not_chased(void **state)
{
    struct fixture f = begin(20000);
    uint32_t before = f.p.period;

    (void)state;
    for (unsigned ms = 0; ms < 20; ms++)
        pass_ms(&f, 500, true);
    assert_int_equal(f.p.period, before);
    for (unsigned ms = 0; ms < 20; ms++)
        pass_ms(&f, 500, false);
    assert_int_equal(f.p.period, before / 4);
}

/* Samples for 200 ms, while looks cost that part of the budget; returns the samples' part of it, in
 * percent. */
static uint64_t samples_percent(unsigned looks_percent)
{
    struct fixture f = begin(20000);

    for (unsigned ms = 0; ms < 200; ms++) {
        f.s.looking_ns += NS_PER_MS * CPUS * PERMILLE / 1000 * looks_percent / 100;
        pass_ms(&f, 20000, false);
    }
    return (f.s.spent_ns - f.p.begin_spent_ns) * 100000 / ((uint64_t)200 * NS_PER_MS * CPUS) /
           PERMILLE;
}

static void samples_have_what_looks_leave_or_half(void **state)
{
    (void)state;
    assert_in_range(samples_percent(0), 80, 100);
    assert_in_range(samples_percent(25), 55, 75);
    assert_in_range(samples_percent(300), 35, 50);
}

static void no_rate_leads_out_of_range(void **state)
{
    (void)state;
    assert_int_equal(begin(0).p.period, 1);
    assert_int_equal(begin(UINT64_MAX).p.period, SAMPLING_PERIOD_MAX);
    struct fixture f = begin(UINT64_MAX / 2);
    for (unsigned ms = 0; ms < 20; ms++)
        pass_ms(&f, UINT64_MAX >> 34, false);
    assert_in_range(f.p.period, 1, SAMPLING_PERIOD_MAX);
}

static void no_period_is_shorter_than_the_pmu_can_have(void **state)
{
    struct fixture f = begin(54000);

    (void)state;
    f.s.period_min = 4096;
    for (unsigned ms = 0; ms < 20; ms++) {
        pass_ms(&f, 2000, false);
        if (ms > 3)
            assert_int_equal(f.p.period, 4096);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_rate_is_sampled_as_densely_as_may_be),
        cmocka_unit_test(a_wrong_first_guess_is_mended),
        cmocka_unit_test(a_rate_far_beyond_the_guess_is_braked_at_once),
        cmocka_unit_test(samples_taken_before_a_change_count_with_their_own_period),
        cmocka_unit_test(bursts_do_not_break_the_budget),
        cmocka_unit_test(fewer_accesses_after_a_placement_are_not_chased),
        cmocka_unit_test(samples_have_what_looks_leave_or_half),
        cmocka_unit_test(no_rate_leads_out_of_range),
        cmocka_unit_test(no_period_is_shorter_than_the_pmu_can_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
