/*
 * Arm's Statistical Profiling Extension (Arm ARM DDI 0487, D17), v1.0 to v1.3: of all operations
 * the processor picks one in so many, follows it, and writes a record of what became of it into a
 * buffer in memory, unless a filter says no.
 *
 * The buffer is the kernel's memory, which is mapped whoever runs. It is filled once from its
 * beginning: full, it stops and interrupts. It is emptied whenever records wait at a switch, a
 * tick or an interrupt: sampling stands still for that time, and with it the interval, so nothing
 * but this driver goes unseen; then it starts from the beginning. The processor holds back what it
 * has sampled, and whose a record is is told by who runs when it is taken, so each look first makes
 * it write everything (PSB CSYNC).
 *
 * Intervals are of operations of any kind, so of accesses of whatever source there is one record in
 * `period`; a filter changes nothing about that. They are multiples of 256, and a new one is drawn
 * whenever the buffer is emptied.
 */
#include "hpm/pmu/arm/armv8_spe.h"
#include "hpm/pmu/arm/armv8_spe_regs.h"
#include "hpm/policy/draw.h"
#include "kernel/core/cpu.h"
#include "kernel/core/printf.h"

/* what to believe of codes that were not defined when this was written: the longest */
#define INTERVAL_UNKNOWN 4096
#define RECORDS_MAX      (1u << 20)

/* PMSIDR_EL1.Interval: the shortest that the processor's maker advises. */
static const uint32_t intervals[16] = {
    [0] = 256,  [1] = INTERVAL_UNKNOWN,
    [2] = 512,  [3] = 768,
    [4] = 1024, [5] = 1536,
    [6] = 2048, [7] = 3072,
    [8] = 4096, [9 ... 15] = INTERVAL_UNKNOWN,
};

/* Owned by the CPU. */
static struct spe_cpu {
    struct spe_ability has; /* not usable: nothing below is used */
    uint64_t base, limit;
    struct hpm_sampling config;
    uint64_t enable; /* PMSCR_EL1 while it samples; 0: it is off */
    bool taking;     /* it stands still, and `bytes` is what is being taken */
    bool cut;        /* the last record of them is counted as lost already */
    bool failed;     /* the buffer cannot be written: no more until sampling starts anew */
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
    caps->sample_sources = spe_sources(has->codes);
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

/*
 * PMSIRR_EL1: uniform around the period, rounded up or down so that it is right on average. It
 * stays until the buffer is emptied, and the shorter it is the more records there are of it: with
 * more than an eighth of jitter they would come clearly too often. The hardware's own random
 * delay, up to 255, comes on top where it moves single samples only; where it would be part of the
 * interval, it would make all of them longer.
 */
static uint64_t draw_interval(struct spe_cpu *s)
{
    const struct hpm_sampling *c = &s->config;
    uint32_t jitter = MIN(MIN(c->jitter, c->period / 8), c->period - s->has.interval_min);
    uint64_t distance =
        draw_around(&s->random, c->period, jitter) + draw_bits(&s->random) % IRR_UNIT;

    return (distance & IRR_INTERVAL) | (s->has.random && c->jitter >= IRR_UNIT ? IRR_RND : 0);
}

/* From the beginning of the buffer. */
static void start_unit(struct spe_cpu *s)
{
    spe_write(SPE_PTR, s->base);
    spe_write(SPE_LIMITR, s->limit | LIMITR_E);
    spe_write(SPE_IRR, draw_interval(s));
    spe_sync(); /* before a sample is taken or written */
    spe_write(SPE_CR, s->enable);
}

/* Everything sampled so far is in the buffer, and nobody writes it any more. */
static void stop_unit(void)
{
    spe_write(SPE_CR, 0);
    spe_sync();       /* what follows is not sampled, so nothing comes behind ... */
    spe_drain_sync(); /* ... what is awaited here */
    spe_write(SPE_LIMITR, 0);
    spe_sync(); /* the pointer and the status do not change any more */
}

/*
 * Events a record must have: that it retired; where nothing of the L1 is asked for, that it missed
 * that; where only other chips are, and the events alone say so, that. Bits of events that cannot
 * be filtered by, up to v1.3 the last one, are ignored.
 */
static uint64_t events_for(const struct spe_cpu *s)
{
    uint32_t sources = s->config.sources;
    uint64_t events = SPE_EVENT_RETIRED;

    if (!(sources & 1u << SOURCE_L1))
        events |= SPE_EVENT_L1_MISS;
    if (!s->has.codes && !(sources & ~SOURCES_REMOTE_CACHE))
        events |= SPE_EVENT_REMOTE;
    return events;
}

/* Contexts are not recorded (PMSCR_EL1.CX): CONTEXTIDR_EL1 is not used, the thread is whose records
 * are taken. */
static void start_sampling(struct spe_cpu *s)
{
    const struct hpm_sampling *c = &s->config;

    s->enable = CR_PA | CR_TS | (c->user ? CR_E0SPE : 0) | (c->kernel ? CR_E1SPE : 0);
    spe_write(SPE_FCR,
              (s->has.by_event ? FCR_FE : 0) | (s->has.by_type ? FCR_FT | FCR_LD | FCR_ST : 0));
    spe_write(SPE_EVFR, events_for(s));
    spe_write(SPE_LATFR, 0);
    spe_write(SPE_SR, 0);
    spe_write(SPE_ICR, 0); /* so that it is loaded with the first interval */
    start_unit(s);
}

void spe_sample(const struct hpm_sampling *config)
{
    struct spe_cpu *s = spe_here();

    if (!s->has.usable)
        return;
    if (s->enable)
        stop_unit(); /* if it has stopped by itself, the interrupt is taken down when it comes */
    s->enable = 0;
    s->taking = s->failed = false;
    if (!config)
        return;
    s->config = *config;
    if (s->config.sources & SOURCES_REMOTE_CACHE)
        s->config.sources |= SOURCES_REMOTE_CACHE;
    start_sampling(s);
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
    spe_sync(); /* the pointer is where it has come by that */
    return spe_read(SPE_PTR) != s->base || spe_read(SPE_SR);
}

/* Whether it is one of those asked for; *known: whether that can be told. */
static bool is_wanted(const struct spe_cpu *s, const struct spe_record *r, unsigned source,
                      bool *known)
{
    const uint32_t addresses = SPE_HAS_PC | SPE_HAS_DATA;
    const struct hpm_sampling *c = &s->config;

    /* All records have events, or they are none. */
    *known =
        (r->has & SPE_HAS_EVENTS) && (source != SPE_NOT_KNOWN || c->sources == 1u << SOURCE_L1);
    if (!*known || source >= SOURCE_COUNT || !(c->sources >> source & 1))
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
    *out = (struct hpm_sample){
        .time = r->has & SPE_HAS_TIME ? r->time : arch_ticks(),
        .pc = r->pc,
        .data = r->data,
        .data_phys = r->phys,
        .latency = r->latency,
        .source = (uint8_t)source,
        .user = !r->level,
        .store = r->store,
    };
    return true;
}

/* Why it has stopped, if it has by itself. A full buffer, with or without a record that did not
 * fit, is a lost record; and so are samples that fell due too early, of which it is only known that
 * there were some. */
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

/* The pointer is the processor's: where it is outside the buffer nothing can be believed. */
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

/* True: that was all of it, and sampling goes on. */
static bool end_taking(struct spe_cpu *s)
{
    s->taking = false;
    if (!s->failed)
        start_unit(s);
    return true;
}

size_t spe_drain(struct hpm_sample *out, size_t max, uint64_t *lost)
{
    struct spe_cpu *s = spe_here();
    struct spe_record r;
    bool done = !s->enable || (s->failed && !s->taking);
    size_t n = 0;

    if (!done && !s->taking)
        begin_taking(s, lost);
    while (!done && n < max) {
        switch (spe_next(&s->bytes, &r)) {
        case SPE_RECORD:
            n += take_record(s, &r, &out[n], lost);
            break;
        case SPE_BROKEN:
            ++*lost;
            break;
        case SPE_CUT:
            *lost += !s->cut;
            break;
        case SPE_NOTHING:
            done = end_taking(s);
            break;
        }
    }
    return n;
}

/* One that comes although the records have been taken finds nothing. */
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
