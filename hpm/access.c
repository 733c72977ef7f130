/*
 * Samples of accesses by what they cost: by the level that served them, their latency, a page walk.
 * Several users at a time each have a handle; hpm/policy/access_share.h says how they share the
 * hardware. The hardware writes records into a ring of each CPU. The CPU takes them out before it
 * switches threads, so they belong to the thread that ran, and moves each to the rings of the
 * handles that take it. A handle's owner takes samples out of its rings.
 *
 * A plan is published with a new generation number. Each CPU follows it at its next switch, tick or
 * counter interrupt, for only a CPU itself can program its PMU. Idle CPUs follow when they wake.
 *
 * Invariant, per handle: taken = delivered + lost_hardware + lost_buffer + samples in the rings.
 */
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "hpm/watch.h"
#include "kernel/core/cpu.h"
#include "kernel/core/lock.h"
#include "kernel/core/printf.h"
#include "kernel/trace/telemetry.h"
#include "kernel/mem/mem.h"
#include "hpm/sampling.h"

uint64_t hpm_records = 1024, hpm_samples = 2048;

static struct hpm_access {
    bool used;
    struct access_sink to;   /* fixed while it is used */
    struct sample_ring *own; /* its own rings; NULL: they are another's */
    uint64_t delivered;      /* of its own rings; atomic */
    /* Samples that were left over when it started again. Its counts on all CPUs when it was
     * opened. */
    uint64_t forgotten;
    struct hpm_sample_account before;
} handles[ACCESS_HANDLES];

/* The latest plan, of generation hpm_state.sampling. Written under the lock, as `used`. */
static struct {
    struct spinlock lock;
    struct access_share plan;
} latest = {.lock = SPINLOCK(LOCK_HPM, "hpm sampling")};

static unsigned number_of(const struct hpm_access *a)
{
    return (unsigned)(a - handles);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

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

int rings_make(struct sample_ring *rings)
{
    uint64_t size = pow2_floor(hpm_samples);

    for (unsigned i = 0; i < cpu_count(); i++) {
        void *slots = alloc_bytes(size * sizeof(struct hpm_sample));
        if (!slots) {
            rings_free(rings);
            return -ENOMEM;
        }
        rings[i] = (struct sample_ring){.slots = slots, .size = size};
    }
    return 0;
}

void rings_free(struct sample_ring *rings)
{
    for (unsigned i = 0; i < cpu_count(); i++) {
        free_bytes(rings[i].slots, rings[i].size * sizeof(struct hpm_sample));
        rings[i] = (struct sample_ring){0};
    }
}

void access_init(void)
{
    access_share_init(&latest.plan, MAX(hpm_state.pmu.samplers, 1u));
    for (unsigned h = 0; h < ACCESS_HANDLES; h++)
        handles[h].used = false;
}

int sampler_init(struct hpm_cpu *hpm, struct pmu_setup *setup)
{
    if (!hpm_caps()->can_sample)
        return 0;
    access_share_init(&hpm->sampler.share, latest.plan.samplers);
    access_deal_init(&hpm->sampler.deal, this_cpu()->index);
    if (!hpm_state.pmu.record_bytes)
        return 0;
    setup->record_count = pow2_floor(MIN(hpm_records, (uint64_t)hpm_state.pmu.sample_records_max));
    setup->records = alloc_bytes((uint64_t)setup->record_count * hpm_state.pmu.record_bytes);
    return setup->records ? 0 : -ENOMEM;
}

void sampler_free(struct pmu_setup *setup)
{
    free_bytes(setup->records, (uint64_t)setup->record_count * hpm_state.pmu.record_bytes);
    setup->records = NULL;
}

/* ---- Each CPU, interrupts off ---------------------------------------------------------------- */

static void add_total(uint64_t *total, uint64_t n)
{
    __atomic_store_n(total, *total + n, __ATOMIC_RELAXED);
}

static void trace_sample(const struct hpm_sample *s, const char *name)
{
    TELEMETRY_PUT(TELEMETRY_SAMPLES, TRACE_SAMPLE, s->time, s->pc, s->data, s->data_phys, s->tid,
                  s->pid, s->latency, s->source, s->user, s->fetch ? 2 : s->store, ctf_text(name),
                  s->period, s->walk, s->atomic, s->modified);
}

/* Returns whether the handle wants samples of the thread, which may be NULL. */
static bool is_visible(unsigned h, const struct hpm_thread *t)
{
    return !handles[h].to.watch || watch_has(handles[h].to.watch, t);
}

/* Gives the record to handle h as a sample, or drops it if the ring is full. */
static void hand_over(struct hpm_cpu *hpm, unsigned h, struct hpm_sample *record, uint32_t period)
{
    const struct access_sink *to = &handles[h].to;
    struct sampler *s = &hpm->sampler;
    struct sampler_account *a = &s->of[h];

    if (!is_visible(h, hpm->current))
        return;
    record->period = period;
    record->criterion = to->criterion;
    trace_sample(record, to->name);
    s->samples++;
    s->samples_of[h]++;
    add_total(&a->taken, 1);
    add_total(&a->accesses, period);
    if (!ring_push(&to->rings[record->cpu], record))
        add_total(&a->lost_buffer, 1);
}

/* Gives records of the running thread to the handles that take them. */
static void deal_records(struct hpm_cpu *hpm, struct hpm_sample *record, size_t n)
{
    struct sampler *s = &hpm->sampler;
    uint32_t tid = hpm->current ? hpm->current->tid : 0, period[ACCESS_HANDLES],
             pid = hpm->current ? hpm->current->pid : 0;
    uint16_t cpu = (uint16_t)this_cpu()->index;

    for (const struct hpm_sample *end = record + n; record < end; record++) {
        record->cpu = cpu;
        record->tid = tid;
        record->pid = pid;
        uint32_t takers = access_deal(&s->deal, &s->share, record, period);
        record->samplers = 0; /* samples do not tell */
        for (; takers; takers &= takers - 1) {
            unsigned h = (unsigned)__builtin_ctz(takers);
            hand_over(hpm, h, record, period[h]);
        }
    }
    if (hpm->current)
        hpm->current->samples += n;
}

/* Counts records that a sampler has dropped. It is not known what they were, so they count for each
 * of its handles. */
static void count_lost(struct hpm_cpu *hpm, const uint64_t lost[PMU_SAMPLERS_MAX])
{
    struct sampler *s = &hpm->sampler;

    for (uint32_t on = s->share.on; on; on &= on - 1) {
        unsigned h = (unsigned)__builtin_ctz(on);
        uint64_t n = lost[s->share.sampler[h]];
        if (!n || !is_visible(h, hpm->current))
            continue;
        add_total(&s->of[h].taken, n);
        add_total(&s->of[h].lost_hardware, n);
        add_total(&s->of[h].accesses, n * s->share.want[h].period);
    }
}

/* Moves all records to the handles' rings. Full rings drop them, so that the hardware has room
 * again. */
static void drain_records(struct hpm_cpu *hpm)
{
    struct sampler *s = &hpm->sampler;
    uint64_t lost[PMU_SAMPLERS_MAX] = {0};
    size_t n;

    do {
        n = hpm_state.ops->drain(s->batch, ARRAY_SIZE(s->batch), lost);
        deal_records(hpm, s->batch, n);
        s->owed += n * hpm_state.pmu.record_cycles;
        hpm->records += n;
    } while (n == ARRAY_SIZE(s->batch));
    count_lost(hpm, lost);
}

static void follow_latest(struct sampler *s)
{
    spin_lock_irqoff(&latest.lock);
    for (unsigned n = 0; n < latest.plan.samplers; n++) {
        if (!access_share_changed(&s->share, &latest.plan, n))
            continue;
        const struct hpm_sampling *to = latest.plan.members[n] ? &latest.plan.programme[n] : NULL;
        access_deal_cut(&s->deal, &s->share, n, hpm_state.ops->sample(n, to));
    }
    access_deal_follow(&s->deal, &s->share, &latest.plan);
    memcpy(&s->share, &latest.plan, sizeof s->share);
    s->on = s->share.on != 0;
    s->applied = hpm_state.sampling;
    spin_unlock_irqoff(&latest.lock);
}

/* Charges cycles to the handles: by their samples, or to all in equal parts if there were none. */
static void charge(struct sampler *s, uint64_t cycles, bool looking)
{
    unsigned handles_on = (unsigned)__builtin_popcount(s->share.on);

    for (uint32_t on = s->share.on; on; on &= on - 1) {
        unsigned h = (unsigned)__builtin_ctz(on);
        uint64_t part = s->samples ? cycles * s->samples_of[h] / s->samples : cycles / handles_on;
        add_total(&s->of[h].cycles, part);
        add_total(&s->of[h].looking, looking ? part : 0);
        add_total(&s->for_profiles, handles[h].to.profile ? part : 0);
    }
}

void sampler_attend(struct hpm_cpu *hpm)
{
    struct sampler *s = &hpm->sampler;
    uint64_t began = arch_ticks_near();
    bool waited = s->on && hpm_state.ops->waiting();

    if (waited)
        drain_records(hpm);
    charge(s, hpm_cycles_of(arch_ticks_near() - began) + s->owed, !waited);
    s->owed = s->samples = 0;
    memset(s->samples_of, 0, sizeof s->samples_of);
    if (s->applied != __atomic_load_n(&hpm_state.sampling, __ATOMIC_ACQUIRE))
        follow_latest(s);
}

/* ---- Handles --------------------------------------------------------------------------------- */

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
    const struct pmu_caps *pmu = &hpm_state.pmu;

    if ((!c->sources && !c->walks && !c->fetches) || (c->sources & ~pmu->sample_sources) ||
        c->walks > pmu->sample_walks || c->fetches > pmu->sample_fetches)
        return refuse_field("sources", "a mask of sources this machine records");
    if (c->min_latency && !pmu->sample_latency)
        return refuse_field("min_latency", "0: this machine records no latencies");
    if (c->period < hpm_caps()->sample_period_min || c->period > HPM_SAMPLING_PERIOD_MAX)
        return refuse_period();
    if (c->jitter >= c->period)
        return refuse_field("jitter", "less than the period");
    if (!c->user && !c->kernel)
        return refuse_field("user, kernel", "one of them or both");
    return 0;
}

/* Publishes what handle h wants; NULL: nothing. latest.lock held. */
static void publish_locked(unsigned h, const struct hpm_sampling *want)
{
    access_share_set(&latest.plan, h, want);
    __atomic_store_n(&hpm_state.sampling, hpm_state.sampling + 1, __ATOMIC_RELEASE);
}

static bool is_on_locked(const struct hpm_access *a)
{
    return latest.plan.on >> number_of(a) & 1;
}

static void poll_here(void)
{
    bool irq = arch_irq_save();

    if (hpm_counted(this_cpu()))
        sampler_poll(this_cpu()->hpm);
    arch_irq_restore(irq);
}

/* Sums what the CPUs have counted for handle h since boot. Reads `taken` last, so that it covers
 * all that is read before it. */
static void sum_account(unsigned h, struct hpm_sample_account *out)
{
    memset(out, 0, sizeof *out);
    cpu_for_each (cpu) {
        if (!cpu->hpm)
            continue;
        const struct sampler_account *a = &cpu->hpm->sampler.of[h];
        out->lost_buffer += __atomic_load_n(&a->lost_buffer, __ATOMIC_ACQUIRE);
        out->lost_hardware += __atomic_load_n(&a->lost_hardware, __ATOMIC_ACQUIRE);
        out->taken += __atomic_load_n(&a->taken, __ATOMIC_ACQUIRE);
        out->accesses += __atomic_load_n(&a->accesses, __ATOMIC_RELAXED);
        out->cycles += __atomic_load_n(&a->cycles, __ATOMIC_RELAXED);
        out->looking += __atomic_load_n(&a->looking, __ATOMIC_RELAXED);
    }
}

struct hpm_access *access_open(const struct access_sink *to)
{
    struct hpm_access *a = NULL;
    bool irq = spin_lock(&latest.lock);

    for (unsigned h = 0; h < ACCESS_HANDLES && !a; h++)
        if (!handles[h].used)
            a = &handles[h];
    if (a) {
        *a = (struct hpm_access){.used = true, .to = *to};
        sum_account(number_of(a), &a->before);
    }
    spin_unlock(&latest.lock, irq);
    return a;
}

static void poll_one(UNUSED void *unused)
{
    if (hpm_counted(this_cpu()))
        sampler_poll(this_cpu()->hpm);
}

void access_follow(void)
{
    ask_everywhere(poll_one);
}

void access_release(struct hpm_access *a)
{
    bool irq = spin_lock(&latest.lock);

    a->used = false;
    spin_unlock(&latest.lock, irq);
}

int hpm_access_open(const char *name, struct hpm_access **out)
{
    struct sample_ring *rings;

    if (!hpm_caps()->can_sample)
        return -ENODEV;
    rings = alloc_bytes(CPU_MAX * sizeof *rings);
    if (!rings)
        return -ENOMEM;
    memset(rings, 0, CPU_MAX * sizeof *rings);
    struct access_sink to = {.rings = rings, .name = name};
    int err = rings_make(rings);
    *out = err ? NULL : access_open(&to);
    if (*out) {
        (*out)->own = rings;
        return 0;
    }
    if (!err)
        rings_free(rings);
    free_bytes(rings, CPU_MAX * sizeof *rings);
    return err ? err : -ENOSPC;
}

void hpm_access_close(struct hpm_access *a)
{
    struct sample_ring *rings = a->own;

    hpm_access_stop(a);
    access_follow();
    access_release(a);
    rings_free(rings);
    free_bytes(rings, CPU_MAX * sizeof *rings);
}

/* Drops samples that are left over from an earlier start, which must not be mistaken for new ones;
 * they count as lost. */
static void forget_leftovers(struct hpm_access *a)
{
    for (unsigned i = 0; a->own && i < cpu_count(); i++) {
        size_t n = ring_waiting(&a->own[i]);
        ring_taken(&a->own[i], n);
        add_total(&a->forgotten, n);
    }
}

int hpm_access_start(struct hpm_access *a, const struct hpm_sampling *config)
{
    int err = validate_config(config);

    if (err)
        return err;
    struct hpm_sampling want = *config;
    if (want.sources & hpm_state.pmu.sample_alike)
        want.sources |= hpm_state.pmu.sample_alike;
    bool irq = spin_lock(&latest.lock);
    if (is_on_locked(a)) {
        err = -EBUSY;
    } else {
        forget_leftovers(a);
        publish_locked(number_of(a), &want);
    }
    spin_unlock(&latest.lock, irq);
    poll_here();
    return err;
}

int hpm_access_adjust(struct hpm_access *a, uint32_t period, uint32_t jitter)
{
    int err = -ENODEV;
    bool irq = spin_lock(&latest.lock);
    struct hpm_sampling config = latest.plan.want[number_of(a)];
    bool same = period == config.period && jitter == config.jitter;

    config.period = period;
    config.jitter = jitter;
    if (is_on_locked(a) && !(err = validate_config(&config)) && !same)
        publish_locked(number_of(a), &config);
    spin_unlock(&latest.lock, irq);
    poll_here();
    return err;
}

void hpm_access_stop(struct hpm_access *a)
{
    bool irq = spin_lock(&latest.lock);

    if (is_on_locked(a))
        publish_locked(number_of(a), NULL);
    spin_unlock(&latest.lock, irq);
    poll_here();
}

/* ---- Taking ---------------------------------------------------------------------------------- */

static size_t take_from(struct sample_ring *r, struct hpm_sample *out, size_t max)
{
    size_t n = MIN(ring_waiting(r), max);

    for (size_t i = 0; i < n; i++)
        sample_copy(&out[i], ring_at(r, i));
    ring_taken(r, n);
    return n;
}

size_t hpm_access_take(struct hpm_access *a, struct hpm_sample *out, size_t max)
{
    static unsigned first; /* CPU that is emptied first, so that none is left out for a small max */
    unsigned from = __atomic_add_fetch(&first, 1, __ATOMIC_RELAXED);
    size_t n = 0;

    poll_here();
    for (unsigned i = 0; i < cpu_count() && n < max; i++)
        n += take_from(&a->own[(from + i) % cpu_count()], out + n, max - n);
    add_total(&a->delivered, n);
    return n;
}

void hpm_access_account(const struct hpm_access *a, struct hpm_sample_account *out)
{
    uint64_t delivered = __atomic_load_n(&a->delivered, __ATOMIC_ACQUIRE),
             forgotten = __atomic_load_n(&a->forgotten, __ATOMIC_ACQUIRE);
    struct hpm_sample_account sum;

    sum_account(number_of(a), &sum);
    *out = (struct hpm_sample_account){
        .taken = sum.taken - a->before.taken,
        .delivered = delivered,
        .lost_hardware = sum.lost_hardware - a->before.lost_hardware,
        .lost_buffer = sum.lost_buffer - a->before.lost_buffer + forgotten,
        .accesses = sum.accesses - a->before.accesses,
        .cycles = sum.cycles - a->before.cycles,
        .looking = sum.looking - a->before.looking,
    };
}
