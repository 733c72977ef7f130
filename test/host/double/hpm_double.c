/* See hpm_double.h. */
#include <stdlib.h>
#include <string.h>
#include "test/host/double/hpm_double.h"
#include "test/machine/pmu_masks.h"
#include "hpm/hpm.h"

struct double_cpu double_cpus[DOUBLE_CPUS];
bool double_machine_present;
unsigned double_ring_records_max = 4096;

/* The only PMU in place of the instruction set's backends.c. */
const struct frequency_ops *const frequency_backends[] = {&frequency_model, NULL};
const struct pmu_ops *const pmu_backends[] = {&pmu_model, NULL};

static uint8_t registers[MACHINE_BYTES] ALIGNED(4096);

/* A processor that no table is known of. */
struct event_identity pmu_identity(void)
{
    return (struct event_identity){0};
}

void arch_pmu_msi(struct cpu *cpu, struct arch_msi *msi)
{
    *msi = (struct arch_msi){.address = 0xfee00000 | cpu->index << 12, .data = 0xf0};
}

volatile struct machine_id *machine_id(void)
{
    return double_machine_present ? (volatile struct machine_id *)registers : NULL;
}

paddr_t machine_user_pages(void)
{
    return 0x2000;
}

volatile struct machine_cpu *machine_cpu(unsigned index)
{
    return (volatile struct machine_cpu *)(registers + MACHINE_CPU_OFFSET + index * PAGE_SIZE);
}

/* ---- The machine ----------------------------------------------------------------------------- */

static struct double_cpu *here(void)
{
    return &double_cpus[host_cpu->index];
}

static struct machine_cpu *page_here(void)
{
    return (struct machine_cpu *)machine_cpu(host_cpu->index);
}

static void raise_status(uint32_t bit)
{
    struct machine_cpu *page = page_here();

    if (!(page->overflow & bit) && page->irq_address)
        here()->irq_raised = true;
    page->overflow |= bit;
}

void double_count(enum machine_event event, uint64_t n)
{
    struct double_cpu *cpu = here();

    cpu->truth[event] += n;
    for (unsigned c = 0; c < MACHINE_COUNTERS && cpu->running; c++) {
        struct machine_counter *k = &cpu->taken[c];
        if (k->event != event)
            continue;
        k->value += n;
        if (!k->period)
            continue;
        bool over = n >= k->left;
        k->left = over ? k->period - (n - k->left) % k->period : k->left - n;
        if (over && (k->flags & MACHINE_COUNT_IRQ))
            raise_status(1u << c);
    }
}

static void spend(enum machine_event cause, uint64_t cycles)
{
    struct double_cpu *cpu = here();
    uint64_t time = cycles * machine_id()->pstate_cycle_256[cpu->pstate] + cpu->time_rest;

    cpu->time += time >> 8;
    host_ticks += time >> 8;
    cpu->time_rest = time & 0xff;
    double_count(MACHINE_EVENT_CYCLES, cycles);
    double_count(cause, cycles);
}

void double_execute(uint64_t instructions, uint64_t cycles)
{
    double_count(MACHINE_EVENT_INSTRUCTIONS, instructions);
    spend(MACHINE_EVENT_STALL_OTHER, cycles);
    double_deliver();
}

void double_stall(enum machine_event cause, uint64_t cycles)
{
    spend(cause, cycles);
    double_deliver();
}

void double_idle(uint64_t cycles)
{
    here()->time += cycles;
    host_ticks += cycles;
}

static void begin_distance(struct double_cpu *cpu, unsigned n)
{
    const struct machine_sampler *s = &cpu->sampler[n];
    unsigned random = s->jitter ? (unsigned)rand() : 0;

    cpu->until_sample[n] =
        s->period + (random >> 1) % (s->jitter + 1) + (random & 1) - (s->jitter + 1) / 2;
}

struct happened {
    enum machine_source source;
    vaddr_t va;
    bool user, fetch;
    uint16_t walk;
    uint32_t latency;
};

static void record(const struct happened *h, unsigned samplers)
{
    struct machine_cpu *page = page_here();

    if (page->ring_head - page->ring_tail == page->ring_records) {
        page->ring_lost++;
        for (unsigned n = 0; n < MACHINE_SAMPLERS; n++)
            page->sampler[n].lost += samplers >> n & 1;
        return;
    }
    struct machine_record *ring = phys_to_virt(page->ring_base);
    ring[page->ring_head++ & (page->ring_records - 1)] =
        (struct machine_record){.time = here()->time,
                                .pc = ~h->va,
                                .data = h->va,
                                .data_phys = h->va + 1,
                                .latency = h->latency,
                                .source = (uint8_t)h->source,
                                .flags = h->user ? MACHINE_RECORD_USER : 0,
                                .cpu = (uint16_t)host_cpu->index,
                                .samplers = (uint8_t)samplers,
                                .fetch = h->fetch,
                                .walk = h->walk};
    if (page->ring_irq_at && page->ring_head - page->ring_tail >= page->ring_irq_at)
        raise_status(MACHINE_STATUS_RING);
}

static bool watches(const struct machine_sampler *s, const struct happened *h)
{
    bool kind = h->fetch ? s->kinds & MACHINE_KIND_FETCH
                         : (s->kinds & MACHINE_KIND_ACCESS && s->sources >> h->source & 1) ||
                               (s->kinds & MACHINE_KIND_WALK && h->walk);

    return kind && h->latency + h->walk >= s->min_latency &&
           s->flags & (h->user ? MACHINE_COUNT_USER : MACHINE_COUNT_KERNEL);
}

static void sample_it(const struct happened *h)
{
    struct double_cpu *cpu = here();
    unsigned samplers = 0;

    for (unsigned n = 0; n < MACHINE_SAMPLERS; n++) {
        if (!watches(&cpu->sampler[n], h) || --cpu->until_sample[n])
            continue;
        begin_distance(cpu, n);
        samplers |= 1u << n;
    }
    if (samplers)
        record(h, samplers);
}

void double_walk(enum machine_source source, vaddr_t va, bool user, uint16_t walk, bool fetch)
{
    struct happened h = {source, va,   user,
                         fetch,  walk, source == MACHINE_L1 ? 0 : 100u + (unsigned)source};

    sample_it(&h);
    double_deliver();
}

void double_access(enum machine_source source, vaddr_t va, bool user)
{
    uint64_t latency = machine_id()->latency[source];

    double_count(MACHINE_EVENT_LOADS, 1);
    double_count(MACHINE_EVENT_SERVED_LOCAL_L2 + source - MACHINE_LOCAL_L2, 1);
    spend(MACHINE_EVENT_STALL_DCACHE, latency);
    double_count(MACHINE_EVENT_DCACHE_LOCAL_L2 + source - MACHINE_LOCAL_L2, latency);
    double_walk(source, va, user, 0, false);
}

void double_deliver(void)
{
    struct double_cpu *cpu = here();

    if (!double_interruptible() || !cpu->irq_raised)
        return;
    cpu->irq_raised = false; /* the next one comes after ACK only: the status bits stay set */
    host_irqs_on = false;
    hpm_interrupt(NULL);
    host_irqs_on = true;
}

static int32_t configure(struct double_cpu *cpu, struct machine_cpu *page)
{
    for (unsigned c = 0; c < MACHINE_COUNTERS; c++)
        if (page->counter[c].event &&
            !(machine_id()->counter_mask[page->counter[c].event] >> c & 1))
            return page->bad_counter = c, -EINVAL;
    for (unsigned c = 0; c < MACHINE_COUNTERS; c++) {
        cpu->taken[c].event = page->counter[c].event;
        cpu->taken[c].flags = page->counter[c].flags;
        cpu->taken[c].period = cpu->taken[c].left = page->counter[c].period;
    }
    page->overflow &= MACHINE_STATUS_RING;
    return 0;
}

static void read_counters(struct double_cpu *cpu, struct machine_cpu *page)
{
    for (unsigned c = 0; c < MACHINE_COUNTERS; c++) {
        page->counter[c].value = cpu->taken[c].value;
        page->counter[c].left = cpu->taken[c].left;
    }
    page->time = cpu->time_at_read = cpu->time;
    memcpy(cpu->at_read, cpu->truth, sizeof cpu->truth);
}

static int32_t set_ring(struct double_cpu *cpu, struct machine_cpu *page)
{
    page->ring_head = page->ring_tail = page->ring_lost = 0;
    for (unsigned n = 0; n < MACHINE_SAMPLERS; n++)
        cpu->sampler[n].kinds = 0;
    return is_pow2(page->ring_records) && page->ring_base % MACHINE_RECORD_BYTES == 0 ? 0 : -EINVAL;
}

static int32_t sample(struct double_cpu *cpu, struct machine_cpu *page, unsigned n)
{
    struct machine_sampler *s = &page->sampler[n];

    if (n >= MACHINE_SAMPLERS || !page->ring_records ||
        (s->kinds && (s->sources & ~machine_id()->sample_sources || !is_pow2(s->jitter + 1ull) ||
                      s->jitter >= s->period)))
        return -EINVAL;
    s->left = cpu->sampler[n].kinds ? (uint32_t)cpu->until_sample[n] : 0;
    cpu->sampler[n] = *s;
    begin_distance(cpu, n);
    return 0;
}

static int32_t arm(struct double_cpu *cpu, struct machine_cpu *page, unsigned counter)
{
    struct machine_counter *k = &cpu->taken[counter];

    if (counter >= MACHINE_COUNTERS || !k->event)
        return -EINVAL;
    page->overflow &= ~(1u << counter);
    k->flags |= MACHINE_COUNT_IRQ;
    k->period = UINT64_MAX;
    k->left = page->due > k->value ? page->due - k->value : UINT64_MAX;
    if (page->due <= k->value)
        raise_status(1u << counter);
    return 0;
}

static int32_t obey(struct double_cpu *cpu, struct machine_cpu *page)
{
    if ((page->command & 0xff) == MACHINE_CMD_ARM)
        return arm(cpu, page, page->command >> 8);
    if ((page->command & 0xff) == MACHINE_CMD_SAMPLE)
        return sample(cpu, page, page->command >> 8);
    switch ((enum machine_command)page->command) {
    case MACHINE_CMD_CONFIGURE:
        return configure(cpu, page);
    case MACHINE_CMD_START:
        cpu->running = true;
        return 0;
    case MACHINE_CMD_READ:
        read_counters(cpu, page);
        return 0;
    case MACHINE_CMD_ACK:
        page->overflow &= ~page->ack;
        return 0;
    case MACHINE_CMD_RING:
        return set_ring(cpu, page);
    default:
        return -ENOSYS;
    }
}

static int32_t turn(struct double_cpu *cpu, struct machine_cpu *page)
{
    bool select = page->turn & MACHINE_TURN_SELECT;

    for (unsigned c = 0; select && c < MACHINE_COUNTER_INSTRUCTIONS; c++) {
        unsigned byte = page->turn >> 8 * c & 0xff;
        if (byte & 0x3f && !(machine_id()->counter_mask[byte & 0x3f] >> c & 1))
            return page->bad_counter = c, -EINVAL;
        cpu->taken[c].event = byte & 0x3f;
        cpu->taken[c].flags = byte >> 6;
        cpu->taken[c].period = 0;
    }
    for (unsigned c = 0; select && c < MACHINE_COUNTERS; c++)
        cpu->taken[c].left = cpu->taken[c].period;
    if (select)
        page->overflow &= MACHINE_STATUS_RING;
    for (unsigned c = 0; c < MACHINE_COUNTERS; c += 2)
        page->pair[c / 2] = (uint32_t)cpu->taken[c].value | cpu->taken[c + 1].value << 32;
    cpu->time_at_read = cpu->time;
    memcpy(cpu->at_read, cpu->truth, sizeof cpu->truth);
    return 0;
}

static void charge(const volatile void *reg)
{
    const volatile uint8_t *first = registers + MACHINE_CPU_OFFSET + host_cpu->index * PAGE_SIZE;
    const volatile uint8_t *at = reg;

    if (at < registers || at >= registers + MACHINE_CPU_OFFSET + PAGE_SIZE * DOUBLE_CPUS ||
        at == (uint8_t *)&page_here()->tag)
        return;
    if (at >= registers + MACHINE_CPU_OFFSET && (at < first || at >= first + PAGE_SIZE))
        abort(); /* the page of another CPU */
    here()->accesses++;
    spend(MACHINE_EVENT_STALL_OTHER, REGISTER_CYCLES);
}

void host_io_read(const volatile void *reg)
{
    charge(reg);
}

void host_io_written(volatile void *reg)
{
    struct machine_cpu *page = page_here();

    charge(reg);
    if (reg == &page->command)
        page->result = obey(here(), page);
    if (reg == &page->turn)
        page->result = turn(here(), page);
    if (reg == &page->pstate)
        page->pstate = here()->pstate =
            page->pstate < MACHINE_PSTATES ? page->pstate : here()->pstate;
}

/* ---- Set-up ---- */

static void reset_machine(void)
{
    struct machine_id *id = (struct machine_id *)registers;
    static const uint32_t pstates[MACHINE_PSTATES] = {256, 320, 384, 512};
    static const uint32_t latency[MACHINE_SOURCES] = {0, 14, 91, 120, 205, 280, 307};

    memset(registers, 0, sizeof registers);
    memset(double_cpus, 0, sizeof double_cpus);
    id->magic = MACHINE_MAGIC;
    id->version = MACHINE_VERSION;
    id->caps = MACHINE_CAP_PMU;
    id->cpus = DOUBLE_CPUS;
    id->cycles_hz = NS_PER_S;
    memcpy(id->pstate_cycle_256, pstates, sizeof pstates);
    id->line_bytes = 128;
    id->record_cycles = 10;
    id->exception_entry_cycles = 150;
    id->exception_return_cycles = 100;
    id->sample_sources = ((1u << MACHINE_SOURCES) - 1) & ~(1u << MACHINE_L1);
    id->sample_kinds = MACHINE_KIND_ACCESS | MACHINE_KIND_WALK | MACHINE_KIND_FETCH;
    id->ring_records_max = double_ring_records_max;
    memcpy(id->latency, latency, sizeof latency);
    memcpy(id->counter_mask, pmu_counter_mask, sizeof pmu_counter_mask);
}

void double_boot(void)
{
    kernel_reset();
    reset_machine();
    kernel_start_hpm();
}
