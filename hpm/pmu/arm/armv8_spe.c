/*
 * Arm's Statistical Profiling Extension (Arm ARM DDI 0487, D17), v1.0 to v1.3. Of all operations
 * the processor picks one per interval, follows it, and writes a record of its execution to a
 * buffer in memory, unless a filter rejects it.
 *
 * The buffer is kernel memory, which is mapped whatever runs. It is filled once from its beginning;
 * when it is full, sampling stops and interrupts. It is emptied whenever records wait at a switch,
 * a tick or an interrupt. Sampling stands still for that time, and the interval with it, so only
 * this driver is not sampled; then the buffer is filled from the beginning. The processor holds
 * samples back, and a record belongs to the thread that runs when it is taken, so each look first
 * makes the processor write everything (PSB CSYNC).
 *
 * Intervals count operations of any kind, so of accesses of any source one in `period` is recorded,
 * with or without filters. They are multiples of 256, and a new one is drawn whenever the buffer is
 * emptied.
 */
#include "hpm/pmu/arm/armv8_spe.h"
#include "hpm/pmu/arm/armv8_spe_regs.h"
#include "hpm/policy/draw.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

/* Interval assumed for codes that were undefined when this was written: the longest. */
#define INTERVAL_UNKNOWN 4096
#define RECORDS_MAX      (1u << 20)

/* By PMSIDR_EL1.Interval: the shortest interval that the processor's maker recommends. */
static const uint32_t intervals[16] = {
    [0] = 256,  [1] = INTERVAL_UNKNOWN,
    [2] = 512,  [3] = 768,
    [4] = 1024, [5] = 1536,
    [6] = 2048, [7] = 3072,
    [8] = 4096, [9 ... 15] = INTERVAL_UNKNOWN,
};

/* Accessed by its CPU only. */
static struct spe_cpu {
    struct spe_ability has; /* not usable: nothing below is used */
    uint64_t base, limit;
    struct hpm_sampling config;
    uint64_t enable; /* PMSCR_EL1 while it samples; 0: it is off */
    bool taking;     /* sampling stands still, and `bytes` is being taken */
    bool cut;        /* the last record of `bytes` has been counted as lost already */
    bool failed;     /* the buffer cannot be written: no records until sampling starts anew */
    struct spe_bytes bytes;
    uint64_t random, passed_over;
} ALIGNED(CACHE_LINE) spe_cpus[CPU_MAX];

static struct spe_cpu *spe_here(void)
{
    return &spe_cpus[this_cpu()->index];
}

/* ---- Finding out ----------------------------------------------------------------------------- */

struct spe_ability spe_ask(uint64_t dfr0, uint32_t midr)
{
    struct spe_ability has = {.version = DFR0_PMSVER(dfr0)};

    if (!has.version)
        return has;
    uint64_t buffer = spe_read(SPE_BIDR);
    has.foreign = buffer & BIDR_P;
    if (has.foreign)
        return has; /* the next register would trap */
    uint64_t id = spe_read(SPE_IDR);
    unsigned size = IDR_MAXSIZE(id), align = BIDR_ALIGN(buffer);
    has.format = IDR_FORMAT(id);
    has.usable =
        !has.format && size >= MAXSIZE_LEAST && size <= MAXSIZE_MOST && align <= ALIGN_MOST;
    has.align = 1u << align;
    has.record_max = 1u << size;
    has.interval_min = intervals[IDR_INTERVAL(id)];
    has.by_event = id & IDR_FE;
    has.by_type = id & IDR_FT;
    has.random = id & IDR_ERND;
    has.codes = id & IDR_LDS ? spe_codes_of(midr) : NULL;
    return has;
}

void spe_describe(const struct spe_ability *has, struct pmu_caps *caps)
{
    if (has->foreign)
        kprintf("hpm: spe: the profiling buffer belongs to a higher exception level: no records\n");
    else if (has->version && !has->usable)
        kprintf("hpm: spe: records of format %u, up to %u bytes, at multiples of %u: not known, "
                "not used\n",
                has->format, has->record_max, has->align);
    if (!has->usable)
        return;
    if (!has->codes)
        kprintf("hpm: spe: this processor's codes of data sources are not known: sources by its "
                "events alone\n");
    caps->samplers = 1;
    caps->sample_sources = spe_sources(has->codes);
    caps->sample_alike = SOURCES_REMOTE_CACHE;
    caps->sample_walks = caps->sample_latency = true;
    caps->sample_period_min = has->interval_min;
    caps->sample_records_max = RECORDS_MAX;
    caps->record_bytes = has->record_max;
}

bool spe_cpu_init(const struct cpu *cpu, const struct spe_ability *has,
                  const struct spe_ability *all, const struct pmu_setup *setup)
{
    struct spe_cpu *s = &spe_cpus[cpu->index];

    *s = (struct spe_cpu){.random = draw_begin(cpu->index)};
    if (!all->usable)
        return true;
    if (!has->usable || has->record_max > all->record_max ||
        has->interval_min > all->interval_min || has->codes != all->codes)
        return false;
    s->has = *has;
    s->base = (uint64_t)(uintptr_t)setup->records;
    s->limit = s->base + ALIGN_UP((uint64_t)setup->record_count * all->record_max, LIMITR_UNIT);
    return true;
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

/* Returns PMSIRR_EL1: uniform around the period, rounded up or down so that it is right on average.
 * It remains until the buffer is emptied, and a shorter interval yields more records; with more
 * than an eighth of jitter, samples would be clearly too frequent. The hardware's own random delay,
 * up to 255, is added where it moves single samples only. Where it would be part of the interval it
 * would lengthen all of them. */
static uint64_t draw_interval(struct spe_cpu *s)
{
    const struct hpm_sampling *c = &s->config;
    uint32_t jitter = MIN(MIN(c->jitter, c->period / 8), c->period - s->has.interval_min);
    uint64_t distance =
        draw_around(&s->random, c->period, jitter) + draw_bits(&s->random) % IRR_UNIT;

    return (distance & IRR_INTERVAL) | (s->has.random && c->jitter >= IRR_UNIT ? IRR_RND : 0);
}

/* Starts sampling at the beginning of the buffer. */
static void start_unit(struct spe_cpu *s)
{
    spe_write(SPE_PTR, s->base);
    spe_write(SPE_LIMITR, s->limit | LIMITR_E);
    spe_write(SPE_IRR, draw_interval(s));
    spe_sync(); /* before a sample is taken or written */
    spe_write(SPE_CR, s->enable);
}

/* Stops sampling. Everything sampled so far is then in the buffer, and the processor writes to it
 * no more. */
static void stop_unit(void)
{
    spe_write(SPE_CR, 0);
    spe_sync();       /* later instructions are not sampled, so nothing comes behind */
    spe_drain_sync(); /* the samples that are awaited here */
    spe_write(SPE_LIMITR, 0);
    spe_sync(); /* pointer and status do not change any more */
}

/* Returns the events a record must have: that it retired; that it walked, if walks alone are asked
 * for; that it missed the L1, if nothing of the L1 is; that it went to another chip, if only these
 * are asked for and the events alone tell it. Bits of events that cannot be filtered by are ignored
 * (up to v1.3 the last one). */
static uint64_t events_for(const struct spe_cpu *s)
{
    uint32_t sources = s->config.sources;
    uint64_t events = SPE_EVENT_RETIRED;

    if (s->config.walks)
        return events | (sources ? 0 : SPE_EVENT_WALK);
    if (!(sources & 1u << SOURCE_L1))
        events |= SPE_EVENT_L1_MISS;
    if (!s->has.codes && !(sources & ~SOURCES_REMOTE_CACHE))
        events |= SPE_EVENT_REMOTE;
    return events;
}

/* Starts sampling. Contexts are not recorded (PMSCR_EL1.CX): CONTEXTIDR_EL1 is not used, for the
 * thread is known when records are taken. */
static void start_sampling(struct spe_cpu *s)
{
    const struct hpm_sampling *c = &s->config;

    s->enable = CR_PA | CR_TS | (c->user ? CR_E0SPE : 0) | (c->kernel ? CR_E1SPE : 0);
    spe_write(SPE_FCR,
              (s->has.by_event ? FCR_FE : 0) | (s->has.by_type ? FCR_FT | FCR_LD | FCR_ST : 0));
    spe_write(SPE_EVFR, events_for(s));
    spe_write(SPE_LATFR, 0);
    spe_write(SPE_SR, 0);
    spe_write(SPE_ICR, 0); /* so that the first interval is loaded */
    start_unit(s);
}

uint32_t spe_sample(UNUSED unsigned sampler, const struct hpm_sampling *config)
{
    struct spe_cpu *s = spe_here();

    if (!s->has.usable)
        return 0;
    if (s->enable)
        stop_unit(); /* if it has stopped by itself, its interrupt is cleared when it comes */
    s->enable = 0;
    s->taking = s->failed = false;
    if (config) {
        s->config = *config;
        start_sampling(s);
    }
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

uint64_t spe_waiting(void)
{
    const struct spe_cpu *s = spe_here();

    if (!s->enable || s->failed)
        return s->taking;
    if (s->taking)
        return 1;
    spe_drain_sync();
    spe_sync(); /* the pointer is now up to date */
    return spe_read(SPE_PTR) != s->base || spe_read(SPE_SR);
}

/* Returns whether the record is a sample that was asked for; *known: whether that could be
 * decided. */
static bool is_wanted(const struct spe_cpu *s, const struct spe_record *r, unsigned source,
                      bool *known)
{
    const uint32_t addresses = SPE_HAS_PC | SPE_HAS_DATA;
    const struct hpm_sampling *c = &s->config;

    /* A record without events is invalid. */
    bool walked = c->walks && r->events & SPE_EVENT_WALK;
    *known = (r->has & SPE_HAS_EVENTS) &&
             (source != SPE_NOT_KNOWN || (c->sources == 1u << SOURCE_L1 && !walked));
    if (!*known || source >= SOURCE_COUNT || !(c->sources >> source & 1 || walked))
        return false;
    *known = (r->has & addresses) == addresses;
    return *known && (r->events & SPE_EVENT_RETIRED) && (r->level ? c->kernel : c->user);
}

static bool take_record(struct spe_cpu *s, const struct spe_record *r, struct hpm_sample *out,
                        uint64_t *lost)
{
    unsigned source = spe_source(s->has.codes, r);
    bool known;

    if (!is_wanted(s, r, source, &known)) {
        *lost += !known;
        s->passed_over += known;
        return false;
    }
    /* The total latency has the translation's in it. */
    uint16_t walk = r->events & SPE_EVENT_WALK ? MAX(r->translation, (uint16_t)1) : 0;
    *out = (struct hpm_sample){
        .time = r->has & SPE_HAS_TIME ? r->time : arch_ticks(),
        .pc = r->pc,
        .data = r->data,
        .data_phys = r->phys,
        .latency = (uint16_t)(r->latency - MIN(walk, r->latency)),
        .source = (uint8_t)source,
        .user = !r->level,
        .store = r->store,
        .walk = walk,
        .samplers = 1,
    };
    return sample_wanted(&s->config, out);
}

/* Accounts for the reason for which sampling has stopped by itself. A full buffer counts as one
 * lost record, whether or not a record did not fit, and so do collisions of samples, the number of
 * which is not reported. */
static void account_for(struct spe_cpu *s, uint64_t status, uint64_t *lost)
{
    bool full = SR_EC(status) == EC_BUFFER && SR_MSS(status) == MSS_FULL && !(status & SR_EA);

    *lost += !!(status & SR_COLL) + !!(status & SR_S);
    s->cut = status & SR_S;
    s->failed = (status & SR_S) && !full;
    if (s->failed)
        kprintf("hpm: spe: CPU %u cannot write its buffer (PMBSR %#llx): no more records of it\n",
                this_cpu()->index, (unsigned long long)status);
}

/* Stops sampling to take the records. The processor writes the pointer; if it is outside the
 * buffer, it is invalid. */
static void begin_taking(struct spe_cpu *s, uint64_t *lost)
{
    stop_unit();
    uint64_t status = spe_read(SPE_SR), end = spe_read(SPE_PTR);
    spe_write(SPE_SR, 0); /* the interrupt is level-sensitive */
    account_for(s, status, lost);
    bool believable = end >= s->base && end <= s->limit;
    *lost += !believable && !s->failed;
    s->bytes = (struct spe_bytes){.base = (const uint8_t *)(uintptr_t)s->base,
                                  .size = believable ? end - s->base : 0,
                                  .align = s->has.align,
                                  .record_max = s->has.record_max};
    s->taking = true;
}

/* Ends taking, and lets sampling go on. Returns true. */
static bool end_taking(struct spe_cpu *s)
{
    s->taking = false;
    if (!s->failed)
        start_unit(s);
    return true;
}

size_t spe_drain(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX])
{
    struct spe_cpu *s = spe_here();
    struct spe_record r;
    bool done = !s->enable || (s->failed && !s->taking);
    size_t n = 0;

    if (!done && !s->taking)
        begin_taking(s, &lost[0]);
    while (!done && n < max) {
        switch (spe_next(&s->bytes, &r)) {
        case SPE_RECORD:
            n += take_record(s, &r, &out[n], &lost[0]);
            break;
        case SPE_BROKEN:
            lost[0]++;
            break;
        case SPE_CUT:
            lost[0] += !s->cut;
            break;
        case SPE_NOTHING:
            done = end_taking(s);
            break;
        }
    }
    return n;
}

/* Returns whether the buffer has stopped. An interrupt that comes after the records have been taken
 * finds nothing. */
bool spe_interrupted(void)
{
    struct spe_cpu *s = spe_here();

    if (!s->has.usable || !(spe_read(SPE_SR) & SR_S))
        return false;
    if (s->enable && !s->failed)
        return true;
    stop_unit();
    spe_write(SPE_SR, 0);
    return false;
}

uint64_t spe_passed_over(unsigned cpu)
{
    return spe_cpus[cpu].passed_over;
}
