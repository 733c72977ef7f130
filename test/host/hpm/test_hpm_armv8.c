/* The driver of Arm's PMUv3 and hpm on top of it, against a register-level double that knows the
 * truth. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/armv8_kinds.h"
#include "hpm/count.h"
#include "hpm/sampling.h"

static void start(const struct armv8_kind *kind)
{
    armv8_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
}

/* ---- Finding out ----------------------------------------------------------------------------- */

static void a_cpu_without_pmuv3_has_no_counters(void **state)
{
    static const unsigned versions[] = {0, 15};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(versions); i++) {
        struct armv8_kind none = armv8_wide;
        none.version = versions[i];
        start(&none);
        assert_false(hpm_caps()->present);
        assert_int_equal(armv8_double[0].accesses, 1); /* the identification register alone */
    }
}

static void one_line_tells_what_was_found(void **state)
{
    (void)state;
    start(&armv8_wide);
    assert_non_null(
        strstr(double_output,
               "hpm: pmu=armv8 counters=5 fixed=2 groups=2 slice=1000000 unit=cycles "
               "modes=both records=no: PMUv3p5, 64 bits\n"
               "hpm: event=lacks pmu=armv8 figures=stalls-by-cause,accesses-but-remote-caches: not "
               "counted\n"));
    start(&armv8_narrow);
    assert_non_null(strstr(double_output, "counters=5 fixed=2 groups=1 "));
    assert_non_null(strstr(double_output, ": PMUv3, 32 bits\n"));
    assert_non_null(strstr(double_output, " figures=stalls-by-cause,stalls-by-half,accesses-"));
    start(&armv8_bare);
    assert_non_null(strstr(double_output, "counters=6 fixed=1 "));
    assert_non_null(strstr(double_output, ": PMUv3, 32 bits, turns end at ticks\n"));
    assert_non_null(strstr(double_output, " figures=instructions,stalls-by-cause,stalls-by-half,"
                                          "accesses-by-source,misses: not counted\n"));
    struct armv8_kind newer = armv8_wide;
    newer.version = 12;
    start(&newer);
    assert_non_null(strstr(double_output, ": PMUv3 (version 12), 64 bits\n"));
    struct armv8_kind kept = armv8_wide;
    kept.no_lp = true;
    start(&kept);
    assert_non_null(strstr(double_output, ": PMUv3p5, 32 bits\n"));
}

static void an_event_is_counted_by_the_best_code_there_is(void **state)
{
    const struct hpm_caps *caps;

    (void)state;
    start(&armv8_narrow);
    caps = hpm_caps();
    assert_int_equal(caps->stall, 0);
    assert_int_equal(caps->served | caps->dcache, 0);
    assert_int_equal(caps->missed, 1 << MISS_BRANCH | 1 << MISS_L1I | 1 << MISS_L1D | 1 << MISS_L2);
    switch_to(0, 0);
    armv8_count(0x10, 7,
                /* 0x22 exists as well, which counts mispredictions of retired branches only */
                true);
    armv8_count(0x22, 5, true);
    armv8_count(0x03, 11, false);
    struct hpm_breakdown b;
    hpm_read_thread(&threads[0], &b);
    assert_int_equal(b.missed[MISS_BRANCH], 5);
    assert_int_equal(b.missed[MISS_L1D], 11);
    assert_int_equal(b.missed[MISS_L2], 0);
}

/* A core reports its common events itself, whether its table is known or not. */
static void a_core_that_is_known_counts_the_same_as_one_that_is_not(void **state)
{
    struct armv8_kind known[] = {armv8_narrow, armv8_wide};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
        start(&known[i]);
        uint32_t missed = hpm_caps()->missed, stall = hpm_caps()->stall;
        known[i].midr = i ? 0x410fd4f0 : 0x410fd083; /* Neoverse V2, Cortex-A72 */
        start(&known[i]);
        assert_int_equal(hpm_caps()->missed, missed);
        assert_int_equal(hpm_caps()->stall, stall);
    }
}

static void a_pmu_may_have_a_cycle_counter_only(void **state)
{
    struct armv8_kind least = armv8_wide;
    struct hpm_breakdown b;

    (void)state;
    least.counters = 0;
    start(&least);
    assert_true(hpm_caps()->present);
    assert_false(hpm_caps()->instructions);
    b = executed(1000, 5000);
    assert_in_range(b.cycles, 5000, 5100);
    assert_int_equal(b.instructions, 0);
}

static void a_cpu_that_lacks_what_the_first_has_is_left_out(void **state)
{
    (void)state;
    armv8_machine(&armv8_wide);
    armv8_double[1].kind.ceid1 &= ~CEID(0x24);
    armv8_double[2].kind.counters = 4;
    armv8_double[3].kind.no_lp = true;
    kernel_start_hpm();
    threads_begin(3);
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(hpm_counted(&cpus[i]));
    assert_non_null(strstr(double_output, "hpm: event=not-counted cpu=2: "));
    check_left_out(2);
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Some 10^9 events, so that narrow counters wrap dozens of times. */
static void live_on(const struct armv8_kind *kind, uint64_t seed)
{
    start(kind);
    struct hpm_breakdown b = live(&(struct life){
        .steps = 4000, .seed = seed, .events_max = 100000000, .instructions_max = 200000000});
    if (kind->ceid0 >> CODE_INSTRUCTIONS & 1)
        assert_true(b.instructions > 15 * ((uint64_t)1 << 32));
}

static void nothing_is_lost_or_counted_twice_by_narrow_counters(void **state)
{
    (void)state;
    live_on(&armv8_narrow, 3);
}

static void nothing_is_lost_or_counted_twice_by_wide_counters(void **state)
{
    (void)state;
    live_on(&armv8_wide, 5);
}

static void cycles_are_counted_where_instructions_are_not(void **state)
{
    (void)state;
    live_on(&armv8_bare, 7);
}

static void one_wrap_may_pass_while_interrupts_are_off(void **state)
{
    struct hpm_breakdown b;
    const uint64_t many = ((uint64_t)1 << 32) - 1000;

    (void)state;
    start(&armv8_narrow);
    switch_to(0, 0);
    host_irqs_on = false;
    armv8_execute(many, 1000, true);
    armv8_count(0x03, many, true);
    hpm_tick();
    armv8_execute(many, 1000, true);
    host_irqs_on = true;
    double_deliver();
    hpm_read_thread(&threads[0], &b);
    assert_in_range(b.instructions, 2 * many, 2 * many + 300);
    assert_int_equal(b.missed[MISS_L1D], many);
    assert_exact(0);
}

static void wraps_are_taken_in_by_interrupt_without_any_tick(void **state)
{
    struct hpm_breakdown b;
    uint64_t executed = 0;

    (void)state;
    start(&armv8_narrow);
    switch_to(0, 0);
    for (; executed < 10 * ((uint64_t)1 << 32); executed += 1000000000)
        armv8_execute(1000000000, 10, true); /* few cycles pass, so no slice ends */
    hpm_read_thread(&threads[0], &b);
    assert_in_range(b.instructions, executed, executed + 2000);
    assert_true(cpus[0].hpm->interrupts >= 10);
    assert_exact(0);
}

/* As QEMU's counters do: its timer may reach a CPU that returns from an exception between reading
 * and setting them. */
static void a_counter_that_steps_back_counts_nothing_then(void **state)
{
    static const struct armv8_kind *const kinds[] = {&armv8_narrow, &armv8_wide};
    struct hpm_breakdown b;

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        switch_to(0, 0);
        armv8_execute(ARMV8_FIRST_WRAP + 5000000, 1000, true);
        hpm_read_thread(&threads[0], &b);
        uint64_t before = b.instructions;
        armv8_double[0].counter[hpm_caps()->counters] = 400;
        armv8_execute(1000000, 1000, true);
        hpm_read_thread(&threads[0], &b);
        assert_in_range(b.instructions - before, 0, 200); /* of the driver itself */
        armv8_execute(1000000, 1000, true);
        hpm_read_thread(&threads[0], &b);
        assert_in_range(b.instructions - before, 1000000, 1000400);
        assert_non_null(
            strstr(double_output, "hpm: armv8: CPU 0: counter 5 stepped back from 0x4c"));
    }
}

static void a_cycle_counter_that_steps_back_counts_nothing_then(void **state)
{
    struct hpm_breakdown b;

    (void)state;
    start(&armv8_bare);
    switch_to(0, 0);
    armv8_execute(1000, 5000, true);
    hpm_read_thread(&threads[0], &b);
    uint64_t before = b.cycles;
    armv8_double[0].counter[ARMV8_CYCLES] = 400;
    armv8_execute(1000, 2000, true);
    hpm_read_thread(&threads[0], &b);
    assert_in_range(b.cycles - before, 0, 200); /* of the driver itself */
    armv8_execute(1000, 3000, true);
    hpm_read_thread(&threads[0], &b);
    assert_in_range(b.cycles - before, 3000, 3400);
    assert_non_null(strstr(double_output, "hpm: armv8: CPU 0: counter 31 stepped back from 0x"));
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* QEMU's PMU sets counters wrong when one overflows; the architecture has none that counts no
 * instructions. */
static void no_counter_overflows_where_instructions_are_not_counted(void **state)
{
    struct armv8_kind speculative = armv8_bare;

    (void)state;
    start(&armv8_bare);
    switch_to(0, 0);
    for (unsigned i = 0; i < 20; i++)
        armv8_execute(1000, SLICE, true);
    armv8_count(CODE_CYCLES, ARMV8_FIRST_WRAP, true);
    assert_int_equal(armv8_double[0].flags, 0);
    assert_int_equal(cpus[0].hpm->interrupts, 0);
    uint64_t began = cpus[0].hpm->turn_began;
    hpm_tick();
    hpm_tick();
    assert_true(cpus[0].hpm->turn_began - began >= 20 * (uint64_t)SLICE);
    assert_exact(0);
    speculative.ceid0 |= CEID(0x1b);
    start(&speculative);
    switch_to(0, 0);
    armv8_execute(1000, SLICE + 1000, true);
    assert_int_equal(cpus[0].hpm->interrupts, 1);
}

static void a_turn_that_a_tick_has_ended_is_not_ended_again(void **state)
{
    (void)state;
    start(&armv8_wide);
    end_turn_by_ticks();
    unsigned group = mux_turns_group(&cpus[0].hpm->turns);
    uint64_t interrupts = cpus[0].hpm->interrupts;
    host_irqs_on = true;
    double_deliver();
    assert_int_equal(cpus[0].hpm->interrupts, interrupts);
    hpm_interrupt(NULL); /* the controller had taken it already */
    assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
    assert_exact(0);
}

static void flags_of_unused_counters_bring_no_storm(void **state)
{
    struct armv8_kind many = armv8_wide;

    (void)state;
    many.counters = 31;
    start(&many);
    switch_to(0, 0);
    armv8_double[0].flags |= (uint64_t)1 << 20;
    armv8_double[0].now.interrupts |= (uint64_t)1 << 20; /* set from outside */
    armv8_double[0].written.interrupts |= (uint64_t)1 << 20;
    double_deliver();
    assert_int_equal(armv8_double[0].flags, 0);
    assert_exact(0);
}

static void what_firmware_left_on_is_off(void **state)
{
    struct armv8_kind many = armv8_wide;
    const uint64_t ours = 0x1ff | SET_CYCLES;

    (void)state;
    many.counters = 31;
    start(&many);
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        assert_int_equal(armv8_double[i].written.enabled & ~ours, 0);
        assert_int_equal(armv8_double[i].written.interrupts, ours);
        assert_int_equal(armv8_double[i].flags, 0);
    }
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static struct hpm_breakdown run_both_modes(uint64_t modes)
{
    with_modes(modes);
    start(&armv8_few);
    return count_both_modes(1, 0x23);
}

static void a_mode_that_is_not_asked_for_is_not_counted(void **state)
{
    enum { BOTH, USER, KERNEL };

    (void)state;
    struct hpm_breakdown both = run_both_modes(BOTH);
    assert_in_range(both.instructions, 1030000, 1030200);
    assert_in_range(both.cycles, 2050000, 2050400);
    assert_int_equal(both.stall[STALL_FRONTEND], 750);
    struct hpm_breakdown user = run_both_modes(USER);
    assert_non_null(strstr(double_output, "unit=cycles modes=user records=no"));
    assert_int_equal(user.instructions, 1000000);
    assert_int_equal(user.cycles, 2000000);
    assert_int_equal(user.stall[STALL_FRONTEND], 700);
    struct hpm_breakdown kernel = run_both_modes(KERNEL);
    assert_in_range(kernel.instructions, 30000, 30200);
    assert_in_range(kernel.cycles, 50000, 50400);
    assert_int_equal(kernel.stall[STALL_FRONTEND], 50);
    double_output[0] = 0;
    hpm_breakdown_print("test", &kernel);
    assert_non_null(strstr(double_output, "kernel-mode cycles, "));
    assert_null(strstr(double_output, "idle"));
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void what_is_not_counted_is_named_and_not_shown(void **state)
{
    struct hpm_breakdown b = {.cycles = 1000000, .idle_cycles = 1000000, .seen_permille = 1000};

    (void)state;
    start(&armv8_bare);
    double_output[0] = 0;
    hpm_breakdown_print("test", &b);
    assert_string_equal(
        double_output,
        "hpm: test: 1000000 cycles, idle 50.0 %\n"
        "  cycles by cause               count  share\n"
        "  all                            1.000 M  100.0 %\n"
        "  lacks: figures=instructions,stalls-by-cause,stalls-by-half,accesses-by-source,misses: "
        "not "
        "counted by this PMU\n");
    start(&armv8_wide);
    b.instructions = 500000;
    b.stall[STALL_FRONTEND] = 100000;
    b.stall[STALL_BACKEND] = 300000;
    b.missed[MISS_L1D] = 1234;
    double_output[0] = 0;
    hpm_breakdown_print("test", &b);
    assert_non_null(strstr(
        double_output, "500000 instructions, idle 50.0 %, each figure seen for at least 100.0"));
    assert_non_null(
        strstr(double_output, "  completion                     0.600 M   60.0 %    1.200\n"));
    assert_non_null(
        strstr(double_output, "  back end                       0.300 M   30.0 %    0.600\n"));
    assert_non_null(strstr(double_output, "  L1 data misses                 1234"));
    assert_non_null(strstr(double_output, "2.468\n"));
    assert_null(strstr(double_output, "branch misprediction"));
    assert_null(strstr(double_output, "remote L2"));
    assert_non_null(
        strstr(double_output, "  lacks: figures=stalls-by-cause,accesses-but-remote-caches: "));
    struct armv8_kind half = armv8_wide;
    half.ceid1 &= ~CEID(0x23);
    start(&half);
    double_output[0] = 0;
    hpm_breakdown_print("test", &b);
    assert_null(strstr(double_output, "completion"));
    assert_non_null(strstr(double_output, "all else"));
}

static void there_are_no_samples(void **state)
{
    struct hpm_sampling config = {.sources = SOURCES_REMOTE_CACHE, .period = 10, .user = true};
    struct hpm_sample sample;
    struct hpm_sample_account account;

    (void)state;
    start(&armv8_wide);
    assert_false(hpm_caps()->can_sample);
    assert_int_equal(one_start(&config), -ENODEV);
    one_stop();
    assert_int_equal(one_take(&sample, 1), 0);
    one_account(&account);
    assert_int_equal(account.taken, 0);
    hpm_mark("nothing to mark");
}

/* ---- What all drivers have in common --------------------------------------------------------- */

static const struct armv8_kind *const kinds[] = {&armv8_narrow, &armv8_wide};

static void make(unsigned kind)
{
    armv8_machine(kinds[kind]);
}

static void make_large(void)
{
    struct armv8_kind large = armv8_wide;

    large.counters = 31;
    armv8_machine(&large);
}

static void make_stuck(void)
{
    struct armv8_kind stuck = armv8_wide;

    stuck.stuck = true;
    armv8_machine(&stuck);
}

static const struct driver_machine machine = {.kinds = ARRAY_SIZE(kinds),
                                              .make = make,
                                              .make_large = make_large,
                                              .make_stuck = make_stuck,
                                              .first_wrap = ARMV8_FIRST_WRAP,
                                              .switch_accesses = 9};

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cpu_without_pmuv3_has_no_counters),
        TEST(one_line_tells_what_was_found),
        TEST(an_event_is_counted_by_the_best_code_there_is),
        TEST(a_core_that_is_known_counts_the_same_as_one_that_is_not),
        TEST(a_pmu_may_have_a_cycle_counter_only),
        TEST(a_cpu_that_lacks_what_the_first_has_is_left_out),
        TEST(nothing_is_lost_or_counted_twice_by_narrow_counters),
        TEST(nothing_is_lost_or_counted_twice_by_wide_counters),
        TEST(cycles_are_counted_where_instructions_are_not),
        TEST(one_wrap_may_pass_while_interrupts_are_off),
        TEST(wraps_are_taken_in_by_interrupt_without_any_tick),
        TEST(a_counter_that_steps_back_counts_nothing_then),
        TEST(a_cycle_counter_that_steps_back_counts_nothing_then),
        TEST(no_counter_overflows_where_instructions_are_not_counted),
        TEST(a_turn_that_a_tick_has_ended_is_not_ended_again),
        TEST(flags_of_unused_counters_bring_no_storm),
        TEST(what_firmware_left_on_is_off),
        TEST(a_mode_that_is_not_asked_for_is_not_counted),
        TEST(what_is_not_counted_is_named_and_not_shown),
        TEST(there_are_no_samples),
    };
    return driver_tests(&machine, tests, ARRAY_SIZE(tests));
}
