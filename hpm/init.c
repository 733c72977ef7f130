/* Boot: which PMU there is, what of the breakdown it counts, and each CPU's part. */
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/printf.h"
#include "kernel/mem/mem.h"

#define RING_MIN 16

struct hpm_state hpm_state HOT;
uint64_t hpm_slice_cycles = 1000000;
uint64_t hpm_print_ms;
static struct hpm_caps caps;

static uint64_t hpm_pmu = 1, hpm_modes, hpm_breakdown = 1, hpm_counters = HPM_COUNTERS_MAX;

static const char *const pmu_choices[] = {"none", "auto", NULL};
enum { MODES_BOTH, MODES_USER, MODES_KERNEL };
static const char *const mode_choices[] = {"both", "user", "kernel", NULL};
static const uint8_t modes_of[] = {EVENT_USER | EVENT_KERNEL, EVENT_USER, EVENT_KERNEL};
static uint64_t hpm_slices;
static const char *const slice_choices[] = {"cycles", "instructions", NULL};
const struct arg hpm_args[] = {
    {.name = "hpm.pmu",
     .type = ARG_CHOICE,
     .value = &hpm_pmu,
     .choices = pmu_choices,
     .help = "performance counters: use what is found, or none"},
    {.name = "hpm.modes",
     .type = ARG_CHOICE,
     .value = &hpm_modes,
     .choices = mode_choices,
     .help = "count in user mode, in kernel mode, or in both"},
    {.name = "hpm.slice_cycles",
     .type = ARG_U64,
     .value = &hpm_slice_cycles,
     .min = 10000,
     .max = 1000000000,
     .help = "cycles, or instructions, each group of events is counted at a time"},
    {.name = "hpm.slices",
     .type = ARG_CHOICE,
     .value = &hpm_slices,
     .choices = slice_choices,
     .help = "what a group's slice is measured in, and its counts are scaled by"},
    {.name = "hpm.breakdown",
     .type = ARG_BOOL,
     .value = &hpm_breakdown,
     .help = "count the breakdown's events all the time; without them policy cluster sees nothing"},
    {.name = "hpm.accounts",
     .type = ARG_BOOL,
     .value = &hpm_accounts,
     .help = "count interrupts and monitoring apart, not to whom they interrupt: two more readings "
             "for each"},
    {.name = "hpm.counters",
     .type = ARG_U64,
     .value = &hpm_counters,
     .min = 1,
     .max = HPM_COUNTERS_MAX,
     .help = "programmable counters used at most: with fewer, groups are smaller and more"},
    {.name = "hpm.print_ms",
     .type = ARG_U64,
     .value = &hpm_print_ms,
     .max = 3600000,
     .help = "interval at which the machine's stall breakdown is printed, milliseconds; 0: never"},
    {.name = "hpm.records",
     .type = ARG_U64,
     .value = &hpm_records,
     .min = RING_MIN,
     .max = 65536,
     .help = "sampled accesses the hardware can record on each CPU before they are taken over"},
    {.name = "hpm.samples",
     .type = ARG_U64,
     .value = &hpm_samples,
     .min = RING_MIN,
     .max = 65536,
     .help = "sampled accesses each CPU can keep for who asked for them"},
    {.name = "hpm.primes",
     .type = ARG_BOOL,
     .value = &hpm_primes,
     .help =
         "samples are random primes apart, around the period; off: the period, in step with loops"},
    {.name = NULL},
};

/* ---- Set-up ---- */

/* Names the event that is always counted. Its own counter needs no selector, but a session that
 * asks for the event by name must get that counter. */
static void find_always(unsigned which, const char *name)
{
    struct event *event = &hpm_state.always[which];
    char why[1];

    if (!hpm_state.pmu.events.table ||
        event_parse(&hpm_state.pmu.events, name, event, why, sizeof why))
        *event = (struct event){.config = UINT64_MAX - which, .fixed = EVENT_NO_FIXED};
    event->modes = modes_of[hpm_modes];
}

/* Finds the figures of the breakdown that this PMU can count, in the modes asked for. */
static void find_events(void)
{
    for (unsigned e = 0; e < HPM_EVENTS; e++) {
        struct event *event = &hpm_state.event[e];
        if ((hpm_breakdown || exact_wanted()) && hpm_state.pmu.events.counters &&
            figure_event(&hpm_state.pmu.events, e, event))
            event->modes = modes_of[hpm_modes];
        else
            event->counters = 0;
    }
    find_always(0, "cycles");
    if (hpm_state.pmu.instructions)
        find_always(1, "instructions");
}

/* Returns a mask: bit i is set if figure first + i is counted. */
static uint32_t counted_figures(unsigned first, unsigned count)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < count; i++)
        mask |= (uint32_t)(hpm_state.figures.event[first + i] != GROUP_NIL) << i;
    return mask;
}

static void publish_caps(const struct pmu_ops *ops)
{
    const struct pmu_caps *pmu = &hpm_state.pmu;

    caps = (struct hpm_caps){
        .present = true,
        .can_sample = pmu->sample_sources != 0,
        .sampled = pmu->sample_sources,
        .instructions = pmu->instructions,
        .user = hpm_modes != MODES_KERNEL,
        .kernel = hpm_modes != MODES_USER,
        .apart = hpm_accounts,
        .name = ops->name,
        .counters = pmu->counters,
        .sample_period_min = MAX(pmu->sample_period_min, 1u),
        .line_bytes = pmu->line_bytes,
    };
    memcpy(caps.latency, pmu->latency, sizeof caps.latency);
    caps.stall = counted_figures(EVENT_STALL(0), STALL_COUNT);
    caps.dcache = counted_figures(EVENT_DCACHE(0), SOURCE_COUNT);
    caps.served = counted_figures(EVENT_SERVED(0), SOURCE_COUNT) | counted_figures(EVENT_LOADS, 1)
                                                                       << SOURCE_L1;
    caps.missed = counted_figures(EVENT_MISS(0), MISS_COUNT);
    caps.remote = caps.dcache & SOURCES_REMOTE_CACHE ? HPM_MEASURED : HPM_UNKNOWN;
}

static void print_found(void)
{
    static const char *const modes[] = {"both", "user", "kernel"};
    const char *about = hpm_state.pmu.about;
    char missing[160];

    kprintf(
        "hpm: pmu=%s counters=%u fixed=%u groups=%u slice=%llu unit=%s modes=%s records=%s%s%s\n",
        caps.name, caps.counters, caps.instructions ? 2 : 1, hpm_state.plan->mux.rounds.groups,
        (unsigned long long)hpm_slice_cycles, slice_choices[hpm_state.by_instructions],
        modes[hpm_modes], caps.can_sample ? "yes" : "no", about[0] ? ": " : "", about);
    if (exact_wanted())
        kprintf("hpm: event=paused figures=breakdown counts=%u: telemetry=quanta counts stalls all "
                "the time; the breakdown's other figures and what needs them wait, as policy "
                "cluster; trace.counts=none leaves them\n",
                exact_taken());
    report_missing(missing, sizeof missing);
    if (missing[0])
        kprintf("hpm: event=lacks pmu=%s figures=%s: not counted\n", caps.name, missing);
    if (!event_vendors)
        kprintf("hpm: " EVENT_NO_VENDORS "\n");
}

/* Limits the size of a ring that every CPU has, so that all CPUs' rings together take at most a
 * 32nd of memory. */
static void limit_ring(const char *name, uint64_t *entries, unsigned cpus, size_t bytes)
{
    struct frame_stats frames;

    frame_stats(&frames);
    uint64_t most = bytes ? frames.total_pages * PAGE_SIZE / 32 / cpus / bytes : *entries;
    if (*entries <= most)
        return;
    kprintf(
        "hpm: event=limited argument=%s value=%llu limit=%llu: the %u CPUs' together take a 32nd "
        "of memory at most\n",
        name, (unsigned long long)*entries, (unsigned long long)MAX(most, (uint64_t)RING_MIN),
        cpus);
    *entries = MAX(most, (uint64_t)RING_MIN);
}

/* Chooses the PMU, and what is counted. */
static void find_pmu(unsigned cpus)
{
    const struct pmu_ops *ops = NULL;

    limit_ring("hpm.samples", &hpm_samples, cpus, sizeof(struct hpm_sample));
    caps = (struct hpm_caps){.name = "none"};
    for (unsigned i = 0; hpm_pmu && pmu_backends[i] && !ops; i++)
        if (pmu_backends[i]->probe(&hpm_state.pmu) == 0)
            ops = pmu_backends[i];
    if (!ops) {
        hpm_state.pmu = (struct pmu_caps){.cycles_per_tick = PMU_RATE_ONE};
        kprintf(
            "hpm: event=none reason=%s: no stall breakdown, samples by time and entries only, all "
            "else works\n",
            hpm_pmu ? "no-device" : "hpm.pmu");
        return;
    }
    limit_ring("hpm.records", &hpm_records, cpus, hpm_state.pmu.record_bytes);
    hpm_state.pmu.counters = MIN(hpm_state.pmu.counters, (unsigned)hpm_counters);
    hpm_state.pmu.events.counters = MIN(hpm_state.pmu.events.counters, (unsigned)hpm_counters);
    for (uint32_t left = hpm_state.pmu.events.fixed; left; left &= left - 1)
        hpm_state.fixed++;
    ASSERT(hpm_state.fixed <= HPM_FIXED_MAX);
    hpm_state.by_instructions = hpm_slices && hpm_state.pmu.slices_by_instructions;
    if (hpm_slices && !hpm_state.by_instructions)
        kprintf("hpm: %s: slices cannot end by instructions here: they end by cycles\n", ops->name);
    struct event_identity processor = pmu_identity();
    const struct event_table *codes = event_table_for(&processor);
    hpm_state.codes = codes == hpm_state.pmu.events.table ? NULL : codes;
    find_events();
    int err = plans_init(ops);
    if (err) {
        kprintf("hpm: %s: its events cannot be arranged on %u counters (error %d): not used\n",
                ops->name, hpm_state.pmu.counters, -err);
        return;
    }
    hpm_state.ops = ops;
    publish_caps(ops);
    access_init();
    print_found();
}

void hpm_init(unsigned cpus)
{
    find_pmu(cpus);
    frequency_init();
}

/* Starts the counters of `cpu`. If they lack what the first CPU's have, they are not used; time and
 * entries are sampled all the same. */
static void begin_counting(struct cpu *cpu, struct hpm_cpu *hpm)
{
    struct pmu_setup setup = {.slice = hpm_slice_cycles,
                              .by_instructions = hpm_state.by_instructions,
                              .modes = modes_of[hpm_modes],
                              .events = hpm_state.event,
                              .event_count = HPM_EVENTS};

    if (sampler_init(hpm, &setup)) {
        kprintf("hpm: no memory for the samples of CPU %u: lower hpm.records or hpm.samples: it is "
                "not counted\n",
                cpu->index);
        sampler_free(&setup);
        return;
    }
    int err = hpm_state.ops->cpu_init(cpu, &setup);
    if (err == -ENODEV) {
        kprintf("hpm: event=not-counted cpu=%u: its counters lack what the first CPU's have\n",
                cpu->index);
        sampler_free(&setup);
        return;
    }
    if (err)
        panic("hpm: the counters of CPU %u do not work: error %d", cpu->index, -err);
    counting_start(hpm, cpu->index + 1);
}

void hpm_cpu_init(struct cpu *cpu)
{
    unsigned order = 0;
    paddr_t pa;

    while (PAGE_SIZE << order < sizeof(struct hpm_cpu))
        order++;
    if (frame_alloc(order, &pa))
        panic("hpm: no memory for CPU %u", cpu->index);
    struct hpm_cpu *hpm = phys_to_virt(pa);
    memset(hpm, 0, sizeof *hpm);
    if (hpm_state.ops)
        begin_counting(cpu, hpm);
    hpm->began = hpm->idle_since = arch_ticks();
    cpu->hpm = hpm;
    frequency_begin(hpm);
}

void remote_estimate(uint32_t latency)
{
    hpm_state.figures.remote_latency = latency;
    caps.latency[SOURCE_REMOTE_L2] = caps.latency[SOURCE_REMOTE_L3] = latency;
    caps.remote = HPM_ESTIMATED;
    kprintf("hpm: %s: stalls for other chips' caches are estimated: accesses x %u cycles\n",
            caps.name, (unsigned)latency);
}

const struct hpm_caps *hpm_caps(void)
{
    return &caps;
}

void hpm_thread_init(struct hpm_thread *t, uint32_t tid, uint32_t pid)
{
    *t = (struct hpm_thread){.tid = tid, .pid = pid};
}
