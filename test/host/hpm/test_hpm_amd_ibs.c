/* Samples of AMD's operations: what is in them, the threads they belong to, their rate, and that
 * each lost one is counted. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/access_users.h"
#include "test/host/double/amd_kinds.h"
#include "hpm/sampling.h"

static void start(const struct amd_kind *kind)
{
    amd_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
}

#define USER_PC   0x401000
#define KERNEL_PC 0xffffffff80001000
#define EVERY     ((1u << SOURCE_COUNT) - 1)
#define LOADED    (DATA3_LOAD | DATA3_LINEAR_VALID | DATA3_PHYS_VALID | (uint64_t)123 << 32)
#define STORED    (DATA3_STORE | DATA3_LINEAR_VALID | DATA3_PHYS_VALID)
#define FAR_MISS  (DATA3_MISS | DATA3_L2_MISS)

static const struct amd_op at_l1 = {
    .data3 = LOADED, .rip = USER_PC, .linear = 0x7000123, .physical = 0x9123};
static const struct amd_op at_memory = {.data2 = 3,
                                        .data3 = LOADED | FAR_MISS,
                                        .rip = USER_PC,
                                        .linear = 0x7000123,
                                        .physical = 0x9123,
                                        .l3_miss = true};

static void sample_all(uint32_t sources, uint32_t period, uint32_t jitter, bool user, bool kernel)
{
    struct hpm_sampling config = {
        .sources = sources, .period = period, .jitter = jitter, .user = user, .kernel = kernel};

    double_run_on(0);
    assert_int_equal(one_start(&config), 0);
}

/* Tags an operation and takes its record. Returns whether it becomes a sample. */
static bool sampled(const struct amd_op *op, struct hpm_sample *out)
{
    uint64_t recorded = amd_double[0].recorded;

    while (amd_double[0].recorded == recorded)
        amd_operate(1000, op);
    return one_take(out, 1);
}

static uint64_t lost(void)
{
    struct hpm_sample_account a;

    one_account(&a);
    return a.lost_hardware;
}

/* Results beyond SOURCE_COUNT: of another source, and unknown. */
enum { PASSED = SOURCE_COUNT, LOST };

static const struct expected {
    const struct amd_kind *kind;
    uint64_t data2, data3;
    unsigned source;
} expected[] = {
    {&amd_zen2, 0, LOADED, SOURCE_L1},
    {&amd_zen2, 0, LOADED | DATA3_MISS, SOURCE_LOCAL_L2},
    {&amd_zen2, 2, LOADED | FAR_MISS, SOURCE_LOCAL_L3},
    {&amd_zen2, 2 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&amd_zen2, 3, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&amd_zen2, 3 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_MEMORY},
    {&amd_zen2, 4, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&amd_zen2, 7, LOADED | FAR_MISS, PASSED},
    {&amd_zen2, 0, LOADED | FAR_MISS, LOST},
    {&amd_zen2, 0, LOADED | FAR_MISS | DATA3_NO_MAB, PASSED},
    {&amd_zen2, 3, LOADED | FAR_MISS | DATA3_NO_MAB, SOURCE_LOCAL_MEMORY},
    {&amd_zen2, 0x40 | 2, LOADED | FAR_MISS, SOURCE_LOCAL_L3}, /* bits without meaning there */
    {&amd_zen2, 0, STORED, SOURCE_L1},
    {&amd_zen2, 0, STORED | DATA3_MISS, SOURCE_LOCAL_L2},
    {&amd_zen2, 3, STORED | FAR_MISS, PASSED},
    {&amd_zen2, 3, 0, PASSED},
    {&amd_zen2, 3, LOADED | DATA3_UNCACHED, PASSED},
    {&amd_zen2, 3, LOADED | FAR_MISS | DATA3_PREFETCH, SOURCE_LOCAL_MEMORY},
    {&amd_milan, 3, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&amd_milan, 3, LOADED | FAR_MISS | DATA3_PREFETCH, LOST},
    {&amd_milan, 3, LOADED | DATA3_MISS | DATA3_NO_MAB, PASSED},
    {&amd_milan, 3, LOADED | DATA3_PREFETCH, SOURCE_L1},
    {&amd_zen3, 4 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&amd_zen4, 0, LOADED | DATA3_MISS, SOURCE_LOCAL_L2},
    {&amd_zen4, 1, LOADED | FAR_MISS, SOURCE_LOCAL_L3},
    {&amd_zen4, 2, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&amd_zen4, 3, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&amd_zen4, 3 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_MEMORY},
    {&amd_zen4, 4, LOADED | FAR_MISS, LOST},
    {&amd_zen4, 5, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&amd_zen4, 6, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&amd_zen4, 7, LOADED | FAR_MISS, PASSED},
    {&amd_zen4, 0x40 | 0, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},                      /* 8 */
    {&amd_zen4, 0x40 | 0 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_MEMORY}, /* 8 */
    {&amd_zen4, 0x40 | 4, LOADED | FAR_MISS, PASSED},                                   /* 12 */
    {&amd_zen4, 0x80 | 3, LOADED | FAR_MISS, LOST},                                     /* 19 */
};

static void each_kind_of_record_has_its_source(void **state)
{
    struct hpm_sample sample;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
        const struct expected *e = &expected[i];
        struct amd_op op = at_l1;
        start(e->kind);
        sample_all(EVERY, 5000, 0, true, false);
        op.data2 = e->data2;
        op.data3 = e->data3;
        uint64_t lost_before = lost(), passed = ibs_passed_over(0);
        bool is_sample = sampled(&op, &sample);
        if (is_sample != (e->source < SOURCE_COUNT) || (is_sample && sample.source != e->source))
            fail_msg("record %u: %s, source %u", i, is_sample ? "a sample" : "none", sample.source);
        assert_int_equal(lost() - lost_before, e->source == LOST);
        assert_int_equal(ibs_passed_over(0) - passed, e->source == PASSED);
        one_stop();
    }
}

static void a_sample_says_how_long_the_page_walk_took(void **state)
{
    static const struct {
        uint64_t data3;
        uint16_t walk;
    } of[] = {{LOADED | (uint64_t)77 << 48, 0},
              {LOADED | (uint64_t)77 << 48 | DATA3_L2_TLB_MISS, 77},
              {LOADED | DATA3_L2_TLB_MISS, 1}};
    const struct hpm_sampling walks = {.walks = true, .period = 5000, .user = true};
    struct hpm_sample s;
    struct amd_op op = at_l1;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
        start(&amd_zen4);
        op.data3 = of[i].data3;
        sample_all(EVERY, 5000, 0, true, false);
        assert_true(sampled(&op, &s));
        assert_int_equal(s.walk, of[i].walk);
        one_stop();
        assert_int_equal(one_start(&walks), 0);
        assert_int_equal(sampled(&op, &s), of[i].walk != 0);
        one_stop();
    }
}

static void a_sample_says_how_many_bytes_and_whether_it_was_locked(void **state)
{
    static const struct {
        uint64_t width, locked, address;
        uint16_t bytes;
    } of[] = {{0, 0, 0x7000100, 0},  {1, 0, 0x7000100, 1},  {2, 0, 0x700013f, 1},
              {4, 1, 0x7000138, 8},  {4, 0, 0x700013b, 5},  {5, 0, 0x7000130, 16},
              {6, 0, 0x7000120, 32}, {7, 0, 0x7000104, 60}, {15, 0, 0x7000100, 64}};
    struct hpm_sample s;
    struct amd_op op = at_l1;

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
        start(&amd_zen2);
        sample_all(EVERY, 5000, 0, true, false);
        op.data3 = LOADED | DATA3_MISS | of[i].width << 22 | (of[i].locked ? DATA3_LOCKED : 0);
        op.linear = of[i].address;
        assert_true(sampled(&op, &s));
        assert_int_equal(s.bytes, of[i].bytes);
        assert_int_equal(s.atomic, of[i].locked);
        assert_false(s.modified);
        one_stop();
    }
}

/* Walks are recorded of accesses that the hardware's filter would leave out, too. */
static void several_users_share_the_operations(void **state)
{
    static const struct amd_kind *const kinds_of[] = {&amd_zen2, &amd_zen4};
    static const struct hpm_sampling wants[] = {
        {.sources = SOURCES_REMOTE_CACHE, .period = 4096, .jitter = 2048, .user = true},
        {.sources = 3u << SOURCE_LOCAL_MEMORY, .period = 9000, .user = true},
        {.walks = true, .period = 6000, .user = true},
        {.sources = EVERY, .min_latency = 200, .period = 30000, .user = true},
        {.sources = 1u << SOURCE_L1, .period = 20000, .user = true},
    };
    static const struct expected zen2[] = {{NULL, 0, 0, SOURCE_L1},
                                           {NULL, 4, FAR_MISS, SOURCE_REMOTE_L3},
                                           {NULL, 3, FAR_MISS, SOURCE_LOCAL_MEMORY}},
                                 zen4[] = {{NULL, 0, 0, SOURCE_L1},
                                           {NULL, 5, FAR_MISS, SOURCE_REMOTE_L3},
                                           {NULL, 3, FAR_MISS, SOURCE_LOCAL_MEMORY}};
    uint64_t seed = 5;

    (void)state;
    for (unsigned run = 0; run < 2 * ARRAY_SIZE(wants); run++) {
        unsigned users = run / 2 + 1;
        start(kinds_of[run % 2]);
        users_begin(wants, users);
        switch_to(0, 1);
        for (unsigned i = 0; i < 150000; i++) {
            const struct expected *e = &(run % 2 ? zen4 : zen2)[test_random(&seed) % 3];
            bool walk = test_random(&seed) % 5 == 0;
            uint64_t n = 1 + test_random(&seed) % 100, latency = 100 + test_random(&seed) % 300;
            struct amd_op op = at_l1;
            op.data2 = e->data2;
            op.data3 = DATA3_LOAD | DATA3_LINEAR_VALID | DATA3_PHYS_VALID | latency << 32 |
                       e->data3 | (walk ? (uint64_t)60 << 48 | DATA3_L2_TLB_MISS : 0);
            op.l3_miss = e->source > SOURCE_LOCAL_L3;
            struct hpm_sample is = {.user = true,
                                    .source = (uint8_t)e->source,
                                    .latency = e->source ? (uint16_t)latency : 0,
                                    .walk = walk ? 60 : 0};
            amd_operate(n, &op);
            users_note(&is, n);
            if (i % 1000 == 0)
                users_take();
        }
        switch_to(0, -1);
        users_end(50);
    }
}

static void a_sample_says_what_the_record_said(void **state)
{
    struct hpm_sample s;
    struct amd_op op = at_memory;

    (void)state;
    start(&amd_zen2);
    switch_to(0, 4);
    sample_all(EVERY, 5000, 0, true, true);
    assert_true(sampled(&op, &s));
    assert_int_equal(s.pc, USER_PC);
    assert_int_equal(s.data, 0x7000123);
    assert_int_equal(s.data_phys, 0x9123);
    assert_int_equal(s.latency, 123);
    assert_int_equal(s.tid, 104);
    assert_int_equal(s.pid, 11);
    assert_true(s.user && !s.store && s.time && s.time <= host_ticks);
    op.data3 &= ~DATA3_PHYS_VALID;
    op.rip = KERNEL_PC;
    assert_true(sampled(&op, &s));
    assert_int_equal(s.data_phys, 0);
    assert_false(s.user);
    op.data3 = STORED | DATA3_MISS | (uint64_t)99 << 32; /* latency is not valid for stores */
    assert_true(sampled(&op, &s));
    assert_true(s.store);
    assert_int_equal(s.latency, 0);
    assert_true(sampled(&at_l1, &s));
    assert_int_equal(s.latency, 0);
}

static void a_record_without_address_or_place_is_lost(void **state)
{
    struct hpm_sample s;
    struct amd_op op = at_memory;

    (void)state;
    start(&amd_zen4);
    sample_all(EVERY, 5000, 0, true, true);
    op.data3 &= ~DATA3_LINEAR_VALID;
    assert_false(sampled(&op, &s));
    assert_int_equal(lost(), 1);
    op = at_memory;
    op.data = DATA_RIP_INVALID;
    assert_false(sampled(&op, &s));
    assert_int_equal(lost(), 2);
    assert_int_equal(ibs_passed_over(0), 0);
    one_stop();
    sample_all(1 << SOURCE_L1, 5000, 0, true, true);
    assert_false(sampled(&op, &s)); /* it was not asked for, so nothing is lost */
    op.data2 = 0;
    assert_false(sampled(&op, &s));
    assert_int_equal(lost(), 2);
    assert_int_equal(ibs_passed_over(0), 2);
}

static void what_was_not_asked_for_is_passed_over(void **state)
{
    struct hpm_sample s;
    struct amd_op in_kernel = at_memory;

    (void)state;
    in_kernel.rip = KERNEL_PC;
    start(&amd_zen3);
    sample_all(1 << SOURCE_LOCAL_MEMORY, 5000, 0, true, false);
    assert_false(sampled(&in_kernel, &s));
    assert_false(sampled(&at_l1, &s));
    assert_true(sampled(&at_memory, &s));
    assert_int_equal(ibs_passed_over(0), 2);
    one_stop();
    sample_all(1 << SOURCE_LOCAL_MEMORY, 5000, 0, false, true);
    assert_true(sampled(&in_kernel, &s));
    assert_false(sampled(&at_memory, &s));
    struct hpm_sample_account a;
    one_account(&a);
    assert_int_equal(a.taken, 2);
    assert_int_equal(a.delivered, 2);
    assert_int_equal(a.lost_hardware + a.lost_buffer, 0);
    assert_true(a.cycles > 0);
}

static void either_remote_cache_stands_for_both(void **state)
{
    struct hpm_sample s;
    struct amd_op op = at_memory;

    (void)state;
    op.data2 = 5;
    start(&amd_zen4);
    sample_all(1 << SOURCE_REMOTE_L2, 5000, 0, true, false);
    assert_true(sampled(&op, &s));
    assert_int_equal(s.source, SOURCE_REMOTE_L3);
}

static uint64_t samples_of(uint64_t operations, const struct amd_op *op)
{
    struct hpm_sample s[64];
    uint64_t n = 0, got;

    for (uint64_t done = 0; done < operations; done += 50000) {
        amd_operate(50000, op);
        while ((got = one_take(s, ARRAY_SIZE(s))))
            n += got;
    }
    return n;
}

static void intervals_are_as_long_as_asked_for(void **state)
{
    static const uint32_t periods[] = {4096, 4097, 5000, 4111, 65537, 1u << 20};

    (void)state;
    start(&amd_zen2);
    for (unsigned i = 0; i < ARRAY_SIZE(periods); i++) {
        sample_all(1 << SOURCE_L1, periods[i], 0, true, false);
        uint64_t before = amd_double[0].recorded;
        amd_operate(100 * (uint64_t)periods[i] - 1, &at_l1);
        assert_int_equal(amd_double[0].recorded - before, 99);
        amd_operate(1, &at_l1);
        assert_int_equal(amd_double[0].recorded - before, 100);
        one_stop();
    }
}

static void jitter_leaves_the_rate_as_it_is(void **state)
{
    (void)state;
    start(&amd_zen2);
    sample_all(1 << SOURCE_L1, 5000, 4999, true, false); /* the hardware has no shorter intervals */
    assert_in_range(samples_of(20000000, &at_l1), 3900, 4100);
}

/* With the filter the hardware restarts intervals by itself, and still tags as many operations. */
static void the_filter_leaves_the_rate_as_it_is(void **state)
{
    struct amd_double *d = &amd_double[0];

    (void)state;
    start(&amd_zen4);
    sample_all(SOURCES_REMOTE_CACHE | 1 << SOURCE_LOCAL_MEMORY, 1000, 300, true, false);
    assert_true(d->op & OP_L3_MISS_ONLY);
    assert_in_range(samples_of(4000000, &at_memory), 3940, 4060);
    assert_int_equal(d->left_out, 0);
    one_stop();
    sample_all(1 << SOURCE_LOCAL_MEMORY, 1000, 0, true, false);
    unsigned interrupts = d->interrupts;
    assert_int_equal(samples_of(4000000, &at_l1), 0);
    assert_in_range(d->left_out, 3940, 4060);
    assert_int_equal(d->interrupts, interrupts);
    one_stop();
    sample_all(1 << SOURCE_LOCAL_L3 | 1 << SOURCE_LOCAL_MEMORY, 1000, 0, true, false);
    assert_false(d->op & OP_L3_MISS_ONLY);
}

static void a_period_too_short_for_the_hardware_is_refused(void **state)
{
    struct hpm_sampling config = {.sources = SOURCES_REMOTE_CACHE, .period = 4095, .user = true};

    (void)state;
    start(&amd_zen2);
    assert_int_equal(hpm_caps()->sample_period_min, 4096);
    assert_int_equal(one_start(&config), -EINVAL);
    assert_non_null(strstr(double_output, "hpm: sampling: period must be 4096 to 2^20\n"));
    start(&amd_zen4);
    config.period = hpm_caps()->sample_period_min;
    config.jitter = config.period - 1;
    assert_int_equal(one_start(&config), 0);
    for (unsigned i = 0; i < 1000; i++)
        amd_operate(1000, &at_memory);
    assert_true(amd_double[0].recorded > 4000);
}

/* Executes operations of thread 1, one in 5000 of which is recorded, while interrupts are late. */
static void operate_unheard(uint64_t operations)
{
    start(&amd_zen2);
    switch_to(0, 1);
    sample_all(EVERY, 5000, 0, true, true);
    double_late = true;
    amd_operate(operations, &at_l1);
}

static void a_record_belongs_to_the_thread_that_leaves(void **state)
{
    struct hpm_sample s;

    (void)state;
    operate_unheard(5000);
    switch_to(0, 2);
    assert_int_equal(one_take(&s, 1), 1);
    assert_int_equal(s.tid, 101);
    double_late = false;
    uint64_t taken = amd_double[0].recorded;
    double_deliver(); /* of the record that was dropped */
    assert_int_equal(one_take(&s, 1), 0);
    assert_int_equal(amd_double[0].recorded, taken);
    assert_true(sampled(&at_l1, &s));
    assert_int_equal(s.tid, 102);
    assert_exact(0);
}

static void what_is_recorded_after_the_end_is_forgotten(void **state)
{
    struct hpm_sample s;

    (void)state;
    operate_unheard(4999);
    one_stop();
    assert_int_equal(amd_double[0].op & OP_EN, 0);
    amd_double[0].op |= OP_VAL; /* tagged before sampling stopped */
    amd_double[0].record = at_l1;
    amd_double[0].pending = true;
    double_late = false;
    double_deliver();
    assert_int_equal(amd_double[0].op, 0);
    assert_int_equal(one_take(&s, 1), 0);
    hpm_interrupt(NULL);
    sample_all(EVERY, 5000, 0, true, true);
    assert_true(sampled(&at_l1, &s));
}

static void all_cpus_sample_and_every_record_is_accounted_for(void **state)
{
    struct hpm_sample_account a;
    struct hpm_sample s;
    uint64_t recorded = 0, passed = 0, seed = 11;

    (void)state;
    start(&amd_zen4);
    sample_all(1 << SOURCE_LOCAL_MEMORY | 1 << SOURCE_LOCAL_L2, 5000, 2000, true, false);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        switch_to(c, (int)c);
    for (unsigned i = 0; i < 40000; i++) {
        struct amd_op op = test_random(&seed) % 2 ? at_memory : at_l1;
        if (test_random(&seed) % 10 == 0)
            op.data2 = 0;
        double_run_on(test_random(&seed) % DOUBLE_CPUS);
        amd_operate(test_random(&seed) % 10000, &op);
    }
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        tick(c);
        recorded += amd_double[c].recorded;
        passed += ibs_passed_over(c);
    }
    double_run_on(0);
    one_take(&s, 1);
    one_account(&a);
    assert_int_equal(a.taken + passed, recorded);
    assert_true(a.lost_hardware > 1000 && a.lost_buffer > 1000 && passed > 1000);
    assert_in_range(a.taken - a.delivered - a.lost_hardware - a.lost_buffer, 1, 4 * 2048);
}

static void sampling_without_an_interrupt_is_not_offered(void **state)
{
    struct amd_kind untold = amd_zen4;

    (void)state;
    untold.no_entry = true;
    start(&untold);
    assert_true(hpm_caps()->present);
    assert_false(hpm_caps()->can_sample);
    const char *said = strstr(double_output, "left sampling without an interrupt: not used\n");
    assert_non_null(said);
    assert_null(strstr(said + 1, "left sampling"));
    for (unsigned i = 0; i < DOUBLE_CPUS; i++)
        assert_int_equal(amd_double[i].fetch | amd_double[i].op, 0);
    struct amd_kind little = amd_zen3;
    little.ibs &= ~IBS_COUNT_OPS;
    start(&little);
    assert_false(hpm_caps()->can_sample);
    struct amd_kind zen1 = amd_zen2;
    zen1.model = 0x01;
    start(&zen1);
    assert_false(hpm_caps()->can_sample);
    /* A filter on a processor without one: its data sources are unknown. */
    struct amd_kind odd = amd_zen2;
    odd.ibs |= IBS_L3_FILTER;
    start(&odd);
    assert_false(hpm_caps()->can_sample);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_of_record_has_its_source),
        TEST(a_sample_says_how_many_bytes_and_whether_it_was_locked),
        TEST(a_sample_says_how_long_the_page_walk_took),
        TEST(several_users_share_the_operations),
        TEST(a_sample_says_what_the_record_said),
        TEST(a_record_without_address_or_place_is_lost),
        TEST(what_was_not_asked_for_is_passed_over),
        TEST(either_remote_cache_stands_for_both),
        TEST(intervals_are_as_long_as_asked_for),
        TEST(jitter_leaves_the_rate_as_it_is),
        TEST(the_filter_leaves_the_rate_as_it_is),
        TEST(a_period_too_short_for_the_hardware_is_refused),
        TEST(a_record_belongs_to_the_thread_that_leaves),
        TEST(what_is_recorded_after_the_end_is_forgotten),
        TEST(all_cpus_sample_and_every_record_is_accounted_for),
        TEST(sampling_without_an_interrupt_is_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
