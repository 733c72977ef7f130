/* Records of Arm's Statistical Profiling Extension, taken by the driver and hpm on top of it,
 * against a double that knows the truth. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/access_users.h"
#include "test/host/double/spe_kinds.h"

#define EVERY                                                                                   \
    ((1u << SOURCE_L1) | 1u << SOURCE_LOCAL_L2 | 1u << SOURCE_LOCAL_L3 | SOURCES_REMOTE_CACHE | \
     1u << SOURCE_LOCAL_MEMORY | 1u << SOURCE_REMOTE_MEMORY)
#define SAID_ALONE (EVERY & ~(1u << SOURCE_LOCAL_L2 | 1u << SOURCE_REMOTE_MEMORY))
#define KERNEL_PC  0xffffffff80001000

/* Tags an operation and takes its record. Returns whether it becomes a sample. */
static bool sampled(const struct spe_op *op, struct hpm_sample *out)
{
    uint64_t taken = spe_double[0].taken;

    double_run_on(0);
    while (spe_double[0].taken == taken)
        spe_operate(256, op);
    return one_take(out, 1);
}

static uint64_t lost(void)
{
    return account().lost_hardware;
}

static void policy_cluster_has_its_inputs(void **state)
{
    static const struct armv8_kind *const kinds[] = {&spe_known, &spe_packed, &spe_unknown};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        spe_start(kinds[k]);
        check_remote_inputs();
    }
}

/* ---- Finding out ----------------------------------------------------------------------------- */

static void one_line_tells_what_was_found(void **state)
{
    struct armv8_kind newer = spe_unknown;

    (void)state;
    spe_start(&spe_known);
    assert_non_null(strstr(double_output, "hpm: pmu=armv8 counters=5 fixed=2 "));
    assert_non_null(strstr(double_output, " records=yes: PMUv3p1, 32 bits, SPEv1.0\n"));
    assert_null(strstr(double_output, "hpm: spe:"));
    assert_int_equal(hpm_caps()->sampled, EVERY);
    assert_int_equal(hpm_caps()->sample_period_min, 1024);
    spe_start(&newer);
    assert_non_null(strstr(double_output, "32 bits, SPEv1.3\n"));
    const char *said =
        strstr(double_output, "hpm: spe: this processor's codes of data sources are not known: "
                              "sources by its events alone\n");
    assert_non_null(said);
    assert_null(strstr(said + 1, "hpm: spe:"));
    assert_int_equal(hpm_caps()->sampled, SAID_ALONE);
}

static void without_sources_in_its_records_a_processor_has_events(void **state)
{
    struct armv8_kind silent = spe_known;

    (void)state;
    silent.spe.features &= ~IDR_LDS;
    spe_start(&silent);
    assert_int_equal(hpm_caps()->sampled, SAID_ALONE);
}

static void what_is_not_usable_is_said_once(void **state)
{
    struct hpm_sampling config = {.sources = 1, .period = 4096, .user = true};
    struct armv8_kind kinds[] = {spe_known, spe_known, spe_known, spe_known, spe_known};
    static const char *const says[] = {
        "hpm: spe: the profiling buffer belongs to a higher exception level: no records\n",
        "hpm: spe: records of format 1, up to 64 bytes, at multiples of 64: not known, not used\n",
        "hpm: spe: records of format 0, up to 8 bytes, at multiples of 64: not known, not used\n",
        "hpm: spe: records of format 0, up to 64 bytes, at multiples of 4096: not known, not "
        "used\n",
        NULL};

    (void)state;
    kinds[0].spe.foreign = true;
    kinds[1].spe.format = 1;
    kinds[2].spe.max = 3;
    kinds[3].spe.align = 12;
    kinds[4].spe.version = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        spe_start(&kinds[i]);
        assert_true(hpm_caps()->present);
        assert_false(hpm_caps()->can_sample);
        assert_int_equal(one_start(&config), -ENODEV);
        assert_null(strstr(double_output, "SPEv1"));
        const char *said = strstr(double_output, says[i] ? says[i] : "hpm: spe:");
        assert_int_equal(!said, !says[i]);
        assert_null(said ? strstr(said + 1, "hpm: spe:") : NULL);
        switch_to(0, 0);
        assert_int_equal(hpm_state.ops->waiting(), 0);
        hpm_interrupt(NULL);
        assert_exact(0);
    }
}

static void each_code_of_the_shortest_interval_is_what_it_means(void **state)
{
    static const unsigned means[16] = {256,  4096, 512,  768,  1024, 1536, 2048, 3072,
                                       4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096};
    struct armv8_kind kind = spe_known;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(means); i++) {
        kind.spe.interval = i;
        spe_start(&kind);
        assert_int_equal(hpm_caps()->sample_period_min, means[i]);
        struct hpm_sampling config = {.sources = 1, .period = means[i] - 1, .user = true};
        assert_int_equal(one_start(&config), -EINVAL);
        config.period = means[i];
        config.jitter = means[i] - 1;
        assert_int_equal(one_start(&config), 0);
        /* The shortest interval there is. */
        assert_in_range(spe_double[0].now.irr & IRR_INTERVAL, means[i], means[i]);
        one_stop();
    }
}

static void a_cpu_with_less_than_the_first_stops_the_boot(void **state)
{
    static struct armv8_kind less[4];
    static unsigned i;

    (void)state;
    for (i = 0; i < ARRAY_SIZE(less); i++)
        less[i] = spe_known;
    less[0].spe.version = 0;
    less[1].spe.max = 7;
    less[2].spe.interval = 8;
    less[3].midr = spe_unknown.midr;
    for (i = 0; i < ARRAY_SIZE(less); i++) {
        armv8_machine(&spe_known);
        armv8_double[2].kind = less[i];
        spe_machine(2, &less[i].spe);
        EXPECT_PANIC(kernel_start_hpm());
        host_irqs_on = true;
    }
}

/* Its records are shorter, and begin elsewhere. */
static void a_cpu_may_have_smaller_records(void **state)
{
    struct armv8_kind small = spe_known;
    struct hpm_sample s;

    (void)state;
    small.spe.align = 4;
    armv8_machine(&spe_known);
    armv8_double[0].kind.spe.max = spe_double[0].kind.max = 8;
    armv8_double[2].kind = small;
    spe_machine(2, &small.spe);
    kernel_start_hpm();
    threads_begin(3);
    sample_all(EVERY, 4096, 0, true, false);
    tick(2);
    spe_operate(3 * 4096, &spe_remote);
    tick(2);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(one_take(&s, 1), 1);
    assert_int_equal(lost(), 0);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void a_sample_says_what_the_record_said(void **state)
{
    struct hpm_sample s;
    struct spe_op op = spe_remote;

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 4);
    sample_all(EVERY, 5000, 0, true, true);
    assert_true(sampled(&op, &s));
    assert_int_equal(s.pc, USER_PC);
    assert_int_equal(s.data, 0x7000128);
    assert_int_equal(s.data_phys, 0x9128);
    assert_int_equal(s.latency, 321);
    assert_int_equal(s.source, SOURCE_REMOTE_L3);
    assert_int_equal(s.tid, 104);
    assert_int_equal(s.pid, 11);
    assert_true(s.user && !s.store && s.time && s.time <= host_ticks);
    op.level = 1;
    op.pc = KERNEL_PC;
    op.data = 0xffff800000001238;
    assert_true(sampled(&op, &s));
    assert_int_equal(s.pc, KERNEL_PC);
    assert_int_equal(s.data, 0xffff800000001238);
    assert_false(s.user);
    op = (struct spe_op){.store = true, .events = HIT, .pc = USER_PC, .data = 0x128};
    assert_true(sampled(&op, &s));
    assert_true(s.store);
    assert_int_equal(s.source, SOURCE_L1);
}

/* The time is that of the access, not that of taking the record. */
static void records_carry_their_own_time(void **state)
{
    struct hpm_sample s[2];

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    sample_all(EVERY, 4096, 0, true, false);
    spe_operate(4096, &spe_remote);
    uint64_t first = host_ticks;
    host_ticks += 1000000;
    spe_operate(4096, &spe_remote);
    host_ticks += 1000000;
    tick(0);
    assert_int_equal(one_take(s, 2), 2);
    assert_true(s[0].time <= first);
    assert_in_range(s[1].time, first + 1000000, first + 1000100);
}

/* Results beyond SOURCE_COUNT: of another source, and unknown. */
enum { PASSED = SOURCE_COUNT, LOST };

static void each_kind_of_record_becomes_what_it_says(void **state)
{
    static const struct {
        struct spe_op op;
        unsigned known, by_events;
    } kinds[] = {
        {{.load = true, .coded = true, .events = HIT}, SOURCE_L1, SOURCE_L1},
        {{.load = true, .coded = true, .code = 8, .events = MISS}, SOURCE_LOCAL_L2, PASSED},
        {{.load = true, .coded = true, .code = 9, .events = MISS}, SOURCE_LOCAL_L3, PASSED},
        {{.load = true, .coded = true, .code = 11, .events = MISS | SPE_EVENT_LLC},
         SOURCE_LOCAL_L3,
         SOURCE_LOCAL_L3},
        {{.load = true, .coded = true, .code = 13, .events = MISS | SPE_EVENT_REMOTE},
         SOURCE_REMOTE_L3,
         SOURCE_REMOTE_L3},
        {{.load = true, .coded = true, .code = 14, .events = MISS | SPE_EVENT_LLC_MISS},
         SOURCE_LOCAL_MEMORY,
         SOURCE_LOCAL_MEMORY},
        {{.load = true, .coded = true, .code = 14, .events = MISS | SPE_EVENT_REMOTE},
         SOURCE_REMOTE_MEMORY,
         SOURCE_REMOTE_L3},
        {{.load = true, .coded = true, .code = 5, .events = MISS}, LOST, PASSED},
        {{.store = true, .events = MISS | SPE_EVENT_REMOTE}, SOURCE_REMOTE_L3, SOURCE_REMOTE_L3},
        {{.store = true, .events = SPE_EVENT_RETIRED}, PASSED, PASSED},
        {{.load = true, .store = true, .events = HIT}, SOURCE_L1, SOURCE_L1},
        {{.events = SPE_EVENT_RETIRED}, PASSED, PASSED},
        /* It did not retire. */
        {{.load = true, .coded = true, .events = SPE_EVENT_L1}, PASSED, PASSED},
        {{.load = true, .coded = true, .events = HIT, .placeless = true}, LOST, LOST},
        {{.load = true, .coded = true, .events = HIT, .broken = 0xc1}, LOST, LOST},
        {{.bare = true}, LOST, LOST},
    };
    struct hpm_sample s;

    (void)state;
    for (unsigned i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
        struct armv8_kind kind = spe_known;
        kind.midr = i % 2 ? 0 : spe_known.midr;
        kind.spe.features &= ~ALL_FILTERS; /* so that all of them are recorded */
        unsigned expected = i % 2 ? kinds[i / 2].by_events : kinds[i / 2].known;
        spe_start(&kind);
        sample_all(hpm_caps()->sampled, 5000, 0, true, false);
        bool is_sample = sampled(&kinds[i / 2].op, &s);
        if (is_sample != (expected < SOURCE_COUNT) || (is_sample && s.source != expected))
            fail_msg("record %u: %s, source %u", i, is_sample ? "a sample" : "none", s.source);
        assert_int_equal(lost(), expected == LOST);
        assert_int_equal(spe_passed_over(0), expected == PASSED);
        one_stop();
    }
}

static void what_is_not_asked_for_is_filtered_or_passed_over(void **state)
{
    struct armv8_kind plain = spe_known;
    const struct spe_double *d = &spe_double[0];
    struct spe_op in_kernel = spe_remote;
    struct hpm_sample s;

    (void)state;
    in_kernel.level = 1;
    spe_start(&spe_known);
    sample_all(SOURCES_REMOTE_CACHE, 5000, 0, true, false);
    assert_false(sampled(&spe_hit, &s));
    assert_false(sampled(&spe_branch, &s));
    assert_true(sampled(&spe_remote, &s));
    assert_int_equal(d->left_out, 2); /* by the hardware: a hit, and an operation without access */
    uint64_t operations = d->operations;
    spe_operate(100000, &in_kernel);
    assert_int_equal(d->operations, operations);
    one_stop();
    plain.spe.features = IDR_LDS;
    spe_start(&plain);
    sample_all(SOURCES_REMOTE_CACHE, 5000, 0, false, true);
    in_kernel.code = 0;
    assert_false(sampled(&in_kernel, &s));
    in_kernel.code = 0xd;
    assert_true(sampled(&in_kernel, &s));
    assert_int_equal(d->left_out, 0);
    assert_int_equal(spe_passed_over(0), 1);
    assert_int_equal(lost(), 0);
}

/* If accesses to another chip can be filtered by (from v1.4 on) and are told by the events
 * alone. */
static void the_remote_event_is_a_filter_where_events_say_all(void **state)
{
    struct armv8_kind kinds[] = {spe_unknown, spe_unknown, spe_known};
    struct spe_op near = spe_remote;
    struct hpm_sample s;

    (void)state;
    kinds[1].spe.version = kinds[2].spe.version = 5;
    near.events = MISS | SPE_EVENT_LLC;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        spe_start(&kinds[i]);
        sample_all(1u << SOURCE_REMOTE_L2, 5000, 0, true, false);
        assert_int_equal(sampled(&near, &s), i == 2); /* by its code */
        assert_int_equal(spe_double[0].left_out, i == 1);
        assert_true(sampled(&spe_remote, &s));
        assert_int_equal(s.source, SOURCE_REMOTE_L3);
        one_stop();
    }
}

/* ---- Thread and time ------------------------------------------------------------------------- */

static void a_record_belongs_to_the_thread_that_leaves(void **state)
{
    struct hpm_sample s;

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    sample_all(EVERY, 4096, 0, true, true);
    spe_operate(4096, &spe_remote); /* the processor still holds it */
    assert_int_equal(spe_double[0].recorded, 0);
    switch_to(0, 2);
    assert_int_equal(one_take(&s, 1), 1);
    assert_int_equal(s.tid, 101);
    spe_operate(4096, &spe_remote);
    switch_to(0, -1);
    assert_int_equal(one_take(&s, 1), 1);
    assert_int_equal(s.tid, 102);
    assert_int_equal(one_take(&s, 1), 0);
}

static void what_is_sampled_before_the_end_is_forgotten(void **state)
{
    struct hpm_sample s;

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    sample_all(EVERY, 4096, 0, true, false);
    spe_operate(4095, &spe_remote);
    one_stop();
    uint64_t operations = spe_double[0].operations;
    spe_operate(100000, &spe_remote);
    assert_int_equal(spe_double[0].operations, operations);
    assert_int_equal(hpm_state.ops->waiting(), 0);
    hpm_interrupt(NULL);
    assert_int_equal(one_take(&s, 1), 0);
    sample_all(EVERY, 4096, 0, true, false);
    spe_operate(4095, &spe_remote); /* the interval begins anew as well */
    tick(0);
    assert_int_equal(one_take(&s, 1), 0);
    spe_operate(1, &spe_remote);
    assert_int_equal(one_take(&s, 1), 1);
    assert_int_equal(lost(), 0);
}

static void a_sample_says_how_long_the_page_walk_took(void **state)
{
    const struct hpm_sampling all = {.sources = EVERY, .walks = true, .period = 4096, .user = true};
    struct spe_op op = spe_remote;
    struct hpm_sample s;

    (void)state;
    spe_start(&spe_known);
    assert_int_equal(one_start(&all), 0);
    op.translation = 70;
    spe_operate(2 * 4096, &op);
    assert_true(one_take(&s, 1));
    assert_int_equal(s.walk, 0);
    assert_int_equal(s.latency, 321);
    take_all();
    op.events |= SPE_EVENT_WALK;
    spe_operate(2 * 4096, &op);
    assert_true(one_take(&s, 1));
    assert_int_equal(s.walk, 70);
    assert_int_equal(s.latency, 321 - 70);
}

static void several_users_share_the_operations(void **state)
{
    static const struct hpm_sampling wants[] = {
        {.sources = SOURCES_REMOTE_CACHE, .period = 4096, .jitter = 2048, .user = true},
        {.walks = true, .period = 6000, .user = true},
        {.sources = 1u << SOURCE_LOCAL_MEMORY, .period = 9000, .user = true},
        {.sources = EVERY, .min_latency = 200, .period = 30000, .user = true},
        {.sources = 1u << SOURCE_L1, .period = 20000, .user = true},
    };
    static const uint8_t codes[] = {0, 0xd, 0xe},
                         sources[] = {SOURCE_L1, SOURCE_REMOTE_L3, SOURCE_LOCAL_MEMORY};
    uint64_t seed = 5;

    (void)state;
    for (unsigned users = 1; users <= ARRAY_SIZE(wants); users++) {
        spe_start(&spe_known);
        users_begin(wants, users);
        switch_to(0, 1);
        for (unsigned i = 0; i < 150000; i++) {
            unsigned kind = test_random(&seed) % 3;
            bool walk = test_random(&seed) % 5 == 0;
            uint64_t n = 1 + test_random(&seed) % 100;
            struct spe_op op = spe_hit;
            op.code = codes[kind];
            op.events = (kind ? MISS : HIT) | (kind == 1 ? SPE_EVENT_REMOTE : 0) |
                        (walk ? SPE_EVENT_WALK : 0);
            op.latency = (uint16_t)(70 + test_random(&seed) % 300);
            op.translation = walk ? 60 : 0;
            struct hpm_sample is = {.user = true,
                                    .source = sources[kind],
                                    .latency = (uint16_t)(op.latency - op.translation),
                                    .walk = op.translation};
            spe_operate(n, &op);
            users_note(&is, n);
            if (i % 100 == 0)
                tick(0);
            if (i % 1000 == 0)
                users_take();
        }
        switch_to(0, -1);
        users_end(50);
    }
}

/* A caller that takes one at a time gets the next one, in order; a caller that stops sampling loses
 * the rest. */
static void what_is_half_taken_when_sampling_ends_is_forgotten(void **state)
{
    const struct pmu_ops *pmu = &pmu_armv8;
    const struct hpm_sampling config = {.sources = EVERY, .period = 4096, .user = true};
    uint64_t lost_now = 0;
    struct hpm_sample s;

    (void)state;
    spe_start(&spe_known);
    pmu->sample(0, &config);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 3; i++) {
            struct spe_op op = spe_remote;
            op.data = 0x1000 * (i + 1);
            spe_operate(4096, &op);
        }
        assert_true(pmu->waiting());
        assert_int_equal(pmu->drain(&s, 0, &lost_now), 0);
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(pmu->drain(&s, 1, &lost_now), 1);
            assert_int_equal(s.data, 0x1000 * (i + 1));
            assert_true(pmu->waiting());
        }
        pmu->sample(0, NULL);
        assert_false(pmu->waiting());
        assert_int_equal(pmu->drain(&s, 1, &lost_now), 0);
        pmu->sample(0, &config);
        assert_false(pmu->waiting());
    }
    assert_int_equal(lost_now, 0);
    pmu->sample(0, NULL);
}

/* If the driver itself is sampled, at any point where an interval may end, it loses nothing. */
static void the_driver_may_be_sampled(void **state)
{
    const struct spe_double *d = &spe_double[0];

    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    sample_all(EVERY, 1024, 0, true, true);
    for (unsigned i = 0; i < 3000; i++) {
        spe_operate(1000, &spe_remote);
        tick(0);
        take_all();
    }
    assert_int_equal(account().taken, d->recorded);
    assert_in_range(d->recorded, 3000 * 1000 / 1024, 3000 * 1100 / 1024);
    assert_int_equal(lost(), 0);
}

static void nothing_is_paid_while_there_is_no_sampling(void **state)
{
    (void)state;
    spe_start(&spe_known);
    switch_to(0, 1);
    unsigned before = armv8_double[0].accesses;
    switch_to(0, 2);
    unsigned without = armv8_double[0].accesses - before;
    struct armv8_kind none = spe_known;
    none.spe.version = 0;
    spe_start(&none);
    switch_to(0, 1);
    before = armv8_double[0].accesses;
    switch_to(0, 2);
    assert_int_equal(armv8_double[0].accesses - before, without);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(policy_cluster_has_its_inputs),
        TEST(one_line_tells_what_was_found),
        TEST(without_sources_in_its_records_a_processor_has_events),
        TEST(what_is_not_usable_is_said_once),
        TEST(each_code_of_the_shortest_interval_is_what_it_means),
        TEST(a_cpu_with_less_than_the_first_stops_the_boot),
        TEST(a_cpu_may_have_smaller_records),
        TEST(a_sample_says_what_the_record_said),
        TEST(records_carry_their_own_time),
        TEST(each_kind_of_record_becomes_what_it_says),
        TEST(what_is_not_asked_for_is_filtered_or_passed_over),
        TEST(the_remote_event_is_a_filter_where_events_say_all),
        TEST(a_record_belongs_to_the_thread_that_leaves),
        TEST(what_is_sampled_before_the_end_is_forgotten),
        TEST(a_sample_says_how_long_the_page_walk_took),
        TEST(several_users_share_the_operations),
        TEST(what_is_half_taken_when_sampling_ends_is_forgotten),
        TEST(the_driver_may_be_sampled),
        TEST(nothing_is_paid_while_there_is_no_sampling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
