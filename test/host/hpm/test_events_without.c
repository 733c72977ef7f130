/* Names of events in a kernel that was built without libpfm4's tables: what is left, and what is
 * said of the rest. */
#include "test/host/double/event_names.h"
#include "hpm/events/metric.h"

#define INTEL 0x756e6547
#define AMD   0x68747541

static void processors_have_the_tables_that_need_no_vendors(void **state)
{
    (void)state;
    assert_string_equal(table_name_for(event_identity_x86(INTEL, 0x806f8)), "intel-architectural");
    /* EPYC 9654 */
    assert_string_equal(table_name_for(event_identity_x86(AMD, 0xa10f11)), "amd-common");
}

static void generic_names_of_architectural_events_work(void **state)
{
    (void)state;
    expect_event("intel-architectural", "llc.miss:u", 0x412e);
    assert_int_equal(event.counters, 0xf);
    assert_int_equal(event.modes, EVENT_USER);
    expect_event("intel-architectural", "instructions", 0xc0);
    assert_int_equal(event.fixed, 0);
    expect_event("amd-common", "cycles", 0x76);
    expect_event("amd-common", "instructions", 0xc0);
}

static void metrics_of_architectural_events_work(void **state)
{
    const struct event_pmu pmu = {.table = event_table_named("amd-common")};
    struct event events[METRIC_EVENTS_MAX];
    struct metric_program program;
    const struct metric *row;

    (void)state;
    assert_int_equal(metric_find(&pmu, "ipc", &row, &program, events, err, sizeof err), 0);
    assert_int_equal(program.events, 2);
}

static void events_given_by_their_bits_are_taken(void **state)
{
    (void)state;
    expect_event("intel-architectural", "r3f24:k", 0x3f24);
    expect_event("amd-common", "r100001ea0", 1ull << 32 | 0x1ea0);
}

static void a_vendors_name_is_refused_with_the_reason(void **state)
{
    (void)state;
    assert_int_equal(parse("intel-architectural", "L2_RQSTS:MISS"), -ENOENT);
    assert_string_equal(err,
                        "'L2_RQSTS' is no event of intel-architectural; "
                        "vendors' names of events are not in this kernel (built without libpfm4)");
    assert_int_equal(parse("amd-common", "l1d.miss"), -ENOTSUP);
    assert_string_equal(err, "'l1d.miss' is not available on amd-common");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_have_the_tables_that_need_no_vendors),
        cmocka_unit_test(generic_names_of_architectural_events_work),
        cmocka_unit_test(metrics_of_architectural_events_work),
        cmocka_unit_test(events_given_by_their_bits_are_taken),
        cmocka_unit_test(a_vendors_name_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
