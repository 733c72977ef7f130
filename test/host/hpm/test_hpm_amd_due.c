/* AMD's counters, armed to interrupt at a count. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/amd_kinds.h"
#include "test/host/double/hpm_due.h"

static const struct amd_kind *const kinds[] = {&amd_zen2, &amd_zen3, &amd_zen4};
enum { WITHOUT_FLAGS = 3 };

static void make(unsigned kind)
{
    amd_machine(kinds[kind]);
}

static const struct due_machine machine = {.kinds = ARRAY_SIZE(kinds),
                                           .make = make,
                                           .least = 2,
                                           .arm_accesses = 2,
                                           .unflagged = WITHOUT_FLAGS};

static void further_than_a_counter_is_wide(void **state)
{
    const uint64_t far = BIT_OF(AMD_WIDTH) + 5, piece = BIT_OF(45);

    (void)state;
    for (unsigned kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
        due_start(kind);
        uint64_t due = due_count(0) + far, left = far;
        due_arm(0, far);
        for (; left > piece; left -= piece)
            due_happen(0, piece);
        due_happen(0, left - 1);
        assert_int_equal(due_heard(), 0);
        due_happen(0, 1);
        assert_int_equal(due_heard(), 1);
        assert_int_equal(due_count(0), due);
    }
}

/* They overflow as one counter, so the upper half must be all ones. */
static void two_counters_that_are_merged_interrupt_as_one(void **state)
{
    struct pmu_latch l;

    (void)state;
    for (unsigned kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
        due_start(kind);
        struct event flops = event_named("RETIRED_SSE_AVX_FLOPS:ANY");
        struct hpm_programme wide = {.event = {[2] = &flops}};
        due_counters[0] = (struct due_counter){flops, 2};
        for (unsigned i = 0; i < 3; i++) {
            hpm_state.ops->latch(&l, &wide);
            for (unsigned k = 0; k < 2; k++) {
                uint64_t due = due_count(0) + 1000;
                due_arm(0, 1000);
                due_happen(0, 999);
                assert_int_equal(due_heard(), 0);
                due_happen(0, 1);
                assert_int_equal(due_heard(), 1);
                due_happen(0, 5000);
                assert_int_equal(due_heard(), 0);
                assert_int_equal(due_count(0), due + 5000);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test_teardown(further_than_a_counter_is_wide, threads_end),
        cmocka_unit_test_teardown(two_counters_that_are_merged_interrupt_as_one, threads_end),
    };
    return due_tests(&machine, others, ARRAY_SIZE(others));
}
