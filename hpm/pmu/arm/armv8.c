/*
 * Arm's own PMU: PMUv3 (Arm ARM DDI 0487, D13), with all its counters in system registers of each
 * CPU. It has no records; where the CPU has the Statistical Profiling Extension, armv8_spe.c adds
 * them.
 *
 * The first event counters are the programmable ones, the next one counts instructions, PMCCNTR
 * cycles. Counters are never stopped to be read, so nothing is lost: every reading adds the
 * increments since the one before to a 64-bit sum. Event counters of 32 bits report in PMOVSCLR
 * that they have wrapped, and the interrupt that comes with it makes a reading at the latest. So at
 * most 2^32 events, or 2^31 of an armed one, may pass while interrupts are off.
 *
 * The cycle counter, or that of instructions, is the timer of a turn: when the events change it is
 * set so that it overflows a slice later. An armed programmable counter is set so that it overflows
 * where it is due. Only the few events between reading and writing a counter are lost.
 *
 * QEMU sets its counters wrong when it handles an overflow while the CPU returns from an exception,
 * unless it was started with -icount (docs/extend/pmu-arm.md). There no counter is made to overflow
 * but armed ones, and turns end at the scheduler's ticks. A PMU is taken for that one if it counts
 * no instructions, which the architecture does not allow.
 */
#include "hpm/events/event.h"
#include "hpm/pmu/arm/armv8_regs.h"
#include "hpm/pmu/arm/armv8_spe.h"
#include "hpm/pmu/due.h"
#include "hpm/pmu/pmu.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

/* D13.12.2: every PMU counts one of the two. */
#define INST_RETIRED 0x08
#define INST_SPEC    0x1b

#define CYCLES_NUMBER 31 /* of the cycle counter, as of its bit */

/* By ID_AA64DFR0_EL1.PMUVer; each version includes those before it. */
static const char *const versions[16] = {
    [1] = "PMUv3",   [4] = "PMUv3p1", [5] = "PMUv3p4", [6] = "PMUv3p5",
    [7] = "PMUv3p7", [8] = "PMUv3p8", [9] = "PMUv3p9",
};

/* What a CPU reports of its counters. */
struct ability {
    unsigned version, counters;
    bool wide; /* event counters have 64 bits */
    struct event_pmu events;
    struct spe_ability spe;
};

/* What is used of that, on all CPUs. Written by probe. */
static struct {
    struct ability has;
    /* counters that hpm programs; the same with that of instructions */
    unsigned programmable, used;
    uint64_t mask;  /* of the width of a counter */
    bool overflows; /* an overflow leaves all counters as they should be */
} pmu;

struct counter {
    uint64_t raw, sum; /* the register at the last reading; all increments until then */
};

/* Accessed by its CPU only. */
static struct armv8_cpu {
    struct counter cycles, event[ARMV8_EVENT_COUNTERS];
    /* length of a slice; bit of its counter in the sets, 0: slices have no end */
    uint64_t slice, timer;
    const struct event *programmed[HPM_COUNTERS_MAX];
    struct due due;
    bool stepped; /* a counter has stepped back, which was reported */
} ALIGNED(CACHE_LINE) armv8_cpus[CPU_MAX];

_Static_assert(ARMV8_EVENT_COUNTERS == HPM_COUNTERS_MAX + 1,
               "programmable ones and one for instructions");

static struct armv8_cpu *armv8_here(void)
{
    return &armv8_cpus[this_cpu()->index];
}

/* ---- Finding out ----------------------------------------------------------------------------- */

/* Stops all counters and their interrupts. */
static void reset_counters(uint64_t control)
{
    armv8_write(ARMV8_CR, control | CR_P | CR_C);
    armv8_write(ARMV8_CNTENCLR, SET_ALL);
    armv8_write(ARMV8_INTENCLR, SET_ALL);
    armv8_write(ARMV8_OVSCLR, SET_ALL);
    armv8_sync();
}

/* Reads what this CPU has. Its counters stand still from then on. */
static bool ask_ability(struct ability *out)
{
    uint64_t dfr0 = armv8_read(ARMV8_DFR0);
    unsigned version = DFR0_PMUVER(dfr0);

    if (version == PMUVER_NONE || version == PMUVER_OTHER)
        return false;
    reset_counters(version >= PMUVER_V3P5 ? CR_LC | CR_LP : CR_LC);
    uint64_t control = armv8_read(ARMV8_CR);
    uint64_t low = armv8_read(ARMV8_CEID0), high = armv8_read(ARMV8_CEID1);
    uint32_t midr = (uint32_t)armv8_read(ARMV8_MIDR);
    struct event_identity id = event_identity_arm(midr);
    *out = (struct ability){
        .version = version,
        .counters = CR_N(control),
        .wide = control & CR_LP,
        .events = {.table = event_table_for(&id),
                   .counters = CR_N(control),
                   .fixed = 1,
                   .says = true,
                   .present = {(uint32_t)low | high << 32, low >> 32 | (high >> 32 << 32)}},
        .spe = spe_ask(dfr0, midr),
    };
    return true;
}

static uint64_t control_bits(void)
{
    return CR_LC | (pmu.has.wide ? CR_LP : 0);
}

static uint64_t read_cycles(void)
{
    return armv8_read(ARMV8_CCNTR);
}

static uint64_t measure_rate(void)
{
    armv8_write(ARMV8_CCFILTR, 0);
    armv8_write(ARMV8_CNTENSET, SET_CYCLES);
    armv8_write(ARMV8_CR, control_bits() | CR_E);
    armv8_sync();
    uint64_t rate = pmu_cycle_rate(read_cycles, UINT64_MAX);
    reset_counters(control_bits());
    return rate;
}

static void describe_counters(char *buf, size_t size)
{
    const struct ability *has = &pmu.has;
    char version[24], spe[12] = "";
    const char *turns = pmu.overflows ? "" : ", turns end at ticks";

    if (versions[has->version])
        ksnprintf(version, sizeof version, "%s", versions[has->version]);
    else
        ksnprintf(version, sizeof version, "PMUv3 (version %u)", has->version);
    if (has->spe.usable)
        ksnprintf(spe, sizeof spe, ", SPEv1.%u", has->spe.version - 1);
    ksnprintf(buf, size, "%s, %u bits%s%s", version, has->wide ? 64 : 32, spe, turns);
}

static int armv8_probe(struct pmu_caps *caps)
{
    memset(&pmu, 0, sizeof pmu);
    if (!ask_ability(&pmu.has))
        return -ENODEV;
    uint64_t rate = measure_rate();
    if (!rate) {
        kprintf("hpm: armv8: the cycle counter stands still: not used\n");
        return -ENODEV;
    }
    bool instructions = pmu.has.counters && event_counts(&pmu.has.events, INST_RETIRED);
    pmu.programmable = MIN(pmu.has.counters - instructions, (unsigned)HPM_COUNTERS_MAX);
    pmu.used = pmu.programmable + instructions;
    pmu.mask = pmu.has.wide ? UINT64_MAX : UINT32_MAX;
    pmu.overflows = !pmu.has.counters || instructions || event_counts(&pmu.has.events, INST_SPEC);
    *caps = (struct pmu_caps){
        .counters = pmu.programmable,
        .instructions = instructions,
        .arms = pmu.programmable,
        .user_reads = true,
        .slices_by_instructions = instructions,
        .cycles_per_tick = rate,
        .line_bytes = CTR_LINE(armv8_read(ARMV8_CTR)),
    };
    caps->events = pmu.has.events;
    caps->events.counters = pmu.programmable;
    caps->events.fixed = 0;
    describe_counters(caps->about, sizeof caps->about);
    spe_describe(&pmu.has.spe, caps);
    return 0;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static uint64_t filter_of(unsigned modes)
{
    return (modes & EVENT_KERNEL ? 0 : TYPE_NOT_EL1) | (modes & EVENT_USER ? 0 : TYPE_NOT_EL0);
}

/* Returns whether this CPU, which has its counters stopped, has all that is used. Cores of one
 * machine may differ. */
static bool suffices(const struct pmu_setup *setup, const struct cpu *cpu)
{
    struct ability here;

    if (!ask_ability(&here) || here.counters < pmu.used || here.wide != pmu.has.wide)
        return false;
    for (size_t i = 0; i < setup->event_count; i++)
        if (setup->events[i].counters && !event_counts(&here.events, setup->events[i].config))
            return false;
    return (pmu.used == pmu.programmable || event_counts(&here.events, INST_RETIRED)) &&
           spe_cpu_init(cpu, &here.spe, &pmu.has.spe, setup);
}

static void set_counter(struct armv8_cpu *a, unsigned c, uint64_t v)
{
    a->event[c].raw = v & pmu.mask;
    armv8_write_counter(c, a->event[c].raw);
}

static uint64_t used_set(void)
{
    return ((uint64_t)1 << pmu.used) - 1;
}

/* Begins a slice. To be called right after the timer was read. */
static void set_timer(struct armv8_cpu *a)
{
    if (a->timer == SET_CYCLES) {
        a->cycles.raw = -a->slice;
        armv8_write(ARMV8_CCNTR, a->cycles.raw);
    } else {
        set_counter(a, pmu.programmable, -a->slice);
    }
    armv8_write(ARMV8_OVSCLR, a->timer);
}

static int armv8_cpu_init(const struct cpu *cpu, const struct pmu_setup *setup)
{
    struct armv8_cpu *a = &armv8_cpus[cpu->index];
    uint64_t events = used_set();

    if (!suffices(setup, cpu))
        return pmu.has.spe.usable ? -EIO : -ENODEV;
    *a = (struct armv8_cpu){.slice = setup->slice};
    if (setup->slice && pmu.overflows)
        a->timer = setup->by_instructions ? (uint64_t)1 << pmu.programmable : SET_CYCLES;
    for (unsigned c = 0; c < pmu.used; c++)
        set_counter(a, c, pmu.overflows ? -ARMV8_FIRST_WRAP : 0);
    if (pmu.used > pmu.programmable)
        armv8_write_type(pmu.programmable, TYPE_EVENT(INST_RETIRED) | filter_of(setup->modes));
    armv8_write(ARMV8_CCFILTR, filter_of(setup->modes));
    armv8_write(ARMV8_USERENR, 0);
    armv8_write(ARMV8_CCNTR, 0);
    if (a->timer)
        set_timer(a);
    armv8_write(ARMV8_INTENSET, events | a->timer);
    armv8_write(ARMV8_CNTENSET, (events >> pmu.programmable << pmu.programmable) | SET_CYCLES);
    armv8_write(ARMV8_CR, control_bits() | CR_E);
    armv8_sync();
    return 0;
}

/* Reports that a counter has gone back, which no hardware does, but QEMU's does now and then. Its
 * increments since the last reading are unknown. */
static __attribute__((noinline, cold)) void stepped_back(struct armv8_cpu *a, unsigned n,
                                                         uint64_t from, uint64_t to)
{
    if (!a->stepped)
        kprintf("hpm: armv8: CPU %u: counter %u stepped back from %#llx to %#llx, without "
                "overflow: nothing is counted then\n",
                this_cpu()->index, n, (unsigned long long)from, (unsigned long long)to);
    a->stepped = true;
}

static void add_cycles(struct armv8_cpu *a)
{
    struct counter *c = &a->cycles;
    uint64_t now = armv8_read(ARMV8_CCNTR), passed = now - c->raw;

    if (__builtin_expect(passed > INT64_MAX, 0))
        stepped_back(a, CYCLES_NUMBER, c->raw, now);
    else
        c->sum += passed;
    c->raw = now;
}

/* Adds a counter that may have wrapped. If its flag was set after it was read, it may have wrapped
 * before or after that reading, so it is read again, which is after it; a value not below the
 * previous one has gone all the way round. A lower value without a flag means that it has stepped
 * back. But the flag of an armed counter is not passed here: it may have come half way round, and
 * somewhat further until its interrupt was taken. */
static __attribute__((noinline, cold)) void add_wrapped(struct armv8_cpu *a, unsigned n,
                                                        uint64_t now, bool wrapped)
{
    const uint64_t mask = pmu.mask, most = a->due.armed >> n & 1 ? mask - mask / 4 : mask / 2;
    struct counter *c = &a->event[n];

    if (wrapped) {
        now = armv8_read_counter(n);
        c->sum += now >= c->raw ? mask + 1 : 0;
    }
    uint64_t passed = (now - c->raw) & mask;
    if (!wrapped && passed > most)
        stepped_back(a, n, c->raw, now);
    else
        c->sum += passed;
    c->raw = now;
}

static void add_event(struct armv8_cpu *a, unsigned n, uint64_t now, bool wrapped)
{
    struct counter *c = &a->event[n];

    if (wrapped || now < c->raw) {
        add_wrapped(a, n, now, wrapped);
        return;
    }
    c->sum += now - c->raw;
    c->raw = now;
}

/* Adds all counters. A wrap after the flags were read is found at the next reading. Flags of armed
 * counters and of the timer stay set, or their interrupts would not come; they are not needed, for
 * neither is ever half way round between two readings. */
static void add_events(struct armv8_cpu *a)
{
    uint64_t now[ARMV8_EVENT_COUNTERS];

    for (unsigned c = 0; c < pmu.used; c++)
        now[c] = armv8_read_counter(c);
    uint64_t wrapped = armv8_read(ARMV8_OVSCLR) & used_set() & ~(a->due.armed | a->timer);
    if (wrapped)
        armv8_write(ARMV8_OVSCLR, wrapped);
    for (unsigned c = 0; c < pmu.used; c++)
        add_event(a, c, now[c], wrapped >> c & 1);
}

/* Returns the counters, as a set, that must count another event. */
static uint64_t changed(const struct armv8_cpu *a, const struct event *const *next)
{
    uint64_t set = 0;

    for (unsigned c = 0; c < pmu.programmable; c++)
        set |= (uint64_t)(a->programmed[c] != next[c]) << c;
    return set;
}

static void program_counters(struct armv8_cpu *a, const struct event *const *next, uint64_t set)
{
    uint64_t counting = 0;

    for (unsigned c = 0; c < pmu.programmable; c++) {
        if (!(set >> c & 1))
            continue;
        a->programmed[c] = next[c];
        if (!next[c])
            continue;
        armv8_write_type(c, TYPE_EVENT(next[c]->config) | filter_of(next[c]->modes));
        counting |= (uint64_t)1 << c;
    }
    armv8_sync();
    if (counting)
        armv8_write(ARMV8_CNTENSET, counting);
}

/* Disarms all counters. Counters of the set are stopped and must not interrupt for their next
 * event. */
static void disarm_counters(struct armv8_cpu *a, uint64_t set)
{
    if (!a->due.armed)
        return;
    for (uint64_t left = a->due.armed & set; left; left &= left - 1)
        set_counter(a, (unsigned)__builtin_ctzll(left), 0);
    armv8_write(ARMV8_OVSCLR, a->due.armed);
    a->due.armed = 0;
}

static void armv8_latch(struct pmu_latch *out, const struct hpm_programme *next)
{
    struct armv8_cpu *a = armv8_here();
    uint64_t set = next ? changed(a, next->event) : 0;

    if (set)
        armv8_write(ARMV8_CNTENCLR, set);
    armv8_sync();
    add_cycles(a);
    if (next && a->timer == SET_CYCLES)
        set_timer(a);
    add_events(a);
    if (next && a->timer && a->timer != SET_CYCLES)
        set_timer(a);
    if (next)
        disarm_counters(a, set);
    if (set)
        program_counters(a, next->event, set);
    out->cycles = a->cycles.sum;
    out->instructions = pmu.used > pmu.programmable ? a->event[pmu.programmable].sum : 0;
    for (unsigned c = 0; c < pmu.programmable; c++)
        out->count[c] = a->event[c].sum;
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

/* Sets counter c so that it overflows at `due`, or part of the way there. A flag that is still set
 * then is ignored when it interrupts. */
static void aim_counter(struct armv8_cpu *a, unsigned c, uint64_t due)
{
    uint64_t now = armv8_read_counter(c), bit = (uint64_t)1 << c;
    bool wrapped = !(a->due.armed & bit) && (armv8_read(ARMV8_OVSCLR) & bit);

    add_event(a, c, now, wrapped);
    due_set(&a->due, c, due);
    set_counter(a, c, -due_distance(&a->due, c, a->event[c].sum, 1, pmu.mask / 2 + 1));
}

static void armv8_arm(unsigned c, uint64_t due)
{
    struct armv8_cpu *a = armv8_here();

    ASSERT(c < pmu.programmable && a->programmed[c]);
    aim_counter(a, c, due);
}

/* Returns PMU_COUNTER bits of the armed counters with set flags that have reached their counts.
 * Only the count decides. A counter that has come a part of the way is set again. */
static unsigned take_due(struct armv8_cpu *a, uint64_t flags)
{
    unsigned news = 0;

    for (uint64_t left = a->due.armed & flags; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctzll(left);
        if (due_reached(&a->due, c, a->event[c].sum))
            news |= PMU_COUNTER << c;
        else if (a->event[c].raw <= pmu.mask / 2) /* not negative any more */
            aim_counter(a, c, a->due.at[c]);
    }
    return news;
}

/* Returns the reasons of the interrupt. If an earlier reading has handled its reason, no flag is
 * set. Flags of unused counters are cleared as well, or they would interrupt again. Flags are
 * cleared before the counters are read, so that later overflows interrupt again. */
static unsigned armv8_interrupted(void)
{
    struct armv8_cpu *a = armv8_here();
    uint64_t flags = armv8_read(ARMV8_OVSCLR);

    armv8_write(ARMV8_OVSCLR, flags & (a->due.armed | a->timer | ~used_set()));
    add_events(a);
    unsigned news = take_due(a, flags);
    armv8_sync();
    return news | (flags & a->timer ? PMU_SLICE : 0) | (spe_interrupted() ? PMU_RECORDS : 0);
}

/* ---- User mode ------------------------------------------------------------------------------- */

static void armv8_user(unsigned counter, struct hpm_user_register *out)
{
    const struct armv8_cpu *a = armv8_here();

    *out = (struct hpm_user_register){0};
    if (counter == PMU_CYCLES)
        *out = (struct hpm_user_register){USER_CYCLES, 64, a->cycles.raw};
    else if (counter == PMU_INSTRUCTIONS && pmu.used > pmu.programmable)
        counter = pmu.programmable;
    if (counter < pmu.used)
        *out =
            (struct hpm_user_register){counter + 1, pmu.has.wide ? 64 : 32, a->event[counter].raw};
}

static void armv8_open(bool on)
{
    armv8_write(ARMV8_USERENR, on ? USERENR_ER | USERENR_CR : 0);
}

const struct pmu_ops pmu_armv8 = {
    .name = "armv8",
    .probe = armv8_probe,
    .cpu_init = armv8_cpu_init,
    .image = pmu_no_image,
    .latch = armv8_latch,
    .arm = armv8_arm,
    .user = armv8_user,
    .open = armv8_open,
    .tag = pmu_no_tag,
    .sample = spe_sample,
    .waiting = spe_waiting,
    .drain = spe_drain,
    .interrupted = armv8_interrupted,
    .mark = pmu_no_mark,
};
