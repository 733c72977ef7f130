/* The driver of AMD's core counters, and hpm on top of it, against a register-level double that
 * knows the truth. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/amd_kinds.h"
#include "hpm/count.h"

static void start(const struct amd_kind *kind)
{
    amd_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
    assert_true(hpm_caps()->instructions == hpm_caps()->present);
}

static uint64_t config_of(unsigned figure)
{
    return hpm_state.event[figure].config;
}

/* ---- Finding out ----------------------------------------------------------------------------- */

static void another_processor_has_no_such_counters(void **state)
{
    struct amd_kind others[] = {amd_zen3, amd_zen3, amd_zen3, amd_zen3};

    (void)state;
    others[0].vendor = 0x756e6547;
    others[1].family = 0x15;
    others[2].no_extended = true;
    others[3].last = 0x80000000;
    for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
        start(&others[i]);
        assert_false(hpm_caps()->present);
        assert_in_range(amd_double[0].accesses, 2, 4); /* CPUID alone */
        assert_int_equal(amd_double[0].select[0] & SELECT_EN, SELECT_EN);
    }
}

static void one_line_tells_what_was_found(void **state)
{
    (void)state;
    start(&amd_zen2);
    assert_non_null(strstr(double_output,
                           "hpm: pmu=amd counters=4 fixed=2 groups=2 slice=1000000 unit=cycles "
                           "modes=both records=yes: 48 bits, IBS\n"));
    start(&amd_zen4);
    assert_non_null(strstr(double_output, "hpm: pmu=amd counters=4 fixed=2 groups=4 "));
    assert_non_null(strstr(double_output, ": PerfMonV2, 48 bits, IBS with L3 filter\n"));
    start(&amd_bare);
    assert_non_null(strstr(double_output, "hpm: pmu=amd counters=4 fixed=2 "));
    assert_non_null(strstr(double_output, " records=no: 48 bits\n"));
    assert_int_equal(hpm_caps()->line_bytes, 64);
    struct amd_kind old = amd_zen3;
    old.last = 0x80000008;
    start(&old);
    assert_non_null(strstr(double_output, "hpm: pmu=amd counters=4 fixed=2 "));
    assert_non_null(strstr(double_output, ": 48 bits\n"));
}

static void a_processor_without_a_table_counts_cycles_and_instructions(void **state)
{
    struct amd_kind new = amd_zen4;
    struct hpm_breakdown b;

    (void)state;
    new.family = 0x2a;
    start(&new);
    assert_true(hpm_caps()->present);
    assert_false(hpm_caps()->can_sample);
    assert_int_equal(hpm_caps()->missed | hpm_caps()->stall, 0);
    b = executed(1000, 5000);
    assert_in_range(b.instructions, 1000, 1100);
    assert_in_range(b.cycles, 5000, 5000 + 50 * ACCESS_CYCLES);
}

static void two_counters_are_enough_and_one_is_not(void **state)
{
    struct amd_kind many = amd_zen4;

    (void)state;
    many.v2 = 2;
    start(&many);
    assert_int_equal(hpm_caps()->counters, 0);
    executed(1000, 3 * SLICE);
    many.v2 = 1;
    start(&many);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, "hpm: amd: too few counters: not used\n"));
}

static void a_cpu_that_lacks_what_the_first_has_is_left_out(void **state)
{
    struct amd_kind plain = amd_zen4;

    (void)state;
    plain.ibs = 0;
    amd_machine(&plain);
    amd_double[1].kind.v2 = 4;
    amd_double[2].kind.v2 = 0;
    amd_double[3].kind.ibs = amd_zen4.ibs;
    kernel_start_hpm();
    threads_begin(3);
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(hpm_counted(&cpus[i]));
    assert_non_null(strstr(double_output, "hpm: event=not-counted cpu=2: "));
    check_left_out(2);
    amd_machine(&amd_zen4);
    amd_double[2].kind.ibs = IBS_ALL;
    EXPECT_PANIC(kernel_start_hpm());
    host_irqs_on = true;
}

static void what_firmware_left_on_is_off(void **state)
{
    static const struct amd_kind *const kinds[] = {&amd_zen2, &amd_zen4};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        struct amd_kind many = *kinds[k];
        many.v2 = many.v2 ? 12 : 0;
        start(&many);
        for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
            const struct amd_double *d = &amd_double[i];
            assert_int_equal(d->fetch, 0);
            assert_int_equal(d->op, 0);
            assert_int_equal(d->status, 0);
            assert_int_equal(d->global, many.v2 ? 0x3ff : 0);
            for (unsigned c = hpm_state.pmu.counters + 2; c < many.v2; c++)
                assert_int_equal(d->select[c], 0);
        }
    }
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Some 10^14 events, so that counters wrap. */
static void live_on(const struct amd_kind *kind, uint64_t seed)
{
    start(kind);
    struct hpm_breakdown b = live(&(struct life){
        .steps = 4000, .seed = seed, .events_max = BIT_OF(40), .instructions_max = BIT_OF(42)});
    assert_true(b.instructions > 8 * BIT_OF(AMD_WIDTH));
}

static void nothing_is_lost_or_counted_twice(void **state)
{
    (void)state;
    live_on(&amd_zen2, 3);
    live_on(&amd_bare, 9);
}

static void nothing_is_lost_or_counted_twice_with_one_switch_for_all(void **state)
{
    (void)state;
    live_on(&amd_zen4, 5);
}

static void nearly_all_of_a_counter_may_pass_between_two_readings(void **state)
{
    const uint64_t many = BIT_OF(AMD_WIDTH) - 1000;
    struct hpm_breakdown b;

    (void)state;
    start(&amd_bare);
    switch_to(0, 0);
    for (unsigned i = 1; i <= 3; i++) {
        amd_execute(many, 1000, true);
        assert_exact(0);
        hpm_read_thread(&threads[0], &b);
        assert_in_range(b.instructions, i * many, i * many + 300);
    }
}

/* Floating-point operations are counted by counter 2 with counter 3 merged; then each counts
 * another event. */
static void an_event_too_wide_for_a_counter_has_two(void **state)
{
    static const struct amd_kind *const kinds[] = {&amd_zen2, &amd_zen4};
    struct pmu_latch before, after;

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        struct event flops = event_named("RETIRED_SSE_AVX_FLOPS:ANY"),
                     miss = event_named("branch.miss");
        struct hpm_programme wide = {.event = {[0] = &miss, [2] = &flops}};
        struct hpm_programme narrow = {.event = {[2] = &miss, [3] = &miss}};
        assert_true(flops.wide);
        hpm_state.ops->latch(&before, &wide);
        for (unsigned i = 1; i <= 3; i++) {
            amd_count(flops.config, BIT_OF(AMD_WIDTH) - 1, true);
            amd_count(miss.config, 7, true);
            hpm_state.ops->latch(&after, i == 3 ? &narrow : NULL);
            assert_int_equal(after.count[2] - before.count[2], i * (BIT_OF(AMD_WIDTH) - 1));
            assert_int_equal(after.count[0] - before.count[0], i * 7);
            assert_int_equal(after.count[3], before.count[3]);
        }
        before = after;
        amd_count(miss.config, 11, true);
        hpm_state.ops->latch(&after, &wide);
        assert_int_equal(after.count[2] - before.count[2], 11);
        assert_int_equal(after.count[3] - before.count[3], 11);
        amd_count(flops.config, 1000, true);
        hpm_state.ops->latch(&after, NULL);
        assert_int_equal(after.count[2] - before.count[2], 1011);
    }
}

/* ---- Turns and interrupts -------------------------------------------------------------------- */

static void a_late_interrupt_is_no_news(void **state)
{
    static const struct amd_kind *const kinds[] = {&amd_zen2, &amd_zen4};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        end_turn_by_ticks();
        unsigned group = mux_turns_group(&cpus[0].hpm->turns);
        unsigned interrupts = amd_double[0].interrupts;
        host_irqs_on = true;
        double_deliver();
        assert_int_equal(amd_double[0].interrupts, interrupts + 1);
        assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
        hpm_interrupt(NULL);
        assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
        assert_exact(0);
    }
}

static void flags_are_taken_down(void **state)
{
    struct amd_kind many = amd_zen4;

    (void)state;
    many.v2 = 12;
    start(&many);
    switch_to(0, 0);
    amd_double[0].status =
        BIT_OF(11) | GLOBAL_FROZEN | BIT_OF(62); /* set from outside; bit 62 has no meaning */
    amd_execute(AMD_FIRST_WRAP, SLICE + 5, true);
    assert_int_equal(amd_double[0].status, BIT_OF(62));
    assert_exact(0);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static struct hpm_breakdown run_both_modes(uint64_t modes)
{
    with_modes(modes);
    start(&amd_zen2);
    return count_both_modes(400, config_of(EVENT_MISS(MISS_BRANCH)));
}

static void a_mode_that_is_not_asked_for_is_not_counted(void **state)
{
    enum { BOTH, USER, KERNEL };

    (void)state;
    struct hpm_breakdown both = run_both_modes(BOTH);
    assert_in_range(both.instructions, 400 * 1030000, 400 * 1030100);
    assert_in_range(both.cycles, 400 * 2050000ull, 400 * 2052000ull);
    assert_in_range(both.missed[MISS_BRANCH], 400 * 700, 400 * 800);
    struct hpm_breakdown user = run_both_modes(USER);
    assert_int_equal(user.instructions, 400 * 1000000);
    assert_int_equal(user.cycles, 400 * 2000000ull);
    assert_in_range(user.missed[MISS_BRANCH], 400 * 650, 400 * 740);
    struct hpm_breakdown kernel = run_both_modes(KERNEL);
    assert_in_range(kernel.instructions, 400 * 30000, 400 * 30100);
    assert_in_range(kernel.cycles, 400 * 50000, 400 * 50500);
    assert_in_range(kernel.missed[MISS_BRANCH], 400 * 40, 400 * 60);
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static void policy_cluster_has_its_inputs(void **state)
{
    static const struct amd_kind *const kinds[] = {&amd_zen2, &amd_zen3, &amd_zen4};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        check_remote_inputs();
    }
}

/* ---- What all drivers have in common --------------------------------------------------------- */

static const struct amd_kind *const kinds[] = {&amd_zen2, &amd_zen4};

static void make(unsigned kind)
{
    amd_machine(kinds[kind]);
}

static void make_large(void)
{
    struct amd_kind large = amd_zen4;

    large.v2 = 15;
    amd_machine(&large);
}

static void make_stuck(void)
{
    struct amd_kind stuck = amd_zen3;

    stuck.stuck = true;
    amd_machine(&stuck);
}

static const struct driver_machine machine = {.kinds = ARRAY_SIZE(kinds),
                                              .make = make,
                                              .make_large = make_large,
                                              .make_stuck = make_stuck,
                                              .first_wrap = AMD_FIRST_WRAP,
                                              .switch_accesses = AMD_COUNTERS};

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_processor_has_no_such_counters),
        TEST(one_line_tells_what_was_found),
        TEST(a_processor_without_a_table_counts_cycles_and_instructions),
        TEST(two_counters_are_enough_and_one_is_not),
        TEST(a_cpu_that_lacks_what_the_first_has_is_left_out),
        TEST(what_firmware_left_on_is_off),
        TEST(nothing_is_lost_or_counted_twice),
        TEST(nothing_is_lost_or_counted_twice_with_one_switch_for_all),
        TEST(nearly_all_of_a_counter_may_pass_between_two_readings),
        TEST(an_event_too_wide_for_a_counter_has_two),
        TEST(a_late_interrupt_is_no_news),
        TEST(flags_are_taken_down),
        TEST(a_mode_that_is_not_asked_for_is_not_counted),
        TEST(policy_cluster_has_its_inputs),
    };
    return driver_tests(&machine, tests, ARRAY_SIZE(tests));
}
