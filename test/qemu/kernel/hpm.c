/* Monitoring on the simulated machine, from inside: known work gives known counts, samples belong
 * to the threads that made them, and nothing is lost or counted twice while threads sleep, migrate
 * and end. Needs two chips and at least six CPUs. */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "test/qemu/kernel/hpm_work.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"

/* ---- Known work ------------------------------------------------------------------------------ */

static void loop(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        __asm__ volatile("" : : : "memory");
}

static uint64_t instructions_of_loop(uint64_t n)
{
    static struct hpm_breakdown before, after;

    hpm_read_thread(&thread_current()->hpm, &before);
    loop(n);
    hpm_read_thread(&thread_current()->hpm, &after);
    return after.instructions - before.instructions;
}

static void a_loop_counts_the_instructions_it_is_made_of(void)
{
    const uint64_t n = 2000000;
    /* The first loop is long enough to include the first timer interrupt of this CPU, with all that
     * is due by then. */
    uint64_t first = instructions_of_loop(n);
    uint64_t once = instructions_of_loop(n), twice = instructions_of_loop(2 * n),
             each = (once + n / 2) / n;

    kprintf("# instructions of a loop: %llu at first, then %llu, of twice as many rounds %llu\n",
            (unsigned long long)first, (unsigned long long)once, (unsigned long long)twice);
    CHECK(each >= 2 && each <= 4);
    CHECK(first >= each * n && first < each * n + n / 50);
    /* Interrupts and the reading itself are included. */
    CHECK(once >= each * n && once < each * n + n / 50);
    CHECK(twice >= 2 * each * n && twice < 2 * each * n + n / 50);
}

static void busy_cycles_are_the_time_that_passed(void)
{
    static struct hpm_breakdown before, after;
    uint64_t began, took;

    hpm_read_thread(&thread_current()->hpm, &before);
    began = arch_ticks();
    loop(4000000);
    took = arch_ticks() - began;
    hpm_read_thread(&thread_current()->hpm, &after);
    uint64_t cycles = after.cycles - before.cycles;
    CHECK(cycles >= took && cycles < took + took / 100 + 10000);
}

/* ---- Two threads and one line ---------------------------------------------------------------- */

static uint64_t remote_stalls(const struct hpm_breakdown *b)
{
    return b->dcache[SOURCE_REMOTE_L2] + b->dcache[SOURCE_REMOTE_L3];
}

static void only_a_line_that_crosses_chips_costs_remote_stalls(void)
{
    static struct line line;
    static struct worker far[2], near[2];
    uint32_t latency = hpm_caps()->latency[SOURCE_REMOTE_L2];

    rounds_wanted = 2000;
    play(far, &line, 1, far_cpu());
    for (unsigned i = 0; i < 2; i++)
        finish(&far[i]);
    play(near, &line, 1, 2);
    for (unsigned i = 0; i < 2; i++)
        finish(&near[i]);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t stalls = remote_stalls(&far[i].counted);
        /* Reading the line stalls; writing it goes through the store buffer. The first turn finds
         * it near. */
        CHECK(stalls >= (rounds_wanted - 1) * latency);
        CHECK(stalls <= (rounds_wanted + rounds_wanted / 20) * latency);
        CHECK(remote_stalls(&near[i].counted) < rounds_wanted * latency / 20);
        drop(&far[i]);
        drop(&near[i]);
    }
}

/* As on a machine where the PMU does not count the stalls; here the latency is known. The rest are
 * the loop's own cycles. */
static void what_another_chips_cache_takes_to_serve_an_access_can_be_measured(void)
{
    uint32_t measured = remote_latency(), latency = hpm_caps()->latency[SOURCE_REMOTE_L2];

    kprintf("# %u cycles, of which the cache's are %u\n", (unsigned)measured, (unsigned)latency);
    CHECK(measured >= latency && measured <= latency + latency / 10);
}

/* ---- Conservation ---------------------------------------------------------------------------- */

enum { HERD = 24 };
static struct worker herd[HERD];

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void live(void *arg)
{
    struct worker *w = arg;

    for (; w->steps < rounds_wanted; w->steps++) {
        uint64_t r = next_random(&w->seed);
        switch (r & 3) {
        case 0:
            sched_sleep_until(arch_clock_ns() + (r >> 8) % (200 * NS_PER_US));
            break;
        case 1:
            sched_migrate(w->thread, (r >> 8) % cpu_count());
            break;
        case 2:
            __atomic_fetch_add(&w->line->word[0], 1, __ATOMIC_RELAXED);
            break;
        default:
            loop((r >> 8) % 20000);
        }
        sched_point();
    }
}

/* Reads the machine's counts, and the caller's own at the same reading. */
static void read_both(struct hpm_breakdown *machine, struct hpm_breakdown *own)
{
    bool irq = arch_irq_save();

    hpm_read_machine(machine);
    context_read(&thread_current()->hpm.counts, &hpm_state.plan->mux, &hpm_state.figures, own);
    arch_irq_restore(irq);
}

static void threads_that_sleep_move_and_end_add_up_to_the_machine(void)
{
    static struct line line;
    static struct hpm_breakdown before, own_before, after, own, sum;
    struct cpuset any = cpuset_first(cpu_count());

    rounds_wanted = 400;
    nap(2 * NS_PER_MS);
    read_both(&before, &own_before);
    hpm_mark("herd-begin");
    for (unsigned i = 0; i < HERD; i++) {
        herd[i] = (struct worker){.line = &line, .seed = i + 1};
        start_on(&herd[i], live, &any);
    }
    for (unsigned i = 0; i < HERD; i++)
        finish(&herd[i]);
    hpm_mark("herd-end");
    read_both(&after, &own);
    hpm_breakdown_sub(&after, &before);
    hpm_breakdown_sub(&own, &own_before);
    for (unsigned i = 0; i < HERD; i++) {
        const struct hpm_breakdown *c = &herd[i].counted;
        hpm_breakdown_add(&sum, c);
        kprintf("# herd tag=%u cycles=%llu instructions=%llu dcache_remote_l2=%llu\n",
                herd[i].thread->tid, (unsigned long long)c->cycles,
                (unsigned long long)c->instructions,
                (unsigned long long)c->dcache[SOURCE_REMOTE_L2]);
        CHECK(herd[i].steps == rounds_wanted);
        CHECK(herd[i].thread->migrations > 0);
        drop(&herd[i]);
    }
    hpm_breakdown_add(&sum, &own);
    kprintf("# machine: cycles=%llu instructions=%llu\n", (unsigned long long)after.cycles,
            (unsigned long long)after.instructions);
    kprintf("# threads: cycles=%llu instructions=%llu\n", (unsigned long long)sum.cycles,
            (unsigned long long)sum.instructions);
    CHECK(sum.cycles == after.cycles);
    CHECK(sum.instructions == after.instructions);
    CHECK(remote_stalls(&sum) == remote_stalls(&after));
}

/* Sums up all CPUs' counters at their last readings, without what has not been handed out. */
static void read_counters(uint64_t *cycles, uint64_t *instructions)
{
    *cycles = *instructions = 0;
    cpu_for_each (cpu) {
        const struct hpm_cpu *hpm = cpu->hpm;
        *cycles += hpm->last.cycles;
        *instructions += hpm->last.instructions;
        for (unsigned i = 0; i < ROWS * GROUP_MAX; i++) {
            *cycles -= hpm->piece[i / GROUP_MAX][i % GROUP_MAX].cycles;
            *instructions -= hpm->piece[i / GROUP_MAX][i % GROUP_MAX].instructions;
        }
    }
}

struct accounts {
    struct hpm_sums sum[HPM_ACCOUNTS], own;
    uint64_t cycles, instructions;
};
/* Reads all accounts at one reading of each CPU. All other CPUs must be in their idle threads;
 * waits for that. */
static void read_accounts(struct accounts *a, uint64_t counts, const char *mark)
{
    memset(a, 0, sizeof *a);
    hpm_update(0);
    bool irq = arch_irq_save();
    hpm_mark(mark);
    hpm_sum_accounts(counts, a->sum);
    context_sum(&thread_current()->hpm.counts, &hpm_state.plan->mux, counts, false, &a->own,
                this_cpu()->hpm->part);
    read_counters(&a->cycles, &a->instructions);
    arch_irq_restore(irq);
}

static void threads_idle_interrupts_and_monitoring_add_up_to_the_machine(void)
{
    static struct line line;
    static struct accounts before, after;
    static struct hpm_sums machine, threads;
    uint64_t counts = hpm_state.plan->mux.events;
    unsigned instructions = hpm_state.figures.instructions;
    unsigned remote = hpm_state.figures.event[EVENT_DCACHE(SOURCE_REMOTE_L2)];
    struct cpuset any = cpuset_first(cpu_count());

    rounds_wanted = 400;
    nap(2 * NS_PER_MS);
    read_accounts(&before, counts, "accounts-begin");
    for (unsigned i = 0; i < HERD; i++) {
        herd[i] = (struct worker){.line = &line, .seed = i + 1};
        start_on(&herd[i], live, &any);
    }
    for (unsigned i = 0; i < HERD; i++)
        finish(&herd[i]);
    read_accounts(&after, counts, "accounts-end");
    hpm_sums_sub(&after.own, &before.own);
    threads = after.own;
    for (unsigned i = 0; i < HERD; i++) {
        hpm_sum_thread(&herd[i].thread->hpm, counts, &threads);
        drop(&herd[i]);
    }
    static const char *const names[] = {"threads", "idle", "interrupts", "monitoring"};
    for (unsigned a = 0; a < HPM_ACCOUNTS; a++) {
        hpm_sums_sub(&after.sum[a], &before.sum[a]), hpm_sums_add(&machine, &after.sum[a]);
        kprintf("# %s: cycles=%llu instructions=%llu dcache_remote_l2=%llu\n", names[a],
                (unsigned long long)after.sum[a].cycles,
                (unsigned long long)after.sum[a].count[instructions].count,
                (unsigned long long)after.sum[a].count[remote].count);
        CHECK((after.sum[a].count[instructions].count > 0) ==
              (a < HPM_INTERRUPTS || hpm_caps()->apart));
    }
    kprintf("# account cycles=%llu instructions=%llu dcache_remote_l2=%llu\n",
            (unsigned long long)machine.cycles,
            (unsigned long long)machine.count[instructions].count,
            (unsigned long long)machine.count[remote].count);
    CHECK(machine.cycles == after.cycles - before.cycles);
    CHECK(machine.count[instructions].count == after.instructions - before.instructions);
    CHECK(threads.cycles == after.sum[HPM_THREADS].cycles);
    CHECK(hpm_sums_count(&threads, instructions).count ==
          after.sum[HPM_THREADS].count[instructions].count);
    CHECK(hpm_sums_count(&threads, remote).count == after.sum[HPM_THREADS].count[remote].count);
}

static void busy_and_idle_cycles_are_the_machines_time(void)
{
    static struct hpm_breakdown before, after;
    uint64_t began, took;

    hpm_read_machine(&before);
    began = arch_ticks();
    nap(20 * NS_PER_MS);
    loop(10000000);
    took = arch_ticks() - began;
    hpm_read_machine(&after);
    hpm_breakdown_sub(&after, &before);
    uint64_t all = after.cycles + after.idle_cycles, machine = took * cpu_count();
    kprintf("# busy %llu + idle %llu cycles in a time of %llu\n", (unsigned long long)after.cycles,
            (unsigned long long)after.idle_cycles, (unsigned long long)machine);
    CHECK(all > machine - machine / 100 && all < machine + machine / 100);
    hpm_breakdown_print("a short while", &after);
}

/* ---- Scaled figures, which the host compares with the ground truth --------------------------- */

enum { MIX_CPUS = 8, MIX_LINES = 2048 };

static struct line chunks[MIX_CPUS][MIX_LINES]; /* 256 KB each: more than an L1 */

static void mix(void *arg)
{
    struct worker *w = arg;

    for (uint64_t r = w->seed; arch_clock_ns() < w->until_ns; w->steps++) {
        for (unsigned i = 0; i < 100; i++)
            chunks[w->parity][next_random(&r) % MIX_LINES].word[0]++;
        if (w->steps % 4 == 0)
            __atomic_fetch_add(&w->line->word[0], 1, __ATOMIC_RELAXED);
        sched_point();
    }
}

static void mix_everywhere(struct worker *w, unsigned n, struct line *line, uint64_t ms)
{
    for (unsigned i = 0; i < n; i++) {
        struct cpuset at = cpuset_one(i);
        w[i] = (struct worker){
            .line = line, .seed = i + 1, .parity = i, .until_ns = arch_clock_ns() + ms * NS_PER_MS};
        start_on(&w[i], mix, &at);
    }
    for (unsigned i = 0; i < n; i++) {
        finish(&w[i]);
        drop(&w[i]);
    }
}

static void print_figures(const struct hpm_breakdown *b)
{
    static const char *const causes[] = {"stall_icache", "stall_branch", "stall_dcache",
                                         "stall_tlb", "stall_other"};
    static const char *const sources[] = {"l1",        "local_l2",     "local_l3",     "remote_l2",
                                          "remote_l3", "local_memory", "remote_memory"};

    kprintf("# figure cycles=%llu\n# figure instructions=%llu\n", (unsigned long long)b->cycles,
            (unsigned long long)b->instructions);
    for (unsigned i = 0; i < STALL_CAUSES; i++)
        kprintf("# figure %s=%llu\n", causes[i], (unsigned long long)b->stall[i]);
    for (unsigned i = SOURCE_L1 + 1; i < SOURCE_COUNT; i++)
        kprintf("# figure %s=%llu\n# figure dcache_%s=%llu\n", sources[i],
                (unsigned long long)b->served[i], sources[i], (unsigned long long)b->dcache[i]);
}

static void figures_of_a_mixed_load_are_seen_enough_to_be_scaled(void)
{
    static struct line line;
    static struct worker w[MIX_CPUS];
    static struct hpm_breakdown before, after;
    unsigned n = MIN(cpu_count(), (unsigned)MIX_CPUS);

    mix_everywhere(w, n, &line, 15); /* ends the rounds that began before */
    hpm_read_machine(&before);
    hpm_mark("mix-begin");
    mix_everywhere(w, n, &line, 100);
    hpm_mark("mix-end");
    hpm_read_machine(&after);
    hpm_breakdown_sub(&after, &before);
    hpm_breakdown_print("a mixed load", &after);
    print_figures(&after);
    CHECK(after.seen_permille > 1000 / hpm_state.plan->mux.rounds.groups / 2);
}

static const struct suite_test tests[] = {
    {"a loop counts the instructions it is made of", a_loop_counts_the_instructions_it_is_made_of},
    {"busy cycles are the time that passed", busy_cycles_are_the_time_that_passed},
    {"only a line that crosses chips costs remote stalls",
     only_a_line_that_crosses_chips_costs_remote_stalls},
    {"what another chip's cache takes to serve an access can be measured",
     what_another_chips_cache_takes_to_serve_an_access_can_be_measured},
    {"samples of a shared line belong to the two that share it",
     samples_of_a_shared_line_belong_to_the_two_that_share_it},
    {"attribution is exact at switches", attribution_is_exact_at_switches},
    {"samples that are not taken are counted as lost",
     samples_that_are_not_taken_are_counted_as_lost},
    {"threads that sleep, move and end add up to the machine",
     threads_that_sleep_move_and_end_add_up_to_the_machine},
    {"busy and idle cycles are the machine's time", busy_and_idle_cycles_are_the_machines_time},
    {"figures of a mixed load are seen enough to be scaled",
     figures_of_a_mixed_load_are_seen_enough_to_be_scaled},
    {"threads, idle, interrupts and monitoring add up to the machine",
     threads_idle_interrupts_and_monitoring_add_up_to_the_machine},
    {0},
};

const struct suite hpm_suite = {"hpm", tests};
