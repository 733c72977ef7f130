/* Samples: the threads they belong to, their rate, and that none is torn or lost uncounted. */
#define _GNU_SOURCE
#include <pthread.h>
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_threads.h"
#include "hpm/count.h"
#include "hpm/sampling.h"

enum { TAKE = 4096 };

static struct hpm_sample taken[TAKE];

static const struct hpm_sampling every_remote = {
    .sources = SOURCES_REMOTE_CACHE, .period = 1, .user = true};

static void boot(unsigned records, unsigned samples)
{
    hpm_records = records;
    hpm_samples = samples;
    double_machine_present = true;
    double_boot();
    threads_begin(1);
}

static int set_up(void **state)
{
    (void)state;
    boot(1024, 2048);
    return 0;
}

static void assert_conserved(uint64_t pending)
{
    struct hpm_sample_account a;

    one_account(&a);
    assert_int_equal(a.taken, a.delivered + a.lost_hardware + a.lost_buffer + pending);
}

/* The address of every access tells the thread that made it. */
static void every_sample_belongs_to_the_thread_that_ran(void **state)
{
    uint64_t seed = 4, made = 0, got = 0, last_time[DOUBLE_CPUS] = {0};

    (void)state;
    assert_int_equal(one_start(&every_remote), 0);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        switch_to(c, (int)c);
    for (int step = 0; step < 5000; step++) {
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        int next = (int)(test_random(&seed) % THREADS);
        if (!is_running(next))
            switch_to(cpu, next);
        double_run_on(cpu);
        for (unsigned n = test_random(&seed) % 20; running[cpu] >= 0 && n; n--, made++)
            double_access(test_random(&seed) % 2 ? MACHINE_REMOTE_L2 : MACHINE_REMOTE_L3,
                          threads[running[cpu]].tid, true);
        if (test_random(&seed) % 20)
            continue;
        size_t n = one_take(taken, TAKE);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(taken[i].data, taken[i].tid);
            assert_int_equal(taken[i].pid, taken[i].tid - 90);
            assert_int_equal(taken[i].pc, ~taken[i].data);
            assert_int_equal(taken[i].data_phys, taken[i].data + 1);
            assert_int_equal(taken[i].latency, 100 + taken[i].source);
            assert_true(taken[i].user);
            assert_true(taken[i].time >= last_time[taken[i].cpu]);
            last_time[taken[i].cpu] = taken[i].time;
        }
        got += n;
    }
    idle_everywhere();
    got += one_take(taken, TAKE);
    assert_int_equal(got, made);
    assert_conserved(0);
    uint64_t by_thread = 0;
    for (unsigned i = 0; i < THREADS; i++)
        by_thread += threads[i].samples;
    assert_int_equal(by_thread, made);
}

static void a_burst_with_interrupts_off_loses_the_newest_and_says_how_many(void **state)
{
    struct hpm_sample_account a;

    (void)state;
    boot(64, 2048);
    assert_int_equal(one_start(&every_remote), 0);
    switch_to(0, 0);
    host_irqs_on = false;
    for (unsigned i = 0; i < 200; i++)
        double_access(MACHINE_REMOTE_L2, 1000 + i, true);
    host_irqs_on = true;
    switch_to(0, -1);
    one_account(&a);
    assert_int_equal(a.taken, 200);
    assert_int_equal(a.lost_hardware, 200 - 64);
    size_t n = one_take(taken, TAKE);
    assert_int_equal(n, 64);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taken[i].data, 1000 + i);
    assert_conserved(0);
}

static void a_full_buffer_keeps_what_it_has_and_counts_the_rest(void **state)
{
    struct hpm_sample_account a;

    (void)state;
    boot(64, 128);
    assert_int_equal(one_start(&every_remote), 0);
    switch_to(0, 0);
    for (unsigned i = 0; i < 1000; i++)
        double_access(MACHINE_REMOTE_L2, i, true);
    switch_to(0, -1);
    one_account(&a);
    assert_int_equal(a.taken, 1000);
    assert_int_equal(a.lost_hardware, 0); /* the interrupt of the nearly full ring came in time */
    assert_int_equal(a.lost_buffer, 1000 - 128);
    assert_conserved(128);
    assert_int_equal(one_take(taken, TAKE), 128);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(taken[i].data, i);
    assert_conserved(0);
}

static void a_small_take_leaves_the_rest_for_the_next(void **state)
{
    unsigned got = 0;

    (void)state;
    assert_int_equal(one_start(&every_remote), 0);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        switch_to(c, (int)c);
        for (unsigned i = 0; i < 100; i++)
            double_access(MACHINE_REMOTE_L3, i, true);
        switch_to(c, -1);
    }
    for (size_t n; (n = one_take(taken, 7)); got += n)
        assert_conserved(100 * DOUBLE_CPUS - got - n);
    assert_int_equal(got, 100 * DOUBLE_CPUS);
}

static void the_kernels_own_accesses_are_left_out_unless_asked_for(void **state)
{
    struct hpm_sampling both = every_remote;

    (void)state;
    switch_to(0, 0);
    assert_int_equal(one_start(&every_remote), 0);
    double_access(MACHINE_REMOTE_L2, 1, false);
    double_access(MACHINE_REMOTE_L2, 2, true);
    double_access(MACHINE_LOCAL_L2, 3, true);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].data, 2);
    one_stop();
    both.kernel = true;
    assert_int_equal(one_start(&both), 0);
    double_access(MACHINE_REMOTE_L2, 1, false);
    double_access(MACHINE_REMOTE_L2, 2, true);
    assert_int_equal(one_take(taken, TAKE), 2);
    assert_false(taken[0].user);
    assert_true(taken[1].user);
}

static void one_in_n_with_jitter_is_met_within_the_machines_half(void **state)
{
    struct hpm_sample_account a;
    struct hpm_sampling config = {
        .sources = SOURCES_REMOTE_CACHE, .period = 100, .jitter = 40, .user = true};

    (void)state;
    srand(1);
    switch_to(0, 0);
    assert_int_equal(one_start(&config), 0);
    assert_int_equal(machine_cpu(0)->sampler[0].jitter, 63); /* widest power of two within +-40 */
    for (unsigned i = 0; i < 200000; i++) {
        double_access(MACHINE_REMOTE_L2, i, true);
        if (i % 1000 == 0)
            one_take(taken, TAKE);
    }
    one_account(&a);
    assert_in_range(a.taken, 1950, 2050);
    one_stop();
    config.jitter = 0;
    assert_int_equal(one_start(&config), 0);
    assert_int_equal(machine_cpu(0)->sampler[0].jitter, 0);
}

static void other_cpus_follow_at_their_next_switch_or_tick(void **state)
{
    (void)state;
    switch_to(1, 1);
    switch_to(0, 0);
    assert_int_equal(one_start(&every_remote), 0);
    double_run_on(1);
    double_access(MACHINE_REMOTE_L2, 1, true);
    tick(1);
    double_access(MACHINE_REMOTE_L2, 2, true);
    switch_to(2, 2); /* it was idle */
    double_access(MACHINE_REMOTE_L2, 3, true);
    double_run_on(0);
    one_stop();
    double_run_on(2);
    double_access(MACHINE_REMOTE_L2, 4, true); /* the CPU does not follow yet */
    switch_to(2, -1);
    switch_to(1, -1);
    switch_to(1, 1);
    double_access(MACHINE_REMOTE_L2, 5, true);
    switch_to(1, -1);
    size_t n = one_take(taken, TAKE);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_in_range(taken[i].data, 2, 4);
    assert_conserved(0);
}

static void what_an_earlier_sampling_left_is_not_delivered_by_the_next(void **state)
{
    (void)state;
    switch_to(0, 0);
    assert_int_equal(one_start(&every_remote), 0);
    double_access(MACHINE_REMOTE_L2, 1, true);
    one_stop();
    assert_int_equal(one_start(&every_remote), 0);
    double_access(MACHINE_REMOTE_L2, 2, true);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].data, 2);
    assert_conserved(0);
}

static void wrong_requests_are_refused_by_name(void **state)
{
    static const struct {
        struct hpm_sampling config;
        const char *named;
    } wrong[] = {
        {{.sources = 0, .period = 1, .user = true}, "sources"},
        {{.sources = 1u << SOURCE_L1, .period = 1, .user = true}, "sources"},
        {{.sources = 1u << SOURCE_COUNT, .period = 1, .user = true}, "sources"},
        {{.sources = SOURCES_REMOTE_CACHE, .period = 0, .user = true}, "period"},
        {{.sources = SOURCES_REMOTE_CACHE, .period = (1 << 20) + 1, .user = true}, "period"},
        {{.sources = SOURCES_REMOTE_CACHE, .period = 5, .jitter = 5, .user = true}, "jitter"},
        {{.sources = SOURCES_REMOTE_CACHE, .period = 5}, "user, kernel"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        double_output[0] = 0;
        assert_int_equal(one_start(&wrong[i].config), -EINVAL);
        assert_non_null(strstr(double_output, wrong[i].named));
    }
    assert_int_equal(one_start(&every_remote), 0);
    assert_int_equal(one_start(&every_remote), -EBUSY);
    one_stop();
    assert_int_equal(one_start(&every_remote), 0);
}

static void the_cost_of_sampling_is_accounted(void **state)
{
    struct hpm_sample_account a;

    (void)state;
    switch_to(0, 0);
    assert_int_equal(one_start(&every_remote), 0);
    one_account(&a);
    uint64_t before = a.cycles;
    for (unsigned i = 0; i < 10; i++)
        double_access(MACHINE_REMOTE_L2, i, true);
    unsigned accesses = double_cpus[0].accesses;
    assert_int_equal(one_take(taken, TAKE), 10);
    accesses = double_cpus[0].accesses - accesses;
    one_account(&a);
    assert_int_equal(a.cycles - before,
                     accesses * REGISTER_CYCLES + 10 * machine_id()->record_cycles);
    assert_true(hpm_own_cycles() > 0);
}

static void without_sampling_a_switch_pays_nothing_for_it(void **state)
{
    (void)state;
    switch_to(0, 0);
    unsigned before = double_cpus[0].accesses;
    switch_to(0, 1);
    unsigned off = double_cpus[0].accesses - before;
    assert_int_equal(one_start(&every_remote), 0);
    before = double_cpus[0].accesses;
    switch_to(0, 0);
    assert_int_equal(double_cpus[0].accesses - before, off + 1);
}

/* ---- The buffer between one producer and one consumer that really run at the same time ------- */

static struct sample_ring shared;
static uint64_t dropped;

static void *produce(void *arg)
{
    for (uint64_t i = 0; i < 300000; i++) {
        struct hpm_sample s = {.time = i, .pc = ~i, .data = i * 3, .data_phys = i ^ 0x5555};
        if (!ring_push(&shared, &s))
            dropped++;
    }
    return arg;
}

static void a_sample_is_never_torn_between_threads(void **state)
{
    pthread_t producer;
    struct hpm_sample s;
    uint64_t got = 0, next = 0;
    bool ended = false;

    (void)state;
    shared = (struct sample_ring){.slots = taken, .size = 256};
    assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
    while (!ended || ring_pop(&shared, &s)) {
        if (!ended) {
            ended = pthread_tryjoin_np(producer, NULL) == 0;
            if (!ring_pop(&shared, &s))
                continue;
        }
        assert_true(s.time >= next);
        assert_true(s.pc == ~s.time && s.data == s.time * 3 && s.data_phys == (s.time ^ 0x5555));
        next = s.time + 1;
        got++;
    }
    assert_int_equal(got + dropped, 300000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_sample_belongs_to_the_thread_that_ran),
        TEST(a_burst_with_interrupts_off_loses_the_newest_and_says_how_many),
        TEST(a_full_buffer_keeps_what_it_has_and_counts_the_rest),
        TEST(a_small_take_leaves_the_rest_for_the_next),
        TEST(the_kernels_own_accesses_are_left_out_unless_asked_for),
        TEST(one_in_n_with_jitter_is_met_within_the_machines_half),
        TEST(other_cpus_follow_at_their_next_switch_or_tick),
        TEST(what_an_earlier_sampling_left_is_not_delivered_by_the_next),
        TEST(wrong_requests_are_refused_by_name),
        TEST(the_cost_of_sampling_is_accounted),
        TEST(without_sampling_a_switch_pays_nothing_for_it),
        cmocka_unit_test(a_sample_is_never_torn_between_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
