/* See hpm_due.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "test/host/double/hpm_due.h"
#include "test/host/double/hpm_due_user.h"
#include "test/host/double/hpm_sessions.h"
#include "test/host/double/random.h"
#include "hpm/sampling.h"

enum { LONG_SLICE = 1000000000 }; /* no slice ends for a while */

struct due_counter due_counters[2];

const struct due_machine *due_machine;
static struct hpm_programme programme;
static struct pmu_ops listening;
static const struct pmu_ops *driver;
static unsigned heard, interrupts;

/* Handles an interrupt in the driver's place: hpm has armed nothing. */
static unsigned listen(void)
{
    unsigned why = driver->interrupted();

    heard |= why;
    interrupts++;
    return why & (PMU_COUNTER - 1);
}

static unsigned lowest(uint32_t counters)
{
    assert_true(counters);
    return (unsigned)__builtin_ctz(counters);
}

/* Chooses the first two different events of the breakdown, or one in two modes, on counters of
 * their own. */
static void choose(void)
{
    uint32_t all = (1u << hpm_state.pmu.counters) - 1, taken = 0;
    unsigned n = 0;

    programme = (struct hpm_programme){0};
    for (unsigned e = 0; e < HPM_EVENTS && n < 2; e++) {
        const struct event *event = &hpm_state.event[e];
        if (!(event->counters & all & ~taken) ||
            (n && event->config == due_counters[0].event.config))
            continue;
        due_counters[n] = (struct due_counter){*event, lowest(event->counters & all & ~taken)};
        programme.event[due_counters[n].counter] = &due_counters[n].event;
        taken |= 1u << due_counters[n++].counter;
    }
    assert_int_equal(n, 2);
}

static void count_them(const struct hpm_programme *next)
{
    struct pmu_latch ignored;
    bool irq = arch_irq_save();

    driver->latch(&ignored, next);
    arch_irq_restore(irq);
}

void due_start(unsigned kind)
{
    due_machine->make(kind);
    hpm_slice_cycles = LONG_SLICE;
    kernel_start_hpm();
    threads_begin(3);
    assert_true(hpm_state.pmu.arms);
    driver = hpm_state.ops;
    listening = *driver;
    listening.interrupted = listen;
    hpm_state.ops = &listening;
    switch_to(0, 0);
    choose();
    count_them(&programme);
    heard = interrupts = 0;
}

void due_happen(unsigned i, uint64_t n)
{
    pmu_double.execute(0, 0, true); /* earlier writes take effect */
    pmu_double.count(due_counters[i].event.config, n, true);
    double_deliver();
}

uint64_t due_count(unsigned i)
{
    struct pmu_latch now;
    bool irq = arch_irq_save();

    driver->latch(&now, NULL);
    arch_irq_restore(irq);
    return now.count[due_counters[i].counter];
}

static void arm_at(unsigned i, uint64_t due)
{
    bool irq = arch_irq_save();

    driver->arm(due_counters[i].counter, due);
    arch_irq_restore(irq);
}

void due_arm(unsigned i, uint64_t events)
{
    arm_at(i, due_count(i) + events);
}

unsigned due_heard(void)
{
    unsigned which = 0;

    for (unsigned i = 0; i < 2; i++) {
        unsigned bit = (unsigned)PMU_COUNTER << due_counters[i].counter;
        which |= heard & bit ? 1u << i : 0;
        heard &= ~bit;
    }
    assert_int_equal(heard & ~(unsigned)(PMU_COUNTER - 1), 0); /* of no other counter */
    return which;
}

/* ---- The checks ------------------------------------------------------------------------------ */

static void an_armed_counter_interrupts_when_its_count_is_due_and_not_before(unsigned kind)
{
    static const uint64_t distances[] = {2, 3, 100, 1000000, ((uint64_t)1 << 31) - 1};

    due_start(kind);
    for (unsigned i = 0; i < ARRAY_SIZE(distances); i++) {
        uint64_t before = due_count(0);
        due_arm(0, distances[i]);
        due_happen(0, distances[i] - 1);
        assert_int_equal(due_heard(), 0);
        due_happen(0, 1);
        assert_int_equal(due_heard(), 1);
        assert_int_equal(due_count(0), before + distances[i]);
    }
}

static void it_interrupts_once(unsigned kind)
{
    due_start(kind);
    due_arm(0, 1000);
    due_happen(0, 1000);
    assert_int_equal(due_heard(), 1);
    unsigned before = interrupts;
    for (unsigned i = 0; i < 100; i++)
        due_happen(0, 1000);
    assert_int_equal(due_heard(), 0);
    assert_int_equal(interrupts, before);
}

/* Whatever count it was armed for before. */
static void a_later_call_replaces_an_earlier_one(unsigned kind)
{
    due_start(kind);
    due_arm(0, 1000);
    due_happen(0, 400);
    due_arm(0, 5000);
    due_happen(0, 4999);
    assert_int_equal(due_heard(), 0);
    due_arm(0, 10);
    due_happen(0, 9);
    assert_int_equal(due_heard(), 0);
    due_happen(0, 1);
    assert_int_equal(due_heard(), 1);
    double_late = true;
    due_arm(0, 10);
    due_happen(0, 10);
    due_arm(0, 1000); /* before its interrupt was taken */
    double_late = false;
    double_deliver();
    assert_int_equal(due_heard(), 0);
    due_happen(0, 1000);
    assert_int_equal(due_heard(), 1);
}

static void a_count_that_is_past_interrupts_soon(unsigned kind)
{
    due_start(kind);
    due_happen(0, 1000);
    uint64_t count = due_count(0);
    for (unsigned back = 0; back < 3; back++) {
        arm_at(0, count - 100 * back);
        assert_int_equal(due_heard(), 0);
        due_happen(0, due_machine->least);
        assert_int_equal(due_heard(), 1);
        count += due_machine->least;
        assert_int_equal(due_count(0), count);
    }
}

/* However far the counter can be set from its overflow. */
static void a_long_way_is_gone_in_silent_parts(unsigned kind)
{
    static const uint64_t distances[] = {((uint64_t)1 << 31) + 1, 7 * ((uint64_t)1 << 32) + 5,
                                         3 * ((uint64_t)1 << 34)};
    const uint64_t piece = (uint64_t)1 << 28;

    due_start(kind);
    for (unsigned i = 0; i < ARRAY_SIZE(distances); i++) {
        uint64_t before = due_count(0), left = distances[i];
        due_arm(0, left);
        for (; left > piece; left -= piece)
            due_happen(0, piece);
        due_happen(0, left - 1);
        assert_int_equal(due_heard(), 0);
        due_happen(0, 1);
        assert_int_equal(due_heard(), 1);
        assert_int_equal(due_count(0), before + distances[i]);
    }
}

static void two_that_are_due_and_a_slice_that_is_over_are_one_interrupt(unsigned kind)
{
    due_start(kind);
    due_arm(0, 500);
    due_arm(1, 700);
    double_late = true;
    due_happen(0, 600);
    due_happen(1, 700);
    pmu_double.execute(10, LONG_SLICE, true);
    double_late = false;
    unsigned before = interrupts;
    double_deliver();
    assert_int_equal(heard & (PMU_COUNTER - 1), PMU_SLICE);
    assert_int_equal(due_heard(), 3);
    assert_int_equal(interrupts, before + 1);
}

static void each_of_two_interrupts_when_it_is_due(unsigned kind)
{
    due_start(kind);
    due_arm(0, 500);
    due_arm(1, 700);
    due_happen(1, 699);
    due_happen(0, 499);
    assert_int_equal(due_heard(), 0);
    due_happen(1, 1);
    assert_int_equal(due_heard(), 2);
    due_happen(0, 1);
    assert_int_equal(due_heard(), 1);
}

static void a_new_programme_disarms(unsigned kind)
{
    due_start(kind);
    due_arm(0, 1000);
    due_arm(1, 1000);
    count_them(&programme);
    due_happen(0, 5000);
    due_happen(1, 5000);
    assert_int_equal(due_heard(), 0);
    due_arm(0, 1000);
    due_happen(0, 1000);
    assert_int_equal(due_heard(), 1);
}

static void what_was_pending_when_it_was_disarmed_is_no_news(unsigned kind)
{
    due_start(kind);
    due_arm(0, 1000);
    double_late = true;
    due_happen(0, 1000);
    uint64_t before = due_count(0);
    count_them(&programme);
    double_late = false;
    double_deliver();
    assert_int_equal(due_heard(), 0);
    due_arm(0, 1000); /* its flag might still be set */
    due_happen(0, 999);
    hpm_interrupt(NULL);
    assert_int_equal(due_heard(), 0);
    due_happen(0, 1);
    assert_int_equal(due_heard(), 1);
    assert_int_equal(due_count(0), before + 1000);
}

static void a_counter_that_counts_something_else_does_not_interrupt_for_it(unsigned kind)
{
    struct hpm_programme other = {0};

    due_start(kind);
    due_arm(0, 1000);
    due_happen(0, 10);
    if (!(due_counters[1].event.counters >> due_counters[0].counter & 1))
        return;
    other.event[due_counters[0].counter] = &due_counters[1].event;
    count_them(&other);
    unsigned before = interrupts;
    due_happen(1, 100000);
    assert_int_equal(interrupts, before);
    assert_int_equal(due_heard(), 0);
}

static void an_interrupt_for_nothing_leaves_it_armed(unsigned kind)
{
    due_start(kind);
    due_arm(0, 1000);
    for (unsigned i = 0; i < 999; i++) {
        due_happen(0, 1);
        if (i % 100 == 0)
            hpm_interrupt(NULL);
    }
    assert_int_equal(due_heard(), 0);
    due_happen(0, 1);
    assert_int_equal(due_heard(), 1);
}

/* A tick or a switch reads the counters when one has reached its count and the interrupt has not
 * come. */
static void a_reading_takes_no_news_away(unsigned kind)
{
    due_start(kind);
    due_arm(0, 1000);
    double_late = true;
    due_happen(0, 1500);
    uint64_t count = due_count(0);
    tick(0);
    assert_int_equal(due_count(0), count);
    double_late = false;
    double_deliver();
    assert_int_equal(due_heard(), 1);
    assert_int_equal(due_count(0), count);
}

static uint64_t truth_of(unsigned i)
{
    return pmu_double.truth(0).at_read[due_counters[i].counter];
}

/* Its own events, in user mode only, and the driver's: the cost of arming are the events between
 * two accesses. */
static void counts_are_exact_whatever_is_armed(unsigned kind)
{
    uint64_t seed = 17 + kind, counted[2] = {0}, first[2];
    unsigned times = 0;

    due_start(kind);
    for (unsigned i = 0; i < 2; i++)
        first[i] = due_count(i);
    for (unsigned step = 0; step < 5000; step++) {
        unsigned i = test_random(&seed) % 2;
        uint64_t n = test_random(&seed) % 4 ? test_random(&seed) % 3000
                                            : test_random(&seed) % ((uint64_t)1 << 30);
        double_late = test_random(&seed) % 4 == 0;
        if (test_random(&seed) % 3 == 0)
            due_arm(i, test_random(&seed) % 5000);
        if (test_random(&seed) % 7 == 0)
            count_them(&programme);
        due_happen(i, n);
        counted[i] += n;
        if (test_random(&seed) % 5 == 0)
            tick(0);
        double_late = false;
        double_deliver();
        times += due_heard() != 0;
        for (i = 0; i < 2; i++) {
            assert_int_equal(due_count(i), first[i] + counted[i]);
            assert_int_equal(due_count(i), truth_of(i));
        }
    }
    assert_in_range(times, 500, 2500);
}

static unsigned burst_at;

/* Lets the counter overflow while the driver works on it. */
static void burst(void)
{
    if (pmu_double.truth(0).accesses == burst_at)
        pmu_double.count(due_counters[0].event.config, 50, true);
}

/* Arms the counter for `near` events, and lets it overflow at access `at`; heard_of: the interrupt
 * was taken. */
static void arm_in_a_burst(unsigned kind, unsigned near, unsigned at, bool heard_of)
{
    due_start(kind);
    due_arm(0, near);
    uint64_t due = truth_of(0) + 100;
    burst_at = pmu_double.truth(0).accesses + at;
    double_on_access = burst;
    arm_at(0, due);
    double_on_access = NULL;
    if (heard_of)
        double_deliver();
    else
        arm_at(0, due);
    due_happen(0, 0);
    assert_int_equal(due_heard(), 0);
    assert_int_equal(due_count(0), truth_of(0));
    due_happen(0, due - truth_of(0) - 1);
    assert_int_equal(due_heard(), 0);
    due_happen(0, 1);
    assert_int_equal(due_heard(), 1);
    assert_int_equal(due_count(0), due);
}

/* At each register access in turn: only events between reading and writing a counter are lost, and
 * the interrupt comes. */
static void events_may_happen_at_any_moment_of_arming(unsigned kind)
{
    for (unsigned at = 1; at <= due_machine->arm_accesses + 1; at++)
        for (unsigned near = 10; near <= 1000; near += 990) {
            arm_in_a_burst(kind, near, at, true);
            arm_in_a_burst(kind, near, at, false);
        }
}

static void arming_costs_a_reading_and_a_writing(unsigned kind)
{
    due_start(kind);
    uint64_t due = due_count(0) + 100000;
    unsigned before = pmu_double.truth(0).accesses;
    arm_at(0, due);
    assert_int_equal(pmu_double.truth(0).accesses - before, due_machine->arm_accesses);
}

static unsigned interrupt_accesses(void)
{
    unsigned before = pmu_double.truth(0).accesses;

    driver->interrupted();
    return pmu_double.truth(0).accesses - before;
}

static void what_is_not_armed_costs_nothing(unsigned kind)
{
    due_start(kind);
    unsigned idle = interrupt_accesses(), before = pmu_double.truth(0).accesses;
    due_count(0);
    unsigned reading = pmu_double.truth(0).accesses - before;
    due_arm(0, 1000000);
    assert_int_equal(interrupt_accesses(), idle + (due_machine->unflagged >> kind & 1));
    before = pmu_double.truth(0).accesses;
    due_count(0);
    assert_int_equal(pmu_double.truth(0).accesses - before, reading);
    count_them(&programme);
    assert_int_equal(interrupt_accesses(), idle);
}

/* ---- Use ------------------------------------------------------------------------------------- */

enum { MISSES = 50000, PERIOD = 1000 };

/* One after the other, as in a program; turns pass. */
static void miss(uint64_t event)
{
    for (unsigned i = 0; i < MISSES; i++) {
        pmu_double.count(event, 1, true);
        pmu_double.execute(10, 100, true);
        if (i % 5000 == 0)
            tick(0);
    }
}

static void events_are_sampled_once_a_period(unsigned kind)
{
    struct hpm_profiling what = {.criteria = "branch.miss@1000", .rate = 1000, .permille = 1000};
    static struct hpm_sample sample[2 * MISSES / PERIOD];
    struct hpm_profile *profile;
    uint64_t stand_for = 0;
    char why[160] = "";

    due_machine->make(kind);
    hpm_slice_cycles = SLICE;
    with_argument("hpm.breakdown", 0); /* else it takes turns */
    kernel_start_hpm();
    with_argument("hpm.breakdown", 1);
    threads_begin(3);
    if (hpm_profile_open(&what, &profile, why, sizeof why))
        fail_msg("%s", why);
    switch_to(0, 2);
    miss(event_named("branch.miss").config);
    size_t n = hpm_profile_take(profile, sample, ARRAY_SIZE(sample));
    assert_in_range(n, MISSES / PERIOD - 3, MISSES / PERIOD + 3);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sample[i].tid, 102);
        stand_for += sample[i].period;
    }
    assert_in_range(stand_for, MISSES - PERIOD - PERIOD / 10, MISSES);
    hpm_profile_close(profile);
}

/* ---- All of them ----------------------------------------------------------------------------- */

typedef void (*check)(unsigned kind);

static void on_all_kinds(void **state)
{
    const check *c = *state;

    for (unsigned kind = 0; kind < due_machine->kinds; kind++)
        (*c)(kind);
}

/* clang-format off */
#define CHECKS(do_) \
    do_(an_armed_counter_interrupts_when_its_count_is_due_and_not_before) \
    do_(it_interrupts_once) \
    do_(a_later_call_replaces_an_earlier_one) \
    do_(a_count_that_is_past_interrupts_soon) \
    do_(a_long_way_is_gone_in_silent_parts) \
    do_(two_that_are_due_and_a_slice_that_is_over_are_one_interrupt) \
    do_(each_of_two_interrupts_when_it_is_due) \
    do_(a_new_programme_disarms) \
    do_(what_was_pending_when_it_was_disarmed_is_no_news) \
    do_(a_counter_that_counts_something_else_does_not_interrupt_for_it) \
    do_(an_interrupt_for_nothing_leaves_it_armed) \
    do_(a_reading_takes_no_news_away) \
    do_(counts_are_exact_whatever_is_armed) \
    do_(events_may_happen_at_any_moment_of_arming) \
    do_(arming_costs_a_reading_and_a_writing) \
    do_(what_is_not_armed_costs_nothing) \
    do_(events_are_sampled_once_a_period) \
    do_(a_thread_reads_its_counts_in_user_mode) \
    do_(a_register_that_steps_back_counts_nothing_in_user_mode) \
    do_(what_takes_turns_is_scaled_in_user_mode)
/* clang-format on */
#define CHECK_OF(name) name,
#define TEST_OF(name)  {#name, on_all_kinds, NULL, threads_end, NULL},

int due_tests(const struct due_machine *m, const struct CMUnitTest *others, unsigned other_count)
{
    static const check checks[] = {CHECKS(CHECK_OF)};
    struct CMUnitTest tests[ARRAY_SIZE(checks) + 8] = {CHECKS(TEST_OF)};
    unsigned n = ARRAY_SIZE(checks);

    due_machine = m;
    for (unsigned i = 0; i < n; i++)
        tests[i].initial_state = (void *)(uintptr_t)&checks[i];
    assert_true(other_count <= 8);
    for (unsigned i = 0; i < other_count; i++)
        tests[n++] = others[i];
    return _cmocka_run_group_tests(__func__, tests, n, NULL, NULL);
}
