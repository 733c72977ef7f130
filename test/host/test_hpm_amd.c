/* The driver of AMD's core counters and of IBS, and hpm on top of it, against a register-level double that knows the truth. */
#include "test/host/expect_panic.h"
#include "test/host/amd_double.h"

enum { THREADS = 6, SLICE = 1000000 };

#define IBS_ALL 0x3ff /* of Zen 2 and Zen 3 */

static const struct amd_kind zen2 = {.family = 0x17, .model = 0x31, .ibs = IBS_ALL};
static const struct amd_kind zen3 = {.family = 0x19, .model = 0x21, .ibs = IBS_ALL};
static const struct amd_kind milan = {.family = 0x19, .model = 0x01, .ibs = IBS_ALL};
static const struct amd_kind zen4 = {.family = 0x19, .model = 0x11, .v2 = 6, .ibs = IBS_ALL | IBS_L3_FILTER};
static const struct amd_kind bare = {.family = 0x19, .model = 0x21}; /* as hypervisors have it: without IBS */

static struct hpm_thread threads[THREADS];
static int running[DOUBLE_CPUS];

static void start_more(void)
{
    kernel_start_hpm();
    for (unsigned i = 0; i < THREADS; i++)
        hpm_thread_init(&threads[i], 100 + i, 10 + i / 3);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        running[c] = -1;
}

static void start(const struct amd_kind *kind)
{
    amd_machine(kind);
    start_more();
}

static void with_modes(uint64_t modes)
{
    for (const struct arg *a = hpm_args; a->name; a++)
        if (!strcmp(a->name, "hpm.modes"))
            *a->value = modes;
}

static void switch_to(unsigned cpu, int next)
{
    double_run_on(cpu);
    if (running[cpu] == next)
        return;
    host_irqs_on = false;
    hpm_switch(running[cpu] < 0 ? NULL : &threads[running[cpu]], next < 0 ? NULL : &threads[next]);
    host_irqs_on = true;
    running[cpu] = next;
    amd_deliver();
}

static void tick(unsigned cpu)
{
    double_run_on(cpu);
    host_irqs_on = false;
    hpm_tick();
    host_irqs_on = true;
    amd_deliver();
}

static int tear_down(void **state)
{
    (void)state;
    with_modes(0);
    amd_late = false;
    double_run_on(0);
    hpm_sampling_stop();
    double_shut_down();
    return 0;
}

static bool is_running(int thread)
{
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        if (running[c] == thread)
            return true;
    return false;
}

static unsigned instructions_counter(void)
{
    return hpm_state.pmu.counters;
}

static unsigned cycles_counter(void)
{
    return hpm_state.pmu.counters + 1;
}

/* At its last reading the driver knew every increment there had been, but for those between reading the cycle counter and
 * setting it back.  A counter that stands still need not be read. */
static void assert_last_exact(unsigned cpu)
{
    const struct amd_double *d = &amd_double[cpu];
    const struct pmu_latch *last = &cpus[cpu].hpm->last;

    for (unsigned c = 0; c < hpm_state.pmu.counters; c++)
        assert_int_equal(last->count[c], d->at_read[c]);
    assert_int_equal(last->instructions, d->at_read[instructions_counter()]);
    assert_int_equal(last->cycles, d->at_read[cycles_counter()]);
}

static void assert_exact(unsigned cpu)
{
    double_run_on(cpu);
    bool irq = arch_irq_save();
    hpm_tick();
    arch_irq_restore(irq);
    assert_last_exact(cpu);
}

static uint64_t config_of(unsigned figure)
{
    return hpm_state.event[figure].config;
}

/* ---- Finding out ---- */

static void another_processor_has_no_such_counters(void **state)
{
    struct amd_kind others[] = {zen3, zen3, zen3, zen3};

    (void)state;
    others[0].vendor = 0x756e6547;
    others[1].family = 0x15;
    others[2].no_extended = true;
    others[3].last = 0x80000000;
    for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
        start(&others[i]);
        assert_false(hpm_caps()->present);
        assert_in_range(amd_double[0].accesses, 2, 4); /* leaves only */
        assert_int_equal(amd_double[0].select[0] & SELECT_EN, SELECT_EN);
    }
}

static void what_was_found_is_one_line(void **state)
{
    (void)state;
    start(&zen2);
    assert_non_null(strstr(double_output, "hpm: amd: 48 bits, IBS, 4 counters and two for cycles and "
                                          "instructions, 2 groups of 1000000 cycles, records of accesses"));
    start(&zen4);
    assert_non_null(
        strstr(double_output, "hpm: amd: PerfMonV2, 48 bits, IBS with L3 filter, 4 counters and two"));
    assert_non_null(strstr(double_output, "3 groups of"));
    start(&bare);
    assert_non_null(strstr(double_output, "hpm: amd: 48 bits, 4 counters and two"));
    assert_non_null(strstr(double_output, "no records of accesses"));
    assert_int_equal(hpm_caps()->line_bytes, 64);
    struct amd_kind old = zen3;
    old.last = 0x80000008;
    start(&old);
    assert_non_null(strstr(double_output, "hpm: amd: 48 bits, 4 counters and two"));
}

static void a_processor_without_a_table_counts_cycles_and_instructions(void **state)
{
    struct amd_kind new = zen4;
    struct hpm_breakdown b;

    (void)state;
    new.family = 0x2a;
    start(&new);
    assert_true(hpm_caps()->present);
    assert_false(hpm_caps()->can_sample);
    assert_int_equal(hpm_caps()->missed | hpm_caps()->stall, 0);
    switch_to(0, 0);
    amd_execute(1000, 5000, true);
    hpm_read_thread(&threads[0], &b);
    assert_in_range(b.instructions, 1000, 1100);
    assert_in_range(b.cycles, 5000, 5000 + 50 * ACCESS_CYCLES);
    assert_exact(0);
}

static void no_more_counters_are_used_than_hpm_has_room_for(void **state)
{
    struct amd_kind many = zen4;

    (void)state;
    many.v2 = 15;
    start(&many);
    assert_int_equal(hpm_caps()->counters, HPM_COUNTERS_MAX);
    switch_to(0, 0);
    amd_execute(1000, 3 * SLICE, true);
    assert_exact(0);
    many.v2 = 2;
    start(&many);
    assert_int_equal(hpm_caps()->counters, 0);
    switch_to(0, 0);
    amd_execute(1000, 3 * SLICE, true);
    assert_exact(0);
    many.v2 = 1;
    start(&many);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, "hpm: amd: too few counters: not used\n"));
}

static void a_cycle_counter_that_stands_still_is_not_used(void **state)
{
    struct amd_kind stuck = zen3;

    (void)state;
    stuck.stuck = true;
    start(&stuck);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, "hpm: amd: the cycle counter stands still: not used\n"));
}

static void a_cpu_that_lacks_what_the_first_has_is_left_out(void **state)
{
    struct amd_kind plain = zen4;

    (void)state;
    plain.ibs = 0;
    amd_machine(&plain);
    amd_double[1].kind.v2 = 4;
    amd_double[2].kind.v2 = 0;
    amd_double[3].kind.ibs = zen4.ibs;
    start_more();
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(cpus[i].hpm);
    assert_non_null(strstr(double_output,
                           "hpm: the counters of CPU 2 lack what the first CPU's have: it is not counted\n"));
    switch_to(0, 0);
    amd_execute(300, 5000, true);
    assert_exact(0);
    amd_machine(&zen4);
    amd_double[2].kind.ibs = IBS_ALL;
    EXPECT_PANIC(kernel_start_hpm());
    host_irqs_on = true;
}

static void what_firmware_left_on_is_off(void **state)
{
    static const struct amd_kind *const kinds[] = {&zen2, &zen4};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        struct amd_kind many = *kinds[k];
        many.v2 = many.v2 ? 12 : 0;
        start(&many);
        for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
            const struct amd_double *d = &amd_double[i];
            assert_int_equal(d->fetch, 0);
            assert_int_equal(d->op, 0);
            assert_int_equal(d->status, 0);
            assert_int_equal(d->global, many.v2 ? 0x3ff : 0);
            for (unsigned c = cycles_counter() + 1; c < many.v2; c++)
                assert_int_equal(d->select[c], 0);
        }
    }
}

static struct event event_named(const char *text)
{
    struct event e;
    char err[128];

    assert_int_equal(event_parse(&hpm_state.pmu.events, text, &e, err, sizeof err), 0);
    return e;
}

/* ---- Counting ---- */

static void random_work(uint64_t *seed)
{
    bool user = test_random(seed) % 3;
    unsigned figure = test_random(seed) % HPM_EVENTS;

    if (test_random(seed) % 2 && hpm_state.event[figure].counters)
        amd_count(config_of(figure), test_random(seed) % (BIT_OF(40)), user);
    else
        amd_execute(test_random(seed) % BIT_OF(42), test_random(seed) % 400000, user);
}

/* Hundreds of millions of millions of events, so that counters wrap. */
static void live(const struct amd_kind *kind, uint64_t seed)
{
    struct hpm_breakdown sum = {0}, part, machine;

    start(kind);
    for (int step = 0; step < 4000; step++) {
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        int next = (int)(test_random(&seed) % (THREADS + 2)) - 2;
        double_run_on(cpu);
        host_irqs_on = test_random(&seed) % 4; /* now and then nobody listens for a while */
        amd_late = test_random(&seed) % 4 == 0;
        for (unsigned n = test_random(&seed) % 4; n; n--)
            random_work(&seed);
        host_irqs_on = true;
        amd_deliver();
        if (test_random(&seed) % 5 == 0)
            tick(cpu);
        if (next < 0 || !is_running(next))
            switch_to(cpu, next < 0 ? -1 : next);
        amd_late = false;
        assert_exact(cpu);
        amd_deliver();
    }
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        switch_to(c, -1);
    for (unsigned i = 0; i < THREADS; i++) {
        context_read(&threads[i].counts, &hpm_state.plan, &part);
        hpm_breakdown_add(&sum, &part);
    }
    hpm_read_machine(&machine);
    assert_int_equal(sum.instructions, machine.instructions);
    assert_int_equal(sum.cycles, machine.cycles);
    assert_true(machine.instructions > 8 * BIT_OF(AMD_WIDTH));
}

static void nothing_is_lost_or_counted_twice(void **state)
{
    (void)state;
    live(&zen2, 3);
    live(&bare, 9);
}

static void nothing_is_lost_or_counted_twice_with_one_switch_for_all(void **state)
{
    (void)state;
    live(&zen4, 5);
}

static unsigned burst_at;

static void burst(void)
{
    if (amd_double[0].accesses != burst_at)
        return;
    for (unsigned e = 0; e < HPM_EVENTS; e++)
        if (hpm_state.event[e].counters)
            amd_count(config_of(e), 200, false);
    amd_count(EVENT_RETIRED, 200, false);
}

/* Whichever register is being accessed when the counters wrap. */
static void wrap_during_a_reading(const struct amd_kind *kind)
{
    start(kind);
    switch_to(0, 0);
    unsigned accesses = amd_double[0].accesses;
    tick(0);
    accesses = amd_double[0].accesses - accesses;
    for (unsigned at = 1; at <= accesses; at++) {
        start(kind);
        switch_to(0, 0);
        host_irqs_on = false;
        for (unsigned e = 0; e < HPM_EVENTS; e++)
            if (hpm_state.event[e].counters)
                amd_count(config_of(e), AMD_FIRST_WRAP - 100, false);
        amd_count(EVENT_RETIRED, AMD_FIRST_WRAP - 100 - amd_double[0].happened[instructions_counter()],
                  false);
        burst_at = amd_double[0].accesses + at;
        amd_on_access = burst;
        hpm_tick();
        amd_on_access = NULL;
        assert_last_exact(0);
        amd_execute(1000, 1000, true);
        assert_exact(0);
        host_irqs_on = true;
        amd_deliver();
        assert_exact(0);
        assert_true(cpus[0].hpm->last.instructions > AMD_FIRST_WRAP);
    }
}

static void counters_may_wrap_at_any_moment_of_a_reading(void **state)
{
    (void)state;
    wrap_during_a_reading(&zen2);
    wrap_during_a_reading(&zen4);
}

static void nearly_all_of_a_counter_may_pass_between_two_readings(void **state)
{
    const uint64_t many = BIT_OF(AMD_WIDTH) - 1000;
    struct hpm_breakdown b;

    (void)state;
    start(&bare);
    switch_to(0, 0);
    for (unsigned i = 1; i <= 3; i++) {
        amd_execute(many, 1000, true);
        assert_exact(0);
        hpm_read_thread(&threads[0], &b);
        assert_in_range(b.instructions, i * many, i * many + 300);
    }
}

/* Floating-point operations are counted by counter 2, with 3 merged to it; then each counts something else. */
static void an_event_too_wide_for_a_counter_has_two(void **state)
{
    static const struct amd_kind *const kinds[] = {&zen2, &zen4};
    struct pmu_latch before, after;

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        struct event flops = event_named("RETIRED_SSE_AVX_FLOPS:ANY"), miss = event_named("branch.miss");
        const struct event *wide[HPM_COUNTERS_MAX] = {[0] = &miss, [2] = &flops};
        const struct event *narrow[HPM_COUNTERS_MAX] = {[2] = &miss, [3] = &miss};
        assert_true(flops.wide);
        hpm_state.ops->latch(&before, wide);
        for (unsigned i = 1; i <= 3; i++) {
            amd_count(flops.config, BIT_OF(AMD_WIDTH) - 1, true);
            amd_count(miss.config, 7, true);
            hpm_state.ops->latch(&after, i == 3 ? narrow : NULL);
            assert_int_equal(after.count[2] - before.count[2], i * (BIT_OF(AMD_WIDTH) - 1));
            assert_int_equal(after.count[0] - before.count[0], i * 7);
            assert_int_equal(after.count[3], before.count[3]);
        }
        before = after;
        amd_count(miss.config, 11, true);
        hpm_state.ops->latch(&after, wide);
        assert_int_equal(after.count[2] - before.count[2], 11);
        assert_int_equal(after.count[3] - before.count[3], 11);
        amd_count(flops.config, 1000, true);
        hpm_state.ops->latch(&after, NULL);
        assert_int_equal(after.count[2] - before.count[2], 1011);
    }
}

/* ---- Turns and interrupts ---- */

static void groups_take_turns_by_interrupt_without_any_tick(void **state)
{
    uint32_t seen = 0;

    (void)state;
    start(&zen4);
    assert_true(hpm_state.plan.groups > 1);
    switch_to(0, 0);
    uint64_t interrupts = cpus[0].hpm->interrupts;
    for (unsigned i = 0; i < 40 * hpm_state.plan.groups; i++) {
        seen |= 1u << mux_turns_group(&cpus[0].hpm->turns);
        amd_execute(1000, SLICE / 20, true);
    }
    assert_int_equal(seen, (1u << hpm_state.plan.groups) - 1);
    assert_in_range(cpus[0].hpm->interrupts - interrupts, 2 * hpm_state.plan.groups - 1,
                    2 * hpm_state.plan.groups);
    assert_exact(0);
}

/* Setting the cycle counter back costs as many cycles a turn as pass between two accesses. */
static void a_turn_loses_no_more_cycles_than_a_register_access_takes(void **state)
{
    (void)state;
    start(&zen2);
    switch_to(0, 0);
    uint64_t interrupts = cpus[0].hpm->interrupts, before = amd_double[0].set_back[cycles_counter()];
    for (unsigned i = 0; i < 100; i++)
        amd_execute(1000, SLICE + 1000, true);
    uint64_t turns = cpus[0].hpm->interrupts - interrupts;
    assert_int_equal(turns, 100);
    assert_int_equal(amd_double[0].set_back[cycles_counter()] - before, turns * ACCESS_CYCLES);
}

static void a_late_interrupt_is_no_news(void **state)
{
    static const struct amd_kind *const kinds[] = {&zen2, &zen4};

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        start(kinds[k]);
        switch_to(0, 0);
        host_irqs_on = false;
        amd_execute(1000, SLICE + 5, true);
        hpm_tick(); /* sees that it has lasted long enough */
        hpm_tick(); /* ends it                             */
        unsigned group = mux_turns_group(&cpus[0].hpm->turns);
        unsigned interrupts = amd_double[0].interrupts;
        host_irqs_on = true;
        amd_deliver();
        assert_int_equal(amd_double[0].interrupts, interrupts + 1);
        assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
        hpm_interrupt(NULL);
        assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
        assert_exact(0);
    }
}

static void flags_are_taken_down(void **state)
{
    struct amd_kind many = zen4;

    (void)state;
    many.v2 = 12;
    start(&many);
    switch_to(0, 0);
    amd_double[0].status =
        BIT_OF(11) | GLOBAL_FROZEN | BIT_OF(62); /* whoever has done that; the last means nothing */
    amd_execute(AMD_FIRST_WRAP, SLICE + 5, true);
    assert_int_equal(amd_double[0].status, BIT_OF(62));
    assert_exact(0);
}

static void a_switch_costs_a_handful_of_register_accesses(void **state)
{
    (void)state;
    start(&zen2);
    switch_to(0, 0);
    unsigned before = amd_double[0].accesses;
    switch_to(0, 1);
    assert_in_range(amd_double[0].accesses - before, 1, AMD_COUNTERS);
}

/* ---- Modes ---- */

static struct hpm_breakdown run_both_modes(uint64_t modes)
{
    struct hpm_breakdown b;

    with_modes(modes);
    start(&zen2);
    switch_to(0, 0);
    for (unsigned i = 0; i < 400; i++) {
        amd_execute(1000000, 2000000, true);
        amd_execute(30000, 50000, false);
        amd_count(config_of(EVENT_MISS(MISS_BRANCH)), 700, true);
        amd_count(config_of(EVENT_MISS(MISS_BRANCH)), 50, false);
    }
    switch_to(0, -1);
    assert_exact(0);
    context_read(&threads[0].counts, &hpm_state.plan, &b);
    return b;
}

static void a_mode_that_is_not_asked_for_is_not_counted(void **state)
{
    enum { BOTH, USER, KERNEL };

    (void)state;
    struct hpm_breakdown both = run_both_modes(BOTH);
    assert_in_range(both.instructions, 400 * 1030000, 400 * 1030100);
    assert_in_range(both.cycles, 400 * 2050000ull, 400 * 2052000ull);
    assert_in_range(both.missed[MISS_BRANCH], 400 * 700, 400 * 800);
    struct hpm_breakdown user = run_both_modes(USER);
    assert_int_equal(user.instructions, 400 * 1000000);
    assert_int_equal(user.cycles, 400 * 2000000ull);
    assert_in_range(user.missed[MISS_BRANCH], 400 * 650, 400 * 740);
    struct hpm_breakdown kernel = run_both_modes(KERNEL);
    assert_in_range(kernel.instructions, 400 * 30000, 400 * 30100);
    assert_in_range(kernel.cycles, 400 * 50000, 400 * 50500);
    assert_in_range(kernel.missed[MISS_BRANCH], 400 * 40, 400 * 60);
}

/* ---- Samples ---- */

#define USER_PC   0x401000
#define KERNEL_PC 0xffffffff80001000
#define EVERY     ((1u << SOURCE_COUNT) - 1)
#define LOADED    (DATA3_LOAD | DATA3_LINEAR_VALID | DATA3_PHYS_VALID | (uint64_t)123 << 32)
#define STORED    (DATA3_STORE | DATA3_LINEAR_VALID | DATA3_PHYS_VALID)
#define FAR_MISS  (DATA3_MISS | DATA3_L2_MISS)

static const struct amd_op at_l1 = {.data3 = LOADED, .rip = USER_PC, .linear = 0x7000123, .physical = 0x9123};
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
    assert_int_equal(hpm_sampling_start(&config), 0);
}

/* One operation is tagged and taken over; true if it becomes a sample. */
static bool sampled(const struct amd_op *op, struct hpm_sample *out)
{
    uint64_t recorded = amd_double[0].recorded;

    while (amd_double[0].recorded == recorded)
        amd_operate(1000, op);
    return hpm_sampling_take(out, 1);
}

static uint64_t lost(void)
{
    struct hpm_sample_account a;

    hpm_sampling_account(&a);
    return a.lost_hardware;
}

/* Beyond SOURCE_COUNT: none of those asked for, and not known. */
enum { PASSED = SOURCE_COUNT, LOST };

static const struct expected {
    const struct amd_kind *kind;
    uint64_t data2, data3;
    unsigned source;
} expected[] = {
    {&zen2, 0, LOADED, SOURCE_L1},
    {&zen2, 0, LOADED | DATA3_MISS, SOURCE_LOCAL_L2},
    {&zen2, 2, LOADED | FAR_MISS, SOURCE_LOCAL_L3},
    {&zen2, 2 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&zen2, 3, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&zen2, 3 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_MEMORY},
    {&zen2, 4, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&zen2, 7, LOADED | FAR_MISS, PASSED},
    {&zen2, 0, LOADED | FAR_MISS, LOST},
    {&zen2, 0, LOADED | FAR_MISS | DATA3_NO_MAB, PASSED},
    {&zen2, 3, LOADED | FAR_MISS | DATA3_NO_MAB, SOURCE_LOCAL_MEMORY},
    {&zen2, 0x40 | 2, LOADED | FAR_MISS, SOURCE_LOCAL_L3}, /* bits that mean nothing there */
    {&zen2, 0, STORED, SOURCE_L1},
    {&zen2, 0, STORED | DATA3_MISS, SOURCE_LOCAL_L2},
    {&zen2, 3, STORED | FAR_MISS, PASSED},
    {&zen2, 3, 0, PASSED},
    {&zen2, 3, LOADED | DATA3_UNCACHED, PASSED},
    {&zen2, 3, LOADED | FAR_MISS | DATA3_PREFETCH, SOURCE_LOCAL_MEMORY},
    {&milan, 3, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&milan, 3, LOADED | FAR_MISS | DATA3_PREFETCH, LOST},
    {&milan, 3, LOADED | DATA3_MISS | DATA3_NO_MAB, PASSED},
    {&milan, 3, LOADED | DATA3_PREFETCH, SOURCE_L1},
    {&zen3, 4 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&zen4, 0, LOADED | DATA3_MISS, SOURCE_LOCAL_L2},
    {&zen4, 1, LOADED | FAR_MISS, SOURCE_LOCAL_L3},
    {&zen4, 2, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&zen4, 3, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&zen4, 3 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_MEMORY},
    {&zen4, 4, LOADED | FAR_MISS, LOST},
    {&zen4, 5, LOADED | FAR_MISS, SOURCE_REMOTE_L3},
    {&zen4, 6, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},
    {&zen4, 7, LOADED | FAR_MISS, PASSED},
    {&zen4, 0x40 | 0, LOADED | FAR_MISS, SOURCE_LOCAL_MEMORY},                      /* 8 */
    {&zen4, 0x40 | 0 | DATA2_REMOTE_NODE, LOADED | FAR_MISS, SOURCE_REMOTE_MEMORY}, /* 8 */
    {&zen4, 0x40 | 4, LOADED | FAR_MISS, PASSED},                                   /* 12 */
    {&zen4, 0x80 | 3, LOADED | FAR_MISS, LOST},                                     /* 19 */
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
        hpm_sampling_stop();
    }
}

static void a_sample_says_what_the_record_said(void **state)
{
    struct hpm_sample s;
    struct amd_op op = at_memory;

    (void)state;
    start(&zen2);
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
    start(&zen4);
    sample_all(EVERY, 5000, 0, true, true);
    op.data3 &= ~DATA3_LINEAR_VALID;
    assert_false(sampled(&op, &s));
    assert_int_equal(lost(), 1);
    op = at_memory;
    op.data = DATA_RIP_INVALID;
    assert_false(sampled(&op, &s));
    assert_int_equal(lost(), 2);
    assert_int_equal(ibs_passed_over(0), 0);
    hpm_sampling_stop();
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
    start(&zen3);
    sample_all(1 << SOURCE_LOCAL_MEMORY, 5000, 0, true, false);
    assert_false(sampled(&in_kernel, &s));
    assert_false(sampled(&at_l1, &s));
    assert_true(sampled(&at_memory, &s));
    assert_int_equal(ibs_passed_over(0), 2);
    hpm_sampling_stop();
    sample_all(1 << SOURCE_LOCAL_MEMORY, 5000, 0, false, true);
    assert_true(sampled(&in_kernel, &s));
    assert_false(sampled(&at_memory, &s));
    struct hpm_sample_account a;
    hpm_sampling_account(&a);
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
    start(&zen4);
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
        while ((got = hpm_sampling_take(s, ARRAY_SIZE(s))))
            n += got;
    }
    return n;
}

static void intervals_are_as_long_as_asked_for(void **state)
{
    static const uint32_t periods[] = {4096, 4097, 5000, 4111, 65537, 1u << 20};

    (void)state;
    start(&zen2);
    for (unsigned i = 0; i < ARRAY_SIZE(periods); i++) {
        sample_all(1 << SOURCE_L1, periods[i], 0, true, false);
        uint64_t before = amd_double[0].recorded;
        amd_operate(100 * (uint64_t)periods[i] - 1, &at_l1);
        assert_int_equal(amd_double[0].recorded - before, 99);
        amd_operate(1, &at_l1);
        assert_int_equal(amd_double[0].recorded - before, 100);
        hpm_sampling_stop();
    }
}

static void jitter_leaves_the_rate_as_it_is(void **state)
{
    (void)state;
    start(&zen2);
    sample_all(1 << SOURCE_L1, 5000, 4999, true,
               false); /* no interval is shorter than the hardware can have */
    assert_in_range(samples_of(20000000, &at_l1), 3900, 4100);
}

/* With the filter the hardware starts over by itself, and as many operations are tagged as without it. */
static void the_filter_leaves_the_rate_as_it_is(void **state)
{
    struct amd_double *d = &amd_double[0];

    (void)state;
    start(&zen4);
    sample_all(SOURCES_REMOTE_CACHE | 1 << SOURCE_LOCAL_MEMORY, 1000, 300, true, false);
    assert_true(d->op & OP_L3_MISS_ONLY);
    assert_in_range(samples_of(4000000, &at_memory), 3940, 4060);
    assert_int_equal(d->left_out, 0);
    hpm_sampling_stop();
    sample_all(1 << SOURCE_LOCAL_MEMORY, 1000, 0, true, false);
    unsigned interrupts = d->interrupts;
    assert_int_equal(samples_of(4000000, &at_l1), 0);
    assert_in_range(d->left_out, 3940, 4060);
    assert_int_equal(d->interrupts, interrupts);
    hpm_sampling_stop();
    sample_all(1 << SOURCE_LOCAL_L3 | 1 << SOURCE_LOCAL_MEMORY, 1000, 0, true, false);
    assert_false(d->op & OP_L3_MISS_ONLY);
}

static void a_period_too_short_for_the_hardware_is_refused(void **state)
{
    struct hpm_sampling config = {.sources = SOURCES_REMOTE_CACHE, .period = 4095, .user = true};

    (void)state;
    start(&zen2);
    assert_int_equal(hpm_caps()->sample_period_min, 4096);
    assert_int_equal(hpm_sampling_start(&config), -EINVAL);
    assert_non_null(strstr(double_output, "hpm: sampling: period must be 4096 to 2^20\n"));
    start(&zen4);
    config.period = hpm_caps()->sample_period_min;
    config.jitter = config.period - 1;
    assert_int_equal(hpm_sampling_start(&config), 0);
    for (unsigned i = 0; i < 1000; i++)
        amd_operate(1000, &at_memory);
    assert_true(amd_double[0].recorded > 4000);
}

static void a_record_belongs_to_the_thread_that_leaves(void **state)
{
    struct hpm_sample s;

    (void)state;
    start(&zen2);
    switch_to(0, 1);
    sample_all(EVERY, 5000, 0, true, true);
    amd_late = true;
    amd_operate(5000, &at_l1);
    switch_to(0, 2);
    assert_int_equal(hpm_sampling_take(&s, 1), 1);
    assert_int_equal(s.tid, 101);
    amd_late = false;
    uint64_t taken = amd_double[0].recorded;
    amd_deliver(); /* of the record that is gone */
    assert_int_equal(hpm_sampling_take(&s, 1), 0);
    assert_int_equal(amd_double[0].recorded, taken);
    assert_true(sampled(&at_l1, &s));
    assert_int_equal(s.tid, 102);
    assert_exact(0);
}

static void what_is_recorded_after_the_end_is_forgotten(void **state)
{
    struct hpm_sample s;

    (void)state;
    start(&zen2);
    switch_to(0, 1);
    sample_all(EVERY, 5000, 0, true, true);
    amd_late = true;
    amd_operate(4999, &at_l1);
    hpm_sampling_stop();
    assert_int_equal(amd_double[0].op & OP_EN, 0);
    amd_double[0].op |= OP_VAL; /* it was tagged before */
    amd_double[0].record = at_l1;
    amd_double[0].pending = true;
    amd_late = false;
    amd_deliver();
    assert_int_equal(amd_double[0].op, 0);
    assert_int_equal(hpm_sampling_take(&s, 1), 0);
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
    start(&zen4);
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
    hpm_sampling_take(&s, 1);
    hpm_sampling_account(&a);
    assert_int_equal(a.taken + passed, recorded);
    assert_true(a.lost_hardware > 1000 && a.lost_buffer > 1000 && passed > 1000);
    assert_in_range(a.taken - a.delivered - a.lost_hardware - a.lost_buffer, 1, 4 * 2048);
}

static void sampling_without_an_interrupt_is_not_offered(void **state)
{
    struct amd_kind untold = zen4;

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
    struct amd_kind little = zen3;
    little.ibs &= ~IBS_COUNT_OPS;
    start(&little);
    assert_false(hpm_caps()->can_sample);
    struct amd_kind zen1 = zen2;
    zen1.model = 0x01;
    start(&zen1);
    assert_false(hpm_caps()->can_sample);
    struct amd_kind odd = zen2; /* a filter where there is none: its data sources are not known */
    odd.ibs |= IBS_L3_FILTER;
    start(&odd);
    assert_false(hpm_caps()->can_sample);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_processor_has_no_such_counters),
        TEST(what_was_found_is_one_line),
        TEST(a_processor_without_a_table_counts_cycles_and_instructions),
        TEST(no_more_counters_are_used_than_hpm_has_room_for),
        TEST(a_cycle_counter_that_stands_still_is_not_used),
        TEST(a_cpu_that_lacks_what_the_first_has_is_left_out),
        TEST(what_firmware_left_on_is_off),
        TEST(nothing_is_lost_or_counted_twice),
        TEST(nothing_is_lost_or_counted_twice_with_one_switch_for_all),
        TEST(counters_may_wrap_at_any_moment_of_a_reading),
        TEST(nearly_all_of_a_counter_may_pass_between_two_readings),
        TEST(an_event_too_wide_for_a_counter_has_two),
        TEST(groups_take_turns_by_interrupt_without_any_tick),
        TEST(a_turn_loses_no_more_cycles_than_a_register_access_takes),
        TEST(a_late_interrupt_is_no_news),
        TEST(flags_are_taken_down),
        TEST(a_switch_costs_a_handful_of_register_accesses),
        TEST(a_mode_that_is_not_asked_for_is_not_counted),
        TEST(each_kind_of_record_has_its_source),
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
