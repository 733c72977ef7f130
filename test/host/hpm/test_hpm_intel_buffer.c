/* The memory for records on Intel's processors: each lost record is counted, and each taken one
 * belongs to the thread that ran. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/intel_records.h"
#include "test/host/double/random.h"

static void a_buffer_that_fills_interrupts_before_it_is_full(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(servers); k++) {
        boot(servers[k], 16);
        sample(ONLY(SOURCE_REMOTE_L2), 1, 0);
        switch_to(0, 0);
        uint64_t interrupts = cpus[0].hpm->interrupts;
        for (unsigned i = 0; i < 1000; i++)
            access(servers[k] == &intel_broadwell_ep ? 0x10d3 : HITM_REMOTE, 0, 100, 5000 + i);
        assert_in_range(cpus[0].hpm->interrupts - interrupts, 1000 / 12, 1000 / 12 + 2);
        assert_int_equal(intel_double[0].dropped, 0);
        switch_to(0, -1);
        assert_int_equal(one_take(taken, TAKE), 1000);
        for (unsigned i = 0; i < 1000; i++)
            assert_int_equal(taken[i].data, 5000 + i);
        assert_int_equal(account().lost_hardware, 0);
        assert_conserved();
        one_stop();
    }
}

static void a_full_buffer_is_known_to_have_lost_something(void **state)
{
    (void)state;
    boot(&intel_skylake, 64);
    sample(SOURCES_REMOTE_CACHE, 1, 0);
    switch_to(0, 0);
    host_irqs_on = false;
    for (unsigned i = 0; i < 200; i++)
        access(HITM_REMOTE, 0, 100, 1000 + i);
    assert_int_equal(intel_double[0].dropped, 200 - 64);
    host_irqs_on = true;
    switch_to(0, -1);
    size_t n = one_take(taken, TAKE);
    assert_int_equal(n, 64);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taken[i].data, 1000 + i);
    assert_int_equal(account().lost_hardware, 1); /* the hardware does not count them */
    assert_conserved();
    switch_to(0, 0);
    access(HITM_REMOTE, 0, 100, 77);
    switch_to(0, -1);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].data, 77);
}

static unsigned late_at;

static void late_load(void)
{
    if (intel_double[0].accesses != late_at)
        return;
    struct intel_load l = {.event = HITM_REMOTE, .latency = 100, .address = 0xabc, .pc = USER_PC};
    intel_load(&l);
}

/* At each register access of the driver in turn, a record is written. */
static void records_may_come_at_any_moment_of_draining(void **state)
{
    (void)state;
    boot(&intel_icelake, 16);
    unsigned accesses = 40;
    for (unsigned at = 1; at <= accesses; at++) {
        boot(&intel_icelake, 16);
        sample(SOURCES_REMOTE_CACHE, 1, 0);
        switch_to(0, 0);
        host_irqs_on = false;
        for (unsigned i = 0; i < 10; i++)
            access(HITM_REMOTE, 0, 100, 100 + i);
        unsigned recorded = intel_double[0].recorded;
        late_at = intel_double[0].accesses + at;
        double_on_access = late_load;
        hpm_tick();
        hpm_tick();
        double_on_access = NULL;
        recorded = intel_double[0].recorded - recorded;
        host_irqs_on = true;
        double_deliver();
        switch_to(0, -1);
        assert_int_equal(one_take(taken, TAKE), 10 + recorded);
        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(taken[i].data, 100 + i);
        assert_int_equal(account().lost_hardware, 0);
        assert_conserved();
        one_stop();
    }
}

static void tear(uint8_t *r)
{
    if (intel_double[0].recorded == 2)
        *(uint64_t *)(void *)r = (uint64_t)32 << 48; /* the basic group only */
    if (intel_double[0].recorded == 4)
        *(uint64_t *)(void *)(r + 16) = 1; /* another counter's */
    if (intel_double[0].recorded == 6)
        *(uint64_t *)(void *)r |= 2; /* of another form */
}

static void a_record_that_is_not_ours_is_lost_and_the_next_is_taken(void **state)
{
    (void)state;
    boot(&intel_icelake, 64);
    sample(SOURCES_REMOTE_CACHE, 1, 0);
    switch_to(0, 0);
    intel_on_record = tear;
    for (unsigned i = 1; i <= 8; i++)
        access(HITM_REMOTE, 0, 100, i);
    switch_to(0, -1);
    assert_int_equal(one_take(taken, TAKE), 5);
    static const unsigned whole[] = {1, 3, 5, 7, 8};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(taken[i].data, whole[i]);
    assert_int_equal(account().lost_hardware, 3);
    assert_conserved();
}

static void an_index_that_cannot_be_believed_is_not(void **state)
{
    static const int64_t off[] = {-200, 100, 64 * 200 + 200, 7};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(off); i++) {
        boot(&intel_skylake, 64);
        sample(SOURCES_REMOTE_CACHE, 1, 0);
        switch_to(0, 0);
        struct intel_ds *ds = (struct intel_ds *)(uintptr_t)intel_double[0].ds_area;
        access(HITM_REMOTE, 0, 100, 1);
        ds->index = ds->base + (uint64_t)off[i];
        access(0, 0, 0, 0);
        host_irqs_on = false;
        hpm_tick();
        if (off[i] == 7) { /* less than a record: the driver waits for more */
            assert_int_equal(account().lost_hardware, 0);
            ds->index += 200;
            hpm_tick();
        }
        if (off[i] == 100) {
            ds->index += 200;
            hpm_tick();
        }
        host_irqs_on = true;
        assert_int_equal(account().lost_hardware, 1);
        assert_int_equal(one_take(taken, TAKE), 0);
        assert_int_equal(ds->index, ds->base);
        access(HITM_REMOTE, 0, 100, 2);
        switch_to(0, -1);
        assert_int_equal(one_take(taken, TAKE), 1);
        assert_int_equal(taken[0].data, 2);
        one_stop();
    }
}

static void an_index_that_went_back_is_not_believed(void **state)
{
    (void)state;
    boot(&intel_skylake, 64);
    sample(SOURCES_REMOTE_CACHE, 1, 0);
    switch_to(0, 0);
    struct intel_ds *ds = (struct intel_ds *)(uintptr_t)intel_double[0].ds_area;
    access(HITM_REMOTE, 0, 100, 1);
    access(HITM_REMOTE, 0, 100, 2);
    assert_int_equal(one_take(taken, TAKE), 2);
    ds->index = ds->base + 200;
    assert_int_equal(one_take(taken, TAKE), 0);
    assert_int_equal(account().lost_hardware, 1);
    access(HITM_REMOTE, 0, 100, 3);
    switch_to(0, -1);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].data, 3);
}

static void every_record_belongs_to_the_thread_that_ran(void **state)
{
    uint64_t seed = 8, made = 0, got = 0;

    (void)state;
    boot(&intel_icelake, 32);
    sample(SOURCES_REMOTE_CACHE, 1, 0);
    for (int step = 0; step < 3000; step++) {
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        if (test_random(&seed) % 3 == 0)
            /* to its own thread, or to idle */
            switch_to(cpu, test_random(&seed) % 2 ? (int)cpu : -1);
        double_run_on(cpu);
        for (unsigned n = test_random(&seed) % 20; running[cpu] >= 0 && n; n--, made++)
            access(test_random(&seed) % 2 ? HITM_REMOTE : FWD_REMOTE, 0, 100, 100 + cpu);
        intel_execute(1000, test_random(&seed) % 300000, true);
        if (test_random(&seed) % 10)
            continue;
        size_t n = one_take(taken, TAKE);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(taken[i].data, taken[i].tid);
            assert_int_equal(taken[i].cpu, taken[i].tid - 100);
        }
        got += n;
    }
    idle_everywhere();
    got += one_take(taken, TAKE);
    assert_int_equal(got, made);
    assert_conserved();
}

static void stopping_stops_and_starting_again_forgets(void **state)
{
    (void)state;
    boot(&intel_skylake, 64);
    sample(WITHIN_CHIP, 1, 0);
    switch_to(0, 0);
    access(0, 4, 100, 1);
    one_stop();
    assert_int_equal(intel_double[0].pebs_enable, 0);
    assert_int_equal(intel_double[0].select[3], 0);
    unsigned recorded = intel_double[0].recorded;
    access(0, 4, 100, 2);
    assert_int_equal(intel_double[0].recorded, recorded);
    assert_int_equal(one_take(taken, TAKE), 1);
    sample(SOURCES_REMOTE_CACHE, 1, 0);
    assert_int_equal(intel_double[0].pebs_enable, 8);
    access(HITM_REMOTE, 0, 100, 3);
    switch_to(0, -1);
    assert_int_equal(one_take(taken, TAKE), 1);
    assert_int_equal(taken[0].data, 3);
}

/* Counting is not disturbed: the interrupt of a record is not taken for one of a slice. */
static void records_do_not_disturb_the_turns(void **state)
{
    (void)state;
    boot(&intel_skylake, 16);
    sample(SOURCES_REMOTE_CACHE, 1, 0);
    switch_to(0, 0);
    uint64_t began = cpus[0].hpm->turn_began;
    for (unsigned i = 0; i < 100; i++) /* eight interrupts, half a turn */
        access(HITM_REMOTE, 0, 100, i), intel_execute(100, 5000, true);
    assert_int_equal(cpus[0].hpm->turn_began, began);
    for (unsigned i = 0; i < 120; i++)
        access(HITM_REMOTE, 0, 100, i), intel_execute(100, 5000, true);
    assert_true(cpus[0].hpm->turn_began > began);
    assert_int_equal(intel_double[0].dropped, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_buffer_that_fills_interrupts_before_it_is_full),
        TEST(a_full_buffer_is_known_to_have_lost_something),
        TEST(records_may_come_at_any_moment_of_draining),
        TEST(a_record_that_is_not_ours_is_lost_and_the_next_is_taken),
        TEST(an_index_that_cannot_be_believed_is_not),
        TEST(an_index_that_went_back_is_not_believed),
        TEST(every_record_belongs_to_the_thread_that_ran),
        TEST(stopping_stops_and_starting_again_forgets),
        TEST(records_do_not_disturb_the_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
