/* Names of events on Arm: the tables, what they share, and which core has which. */
#include "test/host/double/event_names.h"
#include "hpm/events/generic.h"
#include "test/host/double/topdown.h"

#define EVERY_COUNTER 0x7fffffff

static void events_are_numbers(void **state)
{
    (void)state;
    expect_event("neoverse-v2", "stall_slot_backend:u", 0x3d);
    assert_int_equal(event.counters, EVERY_COUNTER);
    assert_int_equal(event.fixed, EVENT_NO_FIXED);
    assert_int_equal(event.modes, EVENT_USER);
    expect_event("neoverse-n2", "SVE_INST_SPEC", 0x8006);
    expect_event("neoverse-n2", "r8006", 0x8006);
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

static void selectors_are_names_that_count_the_same(void **state)
{
    static const struct {
        const char *name;
        uint64_t code;
        bool is;
    } rows[] = {
        {"cycles", 0x11, true},
        {"instructions", 0x08, true},
        {"branch", 0x21, true}, /* BR_RETIRED */
        {"branch", 0x12, true}, /* or BR_PRED */
        {"branch.miss", 0x22, true},
        {"branch.miss", 0x12, false},
        {"l1d.miss", 0x03, true},
        {"L1D_CACHE_REFILL_RD", 0x42, true},
        {"L1D_CACHE_REFILL_RD", 0x43, false},
        {"cycles", 0x111, false},
        {"cycles", UINT64_MAX, false},
        {"mem.local", 0, false},       /* it has none */
        {"L1D_LOAD_MISSES", 1, false}, /* another PMU's */
        {"", 0, false},
    };
    const struct event_table *n1 = event_table_named("neoverse-n1");

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (event_is(n1, rows[i].name, rows[i].code) != rows[i].is)
            fail_msg("%s, %#llx", rows[i].name, (unsigned long long)rows[i].code);
}

static void chaining_is_no_event(void **state)
{
    (void)state;
    assert_int_equal(parse("pmuv3", "CHAIN"), -ENOENT);
    assert_int_equal(parse("neoverse-v1", "COUNTER_OVERFLOW"), -ENOENT);
}

/* Parses for a PMU that reports these events. low: bit n: event n; high: bit n: event 0x4000 +
 * n. */
static int parse_told(const char *pmu, uint64_t low, uint64_t high, const char *text)
{
    const struct event_pmu names = {
        .table = event_table_named(pmu), .says = true, .present = {low, high}};

    return event_parse(&names, text, &event, err, sizeof err);
}

#define BIT(n) ((uint64_t)1 << (n))

static void what_a_cpu_says_of_common_events_goes_before_its_table(void **state)
{
    (void)state;
    assert_int_equal(parse_told("neoverse-n1", 0, 0, "L1D_CACHE_REFILL"), -ENOTSUP);
    assert_string_equal(err, "'L1D_CACHE_REFILL' is not counted by this CPU");
    assert_int_equal(parse_told("neoverse-n1", 0, 0, "r03:u"), -ENOTSUP);
    assert_int_equal(parse_told("neoverse-n1", 0, 0, "l1d.miss"), -ENOTSUP);
    assert_string_equal(err, "'l1d.miss' is not available on neoverse-n1");
    assert_int_equal(parse_told("neoverse-n1", BIT(0x03), 0, "l1d.miss"), 0);
    assert_int_equal(parse_told("neoverse-n1", BIT(0x05), 0, "stall.mem"), -ENOTSUP);
    /* It is not in its table. */
    assert_int_equal(parse_told("neoverse-n1", 0, BIT(0x05), "stall.mem"), 0);
    assert_int_equal(event.config, 0x4005);
    /* not a common event: the table decides */
    assert_int_equal(parse_told("neoverse-n1", 0, 0, "load"), 0);
    assert_int_equal(event.config, 0x70);
    assert_int_equal(parse_told("neoverse-n1", 0, 0, "r8001"), 0);
}

static void the_best_of_several_events_is_taken(void **state)
{
    (void)state;
    assert_int_equal(parse_told("pmuv3", BIT(0x33) | BIT(0x37) | BIT(0x2a), 0, "llc.miss"), 0);
    assert_int_equal(event.config, 0x33);
    assert_int_equal(parse_told("pmuv3", BIT(0x37) | BIT(0x2a), 0, "llc.miss:k"), 0);
    assert_int_equal(event.config, 0x37);
    assert_int_equal(event.modes, EVENT_KERNEL);
    assert_int_equal(parse_told("pmuv3", BIT(0x2a), 0, "llc.miss"), 0);
    assert_int_equal(event.config, 0x2a);
    assert_int_equal(parse_told("pmuv3", BIT(0x2b), 0, "llc.miss"), -ENOTSUP);
}

/* A ratio of misses of one kind and accesses of another is meaningless. */
static void misses_and_accesses_of_the_last_level_are_of_one_kind(void **state)
{
    static const struct {
        uint64_t miss, access;
    } kinds[] = {{0x33, 0x32}, {0x37, 0x36}, {0x2a, 0x2b}};

    (void)state;
    for (const struct event_table *const *t = event_tables; *t; t++) {
        unsigned k = 0;
        if (parse((*t)->name, "llc.miss"))
            continue;
        while (k < ARRAY_SIZE(kinds) && kinds[k].miss != event.config)
            k++;
        assert_true(k < ARRAY_SIZE(kinds));
        expect_event((*t)->name, "llc.access", kinds[k].access);
    }
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
            expect_event((*t)->name, expected[i].name, expected[i].number);
        }
    }
}

/* One map serves all cores: an event that a core's table does not list is not available on it. */
static void numbers_that_a_core_does_not_list_are_not_available(void **state)
{
    (void)state;
    assert_int_equal(parse("neoverse-n1", "stall.mem"), -ENOTSUP);
    assert_string_equal(err, "'stall.mem' is not available on neoverse-n1");
    expect_event("neoverse-n2", "stall.mem", 0x4005);
    assert_int_equal(parse("neoverse-n1", "ops"), -ENOTSUP);
    assert_int_equal(parse("neoverse-v1", "ops"), 0);
    assert_int_equal(parse("cortex-a72", "stall.frontend"), -ENOTSUP);
    expect_event("cortex-a72", "branch.miss", 0x10);
    expect_event("pmuv3", "load", 0x06);
    expect_event("neoverse-n1", "load", 0x70);
}

static void the_simulated_machine_has_its_table_here_too(void **state)
{
    (void)state;
    assert_int_equal(parse("model", "SERVED:REMOTE_L2"), 0);
    assert_int_equal(event.counters, 0x5);
    assert_int_equal(parse("model", "cycles"), 0);
    assert_int_equal(event.fixed, 5);
}

/* ---- Top-down ---- */

static void assert_shares_of(const char *pmu, const char *unit, const struct counted *counted,
                             double retiring, double bad_speculation, double frontend,
                             double backend)
{
    const struct event_pmu names = {.table = event_table_named(pmu)};

    assert_shares(&names, unit, counted, retiring, bad_speculation, frontend, backend);
}

/* Half of the slots stalled, 1 in 4 of these at the front end; three in four operations
 * completed. */
static void slots_are_shared_out_where_they_are_counted(void **state)
{
    const struct counted eight[] = {{"cycles", 1000},
                                    {"STALL_SLOT", 4000},
                                    {"STALL_SLOT_FRONTEND", 1000},
                                    {"STALL_SLOT_BACKEND", 3000},
                                    {"OP_RETIRED", 3000},
                                    {"OP_SPEC", 4000},
                                    {NULL, 0}};
    const struct counted five[] = {{"cycles", 800},
                                   {"STALL_SLOT", 2000},
                                   {"STALL_SLOT_FRONTEND", 500},
                                   {"STALL_SLOT_BACKEND", 1500},
                                   {"OP_RETIRED", 3000},
                                   {"OP_SPEC", 4000},
                                   {NULL, 0}};

    (void)state;
    assert_shares_of("neoverse-v1", "% of slots", eight, 37.5, 12.5, 12.5, 37.5);
    assert_shares_of("neoverse-v2", "% of slots", eight, 37.5, 12.5, 12.5, 37.5);
    assert_shares_of("neoverse-n2", "% of slots", five, 37.5, 12.5, 12.5, 37.5);
}

/* The same on an N2 that counts one slot too many in every cycle. */
static void early_neoverse_n2_is_corrected(void **state)
{
    const struct counted more[] = {{"cycles", 800},
                                   {"STALL_SLOT", 2800},
                                   {"STALL_SLOT_FRONTEND", 1300},
                                   {"STALL_SLOT_BACKEND", 1500},
                                   {"OP_RETIRED", 3000},
                                   {"OP_SPEC", 4000},
                                   {NULL, 0}};

    (void)state;
    assert_shares_of("neoverse-n2-r0p2", "% of slots", more, 37.5, 12.5, 12.5, 37.5);
}

static void cycles_are_shared_out_where_slots_are_not_counted(void **state)
{
    const struct counted counted[] = {{"cycles", 1000},       {"STALL_FRONTEND", 125},
                                      {"STALL_BACKEND", 375}, {"instructions", 900},
                                      {"INST_SPEC", 1200},    {NULL, 0}};

    (void)state;
    assert_shares_of("neoverse-n1", "% of cycles", counted, 37.5, 12.5, 12.5, 37.5);
    assert_shares_of("pmuv3", "% of cycles", counted, 37.5, 12.5, 12.5, 37.5);
}

static void a_core_that_counts_no_stalls_does_not_know_the_shares(void **state)
{
    const struct event_pmu names = {.table = event_table_named("cortex-a72")};
    const struct metric *row;
    struct metric_program program;
    struct event events[METRIC_EVENTS_MAX];

    (void)state;
    assert_int_equal(
        metric_find(&names, "topdown.frontend", &row, &program, events, err, sizeof err), -ENOTSUP);
    assert_non_null(strstr(
        err, "topdown.frontend is not available on cortex-a72: 'STALL_FRONTEND' is no event"));
}

static const char *table_of(uint32_t midr)
{
    return table_name_for(event_identity_arm(midr));
}

static void cores_have_their_tables(void **state)
{
    (void)state;
    assert_string_equal(table_of(0x411fd070), "cortex-a57");
    assert_string_equal(table_of(0x410fd083), "cortex-a72");  /* Graviton, Raspberry Pi 4 */
    assert_string_equal(table_of(0x413fd0c1), "neoverse-n1"); /* Graviton2, Altra */
    assert_string_equal(table_of(0x411fd401), "neoverse-v1"); /* Graviton3 */
    assert_string_equal(table_of(0x410fd490), "neoverse-n2-r0p2");
    assert_string_equal(table_of(0x410fd492), "neoverse-n2-r0p2");
    assert_string_equal(table_of(0x410fd493), "neoverse-n2");
    assert_string_equal(table_of(0x410fd4f0), "neoverse-v2"); /* Grace, Graviton4 */
    assert_string_equal(table_of(0x410fd034), "pmuv3");       /* Cortex-A53 */
    assert_string_equal(table_of(0x610f0220), "pmuv3");       /* another implementer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_numbers),
        cmocka_unit_test(cycles_have_a_counter_of_their_own),
        cmocka_unit_test(selectors_are_names_that_count_the_same),
        cmocka_unit_test(chaining_is_no_event),
        cmocka_unit_test(what_a_cpu_says_of_common_events_goes_before_its_table),
        cmocka_unit_test(the_best_of_several_events_is_taken),
        cmocka_unit_test(misses_and_accesses_of_the_last_level_are_of_one_kind),
        cmocka_unit_test(an_event_number_has_sixteen_bits),
        cmocka_unit_test(generic_names_go_by_the_architectures_numbers),
        cmocka_unit_test(numbers_that_a_core_does_not_list_are_not_available),
        cmocka_unit_test(slots_are_shared_out_where_they_are_counted),
        cmocka_unit_test(early_neoverse_n2_is_corrected),
        cmocka_unit_test(cycles_are_shared_out_where_slots_are_not_counted),
        cmocka_unit_test(a_core_that_counts_no_stalls_does_not_know_the_shares),
        cmocka_unit_test(the_simulated_machine_has_its_table_here_too),
        cmocka_unit_test(cores_have_their_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
