/*
 * Intel's processor event based sampling (SDM volume 3, "Processor Event Based Sampling (PEBS)",
 * "Adaptive PEBS", "Load Latency Performance Monitoring Facility", "Debug Store (DS) Mechanism").
 * When a counter overflows, the processor itself writes a record of the next instruction that
 * counts to memory and starts the counter again.
 *
 * One programmable counter is kept for it. Sources that one precise event counts are sampled by
 * that event: one access in `period`. Others are sampled by the latency event, which records the
 * source. The processor watches a random part of the loads, so `period` refers to the watched ones,
 * and records of sources that were not asked for are passed over.
 *
 * The buffer is not a ring: records are taken while the processor writes behind them. When all are
 * taken and half of the buffer is used up, the processor starts from the beginning. A full buffer
 * drops records, and the hardware does not count them: they are counted as one lost record.
 */
#include "hpm/pmu/x86/intel_pebs.h"
#include "hpm/policy/draw.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

/* Thresholds in cycles: the least possible one, and one that no load served by the L1 or the L2
 * reaches unless it waited for something else. */
#define THRESHOLD_ALL    3
#define THRESHOLD_BEYOND 24
/* width of the field from Alder Lake on; longer latencies are cut to that */
#define LATENCY_FIELD 0xffff

/* Accessed by its CPU only. */
static struct pebs_cpu {
    struct intel_ds ds; /* shared with the processor */
    const struct pebs *pebs;
    uint64_t tail; /* the oldest record that has not been taken */
    uint64_t enable;
    uint64_t random;
    struct hpm_sampling config;
    const struct intel_precise *precise; /* NULL: the records tell the source */
    bool on;
} ALIGNED(CACHE_LINE) pebs_cpus[CPU_MAX];

static uint64_t ds_index(const struct pebs_cpu *p)
{
    return __atomic_load_n(&p->ds.index, __ATOMIC_ACQUIRE);
}

/* ---- Finding out ----------------------------------------------------------------------------- */

static uint32_t sources_of(const struct intel_model *m)
{
    uint32_t sources = 0;

    for (const struct intel_precise *e = m->precise; e->sources; e++)
        sources |= e->sources;
    for (unsigned i = 0; m->latency_event && i < INTEL_SOURCES; i++)
        if (m->source[i] != INTEL_NO_SOURCE)
            sources |= 1u << m->source[i];
    return sources;
}

/* Returns whether records can be used. A hypervisor that offers records may lack the registers that
 * each model adds to them. */
static bool is_offered(void)
{
    struct x86_leaf features = x86_leaf(LEAF_FEATURES, 0);

    if (!(features.edx & EDX_DS) || !(features.ecx & ECX_DTES64) || (features.ecx & ECX_HYPERVISOR))
        return false;
    uint64_t enable = x86_read(MSR_MISC_ENABLE);
    return (enable & MISC_EMON) && !(enable & MISC_NO_PEBS);
}

struct pebs pebs_find(const struct event_identity *id, unsigned version, uint64_t perf_capabilities)
{
    const struct intel_model *m = intel_model(id);
    bool baseline = perf_capabilities & CAPS_PEBS_BASELINE;
    const struct intel_record *r = intel_record(CAPS_PEBS_FORMAT(perf_capabilities), baseline);

    if (!m || !r || version < 2 || !is_offered())
        return (struct pebs){0};
    return (struct pebs){
        .model = m,
        .record = r,
        .sources = sources_of(m),
        .enable_latency = version < 5,
        .adaptive = baseline,
    };
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

void pebs_cpu_init(const struct pebs *pebs, unsigned cpu, const struct pmu_setup *setup)
{
    struct pebs_cpu *p = &pebs_cpus[cpu];
    uint64_t base = (uint64_t)(uintptr_t)setup->records, size = pebs->record->size;

    *p = (struct pebs_cpu){.pebs = pebs, .tail = base, .random = draw_begin(cpu)};
    p->ds.base = p->ds.index = base;
    p->ds.end = base + setup->record_count * size;
    p->ds.threshold = base + (setup->record_count - setup->record_count / 4) * size;
    x86_write(MSR_DS_AREA, (uint64_t)(uintptr_t)&p->ds);
}

/* Returns the counter's value a random distance before its overflow. It remains until records are
 * taken, and a smaller distance yields more records; with more than an eighth of jitter, samples
 * would be clearly too frequent. */
static uint64_t next_start(struct pebs_cpu *p)
{
    const struct hpm_sampling *c = &p->config;
    uint64_t distance = draw_around(&p->random, c->period, MIN(c->jitter, c->period / 8));

    return -distance & p->pebs->counter_mask;
}

static void set_reset(struct pebs_cpu *p, uint64_t v)
{
    __atomic_store_n(&p->ds.reset[PEBS_SAMPLER], v, __ATOMIC_RELEASE);
}

/* Returns the event that counts what is asked for; NULL: only the latency event, whose records tell
 * it, will do. */
static const struct intel_precise *precise_for(const struct intel_model *m,
                                               const struct hpm_sampling *c)
{
    bool told = m->latency_event && (c->walks || c->min_latency);

    for (const struct intel_precise *e = m->precise; e->sources && !told; e++)
        if (!(c->sources & ~e->sources) &&
            !(m->latency_event && c->apart && e->sources & (e->sources - 1)))
            return e;
    return NULL;
}

static uint64_t threshold_for(const struct hpm_sampling *c)
{
    bool inside = c->walks || c->sources & (1u << SOURCE_L1 | 1u << SOURCE_LOCAL_L2);

    /* A load is recorded if it takes longer than this. */
    return MAX((uint64_t)(inside ? THRESHOLD_ALL : THRESHOLD_BEYOND),
               c->min_latency - !!c->min_latency);
}

static void start_sampling(struct pebs_cpu *p, const struct hpm_sampling *c)
{
    const struct pebs *pebs = p->pebs;
    uint64_t select = EVTSEL_EN | (c->user ? EVTSEL_USER : 0) | (c->kernel ? EVTSEL_KERNEL : 0);

    p->config = *c;
    p->precise = precise_for(pebs->model, c);
    p->enable = PEBS_COUNTER(PEBS_SAMPLER);
    if (!p->precise) {
        x86_write(MSR_PEBS_LD_LAT, threshold_for(c));
        p->enable |= pebs->enable_latency ? PEBS_LATENCY(PEBS_SAMPLER) : 0;
    }
    if (pebs->adaptive) {
        x86_write(MSR_PEBS_DATA_CFG, PEBS_DATA_MEMORY);
        select |= EVTSEL_RECORD;
    }
    set_reset(p, next_start(p));
    x86_write(pebs->counter_msr, next_start(p));
    x86_write(MSR_PEBS_ENABLE, p->enable);
    x86_write(MSR_PERFEVTSEL0 + PEBS_SAMPLER,
              select | (p->precise ? p->precise->event : pebs->model->latency_event));
}

uint32_t pebs_sample(unsigned cpu, const struct hpm_sampling *config)
{
    struct pebs_cpu *p = &pebs_cpus[cpu];

    if (!p->pebs)
        return 0;
    if (p->on) {
        x86_write(MSR_PERFEVTSEL0 + PEBS_SAMPLER, 0);
        x86_write(MSR_PEBS_ENABLE, 0);
    }
    p->ds.index = p->tail = p->ds.base;
    p->on = config;
    if (config)
        start_sampling(p, config);
    return 0;
}

/* ---- Taking records -------------------------------------------------------------------------- */

uint64_t pebs_waiting(unsigned cpu)
{
    const struct pebs_cpu *p = &pebs_cpus[cpu];

    return p->on ? (ds_index(p) - p->tail) / p->pebs->record->size : 0;
}

static uint64_t field(uint64_t record, unsigned offset)
{
    return *(const uint64_t *)(uintptr_t)(record + offset);
}

/* Bits 48 to 63 of an adaptive record's first field are its size, bits 0 to 31 its groups. */
static bool is_whole(const struct pebs *p, uint64_t record)
{
    uint64_t head = field(record, 0);

    return !p->adaptive || (head >> 48 == p->record->size && (uint32_t)head == PEBS_DATA_MEMORY);
}

static uint8_t source_of(const struct pebs_cpu *p, uint64_t record)
{
    if (p->precise)
        return p->config.sources >> p->precise->source & 1
                   ? p->precise->source
                   : (uint8_t)__builtin_ctz(p->config.sources);
    return p->pebs->model->source[field(record, p->pebs->record->source) % INTEL_SOURCES];
}

/* Decodes a record. Returns false if its source was not asked for, or if it is not one of the
 * sampler's records, which counts as lost. */
static bool decode_record(const struct pebs_cpu *p, uint64_t record, struct hpm_sample *out,
                          uint64_t *lost)
{
    const struct intel_record *r = p->pebs->record;
    uint64_t pc = field(record, r->pc);

    if (!is_whole(p->pebs, record) || !(field(record, r->counters) >> PEBS_SAMPLER & 1)) {
        ++*lost;
        return false;
    }
    uint8_t source = source_of(p, record);
    bool walked = !p->precise && field(record, r->source) & INTEL_SOURCE_WALK;
    if (source == INTEL_NO_SOURCE)
        return false;
    uint16_t latency =
        p->precise ? 0 : (uint16_t)MIN(field(record, r->latency), (uint64_t)LATENCY_FIELD);
    *out = (struct hpm_sample){
        .time = r->time ? field(record, r->time) : arch_ticks(),
        .pc = pc,
        .data = field(record, r->address),
        .latency = latency,
        .source = source,
        .user = pc < DIRECT_BASE,
        .walk = walked, /* how long is not told: the latency has it */
        .samplers = 1,
    };
    return p->precise || sample_wanted(&p->config, out);
}

/* Makes the processor start from the beginning of the buffer, unless it has written something
 * meanwhile. */
static void rewind_buffer(struct pebs_cpu *p, uint64_t *lost)
{
    x86_write(MSR_PEBS_ENABLE, 0);
    uint64_t index = ds_index(p);
    if (index == p->tail) {
        *lost += index + p->pebs->record->size > p->ds.end;
        p->ds.index = p->tail = p->ds.base;
    }
    x86_write(MSR_PEBS_ENABLE, p->enable);
}

/* Returns the end of the records. The processor writes the index: one outside the buffer, or
 * between two records, is invalid, and the buffer starts from the beginning. */
static uint64_t believable_end(struct pebs_cpu *p, uint64_t *lost)
{
    uint64_t index = ds_index(p), size = p->pebs->record->size;

    if (index >= p->tail && index <= p->ds.end && (index - p->ds.base) % size == 0)
        return index;
    ++*lost;
    x86_write(MSR_PEBS_ENABLE, 0);
    p->ds.index = p->tail = p->ds.base;
    x86_write(MSR_PEBS_ENABLE, p->enable);
    return p->tail;
}

size_t pebs_drain(unsigned cpu, struct hpm_sample *out, size_t max, uint64_t *lost)
{
    struct pebs_cpu *p = &pebs_cpus[cpu];
    size_t n = 0;

    if (!p->on)
        return 0;
    uint64_t end = believable_end(p, lost);
    for (; n < max && p->tail < end; p->tail += p->pebs->record->size)
        n += decode_record(p, p->tail, &out[n], lost);
    if (p->tail < end)
        return n;
    if (p->tail - p->ds.base >= (p->ds.end - p->ds.base) / 2)
        rewind_buffer(p, lost);
    set_reset(p, next_start(p));
    return n;
}
