/* Intel's counters, armed to interrupt at a count. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_due.h"
#include "test/host/double/intel_kinds.h"

static const struct intel_kind *const kinds[] = {&intel_first, &intel_second, &intel_guest,
                                                 &intel_skylake, &intel_icelake};
enum { WITHOUT_FLAGS = 1 };

static void make(unsigned kind)
{
    intel_machine(kinds[kind]);
}

static const struct due_machine machine = {.kinds = ARRAY_SIZE(kinds),
                                           .make = make,
                                           .least = 2,
                                           .arm_accesses = 2,
                                           .unflagged = WITHOUT_FLAGS};

int main(void)
{
    return due_tests(&machine, NULL, 0);
}
