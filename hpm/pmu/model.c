/*
 * PMU of the simulated multiprocessor: registers of kernel/dev/machine.h, one page per CPU.
 *
 * Every access to a register costs cycles, so what was written is remembered here, and one READ serves all counters.
 * Changed events are stored first and take effect by TURN, at the very moment of its reading.
 */
#include "hpm/pmu/pmu.h"
#include "kernel/cpu.h"
#include "kernel/dev/machine_find.h"

enum { PROGRAMMABLE = 4 };

_Static_assert((int)SOURCE_COUNT == (int)MACHINE_SOURCES && (int)SOURCE_L1 == (int)MACHINE_L1 &&
                   (int)SOURCE_REMOTE_L2 == (int)MACHINE_REMOTE_L2 &&
                   (int)SOURCE_REMOTE_MEMORY == (int)MACHINE_REMOTE_MEMORY,
               "sources are numbered alike");
_Static_assert(STALL_ICACHE == 0 && STALL_OTHER == MACHINE_EVENT_STALL_OTHER - MACHINE_EVENT_STALL_ICACHE,
               "causes are numbered alike");

/* What this driver knows of each CPU's page.  Owned by that CPU. */
static struct model_cpu {
    volatile struct machine_cpu *regs;
    const struct machine_record *records;
    uint32_t record_count;
    uint64_t tail, lost;
    const struct event *event[PROGRAMMABLE]; /* as programmed ... */
    uint8_t modes[PROGRAMMABLE];             /* ... and in which modes */
    bool armed;                              /* some counter was, since they were configured */
} ALIGNED(CACHE_LINE) model_cpus[CPU_MAX];

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
        .arms = true,
        .cycles_per_tick = PMU_RATE_ONE,
        .events = {.table = event_table_named("model"), .counters = PROGRAMMABLE},
        .line_bytes = id->line_bytes,
        .sample_sources = id->sample_sources,
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

static void set_counter(volatile struct machine_counter *c, unsigned event, unsigned flags, uint64_t period)
{
    arch_io_write32(&c->event, event);
    arch_io_write32(&c->flags, flags);
    arch_io_write64(&c->period, period);
}

static int model_cpu_init(const struct cpu *cpu, const struct pmu_setup *setup)
{
    struct model_cpu *m = &model_cpus[cpu->index];
    volatile struct machine_cpu *regs = machine_cpu(cpu->index);
    unsigned flags = flags_of(setup->modes);
    struct arch_msi msi;

    *m = (struct model_cpu){.regs = regs, .records = setup->records, .record_count = setup->record_count};
    memset(m->modes, setup->modes, sizeof m->modes);
    arch_pmu_msi((struct cpu *)cpu, &msi);
    arch_io_write64(&regs->irq_address, msi.address);
    arch_io_write32(&regs->irq_data, msi.data);
    for (unsigned c = 0; c < PROGRAMMABLE; c++)
        set_counter(&regs->counter[c], MACHINE_EVENT_NONE, flags, 0);
    set_counter(&regs->counter[MACHINE_COUNTER_INSTRUCTIONS], MACHINE_EVENT_INSTRUCTIONS, flags, 0);
    set_counter(&regs->counter[MACHINE_COUNTER_CYCLES], MACHINE_EVENT_CYCLES,
                flags | (setup->slice_cycles ? MACHINE_COUNT_IRQ : 0), setup->slice_cycles);
    if (command(regs, MACHINE_CMD_CONFIGURE) || command(regs, MACHINE_CMD_START))
        return -EIO;
    return 0;
}

/* Stores what differs from what is programmed; true if anything does. */
static bool store_events(struct model_cpu *m, const struct event *const *next)
{
    bool changed = false;

    for (unsigned c = 0; c < PROGRAMMABLE; c++) {
        if (m->event[c] == next[c])
            continue;
        m->event[c] = next[c];
        arch_io_write32(&m->regs->counter[c].event, next[c] ? (uint32_t)next[c]->config : MACHINE_EVENT_NONE);
        changed = true;
        if (!next[c] || next[c]->modes == m->modes[c])
            continue;
        m->modes[c] = next[c]->modes;
        arch_io_write32(&m->regs->counter[c].flags, flags_of(m->modes[c]));
    }
    return changed;
}

static void model_latch(struct pmu_latch *out, const struct event *const *next)
{
    struct model_cpu *m = model_here();
    volatile struct machine_cpu *regs = m->regs;
    bool configure = next && (store_events(m, next) || m->armed);

    if (configure)
        m->armed = false;
    arch_io_write32(&regs->command, configure ? MACHINE_CMD_TURN : MACHINE_CMD_READ);
    out->cycles = arch_io_read64(&regs->counter[MACHINE_COUNTER_CYCLES].value);
    out->instructions = arch_io_read64(&regs->counter[MACHINE_COUNTER_INSTRUCTIONS].value);
    for (unsigned c = 0; c < PROGRAMMABLE; c++)
        out->count[c] = arch_io_read64(&regs->counter[c].value);
}

static void model_arm(unsigned c, uint64_t due)
{
    struct model_cpu *m = model_here();

    m->armed = true;
    arch_io_write64(&m->regs->due, due);
    arch_io_write32(&m->regs->command, MACHINE_COMMAND_ARM(c));
}

static void model_tag(uint32_t tid)
{
    arch_io_write32(&model_here()->regs->tag, tid);
}

/* The machine draws distances period + (0..j) - (j + 1) / 2, j a power of two less one: the largest within +-jitter. */
static uint32_t machine_jitter(const struct hpm_sampling *c)
{
    uint32_t widest = MIN(2 * c->jitter, c->period - 1);

    return (1u << log2_floor(widest + 1)) - 1;
}

static void model_sample(const struct hpm_sampling *c)
{
    struct model_cpu *m = model_here();
    volatile struct machine_cpu *regs = m->regs;

    m->tail = m->lost = 0;
    arch_io_write32(&regs->sample_sources, c ? c->sources : 0);
    if (c) {
        arch_io_write32(&regs->sample_flags,
                        (c->user ? MACHINE_COUNT_USER : 0) | (c->kernel ? MACHINE_COUNT_KERNEL : 0));
        arch_io_write32(&regs->sample_period, c->period);
        arch_io_write32(&regs->sample_jitter, machine_jitter(c));
        arch_io_write64(&regs->ring_base, virt_to_phys(m->records));
        arch_io_write32(&regs->ring_records, m->record_count);
        arch_io_write32(&regs->ring_irq_at, m->record_count - m->record_count / 4);
        arch_io_write64(&regs->ring_tail, 0);
    }
    if (command(regs, MACHINE_CMD_SAMPLE))
        panic("hpm: the simulated machine refuses to sample sources %x, 1 in %u, ring of %u",
              c ? c->sources : 0, c ? c->period : 0, m->record_count);
}

static uint64_t model_waiting(void)
{
    struct model_cpu *m = model_here();

    return arch_io_read64(&m->regs->ring_head) - m->tail;
}

static size_t model_drain(struct hpm_sample *out, size_t max, uint64_t *lost)
{
    struct model_cpu *m = model_here();
    uint64_t dropped = arch_io_read64(&m->regs->ring_lost);
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
        };
    }
    m->tail += n;
    arch_io_write64(&m->regs->ring_tail, m->tail);
    *lost += dropped - m->lost;
    m->lost = dropped;
    return n;
}

static unsigned model_interrupted(void)
{
    volatile struct machine_cpu *regs = model_here()->regs;
    uint32_t overflow = arch_io_read32(&regs->overflow);

    arch_io_write32(&regs->ack, overflow);
    arch_io_write32(&regs->command, MACHINE_CMD_ACK);
    return (overflow >> MACHINE_COUNTER_CYCLES & 1 ? PMU_SLICE : 0) |
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
    .latch = model_latch,
    .arm = model_arm,
    .tag = model_tag,
    .sample = model_sample,
    .waiting = model_waiting,
    .drain = model_drain,
    .interrupted = model_interrupted,
    .mark = model_mark,
};
