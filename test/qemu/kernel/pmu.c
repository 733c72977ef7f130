/*
 * The hardware's counters, from inside the kernel on plain QEMU with -icount: each instruction
 * takes one cycle, so the counts are known. One CPU.
 */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "hpm/pmu/arm/armv8_regs.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/apps/known_loop.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"
#include "hpm/sampling.h"

static bool none_skipped(bool instructions)
{
    if (!hpm_caps()->present)
        suite_skip("this machine has no performance counters that are known");
    else if (instructions && !hpm_caps()->instructions)
        suite_skip("this PMU counts no instructions (QEMU's does with -icount only)");
    else
        return true;
    return false;
}

/* ---- Known work, undisturbed ----------------------------------------------------------------- */

static struct pmu_latch count_loop(uint64_t n)
{
    struct pmu_latch before, after;
    bool irq = arch_irq_save();

    hpm_state.ops->latch(&before, NULL);
    known_loop(n);
    hpm_state.ops->latch(&after, NULL);
    arch_irq_restore(irq);
    after.cycles -= before.cycles;
    after.instructions -= before.instructions;
    return after;
}

/* Must come first, because the counters wrap early. */
static void the_count_is_exact_when_a_counter_wraps(void)
{
    struct pmu_latch now;

    if (!none_skipped(true))
        return;
    uint64_t overhead = count_loop(1).instructions - 2;
    bool irq = arch_irq_save();
    hpm_state.ops->latch(&now, NULL);
    arch_irq_restore(irq);
    CHECK(now.instructions < ARMV8_FIRST_WRAP);
    uint64_t n = (ARMV8_FIRST_WRAP - now.instructions) / 2 + 1000;
    uint64_t counted = count_loop(n).instructions - overhead;
    kprintf("# %llu instructions before, %llu across the wrap counted as %llu\n",
            (unsigned long long)now.instructions, (unsigned long long)(2 * n),
            (unsigned long long)counted);
    /* Where wraps must be detected, the counter is read a second time, some instructions later. */
    CHECK(counted >= 2 * n && counted < 2 * n + 200);
    CHECK(count_loop(1).instructions == overhead + 2);
}

static void a_loop_counts_the_instructions_and_cycles_it_is_made_of(void)
{
    static const uint64_t sizes[] = {2, 10, 1000, 100000, 3000000};

    if (!none_skipped(true))
        return;
    struct pmu_latch one = count_loop(1);
    kprintf("# counting takes %llu instructions, %llu cycles\n",
            (unsigned long long)one.instructions - 2, (unsigned long long)one.cycles - 2);
    CHECK(one.instructions < 500 && one.cycles < 500);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct pmu_latch l = count_loop(sizes[i]);
        CHECK(l.instructions - one.instructions == 2 * (sizes[i] - 1));
        CHECK(l.cycles - one.cycles == 2 * (sizes[i] - 1));
    }
}

/* Without icount the host may stop QEMU between the two readings. */
static void cycles_pass_at_the_rate_that_was_measured(void)
{
    bool agree = false;

    if (!none_skipped(false))
        return;
    for (unsigned tries = 0; !agree && tries < 10; tries++) {
        uint64_t began = arch_ticks();
        struct pmu_latch l = count_loop(3000000);
        uint64_t ticks = arch_ticks() - began;
        uint64_t expected = fixed_muldiv(ticks, hpm_state.pmu.cycles_per_tick, PMU_RATE_ONE);
        kprintf("# %llu cycles in %llu ticks\n", (unsigned long long)l.cycles,
                (unsigned long long)ticks);
        agree = l.cycles > expected - expected / 50 && l.cycles < expected + expected / 50;
    }
    CHECK(agree);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* QEMU notices the overflow of an event counter only when the counters are read. */
static void loop_and_look(uint64_t n)
{
    struct pmu_latch ignored;

    known_loop(n);
    bool irq = arch_irq_save();
    hpm_state.ops->latch(&ignored, NULL);
    arch_irq_restore(irq);
}

static void each_turn_ends_by_an_interrupt(void)
{
    enum { LOOKS = 20 };
    const uint64_t turns = 10;

    if (!none_skipped(true))
        return;
    uint64_t slice_cycles = hpm_slice_cycles;
    uint64_t before = this_cpu()->hpm->interrupts;
    for (unsigned i = 0; i < turns * LOOKS; i++)
        if (hpm_state.by_instructions)
            loop_and_look(slice_cycles / 2 / LOOKS);
        else
            known_loop(slice_cycles / 2 / LOOKS);
    uint64_t interrupts = this_cpu()->hpm->interrupts - before;
    kprintf("# %llu interrupts in %llu turns\n", (unsigned long long)interrupts,
            (unsigned long long)turns);
    CHECK(interrupts >= turns - 1 && interrupts <= turns + 1);
}

/* ---- Counters that are armed ----------------------------------------------------------------- */

static const struct pmu_ops *driver;
static unsigned armed_heard;
static uint64_t heard_at; /* the count of counter 0 at that time */

/* Replaces the driver's function, for counters that hpm has not armed. */
static unsigned listen(void)
{
    struct pmu_latch now;
    unsigned why = driver->interrupted();

    if (why & PMU_COUNTER) {
        driver->latch(&now, NULL);
        heard_at = now.count[0];
        armed_heard++;
    }
    return why & (PMU_COUNTER - 1);
}

static struct pmu_ops listen_to_armed(void)
{
    driver = hpm_state.ops;
    struct pmu_ops listening = *driver;
    listening.interrupted = listen;
    return listening;
}

static void wait_for_a_turn(void)
{
    uint64_t began = this_cpu()->hpm->turn_began;

    while (__atomic_load_n(&this_cpu()->hpm->turn_began, __ATOMIC_RELAXED) == began)
        known_loop(1000);
}

/* Arms counter 0, which counts instructions. Returns the count it is armed for. */
static uint64_t arm_for(const struct event *event, uint64_t instructions)
{
    struct hpm_programme next = {.event = {event}};
    struct pmu_latch now;
    bool irq = arch_irq_save();

    driver->latch(&now, &next);
    driver->arm(0, now.count[0] + instructions);
    arch_irq_restore(irq);
    return now.count[0] + instructions;
}

/* Ends before the turn does, which would take the counter away. */
static void an_armed_counter_interrupts_when_its_count_is_due(void)
{
    struct event event;
    char why[1];

    if (!none_skipped(true))
        return;
    CHECK(hpm_state.pmu.arms &&
          !event_parse(&hpm_state.pmu.events, "instructions", &event, why, sizeof why));
    struct pmu_ops listening = listen_to_armed();
    hpm_state.ops = &listening;
    for (uint64_t n = 2000; n <= 200000; n *= 10) {
        wait_for_a_turn();
        armed_heard = 0;
        uint64_t due = arm_for(&event, n);
        loop_and_look(n / 2 - 500);
        unsigned early = armed_heard;
        for (unsigned i = 0; i < 100 && !armed_heard; i++)
            loop_and_look(50);
        kprintf("# armed for %llu instructions, heard %llu later\n", (unsigned long long)n,
                (unsigned long long)(heard_at - due));
        CHECK(early == 0 && armed_heard == 1 && heard_at >= due && heard_at - due < 3000);
        loop_and_look(n);
        CHECK(armed_heard == 1);
    }
    hpm_state.ops = driver;
}

/* ---- Threads that take turns on one CPU ------------------------------------------------------ */

enum { THREADS = 6, ROUNDS = 200 };

static struct worker {
    struct thread *thread;
    uint64_t n, interrupts;
    struct hpm_breakdown counted;
} workers[THREADS];

static void work(void *arg)
{
    struct worker *w = arg;

    for (unsigned i = 0; i < ROUNDS; i++) {
        known_loop(w->n);
        sched_yield();
    }
}

static void start_worker(struct worker *w, void (*entry)(void *), const struct cpuset *cpus)
{
    w->thread = make_thread((struct thread_params){.entry = entry, .arg = w, .affinity = cpus});
    thread_start(w->thread);
}

static void finish_worker(struct worker *w)
{
    wait_until_dead(w->thread);
    hpm_read_thread(&w->thread->hpm, &w->counted);
    thread_put(w->thread);
}

static void run_workers(uint64_t step)
{
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.n = 1 + step * (i + 1)};
        start_worker(&workers[i], work, NULL);
    }
    for (unsigned i = 0; i < THREADS; i++)
        finish_worker(&workers[i]);
}

/* Reads the machine's counts, and the caller's own, at the same moment. */
static void read_both(struct hpm_breakdown *machine, struct hpm_breakdown *own)
{
    bool irq = arch_irq_save();

    hpm_read_machine(machine);
    context_read(&thread_current()->hpm.counts, &hpm_state.plan->mux, &hpm_state.figures, own);
    arch_irq_restore(irq);
}

static void threads_that_take_turns_have_their_own_counts(void)
{
    static struct hpm_breakdown before, own_before, after, own, rest[THREADS], sum;

    if (!none_skipped(true))
        return;
    run_workers(0);
    for (unsigned i = 0; i < THREADS; i++)
        rest[i] = workers[i].counted;
    nap(2 * NS_PER_MS); /* the reaper is finished with them, too */
    read_both(&before, &own_before);
    run_workers(1000);
    read_both(&after, &own);
    hpm_breakdown_sub(&after, &before);
    hpm_breakdown_sub(&own, &own_before);
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t expected = 2 * ROUNDS * (workers[i].n - 1);
        uint64_t counted = workers[i].counted.instructions - rest[i].instructions;
        kprintf("# thread %u: %llu instructions counted as %llu\n", i, (unsigned long long)expected,
                (unsigned long long)counted);
        /* Includes interrupts. */
        CHECK(counted + 20000 > expected && counted < expected + expected / 100 + 20000);
        hpm_breakdown_add(&sum, &workers[i].counted);
    }
    hpm_breakdown_add(&sum, &own);
    kprintf("# machine %llu instructions, %llu cycles; threads %llu, %llu\n",
            (unsigned long long)after.instructions, (unsigned long long)after.cycles,
            (unsigned long long)sum.instructions, (unsigned long long)sum.cycles);
    /* Other threads, such as the reaper, did little meanwhile. */
    CHECK(sum.instructions <= after.instructions && after.instructions - sum.instructions < 100000);
    CHECK(sum.cycles <= after.cycles && after.cycles - sum.cycles < 100000);
}

/* Runs until a few counter interrupts have come: without icount QEMU is late with them, and slices
 * end without. */
static void wait_for_interrupts(void *arg)
{
    static struct event cycles;
    struct worker *w = arg;
    uint64_t before = this_cpu()->hpm->interrupts, until_ns = arch_clock_ns() + 10 * NS_PER_S;
    char why[1];

    while (w->interrupts < 3 && arch_clock_ns() < until_ns) {
        if (!hpm_caps()->instructions) {
            CHECK(!event_parse(&hpm_state.pmu.events, "cycles", &cycles, why, sizeof why));
            arm_for(&cycles, 50000);
        }
        known_loop(100000);
        w->interrupts = this_cpu()->hpm->interrupts - before;
        sched_point();
    }
}

static void every_cpu_counts_and_interrupts(void)
{
    if (!none_skipped(false))
        return;
    static struct pmu_ops listening; /* other CPUs use it */
    unsigned n = MIN(cpu_count(), (unsigned)THREADS);
    listening = listen_to_armed();
    hpm_state.ops = &listening;
    for (unsigned i = 0; i < n; i++) {
        struct cpuset at = cpuset_one(i);
        workers[i] = (struct worker){.n = 0};
        start_worker(&workers[i], wait_for_interrupts, &at);
    }
    for (unsigned i = 0; i < n; i++) {
        finish_worker(&workers[i]);
        kprintf("# CPU %u: %llu interrupts, %llu cycles\n", i,
                (unsigned long long)workers[i].interrupts,
                (unsigned long long)workers[i].counted.cycles);
        CHECK(workers[i].interrupts >= 3);
        CHECK(workers[i].counted.cycles >= 1000000);
    }
    hpm_state.ops = driver;
}

static void busy_and_idle_cycles_are_the_time_that_passed(void)
{
    static struct hpm_breakdown before, after;
    uint64_t began, took;

    if (!none_skipped(true))
        return;
    hpm_read_machine(&before);
    began = arch_ticks();
    nap(20 * NS_PER_MS);
    known_loop(5000000);
    took = arch_ticks() - began;
    hpm_read_machine(&after);
    hpm_breakdown_sub(&after, &before);
    uint64_t all = after.cycles + after.idle_cycles;
    uint64_t time = fixed_muldiv(took, hpm_state.pmu.cycles_per_tick, PMU_RATE_ONE);
    kprintf("# busy %llu + idle %llu cycles in a time of %llu\n", (unsigned long long)after.cycles,
            (unsigned long long)after.idle_cycles, (unsigned long long)time);
    CHECK(all > time - time / 100 && all < time + time / 100);
    CHECK(after.cycles > 10000000 && after.cycles < 11000000);
    hpm_breakdown_print("a short while", &after);
}

static void accesses_cannot_be_sampled(void)
{
    struct hpm_access *records;

    if (!none_skipped(false))
        return;
    CHECK(!hpm_caps()->can_sample);
    CHECK(hpm_access_open("test", &records) == -ENODEV);
}

static const struct suite_test tests[] = {
    {"the count is exact when a counter wraps", the_count_is_exact_when_a_counter_wraps},
    {"a loop counts the instructions and cycles it is made of",
     a_loop_counts_the_instructions_and_cycles_it_is_made_of},
    {"cycles pass at the rate that was measured", cycles_pass_at_the_rate_that_was_measured},
    {"each turn ends by an interrupt", each_turn_ends_by_an_interrupt},
    {"an armed counter interrupts when its count is due",
     an_armed_counter_interrupts_when_its_count_is_due},
    {"threads that take turns have their own counts",
     threads_that_take_turns_have_their_own_counts},
    {"every CPU counts and interrupts", every_cpu_counts_and_interrupts},
    {"busy and idle cycles are the time that passed",
     busy_and_idle_cycles_are_the_time_that_passed},
    {"accesses cannot be sampled", accesses_cannot_be_sampled},
    {0},
};

const struct suite pmu_suite = {"pmu", tests};
