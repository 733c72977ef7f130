/* Reference cycles, slots of the pipeline and their use: Intel's fixed counters 2 and 3 and
 * PERF_METRICS, and sessions that ask for them, against a register-level double that knows the
 * truth. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/intel_kinds.h"
#include "hpm/count.h"

static struct hpm_session *session;
static char why[256];

static void start(const struct intel_kind *kind)
{
    intel_machine(kind);
    kernel_start_hpm();
    threads_begin(3);
}

static void open_session(const char *names)
{
    if (hpm_session_open(names, &session, why, sizeof why))
        fail_msg("%s", why);
    switch_to(0, 0);
}

/* Returns the value of name i, of the whole machine. */
static struct hpm_value value(unsigned i)
{
    struct hpm_sums sums = {0};
    struct hpm_value v;

    hpm_sum_machine(hpm_session_counts(session), &sums);
    hpm_session_value(session, i, &sums, &v);
    return v;
}

static int64_t share(unsigned i)
{
    struct hpm_value v = value(i);

    assert_int_equal(v.metric.trouble, METRIC_FINE);
    return v.metric.millionths;
}

static void run(const uint64_t kind[SLOT_KINDS], bool user)
{
    intel_slots(kind, user);
    intel_execute(1000, 2000, user);
}

#define SHARES "topdown.retiring,topdown.bad_speculation,topdown.frontend,topdown.backend"

/* Three quarters of the slots are the program's, with other shares than the kernel's. */
static const uint64_t of_user[SLOT_KINDS] = {3000, 1000, 500, 3500},
                      of_kernel[SLOT_KINDS] = {0, 0, 8000, 0};

static void the_shares_of_slots_are_what_became_of_them(void **state)
{
    const double percent[] = {37.5, 12.5, 6.25, 43.75};
    int64_t sum = 0;

    (void)state;
    start(&intel_icelake);
    open_session(SHARES);
    for (unsigned i = 0; i < 1000; i++) {
        run(of_user, true);
        if (i % 7 == 0)
            tick(0);
        if (i % 10 == 0)
            switch_to(0, (int)(i / 10 % 3));
    }
    for (unsigned i = 0; i < SLOT_KINDS; i++) {
        assert_in_range(share(i), (percent[i] - 0.2) * METRIC_ONE, (percent[i] + 0.2) * METRIC_ONE);
        sum += share(i);
    }
    assert_in_range(sum, 99 * METRIC_ONE, 101 * METRIC_ONE); /* each is rounded to 255ths */
    assert_exact(0);
}

/* Each thread has shares of its own, for the registers are read and cleared at each switch. */
static void a_thread_has_shares_of_its_own(void **state)
{
    struct hpm_sums of[2] = {0};
    struct hpm_value v;

    (void)state;
    start(&intel_icelake);
    open_session(SHARES);
    for (unsigned i = 0; i < 200; i++) {
        switch_to(0, (int)(i % 2));
        run(i % 2 ? of_kernel : of_user, true);
    }
    switch_to(0, -1);
    for (unsigned t = 0; t < 2; t++)
        hpm_sum_thread(&threads[t], hpm_session_counts(session), &of[t]);
    hpm_session_value(session, 0, &of[0], &v);
    assert_in_range(v.metric.millionths, 37.3 * METRIC_ONE, 37.7 * METRIC_ONE);
    hpm_session_value(session, 2, &of[1], &v);
    assert_int_equal(v.metric.millionths, 100 * METRIC_ONE);
}

static void shares_are_counted_in_the_modes_asked_for(void **state)
{
    (void)state;
    start(&intel_icelake);
    open_session("topdown.frontend:u,topdown.retiring:k");
    assert_true(hpm_state.plan->mux.rounds.groups > 1); /* never at the same time */
    for (unsigned i = 0; i < 5000; i++) {
        run(of_user, true);
        run(of_kernel, false);
    }
    assert_in_range(share(0), 6.05 * METRIC_ONE, 6.45 * METRIC_ONE);
    assert_int_equal(share(1), 0);
}

static void a_group_without_slots_leaves_them_alone(void **state)
{
    struct event slots;
    struct hpm_programme none = {0}, some = {.event = {[HPM_COUNTERS_MAX + 1] = &slots}};
    struct pmu_latch l;

    (void)state;
    start(&intel_icelake);
    slots = event_named("TOPDOWN:SLOTS");
    host_irqs_on = false;
    hpm_state.ops->latch(&l, &none);
    unsigned before = intel_double[0].accesses;
    hpm_state.ops->latch(&l, NULL);
    unsigned without = intel_double[0].accesses - before;
    uint64_t counted = l.count[HPM_COUNTERS_MAX + 1];
    intel_slots(of_user, true);
    hpm_state.ops->latch(&l, &some);
    assert_int_equal(l.count[HPM_COUNTERS_MAX + 1], counted);
    intel_slots(of_user, true);
    before = intel_double[0].accesses;
    hpm_state.ops->latch(&l, NULL);
    assert_int_equal(l.count[HPM_COUNTERS_MAX + 1], counted + 8000);
    assert_int_equal(intel_double[0].accesses - before,
                     without + 2); /* read and cleared, without the shares */
}

static void reading_and_clearing_the_shares_takes_four_accesses(void **state)
{
    (void)state;
    start(&intel_icelake);
    switch_to(0, 0);
    unsigned before = intel_double[0].accesses;
    switch_to(0, 1);
    unsigned without = intel_double[0].accesses - before;
    open_session(SHARES);
    intel_slots(of_user, true);
    before = intel_double[0].accesses;
    switch_to(0, 1);
    assert_int_equal(intel_double[0].accesses - before, without + 4);
    before = intel_double[0].accesses;
    switch_to(0, 0);
    /* There are no slots to be cleared. */
    assert_int_equal(intel_double[0].accesses - before, without + 1);
}

static void reference_cycles_have_a_counter_of_their_own(void **state)
{
    static const struct intel_kind *const kinds[] = {&intel_second, &intel_guest, &intel_skylake,
                                                     &intel_icelake};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        unsigned groups = hpm_state.plan->mux.rounds.groups;
        open_session("cycles.ref");
        assert_int_equal(hpm_state.plan->mux.rounds.groups, groups);
        uint64_t before = value(0).estimate.count;
        for (unsigned i = 0; i < 300; i++) {
            intel_count(CODE_REFERENCE, 12345, i % 2);
            intel_execute(100, SLICE / 50, true); /* the events take turns */
        }
        struct hpm_value v = value(0);
        assert_int_equal(v.estimate.count - before, 300 * 12345);
        assert_int_equal(v.estimate.sure, ESTIMATE_EXACT);
        assert_exact(0);
    }
}

/* Skylake has no PERF_METRICS, nor does a guest if it is hidden: the events of the formulas are
 * counted, in one group. */
static void without_perf_metrics_the_formulas_events_are_counted(void **state)
{
    struct intel_kind kinds[] = {intel_skylake, intel_icelake};
    static const uint64_t width[] = {4, 5};

    (void)state;
    kinds[1].capabilities &= ~METRICS;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(&kinds[k]);
        assert_null(strstr(double_output, "PERF_METRICS"));
        open_session("topdown.frontend,topdown.retiring");
        struct event starved = event_named("IDQ_UOPS_NOT_DELIVERED:CORE"), ops = event_named("ops");
        for (unsigned i = 0; i < 20000; i++) {
            intel_count(starved.config, width[k] * 100, true);
            intel_count(ops.config, width[k] * 500, true);
            intel_execute(1000, 1000, true);
        }
        assert_in_range(share(0), 9.5 * METRIC_ONE, 10.5 * METRIC_ONE);
        assert_in_range(share(1), 48 * METRIC_ONE, 52 * METRIC_ONE);
    }
}

static void what_cannot_be_counted_is_refused_by_name(void **state)
{
    struct intel_kind no_slots = intel_icelake;

    (void)state;
    start(&intel_guest);
    assert_int_equal(hpm_session_open("PERF_METRICS:RETIRING", &session, why, sizeof why), -ENOENT);
    no_slots.fixed_mask = 0x4;
    start(&no_slots);
    assert_int_equal(hpm_session_open("PERF_METRICS:RETIRING", &session, why, sizeof why),
                     -ENOTSUP);
    assert_string_equal(why, "'PERF_METRICS' is not counted by this CPU");
    start(&intel_first);
    assert_int_equal(hpm_session_open("cycles.ref", &session, why, sizeof why), -EINVAL);
    assert_string_equal(why, "cycles.ref: no counter of this CPU can count it");
    assert_int_equal(hpm_session_open("topdown.retiring", &session, why, sizeof why), -ENOTSUP);
    assert_non_null(strstr(why, "topdown.retiring is not available on intel-architectural: "));
}

static void nothing_is_lost_or_counted_twice_while_shares_are_counted(void **state)
{
    struct life l = {.steps = 1500, .seed = 23, .events_max = 100000, .instructions_max = 200000};

    (void)state;
    start(&intel_icelake);
    open_session(SHARES ",cycles.ref,TOPDOWN:SLOTS");
    switch_to(0, -1);
    live(&l);
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        assert_int_equal(intel_double[i].fixed_control & 0xff, 0xb3);
        assert_int_equal(intel_double[i].status & ~((uint64_t)1 << 61), 0);
    }
}

static int close_session(void **state)
{
    if (session)
        hpm_session_close(session);
    session = NULL;
    return threads_end(state);
}

#define TEST(name) cmocka_unit_test_teardown(name, close_session)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_shares_of_slots_are_what_became_of_them),
        TEST(a_thread_has_shares_of_its_own),
        TEST(shares_are_counted_in_the_modes_asked_for),
        TEST(a_group_without_slots_leaves_them_alone),
        TEST(reading_and_clearing_the_shares_takes_four_accesses),
        TEST(reference_cycles_have_a_counter_of_their_own),
        TEST(without_perf_metrics_the_formulas_events_are_counted),
        TEST(what_cannot_be_counted_is_refused_by_name),
        TEST(nothing_is_lost_or_counted_twice_while_shares_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
