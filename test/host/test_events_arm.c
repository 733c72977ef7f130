/* Names of events on Arm: the tables, what they share, which core has which. */
#include "test/host/expect_panic.h"
#include "hpm/events/generic.h"

#define EVERY_COUNTER 0x7fffffff

static struct event event;
static char err[256];

static int parse(const char *pmu, const char *text)
{
    const struct event_table *t = event_table_named(pmu);

    assert_non_null(t);
    return event_parse(t, text, &event, err, sizeof err);
}

static void events_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(parse("neoverse-v2", "stall_slot_backend:u"), 0);
    assert_int_equal(event.config, 0x3d);
    assert_int_equal(event.counters, EVERY_COUNTER);
    assert_int_equal(event.fixed, EVENT_NO_FIXED);
    assert_int_equal(event.modes, EVENT_USER);
    assert_int_equal(parse("neoverse-n2", "SVE_INST_SPEC"), 0);
    assert_int_equal(event.config, 0x8006);
    assert_int_equal(parse("neoverse-n2", "r8006"), 0);
    assert_int_equal(event.config, 0x8006);
}

static void cycles_have_a_counter_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(parse("neoverse-n1", "CPU_CYCLES"), 0);
    assert_int_equal(event.fixed, 0);
    assert_int_equal(event.counters, EVERY_COUNTER);
    assert_int_equal(parse("neoverse-n1", "r11"), 0);
    assert_int_equal(event.fixed, 0);
}

static void chained_counters_are_odd_ones(void **state)
{
    (void)state;
    assert_int_equal(parse("pmuv3", "CHAIN"), 0);
    assert_int_equal(event.counters, 0x2aaaaaaa);
    assert_int_equal(parse("neoverse-v1", "COUNTER_OVERFLOW"), 0);
    assert_int_equal(event.counters, 0x2aaaaaaa);
}

static void an_event_number_has_sixteen_bits(void **state)
{
    (void)state;
    assert_int_equal(parse("pmuv3", "rffff"), 0);
    assert_int_equal(parse("pmuv3", "r10011"), -EINVAL);
    assert_string_equal(err, "'r10011' has bits that do not select an event: 0x10000");
}

/* libpfm4's names differ (L1D_CACHE, L1D_CACHE_ACCESS), the architecture's numbers do not. */
static void generic_names_go_by_the_architectures_numbers(void **state)
{
    static const struct {
        const char *name;
        uint64_t number;
    } expected[] = {
        {"cycles", 0x11},     {"instructions", 0x08}, {"l1d.access", 0x04}, {"l1d.miss", 0x03},
        {"l1i.access", 0x14}, {"l1i.miss", 0x01},     {"l2.access", 0x16},  {"l2.miss", 0x17},
    };

    (void)state;
    for (const struct event_table *const *t = event_tables; *t; t++) {
        if (!strcmp((*t)->name, "model"))
            continue;
        for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
            assert_int_equal(parse((*t)->name, expected[i].name), 0);
            assert_int_equal(event.config, expected[i].number);
        }
    }
}

/* One map serves cores that count more and less: what a table does not list, its core does not count. */
static void numbers_that_a_core_does_not_list_are_not_available(void **state)
{
    (void)state;
    assert_int_equal(parse("neoverse-n1", "stall.mem"), -ENOTSUP);
    assert_string_equal(err, "'stall.mem' is not available on neoverse-n1");
    assert_int_equal(parse("neoverse-n2", "stall.mem"), 0);
    assert_int_equal(event.config, 0x4005);
    assert_int_equal(parse("neoverse-n1", "ops"), -ENOTSUP);
    assert_int_equal(parse("neoverse-v1", "ops"), 0);
    assert_int_equal(parse("cortex-a72", "stall.frontend"), -ENOTSUP);
    assert_int_equal(parse("cortex-a72", "branch.miss"), 0);
    assert_int_equal(event.config, 0x10);
    assert_int_equal(parse("pmuv3", "load"), 0);
    assert_int_equal(event.config, 0x06);
    assert_int_equal(parse("neoverse-n1", "load"), 0);
    assert_int_equal(event.config, 0x70);
}

static void the_simulated_machine_has_its_table_here_too(void **state)
{
    (void)state;
    assert_int_equal(parse("model", "SERVED:REMOTE_L2"), 0);
    assert_int_equal(event.counters, 0x5);
    assert_int_equal(parse("model", "cycles"), 0);
    assert_int_equal(event.fixed, 5);
}

static const char *table_of(uint32_t midr)
{
    struct event_identity id = event_identity_arm(midr);
    const struct event_table *t = event_table_for(&id);

    return t ? event_table_name(t) : "none";
}

static void cores_have_their_tables(void **state)
{
    (void)state;
    assert_string_equal(table_of(0x411fd070), "cortex-a57");
    assert_string_equal(table_of(0x410fd083), "cortex-a72");  /* Graviton, Raspberry Pi 4 */
    assert_string_equal(table_of(0x413fd0c1), "neoverse-n1"); /* Graviton2, Altra         */
    assert_string_equal(table_of(0x411fd401), "neoverse-v1"); /* Graviton3                */
    assert_string_equal(table_of(0x410fd490), "neoverse-n2-r0p2");
    assert_string_equal(table_of(0x410fd492), "neoverse-n2-r0p2");
    assert_string_equal(table_of(0x410fd493), "neoverse-n2");
    assert_string_equal(table_of(0x410fd4f0), "neoverse-v2"); /* Grace, Graviton4         */
    assert_string_equal(table_of(0x410fd034), "pmuv3");       /* Cortex-A53               */
    assert_string_equal(table_of(0x610f0220), "pmuv3");       /* another implementer      */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_numbers),
        cmocka_unit_test(cycles_have_a_counter_of_their_own),
        cmocka_unit_test(chained_counters_are_odd_ones),
        cmocka_unit_test(an_event_number_has_sixteen_bits),
        cmocka_unit_test(generic_names_go_by_the_architectures_numbers),
        cmocka_unit_test(numbers_that_a_core_does_not_list_are_not_available),
        cmocka_unit_test(the_simulated_machine_has_its_table_here_too),
        cmocka_unit_test(cores_have_their_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
