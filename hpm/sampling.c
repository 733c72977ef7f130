/*
 * Samples of accesses by the level that served them. The hardware writes records into a ring of
 * each CPU. The CPU moves them to its buffer before it switches threads, so they belong to the
 * thread that ran. Any thread takes samples out of the buffers.
 *
 * A request to start or stop is published with a new generation number. Each CPU follows it at its
 * next switch, tick or counter interrupt, for only a CPU itself can program its PMU. Idle CPUs
 * follow when they wake.
 *
 * Invariant, per CPU: taken = delivered + lost_hardware + lost_buffer + samples in the buffer.
 */
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "hpm/sampling.h"

uint64_t hpm_records = 1024, hpm_samples = 2048;

/* The latest request. config and on belong to generation hpm_state.sampling; written under the
 * lock. */
static struct {
    struct spinlock lock;
    struct spinlock take_lock; /* for the one consumer; acquired after lock */
    struct hpm_sampling config;
    bool on;
} request = {.lock = SPINLOCK(LOCK_HPM, "hpm sampling"),
             .take_lock = SPINLOCK(LOCK_HPM, "hpm samples")};

/* ---- Each CPU, interrupts off ---------------------------------------------------------------- */

/* Returns the largest power of two that is at most n. */
static uint32_t pow2_floor(uint64_t n)
{
    return 1u << log2_floor(n);
}

static unsigned order_of(uint64_t bytes)
{
    return bytes > PAGE_SIZE ? log2_floor(bytes - 1) + 1 - PAGE_SHIFT : 0;
}

static void *alloc_bytes(uint64_t bytes)
{
    paddr_t pa;

    return frame_alloc(order_of(bytes), &pa) ? NULL : phys_to_virt(pa);
}

static void free_bytes(void *at, uint64_t bytes)
{
    if (at)
        frame_free(virt_to_phys(at), order_of(bytes));
}

int sampler_init(struct hpm_cpu *hpm, struct pmu_setup *setup)
{
    struct sample_ring *ring = &hpm->sampler.ring;

    if (!hpm_caps()->can_sample)
        return 0;
    if (hpm_state.pmu.record_bytes) {
        setup->record_count =
            pow2_floor(MIN(hpm_records, (uint64_t)hpm_state.pmu.sample_records_max));
        setup->records = alloc_bytes((uint64_t)setup->record_count * hpm_state.pmu.record_bytes);
        if (!setup->records)
            return -ENOMEM;
    }
    ring->size = pow2_floor(hpm_samples);
    ring->slots = alloc_bytes(ring->size * sizeof *ring->slots);
    return ring->slots ? 0 : -ENOMEM;
}

void sampler_free(struct hpm_cpu *hpm, struct pmu_setup *setup)
{
    struct sample_ring *ring = &hpm->sampler.ring;

    free_bytes(setup->records, (uint64_t)setup->record_count * hpm_state.pmu.record_bytes);
    free_bytes(ring->slots, ring->size * sizeof *ring->slots);
    setup->records = NULL;
    *ring = (struct sample_ring){0};
}

static void trace_sample(const struct hpm_sample *s)
{
    TELEMETRY_PUT(TELEMETRY_SAMPLES, TRACE_SAMPLE, s->time, s->pc, s->data, s->data_phys, s->tid,
                  s->pid, s->latency, s->source, s->user, s->store, ctf_text("access"), s->period);
}

/* Marks samples as those of the running thread. */
static void attribute_samples(struct hpm_cpu *hpm, struct hpm_sample *sample, size_t n)
{
    uint32_t period = hpm->sampler.period, tid = hpm->current ? hpm->current->tid : 0,
             pid = hpm->current ? hpm->current->pid : 0;
    uint16_t cpu = (uint16_t)this_cpu()->index;

    for (const struct hpm_sample *end = sample + n; sample < end; sample++) {
        sample->cpu = cpu;
        sample->period = period;
        sample->tid = tid;
        sample->pid = pid;
        trace_sample(sample);
    }
    if (hpm->current)
        hpm->current->samples += n;
}

static void add_total(uint64_t *total, uint64_t n)
{
    __atomic_store_n(total, *total + n, __ATOMIC_RELAXED);
}

/* Moves the records straight to the buffer; if that is full, drops them, so that the hardware has
 * room again. */
static void drain_records(struct hpm_cpu *hpm)
{
    struct sampler *s = &hpm->sampler;
    struct hpm_sample dropped[8];
    uint64_t lost = 0, taken_before = s->taken;
    size_t n, room, max;

    do {
        room = ring_room(&s->ring);
        max = room ? room : ARRAY_SIZE(dropped);
        struct hpm_sample *to = room ? ring_next(&s->ring) : dropped;
        n = hpm_state.ops->drain(to, max, &lost);
        attribute_samples(hpm, to, n);
        add_total(&s->taken, n);
        if (room)
            ring_commit(&s->ring, n);
        else
            add_total(&s->lost_buffer, n);
        s->cycles += n * hpm_state.pmu.record_cycles;
        hpm->records += n;
    } while (n == max);
    add_total(&s->taken, lost);
    add_total(&s->lost_hardware, lost);
    add_total(&s->accesses, (s->taken - taken_before) * s->period);
}

static void follow_request(struct sampler *s)
{
    spin_lock_irqoff(&request.lock);
    s->on = request.on;
    s->applied = hpm_state.sampling;
    s->period = request.config.period;
    hpm_state.ops->sample(request.on ? &request.config : NULL);
    spin_unlock_irqoff(&request.lock);
}

void sampler_attend(struct hpm_cpu *hpm)
{
    struct sampler *s = &hpm->sampler;
    uint64_t began = arch_ticks_near();
    bool waited = s->on && hpm_state.ops->waiting();

    if (waited)
        drain_records(hpm);
    if (s->applied != __atomic_load_n(&hpm_state.sampling, __ATOMIC_ACQUIRE))
        follow_request(s);
    uint64_t cycles = hpm_cycles_of(arch_ticks_near() - began);
    s->cycles += cycles;
    s->looking += waited ? 0 : cycles;
}

/* ---- Anyone ---------------------------------------------------------------------------------- */

static int refuse_field(const char *field, const char *accepted)
{
    kprintf("hpm: sampling: %s must be %s\n", field, accepted);
    return -EINVAL;
}

static int refuse_period(void)
{
    char accepted[32];

    ksnprintf(accepted, sizeof accepted, "%u to 2^20", hpm_caps()->sample_period_min);
    return refuse_field("period", accepted);
}

static int validate_config(const struct hpm_sampling *c)
{
    if (!c->sources || (c->sources & ~hpm_state.pmu.sample_sources))
        return refuse_field("sources", "a mask of sources this machine records");
    if (c->period < hpm_caps()->sample_period_min || c->period > HPM_SAMPLING_PERIOD_MAX)
        return refuse_period();
    if (c->jitter >= c->period)
        return refuse_field("jitter", "less than the period");
    if (!c->user && !c->kernel)
        return refuse_field("user, kernel", "one of them or both");
    return 0;
}

/* Publishes the request. request.lock held. */
static void publish_locked(bool on)
{
    request.on = on;
    __atomic_store_n(&hpm_state.sampling, hpm_state.sampling + 1, __ATOMIC_RELEASE);
}

static void poll_here(void)
{
    bool irq = arch_irq_save();

    if (hpm_counted(this_cpu()))
        sampler_poll(this_cpu()->hpm);
    arch_irq_restore(irq);
}

static size_t take_from(struct sampler *s, struct hpm_sample *out, size_t max)
{
    size_t n = MIN(ring_waiting(&s->ring), max);

    for (size_t i = 0; i < n; i++)
        sample_copy(&out[i], ring_at(&s->ring, i));
    ring_taken(&s->ring, n);
    return n;
}

/* Drops samples that an earlier sampling left behind, which must not be mistaken for new ones; they
 * count as lost. */
static void forget_leftovers(void)
{
    spin_lock_irqoff(&request.take_lock);
    cpu_for_each (cpu) {
        if (!cpu->hpm)
            continue;
        struct sampler *s = &cpu->hpm->sampler;
        size_t n = ring_waiting(&s->ring);
        ring_taken(&s->ring, n);
        add_total(&s->forgotten, n);
    }
    spin_unlock_irqoff(&request.take_lock);
}

int hpm_sampling_start(const struct hpm_sampling *config)
{
    if (!hpm_caps()->can_sample)
        return -ENODEV;
    int err = validate_config(config);
    if (err)
        return err;
    bool irq = spin_lock(&request.lock);
    if (request.on) {
        err = -EBUSY;
    } else {
        forget_leftovers();
        request.config = *config;
        publish_locked(true);
    }
    spin_unlock(&request.lock, irq);
    poll_here();
    return err;
}

int hpm_sampling_adjust(uint32_t period, uint32_t jitter)
{
    int err = -ENODEV;

    if (!hpm_caps()->can_sample)
        return err;
    bool irq = spin_lock(&request.lock);
    struct hpm_sampling config = request.config;
    config.period = period;
    config.jitter = jitter;
    bool same = period == request.config.period && jitter == request.config.jitter;
    if (request.on && !(err = validate_config(&config)) && !same) {
        request.config = config;
        publish_locked(true);
    }
    spin_unlock(&request.lock, irq);
    poll_here();
    return err;
}

void hpm_sampling_stop(void)
{
    if (!hpm_caps()->can_sample)
        return;
    bool irq = spin_lock(&request.lock);
    if (request.on)
        publish_locked(false);
    spin_unlock(&request.lock, irq);
    poll_here();
}

size_t hpm_sampling_take(struct hpm_sample *out, size_t max)
{
    static unsigned
        /* CPU that is emptied first, in turn, so that none is left out when `max` is small */
        first;
    size_t n = 0;

    if (!hpm_caps()->can_sample)
        return 0;
    poll_here();
    bool irq = spin_lock(&request.take_lock);
    first = (first + 1) % cpu_count();
    for (unsigned i = 0; i < cpu_count() && n < max; i++) {
        struct hpm_cpu *hpm = cpus[(first + i) % cpu_count()].hpm;
        if (!hpm)
            continue;
        struct sampler *s = &hpm->sampler;
        size_t got = take_from(s, out + n, max - n);
        __atomic_store_n(&s->delivered, s->delivered + got, __ATOMIC_RELAXED);
        n += got;
    }
    spin_unlock(&request.take_lock, irq);
    return n;
}

/* Reads `taken` last, so that it covers all that is read before it; the difference is pending. */
void hpm_sampling_account(struct hpm_sample_account *out)
{
    memset(out, 0, sizeof *out);
    if (!hpm_caps()->can_sample)
        return;
    cpu_for_each (cpu) {
        if (!cpu->hpm)
            continue;
        const struct sampler *s = &cpu->hpm->sampler;
        out->delivered += __atomic_load_n(&s->delivered, __ATOMIC_ACQUIRE);
        out->lost_buffer += __atomic_load_n(&s->forgotten, __ATOMIC_ACQUIRE);
        out->lost_buffer += __atomic_load_n(&s->lost_buffer, __ATOMIC_ACQUIRE);
        out->lost_hardware += __atomic_load_n(&s->lost_hardware, __ATOMIC_ACQUIRE);
        out->taken += __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE);
        out->accesses += __atomic_load_n(&s->accesses, __ATOMIC_RELAXED);
        out->cycles += __atomic_load_n(&s->cycles, __ATOMIC_RELAXED);
        out->looking += __atomic_load_n(&s->looking, __ATOMIC_RELAXED);
    }
}
