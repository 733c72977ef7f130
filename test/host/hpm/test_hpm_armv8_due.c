/* Arm's counters, armed to interrupt at a count. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/armv8_kinds.h"
#include "test/host/double/hpm_due.h"

static const struct armv8_kind *const kinds[] = {&armv8_narrow, &armv8_wide};

static void make(unsigned kind)
{
    armv8_machine(kinds[kind]);
}

/* One of the accesses reads the flag. */
static const struct due_machine machine = {
    .kinds = ARRAY_SIZE(kinds), .make = make, .least = 1, .arm_accesses = 3};

static void what_has_gone_all_the_way_round_before_it_is_armed_is_counted(void **state)
{
    const uint64_t round = (uint64_t)1 << 32;

    (void)state;
    due_start(0);
    due_happen(0, ARMV8_FIRST_WRAP + 5);
    uint64_t before = due_count(0);
    double_late = true;
    due_happen(0, round);
    host_irqs_on = false;
    hpm_state.ops->arm(due_counters[0].counter, before + round + 1000);
    host_irqs_on = true;
    double_late = false;
    due_happen(0, 999);
    assert_int_equal(due_heard(), 0);
    due_happen(0, 1);
    assert_int_equal(due_heard(), 1);
    assert_int_equal(due_count(0), before + round + 1000);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test_teardown(what_has_gone_all_the_way_round_before_it_is_armed_is_counted,
                                  threads_end),
    };
    return due_tests(&machine, others, ARRAY_SIZE(others));
}
