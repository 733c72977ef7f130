/*
 * Intel's architectural performance monitoring, versions 1 to 5 (SDM volume 3, "Architectural
 * Performance Monitoring"; CPUID leaf 0AH).
 *
 * Fixed counters count cycles and instructions; where they are missing, the last programmable ones
 * do. The other programmable counters are hpm's, except one that is kept for records of accesses
 * where these exist (intel_pebs.c). Counters are never stopped to be read: every reading adds the
 * increments since the one before, modulo the counter's width, to a 64-bit sum. So at most 2^width
 * events may pass between two readings, which is minutes with 40 bits.
 *
 * The cycle counter, or that of instructions, is the timer of a turn: when the events change it is
 * set so that it overflows a slice later. An armed programmable counter is set so that it overflows
 * where it is due. Only the few events between reading and writing a counter, two instructions of
 * the driver, are lost.
 */
#include "hpm/pmu/due.h"
#include "hpm/pmu/x86/intel_fixed.h"
#include "hpm/pmu/x86/intel_pebs.h"
#include "hpm/pmu/pmu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

/* counters start this far before they wrap, so that wrapping is exercised */
#define FIRST_WRAP ((uint64_t)1 << 25)
#define EXTRAS     EVENT_LATENCY

/* The register of each exclusion class that can be counted. */
static const uint32_t extra_msr[EXTRAS] = {
    [EVENT_OFFCORE_0] = MSR_OFFCORE_RSP_0,
    [EVENT_OFFCORE_1] = MSR_OFFCORE_RSP_1,
    [EVENT_FRONTEND] = MSR_PEBS_FRONTEND,
};

/* The registers of a counter. */
struct counter_regs {
    uint32_t read, write; /* RDPMC's number; MSR */
    uint64_t bit, mask;   /* bit in the global registers; mask of its width */
};

/* What is used of the PMU, on all CPUs. Written by probe. */
static struct {
    struct intel_ability has;
    unsigned programmable; /* counters below this are hpm's if they are in `usable` */
    uint32_t usable;
    struct counter_regs cycles, instructions; /* instructions.mask 0: not counted */
    bool fixed_cycles, fixed_instructions;
    struct pebs pebs;
} pmu;

struct counter {
    uint64_t raw, sum; /* the register at the last reading; all increments until then */
};

/* Accessed by its CPU only. */
static struct intel_cpu {
    struct counter cycles, instructions, event[HPM_COUNTERS_MAX];
    uint64_t slice, enabled;
    bool by_instructions;
    uint64_t extra[EXTRAS]; /* values of the registers */
    const struct event *programmed[HPM_COUNTERS_MAX];
    struct due due;
    struct intel_fixed fixed;
    uint64_t own_control; /* fields of cycles and instructions in IA32_FIXED_CTR_CTRL */
} ALIGNED(CACHE_LINE) intel_cpus[CPU_MAX];

static struct intel_cpu *intel_here(void)
{
    return &intel_cpus[this_cpu()->index];
}

/* ---- Finding out ----------------------------------------------------------------------------- */

/* Clears the set bits only: those that a version does not have are never set, and reserved. */
static uint64_t take_status(void)
{
    uint64_t ours = (INTEL_BIT(pmu.has.counters) - 1) | (uint64_t)pmu.has.fixed << 32 |
                    STATUS_BUFFER | STATUS_CHANGED | STATUS_FROZEN | STATUS_SGX |
                    (intel_has_metrics(&pmu.has) ? GLOBAL_METRICS : 0);
    uint64_t status = x86_read(MSR_GLOBAL_STATUS) & ours;

    if (status)
        x86_write(MSR_GLOBAL_CLEAR, status);
    return status;
}

/* Stops everything that firmware may have left running. Counters must not freeze by themselves at
 * an interrupt. */
static void reset_counters(void)
{
    const struct intel_ability *has = &pmu.has;

    if (intel_is_global(has))
        x86_write(MSR_GLOBAL_CTRL, 0);
    for (unsigned c = 0; c < has->counters; c++)
        x86_write(MSR_PERFEVTSEL0 + c, 0);
    if (has->fixed)
        x86_write(MSR_FIXED_CTR_CTRL, 0);
    if (pmu.pebs.sources)
        x86_write(MSR_PEBS_ENABLE, 0);
    if (!intel_is_global(has))
        return;
    if (has->pdcm) {
        uint64_t debug = x86_read(MSR_DEBUGCTL);
        if (debug & DEBUGCTL_FREEZE)
            x86_write(MSR_DEBUGCTL, debug & ~DEBUGCTL_FREEZE);
    }
    take_status();
}

static uint64_t ones(unsigned width)
{
    return width == 64 ? ~(uint64_t)0 : INTEL_BIT(width) - 1;
}

static struct counter_regs programmable_regs(unsigned c)
{
    return (struct counter_regs){c, MSR_PMC0 + c, INTEL_BIT(c), ones(pmu.has.width)};
}

static struct counter_regs fixed_regs(unsigned f)
{
    return (struct counter_regs){RDPMC_FIXED | f, MSR_FIXED_CTR0 + f, GLOBAL_FIXED(f),
                                 ones(pmu.has.fixed_width)};
}

/* Assigns a counter to cycles and one to instructions; the rest is hpm's. Returns false if cycles
 * cannot be counted. */
static bool divide_counters(void)
{
    const struct intel_ability *has = &pmu.has;
    unsigned left = has->counters;

    pmu.fixed_cycles = has->fixed >> FIXED_CYCLES & 1;
    pmu.fixed_instructions = has->fixed >> FIXED_INSTRUCTIONS & 1;
    if (!pmu.fixed_cycles && !intel_has_event(has, ARCH_CYCLES))
        return false;
    pmu.cycles = pmu.fixed_cycles ? fixed_regs(FIXED_CYCLES) : programmable_regs(--left);
    if (pmu.fixed_instructions) {
        pmu.instructions = fixed_regs(FIXED_INSTRUCTIONS);
    } else if (left && intel_has_event(has, ARCH_INSTRUCTIONS)) {
        pmu.instructions = programmable_regs(--left);
    }
    if (left <= PEBS_SAMPLER)
        pmu.pebs = (struct pebs){0};
    pmu.usable = (1u << MIN(left, (unsigned)HPM_COUNTERS_MAX)) - 1;
    if (pmu.pebs.sources) {
        struct counter_regs sampler = programmable_regs(PEBS_SAMPLER);
        pmu.pebs.counter_msr = sampler.write;
        pmu.pebs.counter_mask = sampler.mask;
        pmu.usable &= ~(1u << PEBS_SAMPLER);
    }
    pmu.programmable = pmu.usable ? log2_floor(pmu.usable) + 1 : 0;
    return true;
}

/* ---- Counting cycles and instructions -------------------------------------------------------- */

static uint64_t modes_of(unsigned modes)
{
    return (modes & EVENT_KERNEL ? EVTSEL_KERNEL : 0) | (modes & EVENT_USER ? EVTSEL_USER : 0);
}

static uint64_t fixed_of(unsigned f, unsigned modes, bool interrupts)
{
    return intel_fixed_field(f, modes) | FIXED_FIELD(f, interrupts ? FIXED_PMI : 0);
}

static uint64_t select_of(unsigned event, unsigned modes, bool interrupts)
{
    return modes_of(modes) | EVTSEL_EN | intel_architectural[event] | (interrupts ? EVTSEL_INT : 0);
}

/* Programs the counters of cycles and of instructions, of which `timer` interrupts; NULL: neither.
 * In version 1 they begin at once, else when they are enabled. Returns the value of
 * IA32_FIXED_CTR_CTRL. */
static uint64_t start_own(unsigned modes, const struct counter_regs *timer)
{
    uint64_t fixed = 0;

    if (pmu.fixed_instructions)
        fixed |= fixed_of(FIXED_INSTRUCTIONS, modes, timer == &pmu.instructions);
    else if (pmu.instructions.mask)
        x86_write(MSR_PERFEVTSEL0 + pmu.instructions.read,
                  select_of(ARCH_INSTRUCTIONS, modes, timer == &pmu.instructions));
    if (pmu.fixed_cycles)
        fixed |= fixed_of(FIXED_CYCLES, modes, timer == &pmu.cycles);
    else
        x86_write(MSR_PERFEVTSEL0 + pmu.cycles.read,
                  select_of(ARCH_CYCLES, modes, timer == &pmu.cycles));
    if (fixed)
        x86_write(MSR_FIXED_CTR_CTRL, fixed);
    return fixed;
}

static uint64_t own_bits(void)
{
    return pmu.cycles.bit | (pmu.instructions.mask ? pmu.instructions.bit : 0);
}

static uint64_t read_raw(const struct counter_regs *p)
{
    return x86_read_counter(p->read) & p->mask;
}

static uint64_t read_cycles(void)
{
    return read_raw(&pmu.cycles);
}

static uint64_t measure_rate(void)
{
    start_own(EVENT_USER | EVENT_KERNEL, NULL);
    if (intel_is_global(&pmu.has))
        x86_write(MSR_GLOBAL_CTRL, own_bits());
    uint64_t rate = pmu_cycle_rate(read_cycles, pmu.cycles.mask);
    reset_counters();
    return rate;
}

static int intel_probe(struct pmu_caps *caps)
{
    memset(&pmu, 0, sizeof pmu);
    if (!intel_ask(&pmu.has))
        return -ENODEV;
    const struct intel_ability *has = &pmu.has;
    pmu.pebs = pebs_find(&has->id, has->version, has->capabilities);
    reset_counters();
    if (!divide_counters()) {
        kprintf("hpm: intel: no counter counts cycles: not used\n");
        return -ENODEV;
    }
    uint64_t rate = measure_rate();
    if (!rate) {
        kprintf("hpm: intel: the cycle counter stands still: not used\n");
        return -ENODEV;
    }
    *caps = (struct pmu_caps){
        .counters = pmu.programmable,
        .instructions = pmu.instructions.mask,
        .arms = pmu.usable,
        .user_reads = true,
        .slices_by_instructions = pmu.instructions.mask,
        .cycles_per_tick = rate,
        .line_bytes = LINE_BYTES(x86_leaf(LEAF_FEATURES, 0).ebx),
        .samplers = 1,
        .sample_walks = pmu.pebs.model && pmu.pebs.model->latency_event,
        .sample_latency = pmu.pebs.model && pmu.pebs.model->latency_event,
        .sample_sources = pmu.pebs.sources,
        .sample_records_max = pmu.pebs.sources ? UINT16_MAX + 1 : 0,
        .record_bytes = pmu.pebs.sources ? pmu.pebs.record->size : 0,
    };
    caps->events.table = event_table_for(&has->id);
    caps->events.counters = caps->events.table ? pmu.programmable : 0;
    caps->events.fixed = intel_fixed_find(has);
    caps->events.lacks = intel_lacks(has, pmu.usable);
    ksnprintf(caps->about, sizeof caps->about, "version %u, %u bits%s", has->version, has->width,
              intel_has_metrics(has) ? ", PERF_METRICS" : "");
    return 0;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Only 0 and negative numbers of at most 31 bits are written to counters, so IA32_A_PMCx, which not
 * all processors have, are not needed. */
#define DISTANCE_MAX (INTEL_BIT(31) - 1)

/* Returns whether this CPU has all that is used. Cores of one machine may differ. */
static bool suffices(const struct pmu_setup *setup)
{
    struct intel_ability here;
    const struct intel_ability *all = &pmu.has;

    if (!intel_ask(&here) || here.id.family != all->id.family || here.id.model != all->id.model ||
        here.version != all->version || here.counters != all->counters ||
        here.width != all->width || here.fixed != all->fixed ||
        here.fixed_width != all->fixed_width || here.capabilities != all->capabilities ||
        here.force_abort != all->force_abort)
        return false;
    struct event_pmu events = {.lacks = intel_lacks(&here, pmu.usable)};
    for (unsigned i = 0; i < setup->event_count; i++)
        if (setup->events[i].counters && !event_counts(&events, setup->events[i].config))
            return false;
    return (pmu.fixed_cycles || intel_has_event(&here, ARCH_CYCLES)) &&
           (pmu.fixed_instructions || !pmu.instructions.mask ||
            intel_has_event(&here, ARCH_INSTRUCTIONS));
}

static void set_counter(const struct counter_regs *p, struct counter *c, uint64_t v)
{
    c->raw = v & p->mask;
    x86_write(p->write, c->raw);
}

/* Returns the counter that ends slices; NULL: there are none. */
static const struct counter_regs *timer_of(const struct intel_cpu *a)
{
    return !a->slice ? NULL : a->by_instructions ? &pmu.instructions : &pmu.cycles;
}

/* Begins a slice. To be called right after the timer was read. */
static void set_timer(struct intel_cpu *a)
{
    const struct counter_regs *timer = timer_of(a);

    set_counter(timer, a->by_instructions ? &a->instructions : &a->cycles, -a->slice);
    if (intel_is_global(&pmu.has) && (x86_read(MSR_GLOBAL_STATUS) & timer->bit))
        x86_write(MSR_GLOBAL_CLEAR, timer->bit);
}

static int intel_cpu_init(const struct cpu *cpu, const struct pmu_setup *setup)
{
    struct intel_cpu *a = &intel_cpus[cpu->index];

    ASSERT(setup->slice <= DISTANCE_MAX);
    if (!suffices(setup))
        return -ENODEV;
    reset_counters();
    if (pmu.has.force_abort)
        x86_write(MSR_TSX_FORCE_ABORT, TSX_FORCE_ABORT);
    *a = (struct intel_cpu){.slice = setup->slice,
                            .by_instructions = setup->by_instructions,
                            .enabled = own_bits() | pmu.usable};
    for (unsigned c = 0; c < pmu.programmable; c++) {
        struct counter_regs p = programmable_regs(c);
        if (pmu.usable >> c & 1)
            set_counter(&p, &a->event[c], -FIRST_WRAP);
    }
    if (pmu.instructions.mask)
        set_counter(&pmu.instructions, &a->instructions, -FIRST_WRAP);
    set_counter(&pmu.cycles, &a->cycles, 0);
    if (a->slice)
        set_timer(a);
    intel_fixed_init(&a->fixed);
    if (setup->records) {
        pebs_cpu_init(&pmu.pebs, cpu->index, setup);
        a->enabled |= INTEL_BIT(PEBS_SAMPLER);
    }
    a->own_control = start_own(setup->modes, timer_of(a));
    if (intel_is_global(&pmu.has))
        x86_write(MSR_GLOBAL_CTRL, a->enabled);
    return 0;
}

static void add_counter(const struct counter_regs *p, struct counter *c)
{
    uint64_t now = read_raw(p);

    c->sum += (now - c->raw) & p->mask;
    c->raw = now;
}

/* Returns the counters, as bits of the global registers, that must count another event. */
static uint64_t changed(const struct intel_cpu *a, const struct event *const *next)
{
    uint64_t set = intel_fixed_changed(&a->fixed, next + HPM_COUNTERS_MAX);

    for (unsigned c = 0; c < pmu.programmable; c++)
        set |= (uint64_t)(a->programmed[c] != next[c]) << c;
    return set;
}

static void stop_counters(const struct intel_cpu *a, uint64_t set)
{
    if (intel_is_global(&pmu.has)) {
        x86_write(MSR_GLOBAL_CTRL, (a->enabled | a->fixed.bits) & ~set);
        return;
    }
    for (unsigned c = 0; c < pmu.programmable; c++)
        if (set >> c & 1)
            x86_write(MSR_PERFEVTSEL0 + c, 0);
}

/* Writes the additional register of the event. No other event that is being counted needs another
 * value there: they would exclude each other. */
static void write_extra(struct intel_cpu *a, const struct event *e)
{
    if (e->exclusion == EVENT_SHARES_NOTHING || a->extra[e->exclusion] == e->extra)
        return;
    a->extra[e->exclusion] = e->extra;
    x86_write(extra_msr[e->exclusion], e->extra);
}

/* Disarms all counters. Counters of the set are stopped and must not interrupt for their next
 * event. */
static void disarm_counters(struct intel_cpu *a, uint64_t set)
{
    for (uint64_t left = a->due.armed & set; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctzll(left);
        struct counter_regs p = programmable_regs(c);
        set_counter(&p, &a->event[c], 0);
    }
    a->due.armed = 0;
}

/* Programs the counters of the set, which are stopped. Each may interrupt, for it does so only if
 * it was armed or, rarely, has wrapped. */
static void program_counters(struct intel_cpu *a, const struct event *const *next, uint64_t set)
{
    for (unsigned c = 0; c < pmu.programmable; c++) {
        if (!(set >> c & 1))
            continue;
        a->programmed[c] = next[c];
        if (next[c])
            write_extra(a, next[c]);
        x86_write(MSR_PERFEVTSEL0 + c,
                  next[c] ? next[c]->config | modes_of(next[c]->modes) | EVTSEL_INT | EVTSEL_EN
                          : 0);
    }
    if (set & ~(uint64_t)UINT32_MAX)
        x86_write(MSR_FIXED_CTR_CTRL,
                  a->own_control | intel_fixed_program(&a->fixed, next + HPM_COUNTERS_MAX));
    if (intel_is_global(&pmu.has))
        x86_write(MSR_GLOBAL_CTRL, a->enabled | a->fixed.bits);
}

static void intel_latch(struct pmu_latch *out, const struct hpm_programme *next)
{
    struct intel_cpu *a = intel_here();
    uint64_t set = next ? changed(a, next->event) : 0;

    if (set)
        stop_counters(a, set);
    add_counter(&pmu.cycles, &a->cycles);
    if (next && a->slice && !a->by_instructions)
        set_timer(a);
    if (pmu.instructions.mask)
        add_counter(&pmu.instructions, &a->instructions);
    if (next && a->slice && a->by_instructions)
        set_timer(a);
    for (unsigned c = 0; c < pmu.programmable; c++) {
        struct counter_regs p = programmable_regs(c);
        if (pmu.usable >> c & 1)
            add_counter(&p, &a->event[c]);
        out->count[c] = a->event[c].sum;
    }
    intel_fixed_read(&a->fixed, out->count + HPM_COUNTERS_MAX);
    if (next)
        disarm_counters(a, set);
    if (set)
        program_counters(a, next->event, set);
    out->cycles = a->cycles.sum;
    out->instructions = a->instructions.sum;
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

static void aim_counter(struct intel_cpu *a, unsigned c, uint64_t due)
{
    struct counter_regs p = programmable_regs(c);

    add_counter(&p, &a->event[c]);
    due_set(&a->due, c, due);
    set_counter(&p, &a->event[c],
                -due_distance(&a->due, c, a->event[c].sum, X86_DISTANCE_LEAST, DISTANCE_MAX));
}

static void intel_arm(unsigned c, uint64_t due)
{
    struct intel_cpu *a = intel_here();

    ASSERT(pmu.usable >> c & 1 && a->programmed[c]);
    aim_counter(a, c, due);
}

/* Returns PMU_COUNTER bits of the armed counters in `overflown` that have reached their counts.
 * Flags may be older than the counter's setting, so only its count decides. A counter that has come
 * a part of the way is set again. */
static unsigned take_due(struct intel_cpu *a, uint32_t overflown)
{
    unsigned news = 0;

    for (uint32_t left = a->due.armed & overflown; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        struct counter_regs p = programmable_regs(c);
        add_counter(&p, &a->event[c]);
        if (due_reached(&a->due, c, a->event[c].sum))
            news |= PMU_COUNTER << c;
        else if (!(a->event[c].raw >> (pmu.has.width - 1)))
            aim_counter(a, c, a->due.at[c]);
    }
    return news;
}

/* Returns whether the slice is over, for version 1, which does not report overflows: the highest
 * bit of the timer is 0 then, for slices are short. */
static bool slice_over(const struct intel_cpu *a)
{
    return a->slice && !(read_raw(timer_of(a)) >> (pmu.has.width - 1) & 1);
}

/* Returns the reasons of the interrupt, and clears them all. If an earlier reading has handled the
 * reason of an interrupt, no bit is set. */
static unsigned intel_interrupted(void)
{
    struct intel_cpu *a = intel_here();

    x86_unmask_counters();
    if (!intel_is_global(&pmu.has))
        return take_due(a, UINT32_MAX) | (slice_over(a) ? PMU_SLICE : 0);
    uint64_t status = take_status();
    return take_due(a, (uint32_t)status) |
           (a->slice && (status & timer_of(a)->bit) ? PMU_SLICE : 0) |
           (status & STATUS_BUFFER ? PMU_RECORDS : 0);
}

/* ---- User mode ------------------------------------------------------------------------------- */

static unsigned bits_of(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

static void intel_user(unsigned counter, struct hpm_user_register *out)
{
    const struct intel_cpu *a = intel_here();
    bool cycles = counter == PMU_CYCLES;

    *out = (struct hpm_user_register){0};
    if (cycles || (counter == PMU_INSTRUCTIONS && pmu.instructions.mask)) {
        const struct counter_regs *p = cycles ? &pmu.cycles : &pmu.instructions;
        *out = (struct hpm_user_register){p->read + 1, bits_of(p->mask),
                                          cycles ? a->cycles.raw : a->instructions.raw};
    } else if (counter < HPM_COUNTERS_MAX && (pmu.usable >> counter & 1)) {
        *out = (struct hpm_user_register){counter + 1, pmu.has.width, a->event[counter].raw};
    } else if (counter >= HPM_COUNTERS_MAX && counter < HPM_COUNTERS_ALL) {
        intel_fixed_user(&a->fixed, counter - HPM_COUNTERS_MAX, out);
    }
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint32_t intel_sample(UNUSED unsigned sampler, const struct hpm_sampling *config)
{
    return pebs_sample(this_cpu()->index, config);
}

static uint64_t intel_waiting(void)
{
    return pebs_waiting(this_cpu()->index);
}

static size_t intel_drain(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX])
{
    return pebs_drain(this_cpu()->index, out, max, lost);
}

const struct pmu_ops pmu_intel = {
    .name = "intel",
    .probe = intel_probe,
    .cpu_init = intel_cpu_init,
    .image = pmu_no_image,
    .latch = intel_latch,
    .arm = intel_arm,
    .user = intel_user,
    .open = x86_open_counters,
    .tag = pmu_no_tag,
    .sample = intel_sample,
    .waiting = intel_waiting,
    .drain = intel_drain,
    .interrupted = intel_interrupted,
    .mark = pmu_no_mark,
};
