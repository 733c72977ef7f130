/* The profiling buffer of Arm's Statistical Profiling Extension in the driver and hpm on top of it:
 * full, cut off, not writable; and that every record taken is a sample, lost, or of another
 * source. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/random.h"
#include "test/host/double/spe_kinds.h"

enum { PERIOD = 1024, RECORDS = 512 };
#define EVERY hpm_caps()->sampled

static uint64_t lost(void)
{
    return account().lost_hardware;
}

/* Samples within one stretch of a thread, without any look at the buffer. */
static void sample_many(unsigned records)
{
    host_irqs_on = false;
    spe_operate((uint64_t)records * PERIOD, &spe_remote);
    host_irqs_on = true;
}

static void start_with(const struct armv8_kind *kind, uint64_t records)
{
    uint64_t before = hpm_records;

    hpm_records = records;
    spe_start(kind);
    hpm_records = before;
}

static void begin_with(const struct armv8_kind *kind, uint64_t records)
{
    start_with(kind, records);
    switch_to(0, 1);
    sample_all(EVERY, PERIOD, 0, true, false);
}

static void begin(const struct armv8_kind *kind)
{
    begin_with(kind, RECORDS);
}

/* The interrupt is late, long after the buffer has stopped: that counts as one loss. */
static void a_full_buffer_interrupts_and_sampling_goes_on(void **state)
{
    static const struct armv8_kind *const kinds[] = {&spe_known, &spe_packed};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        const struct spe_double *d = &spe_double[0];
        begin(kinds[i]);
        uint64_t interrupts = cpus[0].hpm->interrupts;
        sample_many(4 * RECORDS);
        assert_int_equal(d->stops, 1);
        assert_in_range(d->recorded, RECORDS - 1, 4 * RECORDS);
        assert_int_equal(lost(), 0); /* the buffer has not been looked at */
        double_deliver();
        assert_int_equal(cpus[0].hpm->interrupts - interrupts, 1);
        assert_int_equal(lost(), 1);
        assert_false(spe_due());
        assert_int_equal(take_all(), d->recorded);
        uint64_t recorded = d->recorded;
        spe_operate(10 * PERIOD, &spe_remote);
        tick(0);
        assert_int_equal(d->recorded - recorded, 10);
        assert_int_equal(take_all(), 10);
        assert_int_equal(lost(), 1);
        one_stop();
    }
}

/* The interrupt is in time: all that was sampled until then is taken, in portions of any size. */
static void a_buffer_that_fills_again_and_again_loses_what_it_says(void **state)
{
    const struct spe_double *d = &spe_double[0];

    (void)state;
    begin(&spe_packed);
    for (unsigned i = 0; i < 50; i++) {
        spe_operate(1500 * PERIOD, &spe_remote);
        take_all();
    }
    tick(0);
    take_all();
    assert_true(d->stops > 10);
    assert_int_equal(account().taken, d->recorded + d->stops);
    assert_int_equal(lost(), d->stops);
    assert_int_equal(account().delivered, d->recorded);
}

/* The part of a record that did not fit is dropped; the stop is counted once. */
static void a_record_that_was_cut_off_is_lost_once(void **state)
{
    struct spe_double *d = &spe_double[0];

    (void)state;
    begin(&spe_packed);
    while (!d->stops)
        sample_many(1);
    assert_true(d->sr & SR_DL);
    assert_int_equal(d->ptr % LIMITR_UNIT, 0);
    tick(0);
    assert_int_equal(lost(), 1);
    assert_int_equal(take_all(), d->recorded);
}

/* Half a record without a status that tells so is lost as well. */
static void half_a_record_is_lost(void **state)
{
    struct spe_double *d = &spe_double[0];

    (void)state;
    begin(&spe_packed);
    sample_many(3);
    spe_drain_sync();
    d->ptr -= 5;
    tick(0);
    assert_int_equal(lost(), 1);
    assert_int_equal(take_all(), 2);
}

static void the_first_tick_after_a_stop_will_do(void **state)
{
    (void)state;
    begin(&spe_known);
    double_late = true; /* the interrupt is not wired */
    sample_many(2 * RECORDS);
    assert_int_equal(spe_double[0].stops, 1);
    tick(0);
    assert_int_equal(lost(), 1);
    take_all();
    sample_many(5);
    tick(0);
    assert_int_equal(take_all(), 5);
}

static void an_interrupt_for_nothing_does_nothing(void **state)
{
    (void)state;
    begin(&spe_known);
    for (unsigned i = 0; i < 3; i++) {
        sample_many(1);
        hpm_interrupt(NULL);
        hpm_interrupt(NULL);
        assert_int_equal(take_all(), 1);
    }
    assert_int_equal(lost(), 0);
    assert_exact(0);
}

/* The status tells that there were some, not how many. */
static void samples_due_too_early_are_a_loss(void **state)
{
    struct spe_double *d = &spe_double[0];

    (void)state;
    begin(&spe_known);
    d->collide = 3;
    sample_many(5);
    tick(0);
    assert_int_equal(take_all(), 2);
    assert_int_equal(lost(), 1);
    d->collide = 2;
    sample_many(2); /* and nothing else */
    tick(0);
    assert_int_equal(lost(), 2);
    sample_many(2);
    tick(0);
    assert_int_equal(lost(), 2);
    assert_int_equal(take_all(), 2);
}

/* Translation fault; external abort; a reason that only its maker knows; an undefined one. */
static void a_buffer_that_cannot_be_written_is_said_and_left(void **state)
{
    static const uint64_t faults[] = {(uint64_t)0x24 << 26 | SR_DL | 7, SR_EA | SR_DL,
                                      (uint64_t)0x1f << 26, 0x3e};
    struct spe_double *d = &spe_double[0];

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(faults); i++) {
        begin(&spe_known);
        sample_many(3);
        spe_drain_sync();
        d->fault = faults[i];
        sample_many(4);
        double_deliver();
        tick(0); /* the status may not have been written before */
        const char *said =
            strstr(double_output, "hpm: spe: CPU 0 cannot write its buffer (PMBSR 0x");
        assert_non_null(said);
        assert_int_equal(take_all(), 3);
        assert_int_equal(lost(), 1);
        uint64_t operations = d->operations;
        sample_many(100);
        tick(0);
        hpm_interrupt(NULL);
        assert_int_equal(d->operations, operations);
        assert_int_equal(take_all(), 0);
        assert_int_equal(lost(), 1);
        assert_null(strstr(said + 1, "hpm: spe: CPU"));
        one_stop();
        sample_all(EVERY, PERIOD, 0, true, false);
        sample_many(3);
        tick(0);
        assert_int_equal(take_all(), 3);
        one_stop();
    }
}

static void a_pointer_outside_the_buffer_is_not_followed(void **state)
{
    struct spe_double *d = &spe_double[0];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin(&spe_known);
        sample_many(3);
        spe_drain_sync();
        d->ptr = i ? 0xffff800000000000 : 64;
        tick(0);
        assert_int_equal(take_all(), 0);
        assert_int_equal(lost(), 1);
        sample_many(3);
        tick(0);
        assert_int_equal(take_all(), 3);
        assert_int_equal(lost(), 1);
        one_stop();
    }
}

/* After sampling has ended, by a record that was on its way. */
static void an_interrupt_after_sampling_has_ended_is_cleared(void **state)
{
    struct spe_double *d = &spe_double[0];

    (void)state;
    begin(&spe_known);
    one_stop();
    d->sr = SR_S | MSS_FULL;
    double_deliver(); /* else it interrupts for ever */
    assert_false(spe_due());
    assert_int_equal(lost(), 0);
    d->sr = SR_S | MSS_FULL;
    double_late = true; /* and sampling starts again before the interrupt comes */
    sample_all(EVERY, PERIOD, 0, true, false);
    sample_many(3);
    tick(0);
    assert_int_equal(take_all(), 3);
    assert_int_equal(lost(), 0);
    double_late = false;
    double_run_on(1); /* a CPU that has never sampled */
    spe_double[1].sr = SR_S;
    double_deliver();
    assert_false(spe_due());
}

/* The largest and the smallest memory for records that can be asked for are whole pages. */
static void the_least_memory_is_a_page(void **state)
{
    (void)state;
    begin_with(&spe_known, 16);
    sample_many(1000);
    assert_int_equal(spe_double[0].recorded, 4096 / 64);
    tick(0);
    assert_int_equal(take_all(), 64);
    assert_int_equal(lost(), 1);
}

/* ---- Random lives ---------------------------------------------------------------------------- */

/* The data address tells the thread that executed an operation. */
#define DATA_OF(thread) ((uint64_t)0x10000 + (uint64_t)(thread)*8)

static struct spe_op any_op(uint64_t *seed, int thread)
{
    static const struct spe_op *const ops[] = {&spe_hit, &spe_remote, &spe_branch};
    struct spe_op op = *ops[test_random(seed) % ARRAY_SIZE(ops)];

    op.data = DATA_OF(thread);
    if (test_random(seed) % 50 == 0)
        op.broken = 0xc3;
    op.level = test_random(seed) % 4 == 0;
    return op;
}

static void check_samples(void)
{
    struct hpm_sample s;

    while (one_take(&s, 1)) {
        assert_int_equal(s.source, SOURCE_REMOTE_L3);
        if (s.data == SPE_OWN_DATA)
            continue;
        assert_int_equal(s.tid, s.data == DATA_OF(-1) ? 0 : 100 + (s.data - DATA_OF(0)) / 8);
        assert_int_equal(s.pid, s.tid ? 10 + (s.tid - 100) / 3 : 0);
    }
}

/* Samples are taken by any CPU. */
static void sample_some(uint64_t *seed)
{
    struct spe_op op = any_op(seed, running[host_cpu->index]);

    check_samples();
    if (test_random(seed) % 20 == 0)
        spe_double[host_cpu->index].collide = test_random(seed) % 3;
    spe_operate(test_random(seed) % (test_random(seed) % 10 ? 4 * PERIOD : 400 * PERIOD), &op);
}

static void check_account(const struct armv8_kind *kind, bool kernel)
{
    const struct life l = {.steps = 6000,
                           .seed = 11,
                           .events_max = 1 << 16,
                           .instructions_max = 5000,
                           .also = sample_some};
    uint64_t recorded = 0, passed = 0, known_losses = 0, stops = 0;

    start_with(kind, 64);
    sample_all(SOURCES_REMOTE_CACHE, PERIOD, PERIOD / 2, true, kernel);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        tick(c); /* all CPUs follow */
    live(&l);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        recorded += spe_double[c].recorded;
        stops += spe_double[c].stops;
        known_losses += spe_double[c].stops + spe_double[c].collisions;
        passed += spe_passed_over(c);
    }
    struct hpm_sample_account a = account();
    size_t pending = take_all();
    assert_int_equal(a.taken, a.delivered + a.lost_hardware + a.lost_buffer + pending);
    assert_true(stops > 20 && known_losses > stops && pending < a.delivered && a.delivered > 1000);
    if (kind->spe.align)
        assert_int_equal(a.taken + passed, recorded + known_losses);
    else
        /* A broken record takes others with it. */
        assert_true(a.taken + passed <= recorded + known_losses);
    assert_true(a.lost_hardware > known_losses);
    one_stop();
}

static void all_cpus_sample_and_every_record_is_accounted_for(void **state)
{
    (void)state;
    check_account(&spe_known, false);
    check_account(&spe_known, true);
}

static void so_it_is_where_records_have_no_places(void **state)
{
    (void)state;
    check_account(&spe_packed, true);
}

#define TEST(name) cmocka_unit_test_teardown(name, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_full_buffer_interrupts_and_sampling_goes_on),
        TEST(a_buffer_that_fills_again_and_again_loses_what_it_says),
        TEST(a_record_that_was_cut_off_is_lost_once),
        TEST(half_a_record_is_lost),
        TEST(the_first_tick_after_a_stop_will_do),
        TEST(an_interrupt_for_nothing_does_nothing),
        TEST(samples_due_too_early_are_a_loss),
        TEST(a_buffer_that_cannot_be_written_is_said_and_left),
        TEST(a_pointer_outside_the_buffer_is_not_followed),
        TEST(an_interrupt_after_sampling_has_ended_is_cleared),
        TEST(the_least_memory_is_a_page),
        TEST(all_cpus_sample_and_every_record_is_accounted_for),
        TEST(so_it_is_where_records_have_no_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
