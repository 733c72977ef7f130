/* Names of events in a kernel that is built without libpfm4's tables: what is left, and what is said of the rest. */
#include "test/host/expect_panic.h"
#include "hpm/events/event.h"
#include "hpm/events/metric.h"

#define INTEL 0x756e6547
#define AMD   0x68747541

static struct event event;
static char err[256];

static struct event_pmu pmu_of(uint32_t vendor, uint32_t leaf1_eax)
{
    struct event_identity id = event_identity_x86(vendor, leaf1_eax);
    struct event_pmu pmu = {.table = event_table_for(&id)};

    assert_non_null(pmu.table);
    return pmu;
}

static int parse(uint32_t vendor, uint32_t leaf1_eax, const char *text)
{
    struct event_pmu pmu = pmu_of(vendor, leaf1_eax);

    return event_parse(&pmu, text, &event, err, sizeof err);
}

#define SAPPHIRE_RAPIDS INTEL, 0x806f8
#define ZEN4            AMD, 0xa10f11

static void generic_names_of_architectural_events_work(void **state)
{
    (void)state;
    assert_int_equal(parse(SAPPHIRE_RAPIDS, "llc.miss:u"), 0);
    assert_int_equal(event.config, 0x412e);
    assert_int_equal(event.counters, 0xf);
    assert_int_equal(event.modes, EVENT_USER);
    assert_int_equal(parse(SAPPHIRE_RAPIDS, "instructions"), 0);
    assert_int_equal(event.fixed, 0);
    assert_int_equal(parse(ZEN4, "cycles"), 0);
    assert_int_equal(event.config, 0x76);
    assert_int_equal(parse(ZEN4, "instructions"), 0);
    assert_int_equal(event.config, 0xc0);
}

static void metrics_of_architectural_events_work(void **state)
{
    struct event_pmu pmu = pmu_of(ZEN4);
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
    assert_int_equal(parse(SAPPHIRE_RAPIDS, "r3f24:k"), 0);
    assert_int_equal(event.config, 0x3f24);
    assert_int_equal(parse(ZEN4, "r100001ea0"), 0);
    assert_int_equal(event.config, 1ull << 32 | 0x1ea0);
}

static void a_vendors_name_is_refused_with_the_reason(void **state)
{
    (void)state;
    assert_int_equal(parse(SAPPHIRE_RAPIDS, "L2_RQSTS:MISS"), -ENOENT);
    assert_string_equal(err, "'L2_RQSTS' is no event of intel-architectural; "
                             "vendors' names of events are not in this kernel (built without libpfm4)");
    assert_int_equal(parse(ZEN4, "l1d.miss"), -ENOTSUP);
    assert_string_equal(err, "'l1d.miss' is not available on amd-common");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generic_names_of_architectural_events_work),
        cmocka_unit_test(metrics_of_architectural_events_work),
        cmocka_unit_test(events_given_by_their_bits_are_taken),
        cmocka_unit_test(a_vendors_name_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
