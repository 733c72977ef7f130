/* Records of accesses on Intel's processors: what is in them, the threads they belong to, and that
 * each lost one is counted. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/access_users.h"
#include "test/host/double/intel_records.h"

/* ---- What can be recorded -------------------------------------------------------------------- */

static void which_sources_there_are_depends_on_the_model(void **state)
{
    static const struct {
        const struct intel_kind *kind;
        uint32_t sources;
    } expected[] = {
        {&intel_westmere_ep, WITHIN_CHIP | SOURCES_REMOTE_CACHE | ONLY(SOURCE_REMOTE_MEMORY)},
        {&intel_haswell, WITHIN_CHIP},
        {&intel_broadwell_ep, WITHIN_CHIP | SOURCES_REMOTE_CACHE | ONLY(SOURCE_REMOTE_MEMORY)},
        {&intel_skylake_client, WITHIN_CHIP},
        {&intel_skylake, WITHIN_CHIP | SOURCES_REMOTE_CACHE | ONLY(SOURCE_REMOTE_MEMORY)},
        {&intel_icelake, WITHIN_CHIP | SOURCES_REMOTE_CACHE | ONLY(SOURCE_REMOTE_MEMORY)},
        {&intel_sapphire, SOURCES_REMOTE_CACHE},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
        boot(expected[i].kind, 64);
        assert_true(hpm_caps()->can_sample);
        assert_int_equal(hpm_state.pmu.sample_sources, expected[i].sources);
    }
    struct hpm_sampling c = {.sources = SOURCES_REMOTE_CACHE, .period = 1, .user = true};
    boot(&intel_haswell, 64);
    assert_int_equal(one_start(&c), -EINVAL);
}

static void without_the_hardware_there_are_no_records_and_all_counters_count(void **state)
{
    struct intel_kind none[5] = {intel_skylake, intel_skylake, intel_icelake, intel_skylake,
                                 intel_skylake};

    (void)state;
    none[0].no_pebs = true;
    none[1].capabilities = FORMAT(15) | FULL_WRITE;
    none[2].capabilities &= ~BASELINE; /* records of a form that cannot be asked for */
    none[3].model = 0x2a;              /* Sandy Bridge */
    none[4].hypervisor = true;
    for (unsigned i = 0; i < ARRAY_SIZE(none); i++) {
        boot(&none[i], 64);
        assert_true(hpm_caps()->present);
        assert_false(hpm_caps()->can_sample);
        assert_int_equal(hpm_caps()->counters, none[i].counters);
    }
}

static void transactions_do_not_take_the_counter_away(void **state)
{
    struct intel_kind k = intel_skylake;

    (void)state;
    k.force_abort = true;
    boot(&k, 64);
    for (unsigned i = 0; i < DOUBLE_CPUS; i++)
        assert_int_equal(intel_double[i].force_abort, 1);
    k.no_pebs = true;
    boot(&k, 64);
    assert_int_equal(hpm_caps()->counters, 4);
    assert_int_equal(intel_double[0].force_abort, 1);
}

/* ---- What a record says ---------------------------------------------------------------------- */

static void a_record_of_a_precise_event_says_where_and_when(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(servers); k++) {
        uint16_t hitm = servers[k] == &intel_broadwell_ep ? 0x10d3 : HITM_REMOTE;
        uint16_t fwd = servers[k] == &intel_broadwell_ep ? 0x20d3 : FWD_REMOTE;
        boot(servers[k], 64);
        sample(SOURCES_REMOTE_CACHE, 1, 0);
        switch_to(0, 0);
        uint64_t began = host_ticks;
        access(hitm, 0xd, 300, 0x7000);
        access(0x04d1, 0x4, 50, 0x7100); /* of the local L3 */
        access(fwd, 0xc, 250, 0x7200);
        switch_to(0, -1);
        assert_int_equal(one_take(taken, TAKE), 2);
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(taken[i].data, 0x7000 + 0x200 * i);
            assert_int_equal(taken[i].pc, USER_PC);
            assert_int_equal(taken[i].tid, 100);
            assert_in_range(taken[i].time, began, host_ticks);
            assert_true(SOURCES_REMOTE_CACHE >> taken[i].source & 1);
            assert_int_equal(taken[i].latency, 0); /* the latency event alone has one */
            assert_true(taken[i].user);
            assert_false(taken[i].store);
        }
        assert_int_equal(account().lost_hardware, 0);
        assert_conserved();
        one_stop();
    }
}

static void one_source_alone_is_one_events(void **state)
{
    static const struct {
        unsigned source;
        uint16_t event;
    } each[] = {
        {SOURCE_REMOTE_L2, HITM_REMOTE},
        {SOURCE_REMOTE_L3, FWD_REMOTE},
        {SOURCE_L1, 0x01d1},
        {SOURCE_LOCAL_L2, 0x02d1},
        {SOURCE_LOCAL_L3, 0x04d1},
        {SOURCE_LOCAL_MEMORY, 0x01d3},
        {SOURCE_REMOTE_MEMORY, 0x02d3},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(each); i++) {
        boot(&intel_skylake, 64);
        sample(ONLY(each[i].source), 1, 0);
        switch_to(0, 0);
        for (unsigned other = 0; other < ARRAY_SIZE(each); other++)
            access(each[other].event, 0, 10, 0x1000 + other);
        switch_to(0, -1);
        assert_int_equal(one_take(taken, TAKE), 1);
        assert_int_equal(taken[0].source, each[i].source);
        assert_int_equal(taken[0].data, 0x1000 + i);
        one_stop();
    }
}

#define NONE 0xff
/* By data source 0 to 15: SDM, "Data Source Encoding for Load Latency Record"; Linux for
 * Skylake. */
static const uint8_t of_westmere_ep[16] = {NONE, 0, 0, 1, 2, 2, 2, 2, 4, 3, 5, 6, 5, 6, NONE, NONE};
static const uint8_t of_haswell[16] = {NONE, 0,    0, 1,    2, 2,    2,    2,
                                       NONE, NONE, 5, NONE, 5, NONE, NONE, NONE};
static const uint8_t of_skylake[16] = {NONE, 0, 0, 1, 2, 2, 2, 2, 5, 6, 5, 6, 4, 3, NONE, NONE};

static void a_record_of_the_latency_event_says_its_source(void **state)
{
    static const struct {
        const struct intel_kind *kind;
        const uint8_t *source;
    } each[] = {{&intel_westmere_ep, of_westmere_ep},
                {&intel_haswell, of_haswell},
                {&intel_skylake, of_skylake},
                {&intel_icelake, of_skylake}};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(each); k++) {
        unsigned expected = 0;
        boot(each[k].kind, 64);
        sample(hpm_state.pmu.sample_sources, 1, 0);
        switch_to(0, 1);
        for (unsigned i = 0; i < 16; i++)
            access(0, (uint8_t)i, 10 * i + 5, 0x9000 + i);
        switch_to(0, -1);
        size_t n = one_take(taken, TAKE);
        for (unsigned i = 0; i < 16; i++) {
            if (each[k].source[i] == NONE)
                continue;
            assert_true(expected < n);
            assert_int_equal(taken[expected].data, 0x9000 + i);
            assert_int_equal(taken[expected].source, each[k].source[i]);
            assert_int_equal(taken[expected].latency, 10 * i + 5);
            /* format 1 has the next instruction's address only */
            assert_int_equal(taken[expected].pc, USER_PC + (each[k].kind == &intel_westmere_ep));
            expected++;
        }
        assert_int_equal(n, expected);
        assert_conserved();
        one_stop();
    }
}

static void other_sources_are_neither_taken_nor_lost(void **state)
{
    (void)state;
    boot(&intel_skylake, 64);
    sample(ONLY(SOURCE_LOCAL_MEMORY) | ONLY(SOURCE_REMOTE_MEMORY), 1, 0);
    switch_to(0, 0);
    for (unsigned i = 0; i < 16; i++)
        access(0, (uint8_t)i, 200, i);
    access(0, 0xa, 20, 99); /* too fast for a remote cache */
    switch_to(0, -1);
    size_t n = one_take(taken, TAKE);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_true(taken[i].source == SOURCE_LOCAL_MEMORY ||
                    taken[i].source == SOURCE_REMOTE_MEMORY);
    assert_int_equal(account().lost_hardware, 0);
    assert_conserved();
}

static void a_latency_that_does_not_fit_is_the_longest(void **state)
{
    (void)state;
    boot(&intel_skylake, 64);
    sample(WITHIN_CHIP, 1, 0);
    switch_to(0, 0);
    access(0, 0xa, 100000, 1);
    switch_to(0, -1);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].latency, 65535);
}

static void a_mode_that_is_not_asked_for_is_not_recorded(void **state)
{
    struct hpm_sampling c = {.sources = SOURCES_REMOTE_CACHE, .period = 1, .kernel = true};
    struct intel_load l = {.event = HITM_REMOTE, .latency = 100, .address = 5, .pc = USER_PC};

    (void)state;
    boot(&intel_skylake, 64);
    switch_to(0, 0);
    assert_int_equal(one_start(&c), 0);
    intel_load(&l);
    l.pc = KERNEL_PC;
    l.address = 6;
    intel_load(&l);
    switch_to(0, -1);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].data, 6);
    assert_false(taken[0].user);
}

/* Data sources of Skylake: L1, L2, L3, remote L3 and L2, memory; bit 4: the TLB had no
 * translation. */
static void run_users(const struct hpm_sampling *wants, unsigned users)
{
    static const uint8_t codes[] = {1, 3, 4, 0xc, 0xd, 8};
    uint64_t seed = 3;

    boot(&intel_skylake, 1024);
    users_begin(wants, users);
    switch_to(0, 1);
    for (unsigned i = 0; i < 200000; i++) {
        unsigned kind = test_random(&seed) % ARRAY_SIZE(codes);
        bool walk = test_random(&seed) % 5 == 0;
        struct hpm_sample is = {.user = true,
                                .source = of_skylake[codes[kind]],
                                .latency = (uint16_t)(30 + test_random(&seed) % 400),
                                .walk = walk};
        struct intel_load l = {.source = (uint8_t)(codes[kind] | (walk ? 0x10 : 0)),
                               .event = kind == 3   ? FWD_REMOTE
                                        : kind == 4 ? HITM_REMOTE
                                                    : 0,
                               .latency = is.latency,
                               .address = i,
                               .pc = USER_PC};
        intel_load(&l);
        users_note(&is, 1);
        if (i % 100 == 0)
            tick(0);
        if (i % 1000 == 0)
            users_take();
    }
    switch_to(0, -1);
    users_end(100);
}

static void several_users_share_the_latency_event(void **state)
{
    static const struct hpm_sampling wants[] = {
        {.sources = SOURCES_REMOTE_CACHE, .period = 50, .jitter = 25, .user = true},
        {.sources = ONLY(SOURCE_LOCAL_MEMORY), .period = 80, .user = true},
        {.walks = true, .period = 40, .user = true},
        {.sources = ONLY(SOURCE_LOCAL_L3) | SOURCES_REMOTE_CACHE | ONLY(SOURCE_LOCAL_MEMORY),
         .min_latency = 200,
         .period = 120,
         .user = true},
        {.sources = ONLY(SOURCE_REMOTE_L2), .period = 60, .user = true},
    };

    (void)state;
    for (unsigned users = 1; users <= ARRAY_SIZE(wants); users++)
        run_users(wants, users);
}

/* A precise event that counts what is wanted does not tell what its users want to be told. */
static void records_tell_what_their_users_want(void **state)
{
    static const struct hpm_sampling
        two[] = {{.sources = ONLY(SOURCE_REMOTE_L2), .period = 30, .user = true},
                 {.sources = ONLY(SOURCE_REMOTE_L3), .period = 40, .user = true}},
        walks = {.sources = SOURCES_REMOTE_CACHE, .walks = true, .period = 30, .user = true},
        slow = {.sources = SOURCES_REMOTE_CACHE, .min_latency = 250, .period = 30, .user = true};

    (void)state;
    run_users(two, 2);
    run_users(&walks, 1);
    run_users(&slow, 1);
}

/* ---- How often ------------------------------------------------------------------------------- */

static void one_access_in_period_is_recorded(void **state)
{
    static const unsigned periods[][2] = {{1, 0}, {7, 0}, {100, 50}, {1000, 999}};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(periods); i++) {
        unsigned period = periods[i][0], accesses = 200 * period;
        size_t n = 0;
        boot(&intel_icelake, 16);
        sample(SOURCES_REMOTE_CACHE, period, periods[i][1]);
        switch_to(0, 0);
        for (unsigned k = 0; k < accesses; k++) {
            access(HITM_REMOTE, 0, 100, k);
            if (k % period == 0)
                n += one_take(taken, TAKE);
        }
        switch_to(0, -1);
        n += one_take(taken, TAKE);
        if (periods[i][1])
            assert_in_range(n, 195, 205);
        else
            assert_int_equal(n, 200);
        assert_conserved();
        one_stop();
    }
}

static void distances_are_never_the_same_for_long(void **state)
{
    unsigned first = 0, different = 0;

    (void)state;
    boot(&intel_skylake, 16);
    sample(SOURCES_REMOTE_CACHE, 100, 50);
    switch_to(0, 0);
    for (unsigned k = 0, last = 0, distance = 0; k < 20000; k++) {
        access(HITM_REMOTE, 0, 100, k);
        if (!one_take(taken, TAKE))
            continue;
        /* up to an eighth, for the distance remains for some records */
        assert_in_range(k - last, first++ ? 88 : 0, 112);
        different += k - last != distance;
        distance = k - last;
        last = k;
    }
    assert_true(different > 150);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(which_sources_there_are_depends_on_the_model),
        TEST(without_the_hardware_there_are_no_records_and_all_counters_count),
        TEST(transactions_do_not_take_the_counter_away),
        TEST(a_record_of_a_precise_event_says_where_and_when),
        TEST(one_source_alone_is_one_events),
        TEST(a_record_of_the_latency_event_says_its_source),
        TEST(other_sources_are_neither_taken_nor_lost),
        TEST(a_latency_that_does_not_fit_is_the_longest),
        TEST(a_mode_that_is_not_asked_for_is_not_recorded),
        TEST(several_users_share_the_latency_event),
        TEST(records_tell_what_their_users_want),
        TEST(one_access_in_period_is_recorded),
        TEST(distances_are_never_the_same_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
