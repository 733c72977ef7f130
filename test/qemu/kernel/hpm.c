/*
 * Monitoring on the simulated machine, from inside: known work gives known counts, samples land on
 * who made them, nothing is lost or counted twice while threads sleep, move and end. Needs two
 * chips and at least six CPUs.
 */
#include "hpm/count.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"
#include "sched/cpuset.h"
#include "sched/sched.h"
#include "test/qemu/kernel/suite.h"
#include "test/qemu/kernel/threads.h"
#include "hpm/sampling.h"

struct line {
    uint64_t word[CACHE_LINE / 8];
} ALIGNED(CACHE_LINE);

/* A thread of a test. The creator's reference is kept until what it counted has been read. */
struct worker {
    struct thread *thread;
    struct line *line;
    uint64_t steps, seed, until_ns;
    unsigned parity;
    struct hpm_breakdown counted;
};

static void start_on(struct worker *w, void (*entry)(void *), const struct cpuset *cpus)
{
    w->thread = make_thread((struct thread_params){.entry = entry, .arg = w, .affinity = cpus});
    thread_start(w->thread);
}

/* Waits, and reads what the thread counted in all its life. */
static void finish(struct worker *w)
{
    wait_until_dead(w->thread);
    hpm_read_thread(&w->thread->hpm, &w->counted);
}

static void drop(struct worker *w)
{
    thread_put(w->thread);
}

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
    /* The first loop is long enough to have the first timer interrupt of this CPU, with all that is
     * due by then, in it. */
    uint64_t first = instructions_of_loop(n);
    uint64_t once = instructions_of_loop(n), twice = instructions_of_loop(2 * n),
             each = (once + n / 2) / n;

    kprintf("# instructions of a loop: %llu at first, then %llu, of twice as many rounds %llu\n",
            (unsigned long long)first, (unsigned long long)once, (unsigned long long)twice);
    CHECK(each >= 2 && each <= 4);
    CHECK(first >= each * n && first < each * n + n / 50);
    /* interrupts and the reading itself are in it */
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

static uint64_t rounds_wanted;
static bool go;

/* Takes turns with its partner: each turn moves the line. */
static void ping_pong(void *arg)
{
    struct worker *w = arg;

    for (uint64_t turn = w->parity; turn < 2 * rounds_wanted; turn += 2) {
        while (__atomic_load_n(&w->line->word[0], __ATOMIC_ACQUIRE) != turn)
            arch_cpu_relax();
        __atomic_store_n(&w->line->word[0], turn + 1, __ATOMIC_RELEASE);
        w->steps++;
    }
}

static void play(struct worker pair[2], struct line *line, unsigned cpu0, unsigned cpu1)
{
    struct cpuset at[2] = {cpuset_one(cpu0), cpuset_one(cpu1)};

    line->word[0] = 0;
    for (unsigned i = 0; i < 2; i++) {
        pair[i] = (struct worker){.line = line, .parity = i};
        start_on(&pair[i], ping_pong, &at[i]);
    }
}

static uint64_t remote_stalls(const struct hpm_breakdown *b)
{
    return b->dcache[SOURCE_REMOTE_L2] + b->dcache[SOURCE_REMOTE_L3];
}

static unsigned far_cpu(void)
{
    unsigned cpu = 0;

    while (cpus[cpu].place.chip == cpus[0].place.chip)
        cpu++;
    return cpu;
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
        /* Reading the line stalls, writing it goes through the store buffer; the first turn finds
         * it near. */
        CHECK(stalls >= (rounds_wanted - 1) * latency);
        CHECK(stalls <= (rounds_wanted + rounds_wanted / 20) * latency);
        CHECK(remote_stalls(&near[i].counted) < rounds_wanted * latency / 20);
        drop(&far[i]);
        drop(&near[i]);
    }
}

/* As on a machine whose PMU does not count the stalls; here it is known. What is beyond it are the
 * loop's own cycles. */
static void what_another_chips_cache_takes_to_serve_an_access_can_be_measured(void)
{
    uint32_t measured = remote_latency(), latency = hpm_caps()->latency[SOURCE_REMOTE_L2];

    kprintf("# %u cycles, of which the cache's are %u\n", (unsigned)measured, (unsigned)latency);
    CHECK(measured >= latency && measured <= latency + latency / 10);
}

/* ---- Samples --------------------------------------------------------------------------------- */

static struct hpm_sample samples[512];
static const struct hpm_sampling kernel_remote = {
    .sources = SOURCES_REMOTE_CACHE, .period = 5, .jitter = 3, .kernel = true};

static void no_samples_are_left(void)
{
    struct hpm_sample_account a;

    hpm_sampling_stop();
    nap(10 * NS_PER_MS); /* the others have heard of it by now */
    while (hpm_sampling_take(samples, ARRAY_SIZE(samples)))
        ;
    hpm_sampling_account(&a);
    CHECK(a.taken == a.delivered + a.lost_hardware + a.lost_buffer);
}

static bool in_line(const struct line *line, const struct hpm_sample *s)
{
    return s->data - (vaddr_t)line < sizeof *line;
}

static bool all_ended(const struct worker *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!is_dead(w[i].thread))
            return false;
    return true;
}

static void samples_of_a_shared_line_belong_to_the_two_that_share_it(void)
{
    static struct line line;
    static struct worker pair[2];
    struct hpm_sample_account before, after;
    uint64_t in = 0, of[2] = {0}, wrong = 0;
    unsigned at[2] = {1, far_cpu()};

    hpm_sampling_account(&before);
    CHECK(hpm_sampling_start(&kernel_remote) == 0);
    nap(10 * NS_PER_MS);
    rounds_wanted = 20000;
    play(pair, &line, at[0], at[1]);
    for (bool more = true; more;) {
        more = !all_ended(pair, 2);
        nap(more ? NS_PER_MS / 4 : 10 * NS_PER_MS);
        for (size_t n; (n = hpm_sampling_take(samples, ARRAY_SIZE(samples)));)
            for (size_t i = 0; i < n; i++) {
                if (!in_line(&line, &samples[i]))
                    continue;
                in++;
                unsigned who = samples[i].tid == pair[1].thread->tid;
                of[who]++;
                wrong += samples[i].tid != pair[who].thread->tid || samples[i].cpu != at[who] ||
                         samples[i].user || !(SOURCES_REMOTE_CACHE >> samples[i].source & 1);
            }
    }
    hpm_sampling_account(&after);
    for (unsigned i = 0; i < 2; i++) {
        finish(&pair[i]);
        /* In each round the line crosses once to be read and once to be written; it may be read
         * once more before the partner's store, which waits in its store buffer, takes it away. */
        uint64_t expected = 2 * rounds_wanted / kernel_remote.period;
        CHECK(of[i] > expected - expected / 20 && of[i] < 3 * expected / 2 + expected / 20);
        drop(&pair[i]);
    }
    kprintf("# %llu samples of the line, %llu wrong, %llu others, %llu+%llu lost, %llu cycles\n",
            (unsigned long long)in, (unsigned long long)wrong,
            (unsigned long long)(after.taken - before.taken - in),
            (unsigned long long)(after.lost_hardware - before.lost_hardware),
            (unsigned long long)(after.lost_buffer - before.lost_buffer),
            (unsigned long long)(after.cycles - before.cycles));
    CHECK(wrong == 0);
    /* Whoever takes them may come late now and then; what is lost then is counted, and it is
     * little. */
    CHECK((after.lost_hardware + after.lost_buffer - before.lost_hardware - before.lost_buffer) *
              20 <
          in);
    no_samples_are_left();
}

/* Writes its line and gives way: the CPU changes threads all the time. */
static void write_and_yield(void *arg)
{
    struct worker *w = arg;

    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        sched_yield();
    for (; w->steps < rounds_wanted; w->steps++) {
        __atomic_fetch_add(&w->line->word[0], 1, __ATOMIC_RELAXED);
        sched_yield();
    }
}

/* Four pairs, one member of each on either of two CPUs, so that each CPU switches between four
 * threads. */
static void attribution_is_exact_at_switches(void)
{
    enum { PAIRS = 4 };
    static struct line line[PAIRS];
    static struct worker w[2 * PAIRS];
    unsigned at[2] = {1, far_cpu()};
    uint64_t in = 0, wrong = 0;

    struct hpm_sampling all = kernel_remote;
    all.period = 1;
    all.jitter = 0;
    CHECK(hpm_sampling_start(&all) == 0);
    nap(10 * NS_PER_MS);
    rounds_wanted = 2000;
    go = false;
    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        struct cpuset cpu = cpuset_one(at[i & 1]);
        w[i] = (struct worker){.line = &line[i / 2]};
        start_on(&w[i], write_and_yield, &cpu);
    }
    __atomic_store_n(&go, true, __ATOMIC_RELEASE);
    for (bool more = true; more;) {
        more = !all_ended(w, 2 * PAIRS);
        nap(more ? NS_PER_MS : 10 * NS_PER_MS);
        for (size_t n; (n = hpm_sampling_take(samples, ARRAY_SIZE(samples)));)
            for (size_t i = 0; i < n; i++)
                for (unsigned p = 0; p < PAIRS; p++)
                    if (in_line(&line[p], &samples[i])) {
                        in++;
                        wrong += samples[i].tid != w[2 * p].thread->tid &&
                                 samples[i].tid != w[2 * p + 1].thread->tid;
                        wrong += samples[i].cpu != at[samples[i].tid == w[2 * p + 1].thread->tid];
                    }
    }
    kprintf("# %llu samples of the lines, %llu wrong\n", (unsigned long long)in,
            (unsigned long long)wrong);
    CHECK(in > rounds_wanted);
    CHECK(wrong == 0);
    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        finish(&w[i]);
        drop(&w[i]);
    }
    no_samples_are_left();
}

/* Nobody takes any: buffers fill up, the rest is counted as lost. */
static void a_burst_that_nobody_takes_is_accounted_for(void)
{
    static struct line line;
    struct hpm_sampling all = kernel_remote;
    struct hpm_sample_account before, after;
    static struct worker pair[2];

    all.period = 1;
    all.jitter = 0;
    hpm_sampling_account(&before);
    CHECK(hpm_sampling_start(&all) == 0);
    rounds_wanted = 10000;
    play(pair, &line, 1, far_cpu());
    for (unsigned i = 0; i < 2; i++)
        finish(&pair[i]);
    hpm_sampling_account(&after);
    CHECK(after.lost_buffer > before.lost_buffer);
    size_t n;
    uint64_t last[CPU_MAX] = {0};
    while ((n = hpm_sampling_take(samples, ARRAY_SIZE(samples))))
        for (size_t i = 0; i < n; i++) {
            CHECK(samples[i].time >= last[samples[i].cpu]);
            last[samples[i].cpu] = samples[i].time;
        }
    no_samples_are_left();
    for (unsigned i = 0; i < 2; i++)
        drop(&pair[i]);
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

/* The machine's counts, and the caller's own at the very same reading. */
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

/* What all CPUs' counters have counted, each at its last reading, but for what is not yet handed
 * out. */
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
/* All there is at one reading of each CPU: none of the others does anything but in its idle thread,
 * which this waits for. */
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

    mix_everywhere(w, n, &line, 15); /* ends the rounds that began in another phase */
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
    {"a burst that nobody takes is accounted for", a_burst_that_nobody_takes_is_accounted_for},
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
