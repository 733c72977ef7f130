/* Counting with Intel's counters, and hpm on top of it, against a register-level double that knows
 * the truth. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/intel_kinds.h"

#define FIRST_WRAP ((uint64_t)1 << 25)

static const struct intel_kind *const all_kinds[] = {&intel_first, &intel_second, &intel_guest,
                                                     &intel_skylake, &intel_icelake};

static void start(const struct intel_kind *kind)
{
    intel_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void nothing_is_lost_or_counted_twice(void **state)
{
    struct life l = {.steps = 2500, .events_max = 100000000, .instructions_max = 200000000};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(all_kinds); i++) {
        l.seed = 3 + 2 * i;
        start(all_kinds[i]);
        assert_true(live(&l).instructions > 8 * ((uint64_t)1 << 32));
    }
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void a_turn_that_a_tick_has_ended_is_not_ended_again(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(all_kinds); k++) {
        start(all_kinds[k]);
        end_turn_by_ticks();
        unsigned group = mux_turns_group(&cpus[0].hpm->turns);
        uint64_t began = cpus[0].hpm->turn_began;
        assert_true(intel_double[0].interrupt); /* the controller has taken it already */
        host_irqs_on = true;
        double_deliver();
        hpm_interrupt(NULL); /* and another one without a reason */
        assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
        assert_int_equal(cpus[0].hpm->turn_began, began);
        assert_exact(0);
    }
}

static void what_firmware_left_on_is_off(void **state)
{
    struct intel_kind many = intel_skylake;

    (void)state;
    many.counters = 10;
    start(&many);
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        const struct intel_double *d = &intel_double[i];
        for (unsigned c = 8; c < many.counters; c++)
            assert_int_equal(d->select[c], 0);
        assert_int_equal(d->select[3], 0);
        assert_int_equal(d->fixed_control, 0xb3);
        assert_int_equal(d->global_control, 0x3000000ff);
        assert_int_equal(d->status, (uint64_t)1 << 61); /* of another unit */
        assert_int_equal(d->debug, 1);
        assert_int_equal(d->pebs_enable, 0);
    }
}

static void bits_of_counters_that_ask_for_no_interrupt_are_cleared_with_the_others(void **state)
{
    (void)state;
    start(&intel_skylake);
    switch_to(0, 0);
    intel_count(CODE_INSTRUCTIONS, FIRST_WRAP + 5, true);
    assert_int_equal(intel_double[0].status & 0xf0000000f, (uint64_t)1 << 32);
    assert_false(intel_double[0].interrupt);
    intel_execute(1000, SLICE, true);
    assert_int_equal(intel_double[0].status & ~((uint64_t)1 << 61), 0);
    assert_exact(0);
}

static void a_switch_reads_each_counter_once(void **state)
{
    (void)state;
    start(&intel_skylake);
    switch_to(0, 0);
    unsigned before = intel_double[0].accesses;
    switch_to(0, 1);
    assert_int_equal(intel_double[0].accesses - before, 5); /* none is written */
}

/* ---- Modes, and registers that events share -------------------------------------------------- */

static struct hpm_breakdown run_both_modes(const struct intel_kind *kind, uint64_t modes)
{
    with_modes(modes);
    start(kind);
    return count_both_modes(1, CODE_BRANCH_MISS);
}

static void a_mode_that_is_not_asked_for_is_not_counted(void **state)
{
    enum { BOTH, USER, KERNEL };

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(all_kinds); k++) {
        struct hpm_breakdown both = run_both_modes(all_kinds[k], BOTH);
        assert_in_range(both.instructions, 1030000, 1030300);
        assert_in_range(both.cycles, 2050000, 2050600);
        struct hpm_breakdown user = run_both_modes(all_kinds[k], USER);
        assert_int_equal(user.instructions, 1000000);
        assert_int_equal(user.cycles, 2000000);
        struct hpm_breakdown kernel = run_both_modes(all_kinds[k], KERNEL);
        assert_in_range(kernel.instructions, 30000, 30300);
        assert_in_range(kernel.cycles, 50000, 50600);
    }
}

/* The modes are part of the event. */
static void each_event_is_counted_in_its_own_modes(void **state)
{
    struct pmu_latch before, after;
    struct event user, kernel;
    struct hpm_programme next = {.event = {&user, &kernel}};

    (void)state;
    start(&intel_skylake);
    user = event_named("r412e:u");
    kernel = event_named("r412e:k");
    host_irqs_on = false;
    hpm_state.ops->latch(&before, &next);
    intel_count(CODE_LLC_MISS, 7, true);
    intel_count(CODE_LLC_MISS, 500, false);
    hpm_state.ops->latch(&after, NULL);
    assert_int_equal(after.count[0] - before.count[0], 7);
    assert_int_equal(after.count[1] - before.count[1], 500);
    next.event[0] = next.event[1] = NULL;
    hpm_state.ops->latch(&before, &next);
    intel_count(CODE_LLC_MISS, 9, true);
    hpm_state.ops->latch(&after, NULL);
    assert_memory_equal(before.count, after.count, hpm_state.pmu.counters * sizeof before.count[0]);
}

static void an_event_brings_its_second_register_with_it(void **state)
{
    struct pmu_latch out;
    struct event offcore, other, frontend;
    struct hpm_programme next = {.event = {&offcore, &frontend}};

    (void)state;
    start(&intel_skylake);
    offcore = event_named("OFFCORE_RESPONSE_0:DMND_RFO:L3_HIT:SNP_HITM");
    other = event_named("OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT:SNP_HITM");
    frontend = event_named("FRONTEND_RETIRED:DSB_MISS");
    assert_true(offcore.extra != other.extra);
    host_irqs_on = false;
    hpm_state.ops->latch(&out, &next);
    assert_int_equal(intel_double[0].offcore[0], offcore.extra);
    assert_int_equal(intel_double[0].frontend, frontend.extra);
    unsigned accesses = intel_double[0].accesses;
    next.event[0] = &other;
    hpm_state.ops->latch(&out, &next);
    assert_int_equal(intel_double[0].offcore[0], other.extra);
    next.event[0] = &offcore;
    next.event[1] = NULL;
    hpm_state.ops->latch(&out, &next);
    assert_int_equal(intel_double[0].offcore[0], offcore.extra);
    assert_int_equal(intel_double[0].frontend, frontend.extra);
    assert_in_range(intel_double[0].accesses - accesses, 1, 30);
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static void servers_have_the_inputs_of_policy_cluster(void **state)
{
    static const struct intel_kind *const servers[] = {&intel_skylake, &intel_icelake,
                                                       &intel_sapphire};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(servers); k++) {
        start(servers[k]);
        check_remote_inputs();
    }
    start(&intel_skylake_client); /* there are no other chips */
    assert_int_equal(hpm_caps()->served, 0);
}

/* ---- What all drivers have in common --------------------------------------------------------- */

static void make(unsigned kind)
{
    intel_machine(all_kinds[kind]);
}

static void make_large(void)
{
    struct intel_kind large = intel_icelake;

    large.counters = 16;
    intel_machine(&large);
}

static void make_stuck(void)
{
    struct intel_kind stuck = intel_skylake;

    stuck.stuck = true;
    intel_machine(&stuck);
}

static const struct driver_machine machine = {.kinds = ARRAY_SIZE(all_kinds),
                                              .make = make,
                                              .make_large = make_large,
                                              .make_stuck = make_stuck,
                                              .first_wrap = FIRST_WRAP,
                                              .switch_accesses = 10};

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_lost_or_counted_twice),
        TEST(a_turn_that_a_tick_has_ended_is_not_ended_again),
        TEST(what_firmware_left_on_is_off),
        TEST(bits_of_counters_that_ask_for_no_interrupt_are_cleared_with_the_others),
        TEST(a_switch_reads_each_counter_once),
        TEST(a_mode_that_is_not_asked_for_is_not_counted),
        TEST(each_event_is_counted_in_its_own_modes),
        TEST(an_event_brings_its_second_register_with_it),
        TEST(servers_have_the_inputs_of_policy_cluster),
    };
    return driver_tests(&machine, tests, ARRAY_SIZE(tests));
}
