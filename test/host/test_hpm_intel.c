/* The driver of Intel's counters and hpm on top of it, against a register-level double that knows the truth. */
#include "test/host/expect_panic.h"
#include "test/host/intel_double.h"

enum { THREADS = 6, SLICE = 1000000 };

#define FULL_WRITE  ((uint64_t)1 << 13)
#define BASELINE    ((uint64_t)1 << 14)
#define FORMAT(n)   ((uint64_t)(n) << 8)
#define FIRST_WRAP  ((uint64_t)1 << 25)
#define ARCH_EVENTS 7

/* In the manner of a Core Duo; of a Core 2; of KVM's; of Skylake and Ice Lake servers. */
static const struct intel_kind first = {
    .version = 1, .counters = 4, .width = 40, .enumerated = ARCH_EVENTS, .model = 0x0e};
static const struct intel_kind second = {.version = 2,
                                         .counters = 4,
                                         .width = 40,
                                         .fixed = 3,
                                         .fixed_width = 40,
                                         .enumerated = ARCH_EVENTS,
                                         .model = 0x17};
static const struct intel_kind guest = {.version = 2,
                                        .counters = 4,
                                        .width = 48,
                                        .fixed = 3,
                                        .fixed_width = 48,
                                        .enumerated = ARCH_EVENTS,
                                        .model = MODEL_SKYLAKE_SP,
                                        .capabilities = 0x40,
                                        .hypervisor = true};
static const struct intel_kind skylake = {.version = 4,
                                          .counters = 4,
                                          .width = 48,
                                          .fixed = 3,
                                          .fixed_width = 48,
                                          .enumerated = ARCH_EVENTS,
                                          .model = MODEL_SKYLAKE_SP,
                                          .capabilities = FULL_WRITE | FORMAT(3),
                                          .rtm = true};
static const struct intel_kind icelake = {.version = 5,
                                          .counters = 8,
                                          .width = 48,
                                          .fixed = 2,
                                          .fixed_mask = 0xc,
                                          .fixed_width = 48,
                                          .enumerated = 8,
                                          .model = MODEL_ICELAKE_SP,
                                          .capabilities = FULL_WRITE | BASELINE | FORMAT(4),
                                          .no_any_thread = true};
static const struct intel_kind *const all_kinds[] = {&first, &second, &guest, &skylake, &icelake};

static struct hpm_thread threads[THREADS];
static int running[DOUBLE_CPUS];

static void make_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        hpm_thread_init(&threads[i], 100 + i, 10 + i / 3);
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        running[c] = -1;
}

static void start(const struct intel_kind *kind)
{
    intel_machine(kind);
    kernel_start_hpm();
    make_threads();
}

static void with_modes(uint64_t modes)
{
    for (const struct arg *a = hpm_args; a->name; a++)
        if (!strcmp(a->name, "hpm.modes"))
            *a->value = modes;
}

static int tear_down(void **state)
{
    (void)state;
    with_modes(0);
    double_shut_down();
    return 0;
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
    intel_deliver();
}

static void tick(unsigned cpu)
{
    double_run_on(cpu);
    host_irqs_on = false;
    hpm_tick();
    host_irqs_on = true;
    intel_deliver();
}

static bool is_running(int thread)
{
    for (unsigned c = 0; c < DOUBLE_CPUS; c++)
        if (running[c] == thread)
            return true;
    return false;
}

/* Where the driver counts cycles and instructions: on the last counters of those that have no fixed ones. */
static unsigned cycles_at(const struct intel_kind *k)
{
    return k->fixed ? INTEL_FIXED_AT(1) : k->counters - 1;
}

static unsigned instructions_at(const struct intel_kind *k)
{
    return k->fixed ? INTEL_FIXED_AT(0) : k->counters - 2;
}

/* At its last reading the driver knew every increment there had been, but for those between reading the cycle counter and
 * setting it back. */
static void assert_last_exact(unsigned cpu)
{
    const struct intel_double *d = &intel_double[cpu];
    const struct pmu_latch *last = &cpus[cpu].hpm->last;

    for (unsigned c = 0; c < hpm_state.pmu.counters; c++)
        assert_int_equal(last->count[c], d->at_read[c]);
    if (hpm_state.pmu.instructions)
        assert_int_equal(last->instructions, d->at_read[instructions_at(&d->kind)]);
    assert_int_equal(last->cycles, d->at_read[cycles_at(&d->kind)]);
}

static void assert_exact(unsigned cpu)
{
    double_run_on(cpu);
    bool irq = arch_irq_save();
    hpm_tick();
    arch_irq_restore(irq);
    assert_last_exact(cpu);
}

/* ---- Finding out ---- */

static void a_cpu_without_such_counters_has_none(void **state)
{
    struct intel_kind none[4] = {skylake, skylake, skylake, skylake};

    (void)state;
    none[0].not_intel = true;
    none[1].version = 0;
    none[2].counters = 0;
    none[3].width = 0;
    for (unsigned i = 0; i < ARRAY_SIZE(none); i++) {
        start(&none[i]);
        assert_false(hpm_caps()->present);
        assert_in_range(intel_double[0].accesses, 1, 4); /* CPUID alone */
    }
}

static void what_was_found_is_one_line(void **state)
{
    (void)state;
    start(&first);
    assert_non_null(strstr(double_output, "hpm: intel: version 1, 40 bits, 2 counters and two for cycles and "
                                          "instructions, "));
    start(&second);
    assert_non_null(strstr(double_output, "hpm: intel: version 2, 40 bits, 4 counters and two for cycles"));
    assert_non_null(strstr(double_output, "no records of accesses\n"));
    start(&skylake);
    assert_non_null(strstr(double_output,
                           "hpm: intel: version 4, 48 bits, 3 counters and two for cycles and "
                           "instructions, 4 groups of 1000000 cycles, records of accesses by source\n"
                           "hpm: intel: does not count stalls by cause, accesses by source\n"));
    start(&icelake);
    assert_non_null(strstr(double_output, "hpm: intel: version 5, 48 bits, 8 counters and two for cycles"));
}

/* One counter is kept for records, and no event may have it. */
static void the_counter_of_records_counts_nothing_else(void **state)
{
    static const struct intel_kind *const kinds[] = {&skylake, &icelake};

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        start(kinds[i]);
        unsigned known = 0;
        for (unsigned e = 0; e < HPM_EVENTS; e++) {
            assert_false(hpm_state.event[e].counters >> 3 & 1);
            known += hpm_state.event[e].counters != 0;
        }
        assert_true(known >= 8);
        for (unsigned g = 0; g < hpm_state.plan.groups; g++)
            if (hpm_state.plan.counters > 3)
                assert_null(hpm_state.programme[g][3]);
    }
}

/* Without counters: it is not counted here. */
static struct event parsed(const char *text)
{
    struct event e = {0};
    char err[128];
    int r = event_parse(&hpm_state.pmu.events, text, &e, err, sizeof err);

    if (r && r != -ENOTSUP)
        fail_msg("%s", err);
    return e;
}

static void an_event_the_cpu_does_not_have_is_not_counted(void **state)
{
    struct intel_kind k = skylake;

    (void)state;
    k.missing = 1u << 4 | 1u << 6;
    start(&k);
    assert_int_equal(parsed("r412e").counters, 0);
    assert_int_equal(parsed("r00c5").counters, 0);
    assert_int_equal(parsed("r4f2e").counters & 15, 7);
    assert_int_equal(hpm_caps()->missed >> MISS_LAST_LEVEL & 1, 0);
    assert_int_equal(hpm_caps()->missed >> MISS_BRANCH & 1, 0);
    /* Off-core response and front end have registers of their own, load latency counts with records only. */
    assert_int_equal(parsed("OFFCORE_RESPONSE_0:DMND_RFO:L3_HIT:SNP_HITM").counters, 7);
    assert_int_equal(parsed("FRONTEND_RETIRED:DSB_MISS").counters, 7);
    start(&icelake);
    assert_int_equal(parsed("MEM_TRANS_RETIRED:LOAD_LATENCY").counters, 0);
    k = guest;
    start(&k);
    assert_int_equal(parsed("OFFCORE_RESPONSE_0:DMND_RFO:L3_HIT:SNP_HITM").counters, 0);
    assert_int_equal(parsed("r412e").counters, 15);
}

static bool is_counted(uint64_t config)
{
    return event_counts(&hpm_state.pmu.events, config);
}

static void a_selector_has_no_bits_that_the_version_lacks(void **state)
{
    const uint64_t any = 0x2000c0, transaction = 0x1000000c0, pin = 0x800c0, interrupt = 0x1000c0;

    (void)state;
    start(&skylake);
    assert_true(is_counted(any));
    assert_true(is_counted(transaction));
    assert_true(is_counted(0x184415e)); /* edge, a threshold */
    assert_false(is_counted(pin));
    assert_false(is_counted(interrupt));
    start(&icelake); /* no AnyThread, no RTM */
    assert_false(is_counted(any));
    assert_false(is_counted(transaction));
    start(&second);
    assert_false(is_counted(any));
}

static void a_processor_nobody_knows_has_cycles_and_instructions(void **state)
{
    struct intel_kind k = second;
    struct hpm_breakdown b;

    (void)state;
    k.family = 19;
    start(&k);
    assert_int_equal(hpm_caps()->missed | hpm_caps()->stall, 0);
    switch_to(0, 0);
    intel_execute(1000, 5000, true);
    switch_to(0, -1);
    context_read(&threads[0].counts, &hpm_state.plan, &b);
    assert_in_range(b.instructions, 1000, 1100);
    assert_exact(0);
}

static void a_cpu_may_have_too_few_counters_for_anything_but_cycles(void **state)
{
    struct intel_kind one = first;
    struct hpm_breakdown b;

    (void)state;
    one.counters = 1;
    start(&one);
    assert_true(hpm_caps()->present);
    assert_false(hpm_caps()->instructions);
    assert_int_equal(hpm_caps()->counters, 0);
    switch_to(0, 0);
    intel_execute(1000, 5000, true);
    switch_to(0, -1);
    context_read(&threads[0].counts, &hpm_state.plan, &b);
    assert_in_range(b.cycles, 5000, 5200);
    assert_int_equal(b.instructions, 0);
    assert_exact(0);
    one.missing = 1; /* not even they are counted */
    start(&one);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, "hpm: intel: no counter counts cycles: not used\n"));
}

static void fixed_counters_may_have_gaps(void **state)
{
    struct intel_kind gap = icelake;

    (void)state;
    gap.fixed = 0;
    gap.fixed_mask = 0xa; /* cycles, slots: no instructions */
    start(&gap);
    assert_true(hpm_caps()->instructions);
    assert_int_equal(hpm_caps()->counters, 7);
    switch_to(0, 0);
    intel_execute(1000, 5000, true);
    struct hpm_breakdown b;
    switch_to(0, -1);
    context_read(&threads[0].counts, &hpm_state.plan, &b);
    assert_in_range(b.cycles, 5000, 5200);
    assert_in_range(b.instructions, 1000, 1100);
}

static void no_more_counters_are_used_than_hpm_has_room_for(void **state)
{
    struct intel_kind many = icelake;

    (void)state;
    many.counters = 16;
    start(&many);
    assert_int_equal(hpm_caps()->counters, HPM_COUNTERS_MAX);
    switch_to(0, 0);
    intel_execute(1000, 3 * SLICE, true);
    assert_exact(0);
}

static void a_cycle_counter_that_stands_still_is_not_used(void **state)
{
    struct intel_kind stuck = skylake;

    (void)state;
    stuck.stuck = true;
    start(&stuck);
    assert_false(hpm_caps()->present);
    assert_non_null(strstr(double_output, "hpm: intel: the cycle counter stands still: not used\n"));
}

static void a_cpu_that_lacks_what_the_first_has_is_left_out(void **state)
{
    struct hpm_breakdown b;

    (void)state;
    intel_machine(&skylake);
    intel_double[1].kind.missing = 1u << 4; /* last-level misses, which are counted */
    intel_double[2].kind.model = 0x5e;
    intel_double[3].kind.capabilities = FORMAT(3);
    kernel_start_hpm();
    make_threads();
    assert_non_null(cpus[0].hpm);
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(cpus[i].hpm);
    assert_non_null(strstr(double_output,
                           "hpm: the counters of CPU 2 lack what the first CPU's have: it is not counted\n"));
    intel_machine(&skylake);
    intel_double[1].kind.counters = 8; /* its threads have the core to themselves */
    intel_double[2].kind.version = 3;
    intel_double[3].kind.force_abort = true;
    kernel_start_hpm();
    for (unsigned i = 1; i < DOUBLE_CPUS; i++)
        assert_null(cpus[i].hpm);
    host_irqs_on = false;
    double_run_on(2);
    hpm_switch(NULL, &threads[0]);
    hpm_tick();
    hpm_interrupt(NULL);
    hpm_switch(&threads[0], NULL);
    double_run_on(0);
    hpm_switch(NULL, &threads[0]);
    intel_execute(300, 5000, true);
    hpm_switch(&threads[0], NULL);
    context_read(&threads[0].counts, &hpm_state.plan, &b);
    assert_in_range(b.instructions, 300, 330);
}

/* ---- Counting ---- */

static unsigned any_code(uint64_t *seed)
{
    for (;;) {
        const struct event *e = &hpm_state.event[test_random(seed) % HPM_EVENTS];
        if (e->counters)
            return e->config & 0xffff;
        if (!hpm_state.plan.counters || test_random(seed) % 64 == 0)
            return 0x1234;
    }
}

static void random_work(uint64_t *seed)
{
    bool user = test_random(seed) % 3;

    if (test_random(seed) % 2)
        intel_count(any_code(seed), test_random(seed) % 100000000, user);
    else
        intel_execute(test_random(seed) % 200000000, test_random(seed) % 400000, user);
}

static void live(const struct intel_kind *kind, uint64_t seed)
{
    struct hpm_breakdown sum = {0}, part, machine;
    start(kind);
    for (int step = 0; step < 2500; step++) {
        unsigned cpu = test_random(&seed) % DOUBLE_CPUS;
        int next = (int)(test_random(&seed) % (THREADS + 2)) - 2;
        double_run_on(cpu);
        host_irqs_on = test_random(&seed) % 4; /* now and then nobody listens for a while */
        for (unsigned n = test_random(&seed) % 4; n; n--)
            random_work(&seed);
        host_irqs_on = true;
        intel_deliver();
        if (test_random(&seed) % 5 == 0)
            tick(cpu);
        if (next < 0 || !is_running(next))
            switch_to(cpu, next < 0 ? -1 : next);
        assert_exact(cpu);
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
    assert_true(machine.instructions > 8 * ((uint64_t)1 << 32));
}

static void nothing_is_lost_or_counted_twice(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(all_kinds); i++)
        live(all_kinds[i], 3 + 2 * i);
}

static unsigned burst_at;

static void burst(void)
{
    if (intel_double[0].accesses != burst_at)
        return;
    intel_count(CODE_INSTRUCTIONS, 200, false);
    for (unsigned e = 0; e < HPM_EVENTS; e++)
        if (hpm_state.event[e].counters)
            intel_count(hpm_state.event[e].config & 0xffff, 200, false);
}

/* Whichever register is being accessed when the counters wrap. */
static void wrap_during_a_reading(const struct intel_kind *kind)
{
    start(kind);
    switch_to(0, 0);
    unsigned accesses = intel_double[0].accesses;
    tick(0);
    accesses = intel_double[0].accesses - accesses;
    for (unsigned at = 1; at <= accesses; at++) {
        start(kind);
        switch_to(0, 0);
        host_irqs_on = false;
        uint64_t done = intel_double[0].happened[instructions_at(kind)];
        intel_count(CODE_INSTRUCTIONS, FIRST_WRAP - 100 - done, false);
        for (unsigned e = 0; e < HPM_EVENTS; e++)
            if (hpm_state.event[e].counters)
                intel_count(hpm_state.event[e].config & 0xffff, FIRST_WRAP - 100, false);
        burst_at = intel_double[0].accesses + at;
        intel_on_access = burst;
        hpm_tick();
        intel_on_access = NULL;
        assert_last_exact(0);
        intel_execute(1000, 1000, true);
        host_irqs_on = true;
        intel_deliver();
        assert_exact(0);
        assert_true(cpus[0].hpm->last.instructions > FIRST_WRAP);
    }
}

static void counters_may_wrap_at_any_moment_of_a_reading(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(all_kinds); i++)
        wrap_during_a_reading(all_kinds[i]);
}

/* ---- Turns ---- */

static void groups_take_turns_by_interrupt_without_any_tick(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(all_kinds); k++) {
        uint32_t seen = 0;
        start(all_kinds[k]);
        unsigned groups = hpm_state.plan.groups;
        switch_to(0, 0);
        uint64_t interrupts = cpus[0].hpm->interrupts, began = cpus[0].hpm->turn_began;
        unsigned turns = 0;
        for (unsigned i = 0; i < 40 * groups; i++) {
            seen |= 1u << mux_turns_group(&cpus[0].hpm->turns);
            intel_execute(1000, SLICE / 20, true);
            turns += cpus[0].hpm->turn_began != began;
            began = cpus[0].hpm->turn_began;
        }
        assert_in_range(turns, 2 * groups - 1, 2 * groups);
        assert_int_equal(seen, (1u << groups) - 1);
        assert_in_range(cpus[0].hpm->interrupts - interrupts, 2 * groups - 1, 2 * groups);
        assert_exact(0);
    }
}

static void a_turn_loses_no_more_cycles_than_a_register_access_takes(void **state)
{
    (void)state;
    start(&skylake);
    switch_to(0, 0);
    uint64_t *back = &intel_double[0].set_back[INTEL_FIXED_AT(1)];
    *back = 0;
    uint64_t interrupts = cpus[0].hpm->interrupts;
    for (unsigned i = 0; i < 100; i++)
        intel_execute(1000, SLICE + 1000, true);
    uint64_t turns = cpus[0].hpm->interrupts - interrupts;
    assert_int_equal(turns, 100);
    assert_int_equal(*back, turns * ACCESS_CYCLES);
}

static void a_turn_that_a_tick_has_ended_is_not_ended_again(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(all_kinds); k++) {
        start(all_kinds[k]);
        switch_to(0, 0);
        host_irqs_on = false;
        intel_execute(1000, SLICE + 5, true);
        hpm_tick(); /* sees that it has lasted long enough */
        hpm_tick(); /* ends it                             */
        unsigned group = mux_turns_group(&cpus[0].hpm->turns);
        uint64_t began = cpus[0].hpm->turn_began;
        assert_true(intel_double[0].interrupt); /* the controller has it already */
        host_irqs_on = true;
        intel_deliver();
        hpm_interrupt(NULL); /* and another one that nobody knows the reason of */
        assert_int_equal(mux_turns_group(&cpus[0].hpm->turns), group);
        assert_int_equal(cpus[0].hpm->turn_began, began);
        assert_exact(0);
    }
}

static void what_firmware_left_on_is_off(void **state)
{
    struct intel_kind many = skylake;

    (void)state;
    many.counters = 10;
    start(&many);
    for (unsigned i = 0; i < DOUBLE_CPUS; i++) {
        const struct intel_double *d = &intel_double[i];
        for (unsigned c = 8; c < many.counters; c++)
            assert_int_equal(d->select[c], 0);
        assert_int_equal(d->select[3], 0);
        assert_int_equal(d->fixed_control, 0xb3);
        assert_int_equal(d->global_control, 0x3000000ff);
        assert_int_equal(d->status, (uint64_t)1 << 61); /* another unit's */
        assert_int_equal(d->debug, 1);
        assert_int_equal(d->pebs_enable, 0);
    }
}

static void bits_of_counters_that_ask_for_no_interrupt_are_cleared_with_the_others(void **state)
{
    (void)state;
    start(&skylake);
    switch_to(0, 0);
    intel_count(CODE_INSTRUCTIONS, FIRST_WRAP + 5, true);
    assert_int_equal(intel_double[0].status & 0xf0000000f, (uint64_t)1 << 32);
    assert_false(intel_double[0].interrupt);
    intel_execute(1000, SLICE, true);
    assert_int_equal(intel_double[0].status & ~((uint64_t)1 << 61), 0);
    assert_exact(0);
}

static void a_switch_costs_a_handful_of_register_accesses(void **state)
{
    (void)state;
    start(&skylake);
    switch_to(0, 0);
    unsigned before = intel_double[0].accesses;
    switch_to(0, 1);
    assert_int_equal(intel_double[0].accesses - before, 5); /* one for each counter, none written */
}

/* ---- Modes, and registers that events share ---- */

static struct hpm_breakdown run_both_modes(const struct intel_kind *kind, uint64_t modes)
{
    struct hpm_breakdown b;

    with_modes(modes);
    start(kind);
    switch_to(0, 0);
    intel_execute(1000000, 2000000, true);
    intel_execute(30000, 50000, false);
    switch_to(0, -1);
    assert_exact(0);
    context_read(&threads[0].counts, &hpm_state.plan, &b);
    return b;
}

static void a_mode_that_is_not_asked_for_is_not_counted(void **state)
{
    enum { BOTH, USER, KERNEL };

    (void)state;
    for (unsigned k = 0; k < ARRAY_SIZE(all_kinds); k++) {
        struct hpm_breakdown both = run_both_modes(all_kinds[k], BOTH);
        assert_in_range(both.instructions, 1030000, 1030300);
        assert_in_range(both.cycles, 2050000, 2050600);
        struct hpm_breakdown user = run_both_modes(all_kinds[k], USER);
        assert_int_equal(user.instructions, 1000000);
        assert_int_equal(user.cycles, 2000000);
        struct hpm_breakdown kernel = run_both_modes(all_kinds[k], KERNEL);
        assert_in_range(kernel.instructions, 30000, 30300);
        assert_in_range(kernel.cycles, 50000, 50600);
    }
}

/* An event brings its modes with it. */
static void each_event_is_counted_in_its_own_modes(void **state)
{
    struct pmu_latch before, after;
    struct event user, kernel;
    const struct event *next[HPM_COUNTERS_MAX] = {&user, &kernel};

    (void)state;
    start(&skylake);
    user = parsed("r412e:u");
    kernel = parsed("r412e:k");
    host_irqs_on = false;
    hpm_state.ops->latch(&before, next);
    intel_count(CODE_LLC_MISS, 7, true);
    intel_count(CODE_LLC_MISS, 500, false);
    hpm_state.ops->latch(&after, NULL);
    assert_int_equal(after.count[0] - before.count[0], 7);
    assert_int_equal(after.count[1] - before.count[1], 500);
    next[0] = next[1] = NULL;
    hpm_state.ops->latch(&before, next);
    intel_count(CODE_LLC_MISS, 9, true);
    hpm_state.ops->latch(&after, NULL);
    assert_memory_equal(before.count, after.count, hpm_state.pmu.counters * sizeof before.count[0]);
}

static void an_event_brings_its_second_register_with_it(void **state)
{
    struct pmu_latch out;
    struct event offcore, other, frontend;
    const struct event *next[HPM_COUNTERS_MAX] = {&offcore, &frontend};

    (void)state;
    start(&skylake);
    offcore = parsed("OFFCORE_RESPONSE_0:DMND_RFO:L3_HIT:SNP_HITM");
    other = parsed("OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT:SNP_HITM");
    frontend = parsed("FRONTEND_RETIRED:DSB_MISS");
    assert_true(offcore.extra != other.extra);
    host_irqs_on = false;
    hpm_state.ops->latch(&out, next);
    assert_int_equal(intel_double[0].offcore[0], offcore.extra);
    assert_int_equal(intel_double[0].frontend, frontend.extra);
    unsigned accesses = intel_double[0].accesses;
    next[0] = &other;
    hpm_state.ops->latch(&out, next);
    assert_int_equal(intel_double[0].offcore[0], other.extra);
    next[0] = &offcore;
    next[1] = NULL;
    hpm_state.ops->latch(&out, next);
    assert_int_equal(intel_double[0].offcore[0], offcore.extra);
    assert_int_equal(intel_double[0].frontend, frontend.extra);
    assert_in_range(intel_double[0].accesses - accesses, 1, 30);
}

/* ---- What is said ---- */

static void stop_once(void)
{
    if (intel_double[0].accesses == burst_at)
        host_ticks += NS_PER_S / 1000;
}

/* ... by a hypervisor, say, while its cycles are compared with the clock. */
static void a_cpu_that_is_stopped_for_a_while_at_boot_is_measured_all_the_same(void **state)
{
    (void)state;
    for (burst_at = 20; burst_at < 600; burst_at += 29) {
        intel_machine(&skylake);
        intel_on_access = stop_once;
        kernel_start_hpm();
        assert_in_range(hpm_state.pmu.cycles_per_tick, CYCLES_PER_TICK * PMU_RATE_ONE * 98 / 100,
                        CYCLES_PER_TICK * PMU_RATE_ONE * 102 / 100);
    }
}

static void idle_time_is_in_cycles_of_a_cpu_that_runs(void **state)
{
    struct hpm_breakdown before, after;

    (void)state;
    start(&skylake);
    assert_in_range(hpm_state.pmu.cycles_per_tick, CYCLES_PER_TICK * PMU_RATE_ONE * 999 / 1000,
                    CYCLES_PER_TICK * PMU_RATE_ONE * 1001 / 1000);
    switch_to(0, 0);
    hpm_read_machine(&before);
    host_ticks += 100000; /* on this CPU nothing happens; the three others are idle */
    hpm_read_machine(&after);
    hpm_breakdown_sub(&after, &before);
    assert_in_range(after.idle_cycles, 3 * 299000, 3 * 301000);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cpu_without_such_counters_has_none),
        TEST(what_was_found_is_one_line),
        TEST(the_counter_of_records_counts_nothing_else),
        TEST(an_event_the_cpu_does_not_have_is_not_counted),
        TEST(a_selector_has_no_bits_that_the_version_lacks),
        TEST(a_processor_nobody_knows_has_cycles_and_instructions),
        TEST(a_cpu_may_have_too_few_counters_for_anything_but_cycles),
        TEST(fixed_counters_may_have_gaps),
        TEST(no_more_counters_are_used_than_hpm_has_room_for),
        TEST(a_cycle_counter_that_stands_still_is_not_used),
        TEST(a_cpu_that_lacks_what_the_first_has_is_left_out),
        TEST(nothing_is_lost_or_counted_twice),
        TEST(counters_may_wrap_at_any_moment_of_a_reading),
        TEST(groups_take_turns_by_interrupt_without_any_tick),
        TEST(a_turn_loses_no_more_cycles_than_a_register_access_takes),
        TEST(a_turn_that_a_tick_has_ended_is_not_ended_again),
        TEST(what_firmware_left_on_is_off),
        TEST(bits_of_counters_that_ask_for_no_interrupt_are_cleared_with_the_others),
        TEST(a_switch_costs_a_handful_of_register_accesses),
        TEST(a_mode_that_is_not_asked_for_is_not_counted),
        TEST(each_event_is_counted_in_its_own_modes),
        TEST(an_event_brings_its_second_register_with_it),
        TEST(a_cpu_that_is_stopped_for_a_while_at_boot_is_measured_all_the_same),
        TEST(idle_time_is_in_cycles_of_a_cpu_that_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
