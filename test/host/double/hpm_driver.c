/* See hpm_driver.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "test/host/double/hpm_driver.h"
#include "test/host/double/random.h"
#include "hpm/count.h"

void (*double_on_access)(void);

static const struct pmu_double *const pmu = &pmu_double;
static unsigned act_at; /* number of CPU 0's accesses at which something happens */

struct event event_named(const char *text)
{
    struct event e;
    char err[128];

    assert_int_equal(event_parse(&hpm_state.pmu.events, text, &e, err, sizeof err), 0);
    return e;
}

void assert_last_exact(unsigned cpu)
{
    const struct truth t = pmu->truth(cpu);
    const struct pmu_latch *last = &cpus[cpu].hpm->last;

    for (unsigned c = 0; c < hpm_state.pmu.counters; c++)
        assert_int_equal(last->count[c], t.at_read[c]);
    if (hpm_state.pmu.instructions)
        assert_int_equal(last->instructions, t.at_read[t.instructions]);
    assert_int_equal(last->cycles, t.at_read[t.cycles]);
}

void assert_exact(unsigned cpu)
{
    double_run_on(cpu);
    bool irq = arch_irq_save();
    hpm_tick();
    arch_irq_restore(irq);
    assert_last_exact(cpu);
}

struct hpm_breakdown executed(uint64_t instructions, uint64_t cycles)
{
    switch_to(0, 0);
    pmu->execute(instructions, cycles, true);
    switch_to(0, -1);
    assert_exact(0);
    return counted(0);
}

void check_room_for_counters(void)
{
    assert_int_equal(hpm_caps()->counters, HPM_COUNTERS_MAX);
    executed(1000, 3 * SLICE);
}

void check_left_out(unsigned cpu)
{
    struct hpm_breakdown b;

    assert_null(hpm_counted(&cpus[cpu]));
    switch_to(cpu, 0);
    pmu->execute(1000, 2000, true);
    tick(cpu);
    hpm_interrupt(NULL);
    switch_to(cpu, -1);
    b = executed(300, 5000);
    assert_in_range(b.instructions, 300, 330);
    hpm_read_machine(&b);
    assert_in_range(b.instructions, 300, 330);
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Returns an event that hpm counts, or one that it does not. */
static uint64_t any_event(uint64_t *seed)
{
    for (unsigned i = 0; i < 64; i++) {
        const struct event *e = &hpm_state.event[test_random(seed) % HPM_EVENTS];
        if (e->counters)
            return e->config;
    }
    return 0x1234;
}

static void random_work(const struct life *l, uint64_t *seed)
{
    bool user = test_random(seed) % 3;

    if (l->also)
        l->also(seed);
    if (test_random(seed) % 2)
        pmu->count(any_event(seed), test_random(seed) % l->events_max, user);
    else
        pmu->execute(test_random(seed) % l->instructions_max, test_random(seed) % 400000, user);
}

static void random_step(const struct life *l, uint64_t *seed)
{
    unsigned cpu = test_random(seed) % DOUBLE_CPUS;
    int next = (int)(test_random(seed) % (THREADS + 2)) - 2;

    double_run_on(cpu);
    host_irqs_on = test_random(seed) % 4; /* interrupts are off for a while now and then */
    double_late = test_random(seed) % 4 == 0;
    for (unsigned n = test_random(seed) % 4; n; n--)
        random_work(l, seed);
    host_irqs_on = true;
    double_deliver();
    if (test_random(seed) % 5 == 0)
        tick(cpu);
    if (next < 0 || !is_running(next))
        switch_to(cpu, next < 0 ? -1 : next);
    double_late = false;
    assert_exact(cpu);
    double_deliver();
}

struct hpm_breakdown live(const struct life *l)
{
    struct hpm_breakdown machine, sum;
    uint64_t seed = l->seed;

    for (unsigned step = 0; step < l->steps; step++)
        random_step(l, &seed);
    idle_everywhere();
    sum = counted_in_all();
    hpm_read_machine(&machine);
    assert_int_equal(sum.instructions, machine.instructions);
    assert_int_equal(sum.cycles, machine.cycles);
    return machine;
}

/* ---- Wrapping -------------------------------------------------------------------------------- */

static bool is_first(unsigned figure)
{
    for (unsigned i = 0; i < figure; i++)
        if (hpm_state.event[i].counters &&
            hpm_state.event[i].config == hpm_state.event[figure].config)
            return false;
    return true;
}

/* Lets each event that hpm counts happen n times. */
static void count_each(uint64_t n)
{
    for (unsigned i = 0; i < HPM_EVENTS; i++)
        if (hpm_state.event[i].counters && is_first(i))
            pmu->count(hpm_state.event[i].config, n, false);
}

static void burst(void)
{
    if (pmu->truth(0).accesses != act_at)
        return;
    count_each(200);
    pmu->count(pmu->instructions, 200, false);
    pmu->count(pmu->cycles, 200, false);
}

static void begin_again(void)
{
    pmu->again();
    kernel_start_hpm();
    threads_begin(3);
    switch_to(0, 0);
}

static void wrap_at_access(unsigned at, uint64_t first_wrap)
{
    begin_again();
    host_irqs_on = false;
    struct truth t = pmu->truth(0);
    count_each(first_wrap - 100);
    pmu->count(pmu->instructions, first_wrap - 100 - t.happened[t.instructions], false);
    pmu->count(pmu->cycles, first_wrap - 100 - t.happened[t.cycles], false);
    act_at = pmu->truth(0).accesses + at;
    double_on_access = burst;
    hpm_tick();
    double_on_access = NULL;
    assert_last_exact(0);
    count_each(1000);
    pmu->execute(1000, 1000, true);
    assert_exact(0);
    host_irqs_on = true;
    double_deliver();
    assert_exact(0);
    assert_true(cpus[0].hpm->last.instructions > first_wrap);
}

void check_wraps_during_a_reading(uint64_t first_wrap)
{
    begin_again();
    unsigned before = pmu->truth(0).accesses;
    tick(0);
    unsigned accesses = pmu->truth(0).accesses - before;
    assert_true(accesses > 0);
    for (unsigned at = 1; at <= accesses; at++)
        wrap_at_access(at, first_wrap);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

void check_turns_by_interrupt(void)
{
    const struct hpm_cpu *hpm = cpus[0].hpm;
    unsigned groups = hpm_state.plan->mux.rounds.groups, turns = 0;
    uint32_t seen = 0;

    switch_to(0, 0);
    uint64_t interrupts = hpm->interrupts, began = hpm->turn_began;
    for (unsigned i = 0; i < 40 * groups; i++) {
        seen |= 1u << mux_turns_group(&hpm->turns);
        pmu->execute(1000, SLICE / 20, true);
        turns += hpm->turn_began != began;
        began = hpm->turn_began;
    }
    assert_in_range(turns, 2 * groups - 1, 2 * groups);
    assert_int_equal(seen, (1u << groups) - 1);
    assert_in_range(hpm->interrupts - interrupts, 2 * groups - 1, 2 * groups);
    assert_exact(0);
}

void check_slices_by_instructions(void)
{
    pmu->again();
    with_argument("hpm.slices", 1);
    kernel_start_hpm();
    with_argument("hpm.slices", 0);
    threads_begin(3);
    assert_true(hpm_state.by_instructions);
    const struct hpm_cpu *hpm = cpus[0].hpm;
    switch_to(0, 0);
    uint64_t interrupts = hpm->interrupts, lost = pmu->truth(0).set_back, executed = 0;
    for (unsigned i = 0; i < 10; i++)
        pmu->execute(1, 5 * SLICE, true);
    assert_int_equal(hpm->interrupts, interrupts);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t before = hpm->turn_began;
        pmu->execute(SLICE / 20, 1000 + i, true);
        executed += SLICE / 20;
        if (i % 7 == 0)
            tick(0);
        if (hpm->turn_began != before)
            assert_true(hpm->turn_began - before >= SLICE);
    }
    assert_in_range(hpm->interrupts - interrupts, executed / SLICE - 2, executed / SLICE);
    assert_int_equal(pmu->truth(0).set_back, lost);
    switch_to(0, -1);
    assert_in_range(counted(0).instructions, executed + 10, executed + 10 + pmu->truth(0).accesses);
    assert_exact(0);
}

void check_cycles_lost_by_turns(void)
{
    switch_to(0, 0);
    uint64_t interrupts = cpus[0].hpm->interrupts, before = pmu->truth(0).set_back;
    for (unsigned i = 0; i < 100; i++)
        pmu->execute(1000, SLICE + 1000, true);
    uint64_t turns = cpus[0].hpm->interrupts - interrupts;
    assert_int_equal(turns, 100);
    assert_int_equal(pmu->truth(0).set_back - before, turns * pmu->access_cycles);
}

void end_turn_by_ticks(void)
{
    switch_to(0, 0);
    host_irqs_on = false;
    pmu->execute(1000, SLICE + 5, true);
    hpm_tick(); /* finds that the slice has been long enough */
    hpm_tick(); /* ends it */
}

/* ---- Modes, time ----------------------------------------------------------------------------- */

struct hpm_breakdown count_both_modes(unsigned times, uint64_t event)
{
    switch_to(0, 0);
    while (times--) {
        pmu->execute(1000000, 2000000, true);
        pmu->execute(30000, 50000, false);
        pmu->count(event, 700, true);
        pmu->count(event, 50, false);
    }
    switch_to(0, -1);
    assert_exact(0);
    return counted(0);
}

void check_remote_inputs(void)
{
    const struct event *served = &hpm_state.event[EVENT_SERVED(SOURCE_REMOTE_L3)];
    struct hpm_remote r;

    assert_int_equal(hpm_caps()->sampled & SOURCES_REMOTE_CACHE, SOURCES_REMOTE_CACHE);
    assert_true(served->counters);
    assert_int_equal(hpm_caps()->remote, HPM_UNKNOWN);
    hpm_cpus_started(); /* all CPUs are on one chip: the latency cannot be measured */
    assert_int_equal(hpm_caps()->remote, HPM_UNKNOWN);
    remote_estimate(300);
    assert_int_equal(hpm_caps()->remote, HPM_ESTIMATED);
    assert_int_equal(hpm_caps()->latency[SOURCE_REMOTE_L2], 300);
    switch_to(0, 0);
    for (unsigned i = 0; i < 100; i++) {
        pmu->count(served->config, 10, true);
        pmu->execute(10000, SLICE / 10, true);
    }
    switch_to(0, -1);
    hpm_read_remote(&threads[0], &r);
    assert_int_equal(r.served, 1000);
    assert_int_equal(r.stall, 300000);
    assert_in_range(r.cycles, 10 * SLICE, 10 * SLICE + SLICE / 10);
    switch_to(0, 1);
    pmu->count(served->config, 1000000, true); /* they overlap */
    switch_to(0, -1);
    hpm_read_remote(&threads[1], &r);
    assert_int_equal(r.stall, r.cycles);
    double_output[0] = 0;
    struct hpm_breakdown b = counted(0);
    hpm_breakdown_print("test", &b);
    assert_non_null(strstr(double_output,
                           "  remote L3              1000     300       0.300 M   not measured\n"));
    assert_null(strstr(double_output, "local L2"));
    assert_null(strstr(double_output, "all but L1"));
}

void check_idle_time(void)
{
    struct hpm_breakdown before, after;

    assert_in_range(hpm_state.pmu.cycles_per_tick, CYCLES_PER_TICK * PMU_RATE_ONE * 999 / 1000,
                    CYCLES_PER_TICK * PMU_RATE_ONE * 1001 / 1000);
    switch_to(0, 0);
    hpm_read_machine(&before);
    host_ticks += 100000; /* this CPU does nothing; the three others are idle */
    hpm_read_machine(&after);
    hpm_breakdown_sub(&after, &before);
    assert_in_range(after.idle_cycles, 3 * 299000, 3 * 301000);
}

static uint64_t stop_ticks;

/* Lets the clock go on while this CPU stands still. */
static void stop_once(void)
{
    if (pmu->truth(0).accesses == act_at)
        host_ticks += stop_ticks;
}

void check_stops_while_measured(void)
{
    static const uint64_t long_as[] = {NS_PER_S / 1000, NS_PER_S};

    for (unsigned i = 0; i < ARRAY_SIZE(long_as); i++) {
        for (act_at = 10; act_at < 600; act_at += 7) {
            pmu->again();
            stop_ticks = long_as[i];
            double_on_access = stop_once;
            kernel_start_hpm();
            double_on_access = NULL;
            assert_in_range(hpm_state.pmu.cycles_per_tick,
                            CYCLES_PER_TICK * PMU_RATE_ONE / 100 * 99,
                            CYCLES_PER_TICK * PMU_RATE_ONE / 100 * 101);
        }
    }
}
