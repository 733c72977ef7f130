/* Several users of records of accesses at a time: each gets its own, and its account adds up. */
#include <math.h>
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_profiles.h"
#include "hpm/sampling.h"

static const struct hpm_sampling wants[ACCESS_HANDLES] = {
    {.sources = SOURCES_REMOTE_CACHE, .period = 10, .jitter = 5, .user = true},
    {.sources = 3u << SOURCE_LOCAL_MEMORY, .period = 7, .user = true, .kernel = true},
    {.walks = true, .period = 5, .jitter = 2, .user = true, .kernel = true},
    {.fetches = true, .period = 3, .user = true, .kernel = true},
    {.sources = 0x7e, .min_latency = 104, .period = 20, .kernel = true},
    {.sources = 0x7e, .walks = true, .period = 31, .user = true, .kernel = true},
    {.sources = 1u << SOURCE_LOCAL_L2, .period = 12, .user = true},
    {.sources = 1u << SOURCE_REMOTE_L3, .period = 4, .kernel = true},
};

static struct hpm_access *handle[ACCESS_HANDLES];
static uint64_t truth[ACCESS_HANDLES], sum[ACCESS_HANDLES];

static void assert_conserved(unsigned h, uint64_t pending)
{
    struct hpm_sample_account a;

    hpm_access_account(handle[h], &a);
    assert_int_equal(a.taken, a.delivered + a.lost_hardware + a.lost_buffer + pending);
}

/* Makes an access of any kind on the executing CPU, by the thread whose id is its address. */
static void access_something(uint64_t *seed, uint32_t on)
{
    struct hpm_sample s = {.fetch = test_random(seed) % 10 == 0,
                           .user = test_random(seed) % 2,
                           .source = (uint8_t)(test_random(seed) % SOURCE_COUNT)};

    s.source = s.fetch ? SOURCE_L1 : s.source;
    s.latency = s.source ? 100 + s.source : 0;
    s.walk = s.fetch || test_random(seed) % 4 == 0 ? 60 : 0;
    for (unsigned h = 0; h < ACCESS_HANDLES; h++)
        truth[h] += (on >> h & 1) && sample_wanted(&wants[h], &s);
    double_walk((enum machine_source)s.source, threads[running[host_cpu->index]].tid, s.user,
                s.walk, s.fetch);
}

static void take_samples(uint32_t on)
{
    for (unsigned h = 0; h < ACCESS_HANDLES; h++) {
        if (!(on >> h & 1))
            continue;
        size_t n = hpm_access_take(handle[h], taken, TAKE);
        for (size_t i = 0; i < n; i++) {
            assert_true(sample_wanted(&wants[h], &taken[i]));
            assert_int_equal(taken[i].data, taken[i].tid);
            sum[h] += taken[i].period;
        }
    }
}

/* Runs threads on all CPUs, which switch, with these handles on. */
static void run_with(uint32_t on, unsigned accesses)
{
    uint64_t seed = on;

    memset(truth, 0, sizeof truth);
    memset(sum, 0, sizeof sum);
    srand(on);
    for (unsigned h = 0; h < ACCESS_HANDLES; h++)
        if (on >> h & 1) {
            assert_int_equal(hpm_access_open("test", &handle[h]), 0);
            assert_int_equal(hpm_access_start(handle[h], &wants[h]), 0);
        }
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        switch_to(c, (int)c);
    for (unsigned i = 0; i < accesses; i++) {
        double_run_on(test_random(&seed) % DOUBLE_CPUS);
        access_something(&seed, on);
        if (i % 50 == 0) {
            int next = (int)(test_random(&seed) % THREADS);
            if (!is_running(next))
                switch_to(test_random(&seed) % DOUBLE_CPUS, next);
        }
        if (i % 500 == 0)
            take_samples(on);
    }
    idle_everywhere();
    take_samples(on);
}

static void close_all(uint32_t on)
{
    for (unsigned h = 0; h < ACCESS_HANDLES; h++)
        if (on >> h & 1)
            hpm_access_close(handle[h]);
}

/* What each CPU has begun and not ended is less than two periods. */
static void assert_estimates(uint32_t on)
{
    for (unsigned h = 0; h < ACCESS_HANDLES; h++) {
        if (!(on >> h & 1))
            continue;
        double p = wants[h].period, off = 3 * sqrt(p * (double)truth[h]) + 2 * p * DOUBLE_CPUS;
        assert_conserved(h, 0);
        if (fabs((double)sum[h] - (double)truth[h]) > off || truth[h] < 100)
            fail_msg("handles %x, %u: %llu of %llu", on, h, (unsigned long long)sum[h],
                     (unsigned long long)truth[h]);
    }
}

static void each_user_gets_what_it_wants(void **state)
{
    static const uint32_t sets[] = {1, 3, 0x0f, 0x1f, 0x33, 0xf0, 0xff};
    unsigned frames = double_frames();

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(sets); i++) {
        run_with(sets[i], 40000);
        assert_estimates(sets[i]);
        close_all(sets[i]);
        assert_int_equal(double_frames(), frames);
    }
}

static void a_ninth_user_is_refused(void **state)
{
    struct hpm_access *more;

    (void)state;
    run_with(0xff, 0);
    unsigned frames = double_frames();
    assert_int_equal(hpm_access_open("more", &more), -ENOSPC);
    assert_int_equal(double_frames(), frames);
    hpm_access_close(handle[3]);
    assert_int_equal(hpm_access_open("more", &handle[3]), 0);
    close_all(0xff);
}

/* A ring in memory that is full loses records of the samplers that made them. */
static void a_full_ring_loses_records_of_each_by_itself(void **state)
{
    struct hpm_sample_account a;
    const struct hpm_sampling remote = {.sources = 1u << SOURCE_REMOTE_L2,
                                        .period = 1,
                                        .user = true},
                              local = {.sources = 1u << SOURCE_LOCAL_L2, .period = 1, .user = true};

    (void)state;
    hpm_records = 64;
    boot(2048);
    for (unsigned h = 0; h < 2; h++) {
        assert_int_equal(hpm_access_open("test", &handle[h]), 0);
        assert_int_equal(hpm_access_start(handle[h], h ? &local : &remote), 0);
    }
    switch_to(0, 0);
    host_irqs_on = false;
    for (unsigned i = 0; i < 200; i++)
        double_access(i < 64 ? MACHINE_REMOTE_L2 : MACHINE_LOCAL_L2, i, true);
    host_irqs_on = true;
    switch_to(0, -1);
    hpm_access_account(handle[0], &a);
    assert_int_equal(a.taken, 64);
    assert_int_equal(a.lost_hardware, 0);
    hpm_access_account(handle[1], &a);
    assert_int_equal(a.taken, 136);
    assert_int_equal(a.lost_hardware, 136);
    close_all(3);
    hpm_records = 1024;
}

/* When closing returns no CPU writes to the rings, which are freed: each has followed. */
static void closing_waits_for_every_cpu(void **state)
{
    (void)state;
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        switch_to(c, (int)c);
    run_with(1, 0);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        assert_true(cpus[c].hpm->sampler.on);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        double_run_on(c);
        for (unsigned i = 0; i < 30; i++)
            double_access(MACHINE_REMOTE_L2, i, true);
    }
    double_run_on(0);
    close_all(1);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        assert_false(cpus[c].hpm->sampler.on);
        assert_int_equal(machine_cpu(c)->ring_head, machine_cpu(c)->ring_tail);
        double_run_on(c);
        for (unsigned i = 0; i < 30; i++)
            double_access(MACHINE_REMOTE_L2, i, true);
        tick(c);
    }
}

/* A profile has its own, of its process alone, beside others. */
static void a_profile_samples_by_several_criteria(void **state)
{
    uint64_t seed = 9, of[5] = {0}, expected[5] = {0};
    static const char criteria[] =
        "access.remote:u@10,access.walk@5,fetch.walk@3,access.any>=104@20,"
        "access.memory@7";

    (void)state;
    srand(7);
    assert_int_equal(hpm_access_open("other", &handle[0]), 0);
    assert_int_equal(hpm_access_start(handle[0], &wants[0]), 0);
    open_profile(criteria, threads[1].pid);
    switch_to(0, 1);
    switch_to(1, 2);
    for (unsigned i = 0; i < 20000; i++) {
        memset(truth, 0, sizeof truth);
        double_run_on(i % 2);
        access_something(&seed, 0xff);
        if (i % 2 == 0) {
            expected[0] += truth[0];
            expected[1] += truth[2];
            expected[2] += truth[3];
            expected[4] += truth[1];
        }
        if (i % 100)
            continue;
        for (size_t n = take_all(), k = 0; k < n; k++) {
            assert_int_equal(taken[k].pid, threads[1].pid);
            of[taken[k].criterion] += taken[k].period;
        }
        hpm_access_take(handle[0], taken, TAKE);
    }
    idle_everywhere();
    for (size_t n = take_all(), k = 0; k < n; k++)
        of[taken[k].criterion] += taken[k].period;
    hpm_access_take(handle[0], taken, TAKE);
    assert_conserved(0, 0);
    assert_true(of[3] > 1000);
    for (unsigned i = 0; i < 5; i++) {
        struct hpm_profile_account a;
        hpm_profile_account(profile, i, &a);
        assert_int_equal(a.taken, a.delivered + a.lost);
        assert_int_equal(a.stood_for, of[i]);
        assert_int_equal(a.lost, 0);
        double off = 3 * sqrt((double)(a.period * expected[i])) + 2 * (double)a.period;
        if (i != 3 && fabs((double)of[i] - (double)expected[i]) > off)
            fail_msg("criterion %u: %llu of %llu", i, (unsigned long long)of[i],
                     (unsigned long long)expected[i]);
    }
    hpm_access_close(handle[0]);
}

/* The cost of another user's records is not a profile's. */
static void each_user_pays_for_its_own(void **state)
{
    struct hpm_sample_account a, b;

    (void)state;
    run_with(3, 0);
    switch_to(0, 0);
    for (unsigned i = 0; i < 1000; i++)
        double_access(MACHINE_REMOTE_L2, i, true);
    switch_to(0, -1);
    hpm_access_account(handle[0], &a);
    hpm_access_account(handle[1], &b);
    assert_true(a.taken > 80);
    assert_int_equal(b.taken, 0);
    assert_true(a.cycles - a.looking > 10 * (b.cycles - b.looking));
    close_all(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_user_gets_what_it_wants),
        TEST(a_ninth_user_is_refused),
        TEST(a_full_ring_loses_records_of_each_by_itself),
        TEST(closing_waits_for_every_cpu),
        TEST(a_profile_samples_by_several_criteria),
        TEST(each_user_pays_for_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
