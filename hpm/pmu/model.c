/*
 * PMU of the simulated multiprocessor: the registers of kernel/dev/model/machine.h, one page per
 * CPU.
 *
 * Every access to a register costs cycles, so frequent operations take a store and three loads. A
 * turn reads all counters and gives them other events at one moment.
 */
#include "hpm/pmu/frequency.h"
#include "hpm/pmu/pmu.h"
#include "kernel/core/cpu.h"
#include "kernel/dev/model/machine_find.h"

enum { PROGRAMMABLE = 4 };

_Static_assert((int)SOURCE_COUNT == (int)MACHINE_SOURCES && (int)SOURCE_L1 == (int)MACHINE_L1 &&
                   (int)SOURCE_REMOTE_L2 == (int)MACHINE_REMOTE_L2 &&
                   (int)SOURCE_REMOTE_MEMORY == (int)MACHINE_REMOTE_MEMORY,
               "sources are numbered alike");
_Static_assert(STALL_ICACHE == 0 &&
                   STALL_OTHER == MACHINE_EVENT_STALL_OTHER - MACHINE_EVENT_STALL_ICACHE,
               "causes are numbered alike");

/* reasons of interrupts besides the end of a slice; ARMED lasts until the next turn */
enum { RECORDS = 1, ARMED = 2 };

/* What this driver knows of each CPU's page. Accessed by that CPU only. */
static struct model_cpu {
    volatile struct machine_cpu *regs;
    const struct machine_record *records;
    uint32_t record_count;
    uint64_t tail;
    uint64_t lost, lost_by[MACHINE_SAMPLERS]; /* records that were told of; by sampler */
    uint32_t sampling;                        /* bit n: sampler n is on */
    uint64_t value[MACHINE_COUNTERS];         /* at the latest reading */
    unsigned timer;                           /* counter that ends a slice by its overflow */
    /* possible reasons of an interrupt besides the timer; 0: it needs not be asked */
    unsigned others;
    uint64_t ticks; /* of the clock at the latest latch */
    uint32_t tag;   /* for the truth from the next latch on, if `tagged` */
    bool tagged;
} ALIGNED(CACHE_LINE) model_cpus[CPU_MAX] HOT_CPUS;

static struct model_cpu *model_here(void)
{
    return &model_cpus[this_cpu()->index];
}

static int32_t command(volatile struct machine_cpu *regs, enum machine_command c)
{
    arch_io_write32(&regs->command, c);
    return (int32_t)arch_io_read32(&regs->result);
}

static int model_probe(struct pmu_caps *caps)
{
    const volatile struct machine_id *id = machine_id();

    if (!id || !(id->caps & MACHINE_CAP_PMU))
        return -ENODEV;
    *caps = (struct pmu_caps){
        .counters = PROGRAMMABLE,
        .instructions = true,
        .user_reads = true,
        .user_latches = machine_user_pages(),
        .arms = true,
        .slices_by_instructions = true,
        .cycles_per_tick = PMU_RATE_ONE,
        .events = {.table = event_table_named("model"), .counters = PROGRAMMABLE},
        .line_bytes = id->line_bytes,
        .samplers = MIN(MACHINE_SAMPLERS, PMU_SAMPLERS_MAX),
        .sample_sources = id->sample_sources,
        .sample_walks = id->sample_kinds & MACHINE_KIND_WALK,
        .sample_latency = true,
        .sample_fetches = id->sample_kinds & MACHINE_KIND_FETCH,
        .sample_records_max = id->ring_records_max,
        .record_bytes = MACHINE_RECORD_BYTES,
        .record_cycles = id->record_cycles,
        .interrupt_cycles = id->exception_entry_cycles + id->exception_return_cycles,
    };
    for (unsigned i = 0; i < SOURCE_COUNT; i++)
        caps->latency[i] = id->latency[i];
    return 0;
}

static unsigned flags_of(unsigned modes)
{
    return (modes & EVENT_USER ? MACHINE_COUNT_USER : 0u) |
           (modes & EVENT_KERNEL ? MACHINE_COUNT_KERNEL : 0u);
}

static void set_counter(volatile struct machine_counter *c, unsigned event, unsigned flags,
                        uint64_t period)
{
    arch_io_write32(&c->event, event);
    arch_io_write32(&c->flags, flags);
    arch_io_write64(&c->period, period);
}

static int32_t set_ring(struct model_cpu *m)
{
    volatile struct machine_cpu *regs = m->regs;

    arch_io_write64(&regs->ring_base, virt_to_phys(m->records));
    arch_io_write32(&regs->ring_records, m->record_count);
    arch_io_write32(&regs->ring_irq_at, m->record_count - m->record_count / 4);
    return command(regs, MACHINE_CMD_RING);
}

static int model_cpu_init(const struct cpu *cpu, const struct pmu_setup *setup)
{
    struct model_cpu *m = &model_cpus[cpu->index];
    volatile struct machine_cpu *regs = machine_cpu(cpu->index);
    unsigned flags = flags_of(setup->modes);
    struct arch_msi msi;

    *m = (struct model_cpu){.regs = regs,
                            .records = setup->records,
                            .record_count = setup->record_count,
                            .timer = setup->by_instructions ? MACHINE_COUNTER_INSTRUCTIONS
                                                            : MACHINE_COUNTER_CYCLES};
    arch_pmu_msi((struct cpu *)cpu, &msi);
    arch_io_write64(&regs->irq_address, msi.address);
    arch_io_write32(&regs->irq_data, msi.data);
    for (unsigned c = 0; c < PROGRAMMABLE; c++)
        set_counter(&regs->counter[c], MACHINE_EVENT_NONE, flags, 0);
    for (unsigned c = MACHINE_COUNTER_INSTRUCTIONS; c <= MACHINE_COUNTER_CYCLES; c++) {
        bool timer = c == m->timer && setup->slice;
        set_counter(&regs->counter[c],
                    c == MACHINE_COUNTER_CYCLES ? MACHINE_EVENT_CYCLES : MACHINE_EVENT_INSTRUCTIONS,
                    flags | (timer ? MACHINE_COUNT_IRQ : 0), timer ? setup->slice : 0);
    }
    if (command(regs, MACHINE_CMD_CONFIGURE) || command(regs, MACHINE_CMD_START) ||
        (setup->records && set_ring(m)))
        return -EIO;
    command(regs, MACHINE_CMD_READ);
    for (unsigned c = 0; c < MACHINE_COUNTERS; c++)
        m->value[c] = arch_io_read64(&regs->counter[c].value);
    return 0;
}

static uint64_t model_image(const struct event *const *event)
{
    uint64_t turn = MACHINE_TURN_SELECT;

    for (unsigned c = 0; c < PROGRAMMABLE; c++)
        if (event[c])
            turn |= MACHINE_TURN_EVENT(c, event[c]->config, flags_of(event[c]->modes));
    return turn;
}

/* Extends a 32-bit reading. Between two readings no counter grows by 2^32: ticks and slices limit
 * the cycles between them. */
static uint64_t widen(uint64_t *value, uint32_t now)
{
    *value += (uint32_t)(now - (uint32_t)*value);
    return *value;
}

HOT_CODE static void model_latch(struct pmu_latch *out, const struct hpm_programme *next)
{
    struct model_cpu *m = model_here();
    volatile struct machine_cpu *regs = m->regs;
    uint64_t pair;

    if (next)
        m->others &= ~(unsigned)ARMED;
    /* Side by side, so that no cache miss comes between the truth's change and the counts'. */
    uint64_t image = next ? next->image : 0;
    if (m->tagged)
        arch_io_write32(&regs->tag, m->tag);
    arch_io_write64(&regs->turn, image);
    m->ticks = arch_ticks_near();
    m->tagged = false;
    for (unsigned c = 0; c < PROGRAMMABLE; c += 2) {
        pair = arch_io_read64(&regs->pair[c / 2]);
        out->count[c] = widen(&m->value[c], (uint32_t)pair);
        out->count[c + 1] = widen(&m->value[c + 1], (uint32_t)(pair >> 32));
    }
    pair = arch_io_read64(&regs->pair[MACHINE_COUNTER_INSTRUCTIONS / 2]);
    out->instructions = widen(&m->value[MACHINE_COUNTER_INSTRUCTIONS], (uint32_t)pair);
    out->cycles = widen(&m->value[MACHINE_COUNTER_CYCLES], (uint32_t)(pair >> 32));
}

static void model_arm(unsigned c, uint64_t due)
{
    struct model_cpu *m = model_here();
    volatile struct machine_cpu *regs = m->regs;

    m->others |= ARMED;
    arch_io_write64(&regs->due, due);
    arch_io_write32(&regs->command, MACHINE_COMMAND_ARM(c));
}

static void model_user(unsigned counter, struct hpm_user_register *out)
{
    _Static_assert(offsetof(struct hpm_user_latch, latch) == offsetof(struct machine_user, latch) &&
                       offsetof(struct hpm_user_latch, value) ==
                           offsetof(struct machine_user, value),
                   "as the machine's");
    unsigned c = counter == PMU_CYCLES         ? MACHINE_COUNTER_CYCLES
                 : counter == PMU_INSTRUCTIONS ? MACHINE_COUNTER_INSTRUCTIONS
                                               : counter;

    *out = (struct hpm_user_register){.index = c + 1, .bits = 64, .value = model_here()->value[c]};
}

static void model_open(bool on)
{
    arch_io_write32(&model_here()->regs->user_open, on);
}

static void model_tag(uint32_t tid)
{
    struct model_cpu *m = model_here();

    m->tag = tid;
    m->tagged = true;
}

/* Returns the machine's jitter. It draws distances within (j + 1) / 2 of the period, j being a
 * power of two less one; returned is the largest j for distances within +-jitter. */
static uint32_t machine_jitter(const struct hpm_sampling *c)
{
    uint32_t widest = MIN(2 * c->jitter, c->period - 1);

    return (1u << log2_floor(widest + 1)) - 1;
}

static uint32_t kinds_of(const struct hpm_sampling *c)
{
    return (c->sources ? MACHINE_KIND_ACCESS : 0) | (c->walks ? MACHINE_KIND_WALK : 0) |
           (c->fetches ? MACHINE_KIND_FETCH : 0);
}

static uint32_t model_sample(unsigned n, const struct hpm_sampling *c)
{
    struct model_cpu *m = model_here();
    volatile struct machine_sampler *s = &m->regs->sampler[n];

    m->sampling = (m->sampling & ~(1u << n)) | (c ? 1u << n : 0);
    m->others = (m->others & ~(unsigned)RECORDS) | (m->sampling ? RECORDS : 0);
    arch_io_write32(&s->kinds, c ? kinds_of(c) : 0);
    if (c) {
        arch_io_write32(&s->sources, c->sources);
        arch_io_write32(&s->flags, (c->user ? MACHINE_COUNT_USER : 0) |
                                       (c->kernel ? MACHINE_COUNT_KERNEL : 0));
        arch_io_write32(&s->min_latency, c->min_latency);
        arch_io_write32(&s->period, c->period);
        arch_io_write32(&s->jitter, machine_jitter(c));
    }
    if (command(m->regs, (enum machine_command)MACHINE_COMMAND_SAMPLE(n)))
        panic("hpm: the simulated machine refuses to sample sources %x, 1 in %u, by sampler %u",
              c ? c->sources : 0, c ? c->period : 0, n);
    return arch_io_read32(&s->left);
}

static uint64_t model_waiting(void)
{
    struct model_cpu *m = model_here();

    return arch_io_read64(&m->regs->ring_head) - m->tail;
}

/* Tells of records that were dropped since the last time. */
static void tell_lost(struct model_cpu *m, uint64_t lost[PMU_SAMPLERS_MAX])
{
    uint64_t dropped = arch_io_read64(&m->regs->ring_lost);

    if (dropped == m->lost)
        return;
    m->lost = dropped;
    for (unsigned i = 0; i < MACHINE_SAMPLERS; i++) {
        uint64_t now = arch_io_read64(&m->regs->sampler[i].lost);
        lost[i] += now - m->lost_by[i];
        m->lost_by[i] = now;
    }
}

static size_t model_drain(struct hpm_sample *out, size_t max, uint64_t lost[PMU_SAMPLERS_MAX])
{
    struct model_cpu *m = model_here();
    size_t n = MIN(model_waiting(), (uint64_t)max);

    for (size_t i = 0; i < n; i++) {
        const struct machine_record *r = &m->records[(m->tail + i) & (m->record_count - 1)];
        out[i] = (struct hpm_sample){
            .time = r->time,
            .pc = r->pc,
            .data = r->data,
            .data_phys = r->data_phys,
            .latency = (uint16_t)MIN(r->latency, (uint32_t)UINT16_MAX),
            .source = r->source,
            .user = r->flags & MACHINE_RECORD_USER,
            .store = r->flags & MACHINE_RECORD_STORE,
            .walk = r->walk,
            .samplers = r->samplers,
            .fetch = r->fetch,
            .atomic = r->flags & MACHINE_RECORD_ATOMIC,
            .modified = r->flags & MACHINE_RECORD_MODIFIED,
            .bytes = r->bytes,
        };
    }
    m->tail += n;
    arch_io_write64(&m->regs->ring_tail, m->tail);
    tell_lost(m, lost);
    return n;
}

/* Returns the reasons of the interrupt. The latch that follows acknowledges the end of a slice. */
HOT_CODE static unsigned model_interrupted(void)
{
    struct model_cpu *m = model_here();

    if (!m->others)
        return PMU_SLICE;
    volatile struct machine_cpu *regs = m->regs;
    uint32_t overflow = arch_io_read32(&regs->overflow);
    arch_io_write32(&regs->ack, overflow);
    arch_io_write32(&regs->command, MACHINE_CMD_ACK);
    return (overflow >> m->timer & 1 ? PMU_SLICE : 0) |
           (overflow & MACHINE_STATUS_RING ? PMU_RECORDS : 0) |
           (overflow & ((1u << PROGRAMMABLE) - 1)) * PMU_COUNTER;
}

static void model_mark(const char *label)
{
    volatile struct machine_id *id = machine_id();
    size_t i = 0;

    for (; label[i] && i + 1 < sizeof id->mark_label; i++)
        id->mark_label[i] = label[i] == ' ' ? '_' : label[i];
    id->mark_label[i] = 0;
    arch_io_write32(&id->mark, 1);
}

const struct pmu_ops pmu_model = {
    .name = "model",
    .probe = model_probe,
    .cpu_init = model_cpu_init,
    .image = model_image,
    .latch = model_latch,
    .arm = model_arm,
    .user = model_user,
    .open = model_open,
    .tag = model_tag,
    .sample = model_sample,
    .waiting = model_waiting,
    .drain = model_drain,
    .interrupted = model_interrupted,
    .mark = model_mark,
};

/* ---- Frequency ------------------------------------------------------------------------------- */

/* Counts are of the latest latch: cycles of the core, and the clock, which runs on in idle time. */
static int model_frequency_probe(struct frequency_caps *caps)
{
    const volatile struct machine_id *id = machine_id();

    if (!id || !(id->caps & MACHINE_CAP_PMU))
        return -ENODEV;
    *caps = (struct frequency_caps){.counts = true,
                                    .by_pmu = true,
                                    .reference_hz = arch_ticks_hz(),
                                    .pstates = MACHINE_PSTATES};
    for (unsigned p = 0; p < MACHINE_PSTATES; p++)
        caps->khz[p] = (uint32_t)(id->cycles_hz * 256 / id->pstate_cycle_256[p] / 1000);
    return 0;
}

static void model_frequency_read(struct frequency_count *out)
{
    const struct model_cpu *m = model_here();

    *out = (struct frequency_count){m->value[MACHINE_COUNTER_CYCLES], m->ticks};
}

static void model_frequency_set(unsigned pstate)
{
    arch_io_write32(&machine_cpu(this_cpu()->index)->pstate, pstate);
}

const struct frequency_ops frequency_model = {.name = "model",
                                              .probe = model_frequency_probe,
                                              .read = model_frequency_read,
                                              .set = model_frequency_set};
