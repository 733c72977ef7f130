/* The tests that all drivers of processors' own PMUs have in common; see hpm_driver.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "test/host/double/hpm_driver.h"

static const struct driver_machine *machine;

static void start_kind(unsigned kind)
{
    machine->make(kind);
    kernel_start_hpm();
    threads_begin(3);
}

static void start_made(void (*make)(void))
{
    make();
    kernel_start_hpm();
    threads_begin(3);
}

static void counters_may_wrap_at_any_moment_of_a_reading(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        start_kind(kind);
        check_wraps_during_a_reading(machine->first_wrap);
    }
}

static void groups_take_turns_by_interrupt_without_any_tick(void **state)
{
    unsigned most = 0;

    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        start_kind(kind);
        most = MAX(most, hpm_state.plan->mux.rounds.groups);
        check_turns_by_interrupt();
    }
    assert_true(most > 1);
}

static void a_turn_loses_no_more_cycles_than_a_register_access_takes(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        start_kind(kind);
        check_cycles_lost_by_turns();
    }
}

static void slices_can_be_of_instructions(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        start_kind(kind);
        check_slices_by_instructions();
    }
}

static void a_switch_costs_a_handful_of_register_accesses(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        start_kind(kind);
        switch_to(0, 0);
        unsigned before = pmu_double.truth(0).accesses;
        switch_to(0, 1);
        assert_in_range(pmu_double.truth(0).accesses - before, 1, machine->switch_accesses);
    }
}

static void a_stop_of_the_cpu_while_its_rate_is_measured_changes_nothing(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        machine->make(kind);
        check_stops_while_measured();
    }
}

static void idle_time_is_in_cycles_of_a_cpu_that_runs(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < machine->kinds; kind++) {
        start_kind(kind);
        check_idle_time();
    }
}

static void no_more_counters_are_used_than_hpm_has_room_for(void **state)
{
    (void)state;
    start_made(machine->make_large);
    check_room_for_counters();
}

static void a_cycle_counter_that_stands_still_is_not_used(void **state)
{
    (void)state;
    start_made(machine->make_stuck);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, ": the cycle counter stands still: not used\n"));
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int driver_tests(const struct driver_machine *m, const struct CMUnitTest *others, unsigned count)
{
    struct CMUnitTest tests[64] = {
        TEST(counters_may_wrap_at_any_moment_of_a_reading),
        TEST(groups_take_turns_by_interrupt_without_any_tick),
        TEST(a_turn_loses_no_more_cycles_than_a_register_access_takes),
        TEST(slices_can_be_of_instructions),
        TEST(a_switch_costs_a_handful_of_register_accesses),
        TEST(a_stop_of_the_cpu_while_its_rate_is_measured_changes_nothing),
        TEST(idle_time_is_in_cycles_of_a_cpu_that_runs),
        TEST(no_more_counters_are_used_than_hpm_has_room_for),
        TEST(a_cycle_counter_that_stands_still_is_not_used),
    };
    unsigned n = 0;

    machine = m;
    while (tests[n].name)
        n++;
    if (n + count > ARRAY_SIZE(tests))
        fail_msg("too many tests");
    for (unsigned i = 0; i < count; i++)
        tests[n++] = others[i];
    return _cmocka_run_group_tests(__func__, tests, n, NULL, NULL);
}
