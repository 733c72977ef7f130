/*
 * Instruction-based sampling of operations (AMD APM volume 2, 13.3.3 to 13.3.5; IBS_OP_DATA2 is in
 * the PPRs only).
 *
 * The hardware tags one dispatched operation per interval and records its execution in registers,
 * one record per interrupt; it goes on when the record has been read. So all operations are equally
 * likely, and of accesses of any source one in `period` is recorded. The hardware cannot select:
 * the records of the sources asked for are picked here, and the others are passed over. Only from
 * Zen 4 on it can leave out what the L3 served.
 */
#include "hpm/pmu/x86/amd_ibs.h"
#include "hpm/pmu/x86/amd_regs.h"
#include "hpm/policy/draw.h"
#include "hpm/pmu/x86/x86_regs.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

#define IBS_NEEDED (IBS_OP | IBS_OP_COUNTER | IBS_COUNT_OPS | IBS_LONG | IBS_RIP_CHECK)
/* An interrupt takes thousands of cycles, so shorter intervals would leave the sampled program no
 * time. */
#define UNFILTERED_LEAST 4096

#define LINE_BYTES 64 /* of all of AMD's processors with IBS */

/* Results of a record that is not a sample. */
enum { NOT_ACCESS = SOURCE_COUNT, NOT_KNOWN };

/* Sources by IBS_OP_DATA2.DataSrc: served by this node, and by another one (RmtNode). It does not
 * tell which cache level of another core complex served it. */
typedef const uint8_t source_table[32][2];
#define BOTH(source)   \
    {                  \
        source, source \
    }
#define UNKNOWN BOTH(NOT_KNOWN)

/* DataSrc of three bits (PPR 55803, 56176, 55898). 2 is the L3, or any cache reached through the
 * same node: other complexes cannot be told apart. */
static source_table coarse = {
    [0] = UNKNOWN,
    [1] = UNKNOWN,
    [2] = {SOURCE_LOCAL_L3, SOURCE_REMOTE_L3},
    [3] = {SOURCE_LOCAL_MEMORY, SOURCE_REMOTE_MEMORY},
    [4] = BOTH(SOURCE_REMOTE_L3),
    [5] = UNKNOWN,
    [6] = UNKNOWN,
    [7] = BOTH(NOT_ACCESS), /* devices */
    [8 ... 31] = UNKNOWN,
};

/* DataSrc of five bits (PPR 55901). */
static source_table fine = {
    [0] = UNKNOWN,
    [1] = BOTH(SOURCE_LOCAL_L3),  /* or the L1 or L2 of a core of the same complex */
    [2] = BOTH(SOURCE_REMOTE_L3), /* another complex, same node */
    [3] = {SOURCE_LOCAL_MEMORY, SOURCE_REMOTE_MEMORY},
    [4] = UNKNOWN,
    [5] = BOTH(SOURCE_REMOTE_L3),                      /* another complex, another node */
    [6] = {SOURCE_LOCAL_MEMORY, SOURCE_REMOTE_MEMORY}, /* slow memory */
    [7] = BOTH(NOT_ACCESS),                            /* devices */
    [8] = {SOURCE_LOCAL_MEMORY, SOURCE_REMOTE_MEMORY}, /* extension memory */
    [9 ... 11] = UNKNOWN,
    [12] = BOTH(NOT_ACCESS), /* a peer agent's */
    [13 ... 31] = UNKNOWN,
};

#define SOURCES_SEEN                                                                          \
    (1u << SOURCE_L1 | 1u << SOURCE_LOCAL_L2 | 1u << SOURCE_LOCAL_L3 | SOURCES_REMOTE_CACHE | \
     1u << SOURCE_LOCAL_MEMORY | 1u << SOURCE_REMOTE_MEMORY)
#define SOURCES_NEAR (1u << SOURCE_L1 | 1u << SOURCE_LOCAL_L2 | 1u << SOURCE_LOCAL_L3)

/* Which processor has which table. Processors with the filter, and only they, have the fine one. */
struct kind {
    unsigned family, model_first, model_last;
    bool filter;
    const source_table *source;
    /* Revision guide 56683, erratum 1293: L2Miss and IBS_OP_DATA2 are wrong for prefetches and for
     * lines on their way. */
    bool unsound;
};
#define ANY_MODEL 0, UINT32_MAX
static const struct kind kinds[] = {
    {0x17, 0x30, 0xff, false, &coarse, false}, /* Zen 2 */
    {0x19, 0x00, 0x0f, false, &coarse, true},  /* Zen 3, servers */
    {0x19, 0x20, 0x5f, false, &coarse, false}, /* Zen 3 */
    {0x19, ANY_MODEL, true, &fine, false},     /* Zen 4 */
    {0x1a, ANY_MODEL, true, &fine, false},     /* Zen 5 */
};

static const struct kind *kind; /* of this machine; written by ibs_ask on the boot CPU */

/* Accessed by its CPU only. */
static struct ibs_cpu {
    struct hpm_sampling config; /* period 0: off */
    uint64_t random, passed_over;
} ALIGNED(CACHE_LINE) ibs_cpus[CPU_MAX];

static struct ibs_cpu *ibs_here(void)
{
    return &ibs_cpus[this_cpu()->index];
}

/* ---- Finding out ----------------------------------------------------------------------------- */

static const struct kind *find_kind(unsigned family, unsigned model, bool filter)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const struct kind *k = &kinds[i];
        if (k->family == family && model >= k->model_first && model <= k->model_last &&
            k->filter == filter)
            return k;
    }
    return NULL;
}

/* Routes the interrupt to the entry of the local APIC that the firmware has chosen. Returns false
 * if there is none. */
static bool route_interrupt(void)
{
    uint64_t control = x86_read(MSR_IBS_CTL);

    return (control & CTL_ENTRY_VALID) && x86_route_extended(CTL_ENTRY(control));
}

struct ibs_ability ibs_ask(unsigned family, unsigned model, uint32_t features, uint32_t last)
{
    struct ibs_ability has = {.usable = false};

    if (!(features & ECX_IBS) || last < LEAF_IBS)
        return has;
    uint32_t ibs = x86_leaf(LEAF_IBS, 0).eax;
    has.operations = ibs & IBS_OP;
    has.fetch = ibs & IBS_FETCH;
    has.filter = ibs & IBS_L3_FILTER;
    const struct kind *k = find_kind(family, model, has.filter);
    if (!k || (ibs & IBS_NEEDED) != IBS_NEEDED)
        return has;
    has.usable = route_interrupt();
    has.untold = !has.usable;
    kind = k;
    return has;
}

void ibs_describe(const struct ibs_ability *has, struct pmu_caps *caps)
{
    if (has->untold)
        kprintf("hpm: amd: the firmware has left sampling without an interrupt: not used\n");
    if (!has->usable)
        return;
    caps->samplers = 1;
    caps->sample_sources = SOURCES_SEEN;
    caps->sample_alike = SOURCES_REMOTE_CACHE;
    caps->sample_walks = caps->sample_latency = true;
    caps->sample_period_min = has->filter ? OP_MAX_LEAST : UNFILTERED_LEAST;
}

void ibs_cpu_init(const struct cpu *cpu, const struct ibs_ability *has)
{
    ibs_cpus[cpu->index] = (struct ibs_cpu){.random = draw_begin(cpu->index)};
    if (has->fetch)
        x86_write(MSR_IBS_FETCH_CTL, 0);
    if (has->operations)
        x86_write(MSR_IBS_OP_CTL, 0);
}

/* ---- Intervals ------------------------------------------------------------------------------- */

/* Returns the operations until the next one is tagged: uniform around the period, as widely as the
 * shortest interval allows. */
static uint32_t draw_interval(struct ibs_cpu *i)
{
    const struct hpm_sampling *c = &i->config;

    return draw_around(&i->random, c->period, MIN(c->jitter, c->period - OP_MAX_LEAST));
}

static bool is_filtered(const struct hpm_sampling *c)
{
    return kind->filter && !c->walks && !(c->sources & SOURCES_NEAR);
}

/* Starts the next interval, and with it a new record. Intervals end at a multiple of 16, so they
 * start where their length demands. With the filter the hardware itself starts over, anywhere below
 * OP_RESTART, after each operation that it leaves out. These intervals are shorter by half of
 * OP_RESTART on average, which is added to all, and the first one starts in the same way. */
static void start_interval(struct ibs_cpu *i)
{
    uint32_t interval = draw_interval(i), max, start;
    uint64_t how = OP_EN | OP_COUNT_OPS;

    if (is_filtered(&i->config)) {
        max = (interval + OP_RESTART / 2 + 8) & ~15u;
        start = (uint32_t)(draw_bits(&i->random) % OP_RESTART);
        how |= OP_L3_MISS_ONLY;
    } else {
        max = (interval + 15) & ~15u;
        start = max - interval;
    }
    x86_write(MSR_IBS_OP_CTL, how | OP_MAX((uint64_t)max) | OP_CURRENT(start));
}

uint32_t ibs_sample(UNUSED unsigned sampler, const struct hpm_sampling *config)
{
    struct ibs_cpu *i = ibs_here();

    i->config = config ? *config : (struct hpm_sampling){.period = 0};
    if (config)
        start_interval(i);
    else
        x86_write(MSR_IBS_OP_CTL, 0);
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Returns what served a load that missed the L2. */
static unsigned beyond_l2(void)
{
    uint64_t data2 = x86_read(MSR_IBS_OP_DATA2);
    unsigned code = DATA2_SOURCE_LOW(data2) | (kind->filter ? DATA2_SOURCE_HIGH(data2) << 3 : 0);

    return (*kind->source)[code][!!(data2 & DATA2_REMOTE_NODE)];
}

/* Returns the source of the data. How far a store had to go is known up to the L2 only. A line that
 * an earlier access had requested was served to that access, so no source is missing if it is
 * unknown here. */
static unsigned source_of(uint64_t data3)
{
    bool under_way = data3 & DATA3_NO_MAB,
         unsound = kind->unsound && (under_way || (data3 & DATA3_PREFETCH));
    unsigned source;

    if (!(data3 & (DATA3_LOAD | DATA3_STORE)) || (data3 & DATA3_UNCACHED))
        return NOT_ACCESS;
    if (!(data3 & DATA3_MISS))
        return SOURCE_L1;
    if (unsound)
        source = NOT_KNOWN;
    else if (!(data3 & DATA3_L2_MISS))
        source = SOURCE_LOCAL_L2;
    else
        source = data3 & DATA3_LOAD ? beyond_l2() : NOT_ACCESS;
    return source == NOT_KNOWN && under_way ? NOT_ACCESS : source;
}

/* Returns the cycles of the page walk; 0: one of the TLB's two levels had the translation. */
static uint16_t walk_of(uint64_t data3)
{
    return data3 & DATA3_L2_TLB_MISS ? (uint16_t)MAX(DATA3_REFILL(data3), 1u) : 0;
}

/* Returns how many bytes of the access are in the line of `data`; 0: unknown. */
static uint16_t bytes_of(uint64_t data3, vaddr_t data)
{
    unsigned width = DATA3_WIDTH(data3), left = LINE_BYTES - (data & (LINE_BYTES - 1));

    return width ? (uint16_t)MIN(1u << (width - 1), left) : 0;
}

/* Reads the record. Returns whether it is a sample that was asked for; *known: whether that could
 * be decided. */
static bool take_record(const struct hpm_sampling *c, struct hpm_sample *out, bool *known)
{
    uint64_t data3 = x86_read(MSR_IBS_OP_DATA3);
    unsigned source = source_of(data3);

    *known = source != NOT_KNOWN || (c->sources == 1u << SOURCE_L1 && !c->walks);
    if (source >= SOURCE_COUNT || !(c->sources >> source & 1 || (c->walks && walk_of(data3))))
        return false;
    *known = (data3 & DATA3_LINEAR_VALID) && !(x86_read(MSR_IBS_OP_DATA) & DATA_RIP_INVALID);
    if (!*known)
        return false;
    uint64_t pc = x86_read(MSR_IBS_OP_RIP);
    bool user = !(pc >> 63);
    if (!(user ? c->user : c->kernel))
        return false;
    *out = (struct hpm_sample){
        .time = arch_ticks(),
        .pc = pc,
        .data = x86_read(MSR_IBS_DC_LINAD),
        .data_phys = data3 & DATA3_PHYS_VALID ? x86_read(MSR_IBS_DC_PHYSAD) : 0,
        .latency = source == SOURCE_L1 || !(data3 & DATA3_LOAD) ? 0 : DATA3_LATENCY(data3),
        .source = (uint8_t)source,
        .user = user,
        .store = !(data3 & DATA3_LOAD),
        .walk = walk_of(data3),
        .samplers = 1,
        .atomic = data3 & DATA3_LOCKED,
    };
    out->bytes = bytes_of(data3, out->data);
    return sample_wanted(c, out);
}

uint64_t ibs_waiting(void)
{
    return !!(x86_read(MSR_IBS_OP_CTL) & OP_VAL);
}

size_t ibs_drain(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX])
{
    struct ibs_cpu *i = ibs_here();
    bool known;

    if (!max || !i->config.period || !ibs_waiting())
        return 0;
    bool taken = take_record(&i->config, out, &known);
    lost[0] += !taken && !known;
    i->passed_over += !taken && known;
    start_interval(i);
    return taken;
}

/* Returns whether there is a record to be taken. An operation tagged before sampling stopped may be
 * recorded afterwards, and must not keep the hardware waiting. */
bool ibs_interrupted(void)
{
    if (!ibs_waiting())
        return false;
    if (ibs_here()->config.period)
        return true;
    x86_write(MSR_IBS_OP_CTL, 0);
    return false;
}

uint64_t ibs_passed_over(unsigned cpu)
{
    return ibs_cpus[cpu].passed_over;
}
