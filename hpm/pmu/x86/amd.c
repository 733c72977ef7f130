/*
 * The core counters of AMD's processors from Zen 2 on (APM volume 2, 13.2; the PPRs' "Core
 * Performance Monitor Counters").
 *
 * All counters are alike: the last two of those in use count instructions and cycles, the others
 * are the programmable ones. They have 48 bits and are never stopped to be read. Every reading adds
 * the increments since the one before, so they may wrap unnoticed, which takes hours.
 *
 * The cycle counter, or that of instructions, is the timer of a turn: when the events change it is
 * set so that it overflows a slice later. It has overflowed if its top bit is clear, whatever the
 * flags say, so a late interrupt finds nothing. An armed programmable counter is set so that it
 * overflows where it is due. Only the few events between reading and writing a counter are lost.
 */
#include "hpm/pmu/x86/amd_ibs.h"
#include "hpm/pmu/x86/amd_regs.h"
#include "hpm/pmu/due.h"
#include "hpm/pmu/pmu.h"
#include "hpm/pmu/x86/x86_regs.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

#define FIRST_FAMILY 0x17
#define USED_MAX     (HPM_COUNTERS_MAX + 2)

/* What a CPU reports of its counters. */
struct ability {
    unsigned counters;
    bool global; /* PerfMonV2: one register stops and starts all counters */
    struct ibs_ability ibs;
};

/* What is used of that, on all CPUs. Written by probe. */
static struct {
    struct ability has;
    /* Counters: the number that hpm programs, those of instructions and of cycles, and the number
     * of all. */
    unsigned programmable, instructions, cycles, used;
} pmu;

/* Accessed by its CPU only. */
static struct amd_cpu {
    struct {
        uint64_t raw, sum; /* the register at the last reading; all increments until then */
    } counter[USED_MAX];
    uint64_t slice;
    unsigned timer;                    /* counter that ends slices */
    uint64_t select[HPM_COUNTERS_MAX]; /* without SELECT_EN; 0: it counts nothing */
    struct due due;
} ALIGNED(CACHE_LINE) amd_cpus[CPU_MAX];

static struct amd_cpu *amd_here(void)
{
    return &amd_cpus[this_cpu()->index];
}

/* ---- Finding out ----------------------------------------------------------------------------- */

static uint64_t all(unsigned counters)
{
    return BIT_OF(counters) - 1;
}

/* Stops all counters of the CPU. */
static void reset_counters(const struct ability *has)
{
    if (has->global)
        x86_write(MSR_GLOBAL_CTL, 0);
    for (unsigned c = 0; c < has->counters; c++)
        x86_write(MSR_SELECT(c), 0);
    if (has->global)
        x86_write(MSR_GLOBAL_CLEAR, all(has->counters) | GLOBAL_FROZEN);
}

/* Reads what this CPU has. Its counters stand still from then on. */
static bool ask_ability(struct ability *out)
{
    struct event_identity id = pmu_identity();

    memset(out, 0, sizeof *out);
    if (id.vendor != AMD_VENDOR || id.family < FIRST_FAMILY)
        return false;
    uint32_t last = x86_leaf(LEAF_EXTENDED, 0).eax;
    uint32_t features = last < LEAF_FEATURES ? 0 : x86_leaf(LEAF_FEATURES, 0).ecx;
    if (!(features & ECX_PERF_CORE))
        return false;
    struct x86_leaf monitoring = {0};
    if (last >= LEAF_PERFMON)
        monitoring = x86_leaf(LEAF_PERFMON, 0);
    out->global = monitoring.eax & EAX_PERFMON_V2;
    out->counters = EBX_COUNTERS(monitoring.ebx) ? EBX_COUNTERS(monitoring.ebx) : AMD_COUNTERS;
    out->ibs = ibs_ask(id.family, id.model, features, last);
    reset_counters(out);
    return true;
}

static uint64_t mode_bits(unsigned modes)
{
    return (modes & EVENT_USER ? SELECT_USER : 0) | (modes & EVENT_KERNEL ? SELECT_KERNEL : 0);
}

/* Selects the event of counter c. Events are selected while the counter is disabled, and enabled by
 * another write (PPR, "Core Performance Monitor Counters"). */
static void select_event(unsigned c, uint64_t select)
{
    x86_write(MSR_SELECT(c), select);
    x86_write(MSR_SELECT(c), select | SELECT_EN);
}

static uint64_t read_first(void)
{
    return x86_read(MSR_COUNTER(0));
}

static uint64_t measure_rate(void)
{
    x86_write(MSR_COUNTER(0), 0);
    select_event(0, EVENT_CYCLES | SELECT_USER | SELECT_KERNEL);
    if (pmu.has.global)
        x86_write(MSR_GLOBAL_CTL, 1);
    uint64_t rate = pmu_cycle_rate(read_first, AMD_COUNT(UINT64_MAX));
    reset_counters(&pmu.has);
    return rate;
}

static void describe_counters(char *buf, size_t size)
{
    const struct ability *has = &pmu.has;

    ksnprintf(buf, size, "%s%u bits%s", has->global ? "PerfMonV2, " : "", AMD_WIDTH,
              !has->ibs.usable  ? ""
              : has->ibs.filter ? ", IBS with L3 filter"
                                : ", IBS");
}

static int amd_probe(struct pmu_caps *caps)
{
    memset(&pmu, 0, sizeof pmu);
    if (!ask_ability(&pmu.has))
        return -ENODEV;
    if (pmu.has.counters < 2) {
        kprintf("hpm: amd: too few counters: not used\n");
        return -ENODEV;
    }
    uint64_t rate = measure_rate();
    if (!rate) {
        kprintf("hpm: amd: the cycle counter stands still: not used\n");
        return -ENODEV;
    }
    struct event_identity id = pmu_identity();
    pmu.used = MIN(pmu.has.counters, (unsigned)USED_MAX);
    pmu.programmable = pmu.instructions = pmu.used - 2;
    pmu.cycles = pmu.used - 1;
    *caps = (struct pmu_caps){
        .counters = pmu.programmable,
        .instructions = true,
        .arms = pmu.programmable,
        .user_reads = true,
        .slices_by_instructions = true,
        .cycles_per_tick = rate,
        .line_bytes = ECX_L1D_LINE(x86_leaf(LEAF_L1, 0).ecx),
    };
    caps->events.table = event_table_for(&id);
    caps->events.counters = caps->events.table ? pmu.programmable : 0;
    ibs_describe(&pmu.has.ibs, caps);
    describe_counters(caps->about, sizeof caps->about);
    return 0;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Returns whether this CPU, which has its counters stopped, has all that is used. */
static bool suffices(void)
{
    struct ability here;

    return ask_ability(&here) && here.counters >= pmu.used && here.global == pmu.has.global &&
           here.ibs.usable == pmu.has.ibs.usable && here.ibs.filter == pmu.has.ibs.filter;
}

static void set_counter(struct amd_cpu *a, unsigned c, uint64_t v)
{
    a->counter[c].raw = AMD_COUNT(v);
    x86_write(MSR_COUNTER(c), AMD_COUNT(v));
}

/* Begins a slice. To be called right after the timer was read. */
static void set_timer(struct amd_cpu *a)
{
    set_counter(a, a->timer, -a->slice);
}

static uint64_t interrupts(const struct amd_cpu *a, unsigned c)
{
    return a->slice && a->timer == c ? SELECT_INT : 0;
}

static int amd_cpu_init(const struct cpu *cpu, const struct pmu_setup *setup)
{
    struct amd_cpu *a = &amd_cpus[cpu->index];
    uint64_t modes = mode_bits(setup->modes);

    if (!suffices())
        return pmu.has.ibs.usable ? -EIO : -ENODEV;
    *a = (struct amd_cpu){.slice = setup->slice,
                          .timer = setup->by_instructions ? pmu.instructions : pmu.cycles};
    for (unsigned c = 0; c < pmu.used; c++)
        set_counter(a, c, -AMD_FIRST_WRAP);
    if (a->slice)
        set_timer(a);
    ibs_cpu_init(cpu, &pmu.has.ibs);
    select_event(pmu.instructions, EVENT_RETIRED | modes | interrupts(a, pmu.instructions));
    select_event(pmu.cycles, EVENT_CYCLES | modes | interrupts(a, pmu.cycles));
    if (pmu.has.global)
        x86_write(MSR_GLOBAL_CTL, all(pmu.used));
    return 0;
}

static void add_counter(struct amd_cpu *a, unsigned c)
{
    uint64_t now = x86_read(MSR_COUNTER(c));

    a->counter[c].sum += AMD_COUNT(now - a->counter[c].raw);
    a->counter[c].raw = now;
}

/* Adds the counter of cycles or of instructions. */
static void add_own(struct amd_cpu *a, unsigned c, bool turn)
{
    add_counter(a, c);
    if (turn && a->slice && a->timer == c)
        set_timer(a);
}

/* Returns the selector of counter c: that of its event, or the upper half of the wide event below
 * it, for which hpm has left it free. Each counter may interrupt, for it does so only if it was
 * armed or, rarely, has wrapped. */
static uint64_t select_of(const struct event *const *next, unsigned c)
{
    const struct event *below = c ? next[c - 1] : NULL;
    bool merged = below && below->wide;

    ASSERT(!next[c] || (!merged && (!next[c]->wide || (!(c & 1) && c + 1 < pmu.programmable))));
    if (next[c])
        return next[c]->config | mode_bits(next[c]->modes) | SELECT_INT;
    return merged ? EVENT_MERGE : 0;
}

/* Returns the counters, as a set, that must count another event. */
static uint64_t changed(const struct amd_cpu *a, const struct event *const *next)
{
    uint64_t set = 0;

    for (unsigned c = 0; c < pmu.programmable; c++)
        set |= (uint64_t)(a->select[c] != select_of(next, c)) << c;
    return set;
}

/* Stops the counters of the set: they have counted their old events when this returns, and count
 * the next ones from start_counters() on. With the global register they do so together. Of two
 * merged counters the upper one is enabled longer (PPR, "Large Increment per Cycle Events"). */
static void stop_counters(const struct event *const *next, uint64_t set)
{
    if (pmu.has.global)
        x86_write(MSR_GLOBAL_CTL, all(pmu.used) & ~set);
    for (unsigned c = 0; c < pmu.programmable && !pmu.has.global; c++)
        if (set >> c & 1)
            x86_write(MSR_SELECT(c), select_of(next, c));
}

static void start_counters(struct amd_cpu *a, const struct event *const *next, uint64_t set)
{
    for (unsigned c = pmu.programmable; c--;) {
        if (!(set >> c & 1))
            continue;
        a->select[c] = select_of(next, c);
        x86_write(MSR_SELECT(c), a->select[c] | (a->select[c] ? SELECT_EN : 0));
    }
    if (pmu.has.global)
        x86_write(MSR_GLOBAL_CTL, all(pmu.used));
}

/* Adds counter c. A merged counter only has what the one below has carried over, which the sums do
 * not need. */
static void add_event(struct amd_cpu *a, unsigned c, bool ends)
{
    if (a->select[c] && a->select[c] != EVENT_MERGE)
        add_counter(a, c);
    else if (a->select[c] && ends)
        a->counter[c].raw = x86_read(MSR_COUNTER(c));
}

/* Disarms all counters. Counters of the set stand still and must not interrupt for their next
 * event. */
static void disarm_counters(struct amd_cpu *a, uint64_t set)
{
    for (uint64_t left = a->due.armed & set; left; left &= left - 1)
        set_counter(a, (unsigned)__builtin_ctzll(left), 0);
    a->due.armed = 0;
}

static void amd_latch(struct pmu_latch *out, const struct hpm_programme *next)
{
    struct amd_cpu *a = amd_here();
    uint64_t set = next ? changed(a, next->event) : 0;

    if (set)
        stop_counters(next->event, set);
    add_own(a, pmu.cycles, next);
    add_own(a, pmu.instructions, next);
    for (unsigned c = 0; c < pmu.programmable; c++) {
        add_event(a, c, set >> c & 1);
        out->count[c] = a->counter[c].sum;
    }
    if (next)
        disarm_counters(a, set);
    if (set)
        start_counters(a, next->event, set);
    out->cycles = a->counter[pmu.cycles].sum;
    out->instructions = a->counter[pmu.instructions].sum;
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

static bool is_negative(uint64_t counter)
{
    return counter >> (AMD_WIDTH - 1) & 1;
}

/* Sets counter c so that it overflows at `due`, or part of the way there. Two merged counters are
 * one of 64 bits, which overflows as a whole (Linux, arch/x86/events/core.c,
 * x86_perf_event_set_period). */
static void aim_counter(struct amd_cpu *a, unsigned c, uint64_t due)
{
    add_counter(a, c);
    due_set(&a->due, c, due);
    set_counter(a, c,
                -due_distance(&a->due, c, a->counter[c].sum, X86_DISTANCE_LEAST, DISTANCE_MAX));
    if (c + 1 < pmu.programmable && a->select[c + 1] == EVENT_MERGE)
        x86_write(MSR_COUNTER(c + 1), MERGED_NEGATIVE);
}

static void amd_arm(unsigned c, uint64_t due)
{
    struct amd_cpu *a = amd_here();

    ASSERT(c < pmu.programmable && a->select[c] && a->select[c] != EVENT_MERGE);
    aim_counter(a, c, due);
}

/* Returns PMU_COUNTER bits of the armed counters in `overflown` that have reached their counts.
 * Flags may be older than the counter's setting, so only its count decides. A counter that has come
 * a part of the way is set again. */
static unsigned take_due(struct amd_cpu *a, uint32_t overflown)
{
    unsigned news = 0;

    for (uint32_t left = a->due.armed & overflown; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        add_counter(a, c);
        if (due_reached(&a->due, c, a->counter[c].sum))
            news |= PMU_COUNTER << c;
        else if (!is_negative(a->counter[c].raw))
            aim_counter(a, c, a->due.at[c]);
    }
    return news;
}

static bool slice_is_over(const struct amd_cpu *a)
{
    return a->slice && !is_negative(x86_read(MSR_COUNTER(a->timer)));
}

/* Returns the reasons of the interrupt, and clears all flags. For the end of the slice the timer
 * alone decides. */
static unsigned amd_interrupted(void)
{
    struct amd_cpu *a = amd_here();

    x86_unmask_counters();
    uint64_t flags = pmu.has.global ? x86_read(MSR_GLOBAL_STATUS) : 0;
    flags &= all(pmu.has.counters) | GLOBAL_FROZEN;
    if (flags)
        x86_write(MSR_GLOBAL_CLEAR, flags);
    return take_due(a, pmu.has.global ? (uint32_t)flags : UINT32_MAX) |
           (slice_is_over(a) ? PMU_SLICE : 0) |
           (pmu.has.ibs.usable && ibs_interrupted() ? PMU_RECORDS : 0);
}

/* ---- User mode ------------------------------------------------------------------------------- */

static void amd_user(unsigned counter, struct hpm_user_register *out)
{
    unsigned c = counter == PMU_CYCLES         ? pmu.cycles
                 : counter == PMU_INSTRUCTIONS ? pmu.instructions
                                               : counter;

    *out = (struct hpm_user_register){0};
    if (c < (counter < HPM_COUNTERS_ALL ? pmu.programmable : pmu.used))
        *out = (struct hpm_user_register){c + 1, AMD_WIDTH, amd_here()->counter[c].raw};
}

const struct pmu_ops pmu_amd = {
    .name = "amd",
    .probe = amd_probe,
    .cpu_init = amd_cpu_init,
    .image = pmu_no_image,
    .latch = amd_latch,
    .arm = amd_arm,
    .user = amd_user,
    .open = x86_open_counters,
    .tag = pmu_no_tag,
    .sample = ibs_sample,
    .waiting = ibs_waiting,
    .drain = ibs_drain,
    .interrupted = amd_interrupted,
    .mark = pmu_no_mark,
};
