/* Samples by criteria: when they come, the threads they belong to, their periods, and that each
 * lost one is counted. */
#include "hpm/policy/period.h"
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_profiles.h"
#include "test/host/double/random.h"
#include "hpm/sampling.h"

static void a_sample_comes_after_a_prime_of_events_near_the_period(void **state)
{
    (void)state;
    open_profile("L1D_MISSES@1000", 0);
    switch_to(0, 2);
    misses(50000);
    size_t n = take_all();
    assert_in_range(n, 47, 53);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(taken[i].period, 900, 1100);
        assert_true(period_is_prime(taken[i].period));
        assert_int_equal(taken[i].tid, 102);
        assert_int_equal(taken[i].pid, 12);
        assert_int_equal(taken[i].pc, 0x1234);
        assert_int_equal(taken[i].cpu, 0);
        assert_true(taken[i].user);
        assert_int_equal(taken[i].source, SOURCE_COUNT);
    }
    assert_in_range(stood_for(n), 50000 - 1100, 50000);
}

/* With interrupts off no sample is taken; the switch finds those that were due, and they belong to
 * the thread that leaves. */
/* Each event is at the next of several sites, in turn. */
static void sites_of_a_short_loop_have_as_many_samples(void **state)
{
    unsigned of[8] = {0}, most = 0, least = 1000;
    uint64_t at = 0;

    (void)state;
    open_profile("L1D_MISSES@1000", 0);
    switch_to(0, 0);
    for (unsigned part = 0; part < 8; part++) {
        misses(100000);
        size_t n = take_all();
        for (size_t i = 0; i < n; i++) {
            at += taken[i].period;
            of[at % 8]++;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        most = MAX(most, of[i]);
        least = MIN(least, of[i]);
    }
    assert_in_range(least, 90, 100);
    assert_true(most * 10 <= least * 11);
}

static void a_sample_that_is_due_with_interrupts_off_is_the_leaving_threads(void **state)
{
    (void)state;
    open_profile("L1D_MISSES@100", 0);
    switch_to(0, 1);
    host_irqs_on = false;
    misses(1000);
    host_irqs_on = true;
    double_late = true; /* the interrupt is late again */
    switch_to(0, 3);
    double_late = false;
    tick(0); /* SLICE_CYCLES have not passed, the counters are still armed */
    double_deliver();
    misses(300);
    idle_everywhere();
    size_t n = take_all();
    assert_true(n > 1);
    assert_int_equal(taken[0].tid, 103);
    assert_in_range(stood_for(n), 1, 1300);
}

/* Far fewer events than a distance happen in a turn, and the counter counts another event in
 * between. */
static void what_is_left_of_a_distance_outlives_the_turns(void **state)
{
    struct hpm_profile_account a;
    struct hpm_sums sums = {0};

    (void)state;
    with_argument("hpm.breakdown", 1);
    double_boot();
    threads_begin(1);
    struct hpm_session *same = open_names("L1D_MISSES:u");
    open_profile("L1D_MISSES@1009", 0);
    assert_true(hpm_state.plan->mux.rounds.groups > 4);
    switch_to(0, 0);
    for (unsigned i = 0; i < 40000; i++) {
        double_count(MACHINE_EVENT_L1D_MISSES, 1);
        double_execute(10, SLICE_CYCLES / 20);
    }
    size_t n = take_all();
    hpm_sum_machine(hpm_state.plan->mux.events, &sums);
    uint64_t seen = 0;
    for (unsigned i = 0; i < GROUP_EVENTS_MAX; i++)
        for (unsigned g = 0; g < hpm_state.plan->mux.rounds.groups; g++)
            for (unsigned c = 0; c < HPM_COUNTERS_MAX; c++)
                if (hpm_state.plan->programme[g].arms >> c & 1 &&
                    hpm_state.plan->programme[g].event[c] == &hpm_state.plan->event[i])
                    seen = sums.count[i].counted;
    assert_in_range(seen, 2000, 39000);
    assert_in_range(stood_for(n), seen - 1100, seen);
    hpm_profile_account(profile, 0, &a);
    /* all that happened, sampled or not */
    assert_in_range(seen * 1000 / a.seen_permille, 36000, 44000);
    hpm_session_close(same);
}

static void a_full_ring_keeps_what_it_has_and_says_how_many_it_lost(void **state)
{
    struct hpm_profile_account a;

    (void)state;
    boot(16);
    open_profile("L1D_MISSES@1000", 0);
    switch_to(0, 0);
    misses(100000);
    assert_int_equal(take_all(), 16);
    hpm_profile_account(profile, 0, &a);
    assert_int_equal(a.delivered, 16);
    assert_in_range(a.lost, 80, 88);
    assert_int_equal(a.taken, a.delivered + a.lost);
    assert_in_range(a.stood_for, 100000 - 1100, 100000);
    misses(5000);
    assert_in_range(take_all(), 4, 6);
}

static void samples_of_one_process_are_of_that_process(void **state)
{
    (void)state;
    open_profile("L1D_MISSES@100", 12);
    for (int t = 0; t < 5; t++) {
        switch_to(0, t);
        misses(2000);
    }
    size_t n = take_all();
    assert_in_range(n, 18, 22);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taken[i].pid, 12);
}

static void two_criteria_have_samples_of_their_own(void **state)
{
    size_t of[2] = {0};

    (void)state;
    open_profile("L1D_MISSES@100,cycles@100k", 0);
    switch_to(0, 0);
    misses(10000); /* in a million cycles */
    size_t n = take_all();
    for (size_t i = 0; i < n; i++) {
        assert_in_range(taken[i].criterion, 0, 1);
        of[taken[i].criterion]++;
    }
    assert_in_range(of[0], 90, 110);
    assert_in_range(of[1], 8, 15); /* with those of hpm itself */
}

static void a_storm_is_held_back_and_said(void **state)
{
    struct hpm_profile_account a, later;

    (void)state;
    open_profile("L1D_MISSES@1", 0);
    switch_to(0, 0);
    double_output[0] = 0;
    for (unsigned i = 0; i < 1000; i++) {
        double_count(MACHINE_EVENT_L1D_MISSES, 1);
        double_execute(1, 1);
    }
    take_all();
    hpm_profile_account(profile, 0, &a);
    assert_int_equal(a.throttled, 1);
    assert_true(a.taken < 300);
    hpm_profile_window(profile);
    assert_non_null(strstr(double_output, "L1D_MISSES"));
    assert_non_null(strstr(double_output, "storm"));
    hpm_profile_account(profile, 0, &a);
    assert_true(a.period >= 4);
    assert_int_equal(a.stretched, HPM_STRETCHED_FOR_STORMS);
    double_execute(1, 2 * SLICE_CYCLES); /* the next turn */
    misses(100);
    take_all();
    hpm_profile_account(profile, 0, &later);
    assert_true(later.taken > a.taken);
}

/* Most events are held back. The sampled ones, scaled, stand for all. */
static void what_is_held_back_was_not_seen(void **state)
{
    struct hpm_profile_account a;
    uint64_t happened = 0;

    (void)state;
    open_profile("L1D_MISSES@1", 0);
    switch_to(0, 0);
    for (unsigned window = 0; window < 8; window++) {
        for (unsigned i = 0; i < 3000; i++, happened++) {
            double_count(MACHINE_EVENT_L1D_MISSES, 1);
            double_execute(1, i < 1000 ? 1 : SLICE_CYCLES / 1000);
        }
        take_all();
        hpm_profile_window(profile);
        double_execute(1, SLICE_CYCLES); /* its last turn has ended */
    }
    switch_to(0, -1);
    hpm_profile_account(profile, 0, &a);
    assert_true(a.throttled >= 1);
    assert_in_range(a.seen_permille, 1, 950);
    assert_in_range(a.estimate, happened * 99 / 100, happened * 101 / 100);
}

static void a_storm_has_the_name_of_the_criterion_that_brought_it(void **state)
{
    (void)state;
    open_profile("LOADS@100000,L1D_MISSES@1", 0);
    switch_to(0, 0);
    double_output[0] = 0;
    for (unsigned i = 0; i < 1000; i++) {
        double_count(MACHINE_EVENT_L1D_MISSES, 1);
        double_execute(1, 1);
    }
    hpm_profile_window(profile);
    assert_non_null(strstr(double_output, "hpm: event=storm criterion=L1D_MISSES: "));
    assert_null(strstr(double_output, "LOADS"));
}

/* A thousand samples a second are wanted; a million misses come in a tenth of one. */
static void an_adaptive_period_is_right_after_one_window(void **state)
{
    struct hpm_profile_account a;

    (void)state;
    open_profile("L1D_MISSES", 0);
    switch_to(0, 0);
    hpm_profile_window(profile);
    hpm_profile_account(profile, 0, &a);
    uint64_t began = arch_clock_ns();
    misses(1000000);
    hpm_profile_window(profile);
    uint64_t wanted = 1000000 / ((arch_clock_ns() - began) / NS_PER_MS);
    take_all();
    hpm_profile_account(profile, 0, &a);
    assert_in_range(a.period, wanted * 9 / 10, wanted * 11 / 10);
}

static void a_period_that_shrinks_does_not_wait_for_the_old_distance(void **state)
{
    (void)state;
    open_profile("L1D_MISSES", 0);
    switch_to(0, 0);
    misses(20000); /* a fiftieth of the first distance, in 2 ms */
    host_ticks += 200 * NS_PER_MS;
    hpm_profile_window(profile);
    double_execute(1, 2 * SLICE_CYCLES);
    misses(5000);
    size_t n = take_all();
    assert_true(n > 5);
    assert_in_range(taken[0].period, 20000, 25000); /* it stands for the events before as well */
}

static void time_is_sampled_while_a_cpu_is_busy(void **state)
{
    (void)state;
    open_profile("time@1ms", 0);
    assert_true(hpm_timer_ns() == UINT64_MAX); /* idle */
    double_idle(50 * NS_PER_MS);
    switch_to(0, 1);
    uint64_t end = arch_clock_ns() + 20 * NS_PER_MS;
    assert_in_range(hpm_timer_ns(), arch_clock_ns() + NS_PER_MS / 2,
                    arch_clock_ns() + 2 * NS_PER_MS);
    while (arch_clock_ns() < end) {
        double_execute(100, 10000);
        hpm_timer(NULL);
    }
    switch_to(0, -1);
    size_t n = take_all();
    assert_in_range(n, 18, 22);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taken[i].tid, 101);
    double_idle(50 * NS_PER_MS);
    hpm_timer(NULL);
    assert_int_equal(take_all(), 0);
}

static void time_in_which_no_interrupt_comes_is_the_next_samples(void **state)
{
    (void)state;
    open_profile("time@1ms", 0);
    switch_to(0, 1);
    host_ticks += 10 * NS_PER_MS;
    hpm_timer(NULL);
    assert_int_equal(take_all(), 1);
    assert_in_range(taken[0].period, 10 * NS_PER_MS - 100, 10 * NS_PER_MS + 100 * NS_PER_US);
    assert_in_range(hpm_timer_ns(), arch_clock_ns() + NS_PER_MS / 2,
                    arch_clock_ns() + 2 * NS_PER_MS);
    host_ticks = hpm_timer_ns() + 10;
    hpm_timer(NULL);
    assert_int_equal(take_all(), 1);
    assert_in_range(taken[0].period, NS_PER_MS / 2, 2 * NS_PER_MS);
}

static void time_and_entries_are_sampled_without_counters(void **state)
{
    struct hpm_profile_account a, later;

    (void)state;
    double_machine_present = false;
    double_boot();
    threads_begin(1);
    open_profile("time@1ms,entries:u@10", 0);
    hpm_profile_account(profile, 0, &a);
    switch_to(0, 1);
    for (unsigned i = 0; i < 200; i++) {
        host_ticks += NS_PER_MS / 10;
        hpm_timer(NULL);
        hpm_entered(NULL);
    }
    switch_to(0, -1);
    host_ticks += 50 * NS_PER_MS;
    size_t n = take_all();
    hpm_profile_account(profile, 0, &later);
    assert_in_range(later.passed - a.passed, 70 * NS_PER_MS * DOUBLE_CPUS,
                    71 * NS_PER_MS * DOUBLE_CPUS);
    assert_in_range(later.idle - a.idle, later.passed - a.passed - 21 * NS_PER_MS,
                    later.passed - a.passed - 20 * NS_PER_MS);
    assert_in_range(later.taken, 18, 22);
    hpm_profile_account(profile, 1, &later);
    assert_in_range(later.taken, 18, 28); /* the primes around 10 are 7 and 11 */
    assert_in_range(later.stood_for, 190, 200);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(taken[i].tid, 101);
}

/* The first sample does not stand for the time since boot. */
static void time_is_sampled_of_a_cpu_that_was_busy_before(void **state)
{
    (void)state;
    switch_to(0, 1);
    host_ticks += NS_PER_S;
    open_profile("time@1ms", 0);
    assert_true(hpm_timer_ns() <= arch_clock_ns()); /* begins as soon as possible */
    hpm_timer(NULL);
    assert_int_equal(take_all(), 0);
    assert_in_range(hpm_timer_ns(), arch_clock_ns() + NS_PER_MS / 2,
                    arch_clock_ns() + 2 * NS_PER_MS);
    host_ticks = hpm_timer_ns() + 10;
    hpm_timer(NULL);
    assert_int_equal(take_all(), 1);
    assert_in_range(taken[0].period, NS_PER_MS / 2, 2 * NS_PER_MS);
}

static void an_account_says_what_was_asked_for(void **state)
{
    struct hpm_profile_account a;

    (void)state;
    open_profile("L1D_MISSES@1000,cycles,time@1ms", 0);
    hpm_profile_account(profile, 0, &a);
    assert_int_equal(a.asked, 1000);
    hpm_profile_account(profile, 1, &a);
    assert_int_equal(a.asked, 0);
    hpm_profile_account(profile, 2, &a);
    assert_int_equal(a.asked, NS_PER_MS);
    assert_int_equal(a.seen_permille, 1000);
}

static void every_so_many_entries_are_sampled(void **state)
{
    (void)state;
    open_profile("entries@10:u", 0);
    switch_to(0, 1);
    for (unsigned i = 0; i < 1000; i++)
        hpm_entered(NULL);
    assert_in_range(take_all(), 90, 130);
    host_user = false; /* a mode that was not asked for */
    for (unsigned i = 0; i < 1000; i++)
        hpm_entered(NULL);
    assert_int_equal(take_all(), 0);
}

static void accesses_are_recorded_by_the_hardware_with_random_periods(void **state)
{
    (void)state;
    open_profile("access.remote@10", 0);
    switch_to(0, 1);
    for (unsigned i = 0; i < 1000; i++)
        double_access(MACHINE_REMOTE_L2, i, true);
    switch_to(0, -1);
    size_t n = take_all();
    assert_in_range(n, 1000 / 13 - 2, 1000 / 7 + 2); /* one prime until the window ends */
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(taken[i].source, SOURCE_REMOTE_L2);
        assert_in_range(taken[i].period, 7, 13);
        assert_int_equal(taken[i].tid, 101);
    }
}

/* A distance lasts for three windows. */
static void rare_accesses_are_recorded_across_windows(void **state)
{
    (void)state;
    open_profile("access.remote@1000", 0);
    switch_to(0, 1);
    for (unsigned window = 0; window < 100; window++) {
        for (unsigned i = 0; i < 300; i++)
            double_access(MACHINE_REMOTE_L2, i, true);
        hpm_profile_window(profile);
        tick(0);
    }
    switch_to(0, -1);
    assert_in_range(take_all(), 27, 33);
}

static void records_get_another_prime_after_a_while(void **state)
{
    uint32_t last = 0;
    unsigned changes = 0, carrying = 0; /* the first after a change stands for what it cut, too */

    (void)state;
    open_profile("access.remote@1000", 0);
    switch_to(0, 1);
    for (unsigned window = 0; window < 40; window++) {
        for (unsigned i = 0; i < 50000; i++)
            double_access(MACHINE_REMOTE_L2, i, true);
        hpm_profile_window(profile);
        tick(0);
        for (size_t n = take_all(); n; n--) {
            if (!period_is_prime(taken[n - 1].period)) {
                carrying++;
                continue;
            }
            changes += taken[n - 1].period != last;
            last = taken[n - 1].period;
        }
    }
    assert_true(carrying <= changes);
    assert_in_range(changes, 3, 1 + 40 * 50 / 32);
}

/* While interrupts are off no record is taken, and the hardware's memory is full. */
static void lost_records_count_as_what_they_stood_for(void **state)
{
    struct hpm_profile_account a;

    (void)state;
    open_profile("access.remote", 0);
    switch_to(0, 1);
    host_irqs_on = false;
    for (unsigned i = 0; i < 2000000; i++)
        double_access(MACHINE_REMOTE_L2, i, true);
    host_irqs_on = true;
    switch_to(0, -1);
    take_all();
    hpm_profile_window(profile);
    hpm_profile_account(profile, 0, &a);
    assert_true(a.lost > 500);
    assert_in_range(a.stood_for, 1900000, 2100000);
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* The interrupted program counter tells the thread that ran. */
static void samples_belong_to_the_thread_that_ran_whatever_happens(void **state)
{
    uint64_t seed = 11, made = 0, stood = 0;
    unsigned frames = double_frames(), samples = 0;

    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        open_profile(round % 2 ? "L1D_MISSES@50" : "L1D_MISSES@50,STORES@30,cycles@20k", 0);
        for (unsigned step = 0; step < 400; step++) {
            unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
            int next = (int)(test_random(&seed) % (THREADS + 1)) - 1;
            host_pc = next < 0 ? 0 : threads[next].tid;
            if (next < 0 || !is_running(next))
                switch_to(cpu, next);
            double_run_on(cpu);
            if (running[cpu] < 0)
                continue;
            host_pc = threads[running[cpu]].tid;
            double_late = test_random(&seed) % 4 == 0;
            unsigned n = test_random(&seed) % 200;
            misses(n);
            made += n;
            double_late = false;
            if (test_random(&seed) % 8 == 0)
                hpm_profile_window(profile);
            if (test_random(&seed) % 8)
                continue;
            size_t got = take_all();
            for (size_t i = 0; i < got; i++) {
                if (taken[i].user)
                    assert_int_equal(taken[i].pc, taken[i].tid);
                if (taken[i].criterion == 0)
                    stood += taken[i].period;
                samples++;
            }
        }
        idle_everywhere();
        hpm_profile_close(profile);
        profile = NULL;
        assert_int_equal(double_frames(), frames);
    }
    assert_true(samples > 1000);
    assert_true(stood <= made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sample_comes_after_a_prime_of_events_near_the_period),
        TEST(a_sample_that_is_due_with_interrupts_off_is_the_leaving_threads),
        TEST(sites_of_a_short_loop_have_as_many_samples),
        TEST(what_is_left_of_a_distance_outlives_the_turns),
        TEST(a_full_ring_keeps_what_it_has_and_says_how_many_it_lost),
        TEST(samples_of_one_process_are_of_that_process),
        TEST(two_criteria_have_samples_of_their_own),
        TEST(a_storm_is_held_back_and_said),
        TEST(what_is_held_back_was_not_seen),
        TEST(a_storm_has_the_name_of_the_criterion_that_brought_it),
        TEST(an_adaptive_period_is_right_after_one_window),
        TEST(a_period_that_shrinks_does_not_wait_for_the_old_distance),
        TEST(time_is_sampled_while_a_cpu_is_busy),
        TEST(time_and_entries_are_sampled_without_counters),
        TEST(time_in_which_no_interrupt_comes_is_the_next_samples),
        TEST(time_is_sampled_of_a_cpu_that_was_busy_before),
        TEST(an_account_says_what_was_asked_for),
        TEST(every_so_many_entries_are_sampled),
        TEST(accesses_are_recorded_by_the_hardware_with_random_periods),
        TEST(rare_accesses_are_recorded_across_windows),
        TEST(records_get_another_prime_after_a_while),
        TEST(lost_records_count_as_what_they_stood_for),
        TEST(samples_belong_to_the_thread_that_ran_whatever_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
