/* Counting across context switches, against a register-level double of the simulated machine that
 * knows the truth. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/hpm_double.h"
#include "test/host/double/hpm_threads.h"
#include "hpm/count.h"
#include "hpm/sampling.h"

enum { SLICE = 1000000 };

static int set_up(void **state)
{
    (void)state;
    double_machine_present = true;
    double_boot();
    threads_begin(3);
    return 0;
}

static void random_work(uint64_t *seed)
{
    switch (test_random(seed) % 4) {
    case 0:
        double_execute(test_random(seed) % 5000, test_random(seed) % 20000);
        break;
    case 1:
        for (unsigned n = test_random(seed) % 50; n; n--)
            double_access(MACHINE_LOCAL_L2 + test_random(seed) % 6, test_random(seed), true);
        break;
    case 2:
        double_count(MACHINE_EVENT_STALL_TLB, test_random(seed) % 100);
        break;
    default:
        double_count(MACHINE_EVENT_STORES, test_random(seed) % 100);
        break;
    }
}

static void cycles_and_instructions_of_threads_add_up_to_the_machine(void **state)
{
    uint64_t seed = 5, instructions = 0;
    static uint64_t idle_instructions[DOUBLE_CPUS];
    struct hpm_breakdown sum, machine;

    (void)state;
    memset(idle_instructions, 0, sizeof idle_instructions);
    for (int step = 0; step < 20000; step++) {
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        int next = (int)(test_random(&seed) % (THREADS + 2)) - 2;
        double_run_on(cpu);
        uint64_t before = double_cpus[cpu].truth[MACHINE_EVENT_INSTRUCTIONS];
        if (running[cpu] < 0)
            double_idle(test_random(&seed) % 3000);
        random_work(&seed);
        if (running[cpu] < 0)
            idle_instructions[cpu] += double_cpus[cpu].truth[MACHINE_EVENT_INSTRUCTIONS] - before;
        if (test_random(&seed) % 5 == 0)
            tick(cpu);
        if (next < 0 || !is_running(next))
            switch_to(cpu, next < 0 ? -1 : next);
    }
    idle_everywhere();
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        instructions += double_cpus[c].at_read[MACHINE_EVENT_INSTRUCTIONS] - idle_instructions[c];
    sum = counted_in_all();
    assert_int_equal(sum.instructions, instructions);
    hpm_read_machine(&machine);
    assert_int_equal(machine.cycles, sum.cycles);
    assert_int_equal(machine.instructions, sum.instructions);
    for (unsigned i = 0; i < SOURCE_COUNT; i++)
        assert_true(machine.dcache[i] < machine.cycles);
}

/* A tick of the clock is a cycle here, and only this CPU does anything. */
static void running_and_idle_time_of_a_cpu_add_up_to_its_clock(void **state)
{
    const struct double_cpu *cpu = &double_cpus[0];
    uint64_t seed = 5, idle_cycles = 0;

    (void)state;
    switch_to(0, 0); /* the boot of the other CPUs took time of its clock */
    uint64_t began = cpu->time_at_read, idle_before = cpus[0].hpm->idle_ticks;
    for (int step = 0; step < 5000; step++) {
        if (running[0] < 0) {
            uint64_t cycles = test_random(&seed) % 3000;
            double_idle(cycles);
            idle_cycles += cycles;
        } else {
            random_work(&seed);
        }
        if (test_random(&seed) % 5 == 0)
            tick(0);
        switch_to(0, (int)(test_random(&seed) % 6) - 3);
    }
    switch_to(0, 0);
    switch_to(0, -1);
    /* Except the part of each reading that comes after it. */
    uint64_t idle = cpus[0].hpm->idle_ticks - idle_before;
    assert_in_range(counted_in_all().cycles + idle, cpu->time_at_read - began - 100,
                    cpu->time_at_read - began + 100);
    assert_true(idle >= idle_cycles);
}

/* Sums up what the counters themselves have counted since, on all CPUs. */
static void raw(uint64_t *cycles, uint64_t *instructions)
{
    *cycles = *instructions = 0;
    for (unsigned c = 0; c < DOUBLE_CPUS; c++) {
        *cycles += cpus[c].hpm->last.cycles;
        *instructions += cpus[c].hpm->last.instructions;
    }
}

/* A step of a CPU's life: its thread works or none does, interrupts come, nested ones too, and
 * another thread is switched to. */
static void live_a_step(uint64_t *seed)
{
    unsigned cpu = test_random(seed) % DOUBLE_CPUS;
    int next = (int)(test_random(seed) % (THREADS + 2)) - 2;

    double_run_on(cpu);
    if (running[cpu] < 0)
        double_idle(test_random(seed) % 3000);
    random_work(seed);
    if (test_random(seed) % 3 == 0) {
        host_irqs_on = false;
        unsigned outer = hpm_interrupt_begin();
        random_work(seed);
        if (test_random(seed) % 3 == 0) {
            unsigned inner = hpm_interrupt_begin();
            random_work(seed);
            hpm_interrupt_end(inner);
        }
        hpm_interrupt_end(outer);
        host_irqs_on = true;
        double_deliver();
    }
    if (test_random(seed) % 5 == 0)
        tick(cpu);
    if (next < 0 || !is_running(next))
        switch_to(cpu, next < 0 ? -1 : next);
}

static void sum_threads(uint64_t counts, struct hpm_sums *sums)
{
    for (unsigned t = 0; t < THREADS; t++)
        hpm_sum_thread(&threads[t], counts, sums);
}

static void threads_idle_interrupts_and_monitoring_are_the_machine(void **state)
{
    uint64_t seed = 11, cycles, instructions, cycles_before, instructions_before;
    static struct hpm_sums before[HPM_ACCOUNTS], after[HPM_ACCOUNTS], of_threads, machine, whole;

    (void)state;
    with_argument("hpm.accounts", 1);
    double_boot();
    threads_begin(3);
    assert_true(hpm_caps()->apart);
    uint64_t counted = hpm_state.plan->mux.events, number = hpm_state.figures.instructions;
    uint64_t remote = hpm_state.figures.event[EVENT_DCACHE(SOURCE_REMOTE_L2)];
    memset(before, 0, sizeof before), memset(after, 0, sizeof after);
    memset(&of_threads, 0, sizeof of_threads), memset(&machine, 0, sizeof machine);
    memset(&whole, 0, sizeof whole);
    hpm_sum_accounts(counted, before);
    raw(&cycles_before, &instructions_before);
    uint64_t remote_before = 0, remote_after = 0;
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        remote_before += double_cpus[c].at_read[MACHINE_EVENT_DCACHE_REMOTE_L2];
    for (int step = 0; step < 20000; step++)
        live_a_step(&seed);
    idle_everywhere();
    hpm_sum_accounts(counted, after);
    raw(&cycles, &instructions);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        remote_after += double_cpus[c].at_read[MACHINE_EVENT_DCACHE_REMOTE_L2];
    sum_threads(counted, &of_threads);
    hpm_sum_machine(counted, &machine);
    uint64_t all_cycles = 0;
    for (unsigned a = 0; a < HPM_ACCOUNTS; a++) {
        assert_true(after[a].cycles > before[a].cycles);
        assert_true(hpm_sums_count(&after[a], number).count >
                        hpm_sums_count(&before[a], number).count ||
                    a == HPM_MONITORING);
        hpm_sums_sub(&after[a], &before[a]);
        all_cycles += after[a].cycles;
        hpm_sums_add(&whole, &after[a]);
    }
    assert_int_equal(of_threads.cycles, after[HPM_THREADS].cycles);
    assert_int_equal(hpm_sums_count(&of_threads, number).count,
                     after[HPM_THREADS].count[number].count);
    assert_int_equal(hpm_sums_count(&of_threads, remote).count,
                     after[HPM_THREADS].count[remote].count);
    assert_int_equal(all_cycles, cycles - cycles_before);
    assert_int_equal(hpm_sums_count(&whole, number).count, instructions - instructions_before);
    assert_int_equal(hpm_sums_count(&whole, remote).count, remote_after - remote_before);
    assert_true(after[HPM_INTERRUPTS].count[number].count > 0);
    with_argument("hpm.accounts", 0);
}

/* The interrupted thread is as if there had been no interrupt. */
static void an_interrupt_is_not_its_threads(void **state)
{
    (void)state;
    with_argument("hpm.accounts", 1);
    double_boot();
    threads_begin(3);
    switch_to(0, 2);
    double_execute(1000, 5000);
    host_irqs_on = false;
    unsigned begin = hpm_interrupt_begin();
    assert_int_equal(machine_cpu(0)->tag, UINT32_MAX);
    double_execute(700, 900);
    hpm_interrupt_end(begin);
    host_irqs_on = true;
    assert_int_equal(machine_cpu(0)->tag, 102);
    double_execute(30, 100);
    switch_to(0, -1);
    assert_int_equal(counted(2).instructions, 1030);
    with_argument("hpm.accounts", 0);
}

static void remote_cache_stalls_are_exact_per_thread(void **state)
{
    uint64_t seed = 9, truth[THREADS] = {0};
    struct hpm_breakdown b;

    (void)state;
    for (int step = 0; step < 20000; step++) {
        int t = (int)(test_random(&seed) % THREADS);
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        if (is_running(t))
            continue;
        switch_to(cpu, t);
        unsigned n = test_random(&seed) % 30;
        for (unsigned i = 0; i < n; i++)
            double_access(MACHINE_REMOTE_L2, i, true);
        truth[t] += n * 120;
        double_execute(1000, test_random(&seed) % 10000);
        switch_to(cpu, -1);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        context_read(&threads[i].counts, &hpm_state.plan->mux, &hpm_state.figures, &b);
        assert_int_equal(b.dcache[SOURCE_REMOTE_L2], truth[i]);
    }
}

static void assert_near(uint64_t got, uint64_t truth, unsigned permille)
{
    uint64_t slack = truth * permille / 1000 + 1;

    assert_in_range(got, truth > slack ? truth - slack : 0, truth + slack);
}

/* 400 slices of a program with steady rates: every shared counter within 3 %. */
static void a_steady_program_is_estimated_within_three_percent(void **state)
{
    struct hpm_breakdown b;
    uint64_t seed = 3;

    (void)state;
    switch_to(0, 0);
    struct double_cpu start = double_cpus[0];
    while (double_cpus[0].time < 400ull * SLICE) {
        double_execute(500, 300 + test_random(&seed) % 100);
        double_stall(MACHINE_EVENT_STALL_TLB, 11);
        double_stall(MACHINE_EVENT_STALL_BRANCH, 29);
        for (unsigned s = MACHINE_LOCAL_L2; s <= MACHINE_REMOTE_MEMORY; s++)
            double_access(s, 0, true);
    }
    switch_to(0, -1);
    context_read(&threads[0].counts, &hpm_state.plan->mux, &hpm_state.figures, &b);
    const uint64_t *now = double_cpus[0].at_read, *then = start.at_read;
    assert_int_equal(b.cycles, now[MACHINE_EVENT_CYCLES] - then[MACHINE_EVENT_CYCLES]);
    for (unsigned i = 0; i < STALL_CAUSES; i++)
        assert_near(b.stall[i],
                    now[MACHINE_EVENT_STALL_ICACHE + i] - then[MACHINE_EVENT_STALL_ICACHE + i], 30);
    for (unsigned s = 1; s < SOURCE_COUNT; s++) {
        unsigned served = MACHINE_EVENT_SERVED_LOCAL_L2 + s - 1,
                 stall = MACHINE_EVENT_DCACHE_LOCAL_L2 + s - 1;
        assert_near(b.served[s], now[served] - then[served], 30);
        assert_near(b.dcache[s], now[stall] - then[stall], 30);
    }
    assert_in_range(b.seen_permille, 500 / hpm_state.plan->mux.rounds.groups,
                    1500 / hpm_state.plan->mux.rounds.groups);
}

static void a_switch_costs_a_handful_of_register_accesses(void **state)
{
    (void)state;
    switch_to(0, 0);
    unsigned before = double_cpus[0].accesses;
    switch_to(0, 1);
    assert_in_range(double_cpus[0].accesses - before, 1, 4);
}

static void groups_take_turns_by_interrupt_without_any_tick(void **state)
{
    uint32_t seen = 0;

    (void)state;
    switch_to(0, 0);
    for (unsigned i = 0; i < 40 * hpm_state.plan->mux.rounds.groups; i++) {
        seen |= 1u << mux_turns_group(&cpus[0].hpm->turns);
        assert_null(mux_turns_check(&cpus[0].hpm->turns, &hpm_state.plan->mux.rounds));
        double_execute(1000, SLICE / 20);
    }
    assert_int_equal(seen, (1u << hpm_state.plan->mux.rounds.groups) - 1);
}

/* An event per number of instructions is right after slices of instructions, however fast they are
 * executed. */
static void slices_can_be_of_instructions(void **state)
{
    struct hpm_breakdown b;
    uint64_t loads = 0, instructions = 0, before;

    (void)state;
    with_argument("hpm.slices", 1);
    double_boot();
    threads_begin(3);
    with_argument("hpm.slices", 0);
    assert_non_null(strstr(double_output, "unit=instructions modes=both records=yes"));
    switch_to(0, 0);
    before = cpus[0].hpm->interrupts;
    for (unsigned phase = 0; phase < 400; phase++)
        for (unsigned i = 0; i < 100; i++) {
            double_count(MACHINE_EVENT_LOADS, 2500);
            double_execute(10000, phase % 2 ? 200000 : 5000);
            loads += 2500;
            instructions += 10000;
        }
    uint64_t turns = cpus[0].hpm->interrupts - before;
    switch_to(0, -1);
    b = counted(0);
    assert_int_equal(b.instructions, instructions);
    assert_in_range(b.cycles, 200 * 100 * 205000ull, 200 * 100 * 205000ull * 101ull / 100);
    assert_in_range(turns, instructions / SLICE * 9 / 10, instructions / SLICE);
    assert_near(b.served[SOURCE_L1], loads, 10);
    assert_true(b.seen_permille > 50 && b.seen_permille < 300);
}

static void the_present_stretch_is_included_when_a_thread_reads_itself(void **state)
{
    struct hpm_breakdown b;

    (void)state;
    switch_to(2, 3);
    double_execute(4321, 10000);
    hpm_read_thread(&threads[3], &b);
    assert_int_equal(b.instructions, 4321);
    assert_true(b.cycles >= 10000);
}

static void idle_time_goes_on_while_a_cpu_sleeps(void **state)
{
    struct hpm_breakdown before, after;

    (void)state;
    switch_to(0, 0);
    hpm_read_machine(&before);
    host_ticks += 100000; /* this CPU does nothing; the three others are idle */
    hpm_read_machine(&after);
    hpm_breakdown_sub(&after, &before);
    assert_in_range(after.idle_cycles, 300000, 310000);
}

static void the_tag_follows_the_running_thread(void **state)
{
    (void)state;
    switch_to(1, 4);
    assert_int_equal(machine_cpu(1)->tag, 104);
    switch_to(1, -1);
    assert_int_equal(machine_cpu(1)->tag, 0);
}

static void a_mark_reaches_the_machine_as_one_word(void **state)
{
    (void)state;
    hpm_mark("steady state");
    assert_string_equal((const char *)machine_id()->mark_label, "steady_state");
    char longer[100];
    memset(longer, 'x', sizeof longer - 1);
    longer[99] = 0;
    hpm_mark(longer);
    assert_int_equal(strlen((const char *)machine_id()->mark_label),
                     sizeof machine_id()->mark_label - 1);
}

static void switching_from_a_thread_that_did_not_run_is_a_broken_invariant(void **state)
{
    (void)state;
    double_run_on(0);
    EXPECT_PANIC(hpm_switch(&threads[0], &threads[1]));
}

static void the_table_shows_estimate_measurement_and_error(void **state)
{
    struct hpm_breakdown b = {.cycles = 1000000,
                              .instructions = 500000,
                              .idle_cycles = 1000000,
                              .stall = {[STALL_DCACHE] = 260000, [STALL_TLB] = 40000},
                              .dcache = {[SOURCE_REMOTE_L2] = 200000},
                              .served = {[SOURCE_REMOTE_L2] = 2000},
                              .seen_permille = 125};

    (void)state;
    double_output[0] = 0;
    hpm_breakdown_print("test", &b);
    assert_non_null(strstr(double_output, "idle 50.0 %"));
    assert_non_null(strstr(double_output, "at least 12.5 %"));
    const char *line = strstr(double_output, "remote L2");
    assert_non_null(line);
    assert_non_null(strstr(line, "0.240 M"));
    assert_non_null(strstr(line, "+20.0 %"));
    line = strstr(double_output, "completion");
    assert_non_null(line);
    assert_non_null(strstr(line, "70.0 %"));
    assert_non_null(strstr(line, "1.400"));
}

static void without_counters_everything_answers_with_nothing(void **state)
{
    struct hpm_breakdown b = {.cycles = 1};
    struct hpm_sample sample;
    struct hpm_sample_account account;

    (void)state;
    double_machine_present = false;
    double_boot();
    assert_false(hpm_caps()->present);
    assert_string_equal(double_output, "hpm: event=none reason=no-device: no stall breakdown, "
                                       "samples by time and entries only, all "
                                       "else works\n");
    hpm_switch(NULL, &threads[0]);
    hpm_tick();
    hpm_interrupt(NULL);
    hpm_mark("x");
    hpm_read_machine(&b);
    assert_int_equal(b.cycles, 0);
    hpm_read_thread(&threads[0], &b);
    assert_int_equal(b.cycles, 0);
    assert_int_equal(one_start(&(struct hpm_sampling){.sources = 8, .period = 1, .user = true}),
                     -ENODEV);
    one_stop();
    assert_int_equal(one_take(&sample, 1), 0);
    one_account(&account);
    assert_int_equal(account.taken, 0);
    assert_int_equal(hpm_own_cycles(), 0);
    hpm_breakdown_print("nothing", &b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, threads_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cycles_and_instructions_of_threads_add_up_to_the_machine),
        TEST(running_and_idle_time_of_a_cpu_add_up_to_its_clock),
        TEST(threads_idle_interrupts_and_monitoring_are_the_machine),
        TEST(an_interrupt_is_not_its_threads),
        TEST(remote_cache_stalls_are_exact_per_thread),
        TEST(a_steady_program_is_estimated_within_three_percent),
        TEST(a_switch_costs_a_handful_of_register_accesses),
        TEST(groups_take_turns_by_interrupt_without_any_tick),
        TEST(slices_can_be_of_instructions),
        TEST(the_present_stretch_is_included_when_a_thread_reads_itself),
        TEST(idle_time_goes_on_while_a_cpu_sleeps),
        TEST(the_tag_follows_the_running_thread),
        TEST(a_mark_reaches_the_machine_as_one_word),
        TEST(switching_from_a_thread_that_did_not_run_is_a_broken_invariant),
        TEST(the_table_shows_estimate_measurement_and_error),
        TEST(without_counters_everything_answers_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
