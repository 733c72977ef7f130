/* What the driver of Intel's counters finds in a processor, against a register-level double. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/intel_kinds.h"

static void start(const struct intel_kind *kind)
{
    intel_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
}

static void a_cpu_without_such_counters_has_none(void **state)
{
    struct intel_kind none[4] = {intel_skylake, intel_skylake, intel_skylake, intel_skylake};

    (void)state;
    none[0].not_intel = true;
    none[1].version = 0;
    none[2].counters = 0;
    none[3].width = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(none); i++) {
        start(&none[i]);
        assert_false(hpm_caps()->present);
        assert_in_range(intel_double[0].accesses, 1, 4); /* CPUID alone */
    }
}

static void one_line_tells_what_was_found(void **state)
{
    (void)state;
    start(&intel_first);
    assert_non_null(strstr(double_output, "hpm: pmu=intel counters=2 fixed=2 "));
    start(&intel_second);
    assert_non_null(strstr(double_output, "hpm: pmu=intel counters=4 fixed=2 "));
    assert_non_null(strstr(double_output, " records=no: version 2, 40 bits\n"));
    start(&intel_skylake);
    assert_non_null(
        strstr(double_output,
               "hpm: pmu=intel counters=3 fixed=2 groups=5 slice=1000000 unit=cycles modes=both "
               "records=yes: version 4, 48 bits\n"
               "hpm: event=lacks pmu=intel figures=stalls-by-cause,accesses-but-remote-caches: not "
               "counted\n"));
    start(&intel_icelake);
    assert_non_null(strstr(double_output, "hpm: pmu=intel counters=8 fixed=2 "));
    assert_non_null(strstr(double_output, ": version 5, 48 bits, PERF_METRICS\n"));
}

/* One counter is kept for records, and no event may have it. */
static void the_counter_of_records_counts_nothing_else(void **state)
{
    static const struct intel_kind *const kinds[] = {&intel_skylake, &intel_icelake};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        start(kinds[i]);
        unsigned known = 0;
        for (unsigned e = 0; e < HPM_EVENTS; e++) {
            assert_false(hpm_state.event[e].counters >> 3 & 1);
            known += hpm_state.event[e].counters != 0;
        }
        assert_true(known >= 8);
        for (unsigned g = 0; g < hpm_state.plan->mux.rounds.groups; g++)
            if (hpm_state.pmu.counters > 3)
                assert_null(hpm_state.plan->programme[g].event[3]);
    }
}

/* Returns the parsed event; without counters if this CPU does not count it. */
static struct event parsed(const char *text)
{
    struct event e = {0};
    char err[128];
    int r = event_parse(&hpm_state.pmu.events, text, &e, err, sizeof err);

    if (r && r != -ENOTSUP)
        fail_msg("%s", err);
    return e;
}

static void an_event_the_cpu_does_not_have_is_not_counted(void **state)
{
    struct intel_kind k = intel_skylake;

    (void)state;
    k.missing = 1u << 4 | 1u << 6;
    start(&k);
    assert_int_equal(parsed("r412e").counters, 0);
    assert_int_equal(parsed("r00c5").counters, 0);
    assert_int_equal(parsed("r4f2e").counters & 15, 7);
    assert_int_equal(hpm_caps()->missed >> MISS_LAST_LEVEL & 1, 0);
    assert_int_equal(hpm_caps()->missed >> MISS_BRANCH & 1, 0);
    /* Off-core response and front end have registers of their own; load latency is counted with
     * records only. */
    assert_int_equal(parsed("OFFCORE_RESPONSE_0:DMND_RFO:L3_HIT:SNP_HITM").counters, 7);
    assert_int_equal(parsed("FRONTEND_RETIRED:DSB_MISS").counters, 7);
    start(&intel_icelake);
    assert_int_equal(parsed("MEM_TRANS_RETIRED:LOAD_LATENCY").counters, 0);
    k = intel_guest;
    start(&k);
    assert_int_equal(parsed("OFFCORE_RESPONSE_0:DMND_RFO:L3_HIT:SNP_HITM").counters, 0);
    assert_int_equal(parsed("r412e").counters, 15);
}

static bool is_counted(uint64_t config)
{
    return event_counts(&hpm_state.pmu.events, config);
}

static void a_selector_has_no_bits_that_the_version_lacks(void **state)
{
    const uint64_t any = 0x2000c0, transaction = 0x1000000c0, pin = 0x800c0, interrupt = 0x1000c0;

    (void)state;
    start(&intel_skylake);
    assert_true(is_counted(any));
    assert_true(is_counted(transaction));
    assert_true(is_counted(0x184415e)); /* edge, a threshold */
    assert_false(is_counted(pin));
    assert_false(is_counted(interrupt));
    start(&intel_icelake); /* no AnyThread, no RTM */
    assert_false(is_counted(any));
    assert_false(is_counted(transaction));
    start(&intel_second);
    assert_false(is_counted(any));
}

static void an_unknown_processor_has_cycles_and_instructions(void **state)
{
    struct intel_kind k = intel_second;
    struct hpm_breakdown b;

    (void)state;
    k.family = 19;
    start(&k);
    assert_int_equal(hpm_caps()->missed | hpm_caps()->stall, 0);
    b = executed(1000, 5000);
    assert_in_range(b.instructions, 1000, 1100);
}

static void a_cpu_may_have_too_few_counters_for_anything_but_cycles(void **state)
{
    struct intel_kind one = intel_first;
    struct hpm_breakdown b;

    (void)state;
    one.counters = 1;
    start(&one);
    assert_true(hpm_caps()->present);
    assert_false(hpm_caps()->instructions);
    assert_int_equal(hpm_caps()->counters, 0);
    b = executed(1000, 5000);
    assert_in_range(b.cycles, 5000, 5200);
    assert_int_equal(b.instructions, 0);
    one.missing = 1; /* cycles cannot be counted either */
    start(&one);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, "hpm: intel: no counter counts cycles: not used\n"));
}

static void fixed_counters_may_have_gaps(void **state)
{
    struct intel_kind gap = intel_icelake;
    struct hpm_breakdown b;

    (void)state;
    gap.fixed = 0;
    gap.fixed_mask = 0xa; /* cycles and slots, but no instructions */
    start(&gap);
    assert_true(hpm_caps()->instructions);
    assert_int_equal(hpm_caps()->counters, 7);
    b = executed(1000, 5000);
    assert_in_range(b.cycles, 5000, 5200);
    assert_in_range(b.instructions, 1000, 1100);
}

static void a_cpu_that_lacks_what_the_first_has_is_left_out(void **state)
{
    (void)state;
    intel_machine(&intel_skylake);
    intel_double[1].kind.missing = 1u << 4; /* last-level misses, which the breakdown counts */
    intel_double[2].kind.model = 0x5e;
    intel_double[3].kind.capabilities = FORMAT(3);
    kernel_start_hpm();
    threads_begin(3);
    assert_non_null(cpus[0].hpm);
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(hpm_counted(&cpus[i]));
    assert_non_null(strstr(double_output, "hpm: event=not-counted cpu=2: "));
    intel_machine(&intel_skylake);
    intel_double[1].kind.counters = 8; /* each thread has a core of its own */
    intel_double[2].kind.version = 3;
    intel_double[3].kind.force_abort = true;
    kernel_start_hpm();
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(hpm_counted(&cpus[i]));
    threads_begin(3);
    check_left_out(2);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cpu_without_such_counters_has_none),
        TEST(one_line_tells_what_was_found),
        TEST(the_counter_of_records_counts_nothing_else),
        TEST(an_event_the_cpu_does_not_have_is_not_counted),
        TEST(a_selector_has_no_bits_that_the_version_lacks),
        TEST(an_unknown_processor_has_cycles_and_instructions),
        TEST(a_cpu_may_have_too_few_counters_for_anything_but_cycles),
        TEST(fixed_counters_may_have_gaps),
        TEST(a_cpu_that_lacks_what_the_first_has_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
