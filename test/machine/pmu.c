/*
 * The performance monitor of a CPU, as specified in kernel/dev/model/machine.h.
 *
 * True counts are always kept (struct vcpu.count). A counter is a window on one of them: its value
 * at the last snapshot, and the true count then. Overflows must be noticed at the right moment. For
 * events that occur one by one, event_done() counts down to the earliest that can overflow. For
 * events that accrue with every block, a time is computed before which they cannot, and they are
 * looked at again then.
 */
#include <errno.h>
#include "test/machine/engine.h"

#define BIT(n)      ((uint64_t)1 << (n))
#define COUNT_MODES (MACHINE_COUNT_USER | MACHINE_COUNT_KERNEL)
#define COUNT_FLAGS (COUNT_MODES | MACHINE_COUNT_IRQ | MACHINE_COUNT_SAMPLE)

#define SERVED (BIT(MACHINE_EVENT_SERVED_REMOTE_MEMORY + 1) - BIT(MACHINE_EVENT_SERVED_LOCAL_L2))

#define DATA_EVENTS (SERVED | BIT(MACHINE_EVENT_L1D_MISSES))
#define FLOWING_EVENTS                                                                        \
    (BIT(MACHINE_EVENT_CYCLES) | BIT(MACHINE_EVENT_INSTRUCTIONS) | BIT(MACHINE_EVENT_LOADS) | \
     BIT(MACHINE_EVENT_STORES) | BIT(MACHINE_EVENT_COMPLETION))

uint64_t event_count(const struct counts *c, enum machine_event e)
{
    uint64_t completion = c->n[MACHINE_EVENT_COMPLETION] >> CYCLE_SHIFT;

    if (e == MACHINE_EVENT_COMPLETION)
        return completion;
    if (e != MACHINE_EVENT_CYCLES)
        return c->n[e];
    return completion + c->n[MACHINE_EVENT_STALL_ICACHE] + c->n[MACHINE_EVENT_STALL_BRANCH] +
           c->n[MACHINE_EVENT_STALL_DCACHE] + c->n[MACHINE_EVENT_STALL_TLB] +
           c->n[MACHINE_EVENT_STALL_OTHER];
}

static bool counts_mode(uint32_t flags, bool user)
{
    return flags & (user ? MACHINE_COUNT_USER : MACHINE_COUNT_KERNEL);
}

static uint64_t true_count(const struct vcpu *v, const struct pmu_counter *c)
{
    uint64_t sum = 0;

    if (c->event == MACHINE_EVENT_IDLE)
        return v->idle_cycles;
    for (unsigned mode = 0; mode < MODES; mode++)
        if (counts_mode(c->flags, mode == MODE_USER))
            sum += event_count(&v->count[mode], c->event);
    return sum;
}

/* ---- Interrupts and records ------------------------------------------------------------------ */

/* Returns the overflow bits that may interrupt. */
static uint32_t interrupting(const struct pmu *p)
{
    uint32_t bits = p->ring_irq_at ? MACHINE_STATUS_RING : 0;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        if (p->counter[i].flags & MACHINE_COUNT_IRQ)
            bits |= 1u << i;
    return bits;
}

static void interrupt_if_due(struct pmu *p)
{
    if (p->unacknowledged || !p->page->irq_address || !(p->page->overflow & interrupting(p)))
        return;
    p->unacknowledged = true;
    interrupt_send(p->page->irq_address, p->page->irq_data);
}

static void overflow(struct pmu *p, uint32_t bits)
{
    p->page->overflow |= bits;
    p->page->data_address = p->data_address;
    interrupt_if_due(p);
}

static void count_lost(struct pmu *p, unsigned samplers)
{
    p->page->ring_lost++;
    for (unsigned i = 0; i < MACHINE_SAMPLERS; i++)
        p->page->sampler[i].lost += samplers >> i & 1;
}

static void write_record(struct vcpu *v, const struct access *a, unsigned samplers)
{
    struct pmu *p = &v->pmu;
    uint64_t waiting = p->head - p->page->ring_tail;
    paddr_t at = p->ring_base + (p->head & (p->ring_records - 1)) * MACHINE_RECORD_BYTES;
    struct machine_record r = {
        .time = vcpu_cycles(v),
        .pc = a->pc,
        .data = a->va,
        .data_phys = a->pa,
        .latency = a->latency,
        .source = a->source,
        .flags = a->flags,
        .cpu = v->index,
        .samplers = (uint8_t)samplers,
        .fetch = a->fetch,
        .walk = (uint16_t)a->walk,
        .bytes = a->bytes,
    };

    if (!p->ring_records)
        return;
    if (waiting >= p->ring_records) {
        count_lost(p, samplers);
        return;
    }
    qemu.copy(at, &r, sizeof(r), true);
    cache_store(machine.cache, v->core, at, v->writer);
    forget_hits(v);
    execute_charge(v, PMU_RECORD_CYCLES);
    p->page->ring_head = ++p->head;
    if (p->ring_irq_at && waiting + 1 >= p->ring_irq_at)
        overflow(p, MACHINE_STATUS_RING);
}

static void begin_distance(struct pmu_sampler *s)
{
    uint64_t random = s->jitter ? machine_random() : 0;

    s->left = s->period + (random >> 32 & s->jitter) + (random & 1) - (s->jitter + 1) / 2;
}

static bool watches(const struct pmu_sampler *s, const struct access *a)
{
    bool kind = a->fetch ? s->kinds & MACHINE_KIND_FETCH
                         : (s->kinds & MACHINE_KIND_ACCESS && s->sources >> a->source & 1) ||
                               (s->kinds & MACHINE_KIND_WALK && a->walk);

    return kind && a->latency + a->walk >= s->min_latency &&
           counts_mode(s->flags, a->flags & MACHINE_RECORD_USER);
}

static void sample_access(struct vcpu *v, const struct access *a)
{
    unsigned samplers = 0;

    for (unsigned i = 0; i < MACHINE_SAMPLERS; i++) {
        struct pmu_sampler *s = &v->pmu.sampler[i];
        if (!watches(s, a) || --s->left)
            continue;
        begin_distance(s);
        samplers |= 1u << i;
    }
    if (samplers)
        write_record(v, a, samplers);
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Brings the counter up to now. Returns whether it has overflowed on the way. */
static bool catch_up(const struct vcpu *v, struct pmu_counter *c)
{
    uint64_t now = true_count(v, c);
    uint64_t more = v->pmu.running && c->event ? now - c->snapshot : 0;

    c->snapshot = now;
    c->value += more;
    if (!c->period)
        return false;
    if (more < c->left) {
        c->left -= more;
        return false;
    }
    c->left = c->period - (more - c->left) % c->period;
    return true;
}

/* Returns a time before which an accruing event cannot occur `left` times. */
static uint64_t earliest(const struct vcpu *v, const struct pmu_counter *c)
{
    if (c->event == MACHINE_EVENT_CYCLES || c->event == MACHINE_EVENT_COMPLETION)
        return v->now + (c->left << CYCLE_SHIFT);
    if (c->event == MACHINE_EVENT_INSTRUCTIONS)
        return v->now + c->left * machine.topology->completion_cpi_256;
    /* at two accesses an instruction */
    return v->now + c->left * machine.topology->completion_cpi_256 / 2;
}

/* Computes when to look next. */
static void plan(struct vcpu *v)
{
    struct pmu *p = &v->pmu;
    bool user = v->mode == &v->count[MODE_USER];

    p->awaited = 0;
    p->polls = false;
    v->pmu_at = NEVER;
    for (struct pmu_counter *c = p->counter; c < p->counter + MACHINE_COUNTERS; c++) {
        if (!p->running || !c->event || !c->period)
            continue;
        if (FLOWING_EVENTS & BIT(c->event)) {
            p->polls = true;
            if (counts_mode(c->flags, user))
                v->pmu_at = MIN(v->pmu_at, earliest(v, c));
            continue;
        }
        if (!(p->awaited & BIT(c->event)) || c->left < p->until[c->event])
            p->until[c->event] = c->left;
        p->awaited |= BIT(c->event);
    }
    v->stop = MIN(v->stop, v->pmu_at);
}

/* Looks at all counters. a: the access of the event that has just occurred, or NULL. */
static void poll_access(struct vcpu *v, const struct access *a)
{
    struct pmu *p = &v->pmu;
    uint32_t overflowed = 0;

    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        struct pmu_counter *c = &p->counter[i];
        if (!catch_up(v, c))
            continue;
        overflowed |= 1u << i;
        if (a && c->flags & MACHINE_COUNT_SAMPLE)
            write_record(v, a, 0);
    }
    plan(v);
    if (overflowed)
        overflow(p, overflowed);
}

void pmu_poll(struct vcpu *v)
{
    poll_access(v, NULL);
}

void pmu_mode_changed(struct vcpu *v)
{
    if (v->pmu.polls)
        v->pmu_at = v->stop = 0;
}

void pmu_access(struct vcpu *v, const struct access *a)
{
    struct pmu *p = &v->pmu;

    if (a->source != MACHINE_L1) {
        p->data_address = a->va;
        if (p->awaited & DATA_EVENTS && v->pmu_at == 0)
            poll_access(v, a);
    }
    if (p->samples)
        sample_access(v, a);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void catch_up_all(struct vcpu *v)
{
    uint32_t overflowed = 0;
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        overflowed |= (uint32_t)catch_up(v, &v->pmu.counter[i]) << i;
    if (overflowed)
        overflow(&v->pmu, overflowed);
}

static bool can_count(unsigned counter, uint32_t event, uint32_t flags)
{
    if (event == MACHINE_EVENT_NONE)
        return true;
    if (event >= MACHINE_EVENTS || !(pmu_counter_mask[event] >> counter & 1) ||
        flags & ~COUNT_FLAGS)
        return false;
    return !(flags & MACHINE_COUNT_SAMPLE) || DATA_EVENTS & BIT(event);
}

static int configure(struct vcpu *v)
{
    volatile struct machine_cpu *page = v->pmu.page;

    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        if (can_count(i, page->counter[i].event, page->counter[i].flags))
            continue;
        page->bad_counter = i;
        return -EINVAL;
    }
    catch_up_all(v);
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        struct pmu_counter *c = &v->pmu.counter[i];
        c->event = page->counter[i].event;
        c->flags = page->counter[i].flags;
        c->period = c->left = page->counter[i].period;
        c->snapshot = true_count(v, c);
    }
    page->overflow &= MACHINE_STATUS_RING;
    return 0;
}

static int read_counters(struct vcpu *v)
{
    volatile struct machine_cpu *page = v->pmu.page;

    catch_up_all(v);
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        page->counter[i].value = v->pmu.counter[i].value;
        page->counter[i].left = v->pmu.counter[i].left;
    }
    page->time = vcpu_cycles(v);
    page->data_address = v->pmu.data_address;
    return 0;
}

static int start_counters(struct vcpu *v)
{
    catch_up_all(v);
    v->pmu.running = true;
    v->pmu.page->running = 1;
    return 0;
}

static int stop_counters(struct vcpu *v)
{
    catch_up_all(v);
    v->pmu.running = false;
    v->pmu.page->running = 0;
    return 0;
}

static int write_counters(struct vcpu *v)
{
    volatile struct machine_cpu *page = v->pmu.page;

    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        if (page->counter[i].left <= v->pmu.counter[i].period)
            continue;
        page->bad_counter = i;
        return -EINVAL;
    }
    catch_up_all(v);
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        struct pmu_counter *c = &v->pmu.counter[i];
        uint64_t left = page->counter[i].left;
        c->value = page->counter[i].value;
        c->left = left ? left : c->period;
    }
    return 0;
}

/* The period is longer than any run. */
static int arm(struct vcpu *v, unsigned counter)
{
    struct pmu_counter *c = &v->pmu.counter[counter];
    uint64_t due = v->pmu.page->due;

    if (counter >= MACHINE_COUNTERS || !c->event)
        return -EINVAL;
    catch_up_all(v);
    v->pmu.page->overflow &= ~(1u << counter);
    c->flags |= MACHINE_COUNT_IRQ;
    c->period = UINT64_MAX;
    c->left = due > c->value ? due - c->value : c->period;
    if (due <= c->value)
        overflow(&v->pmu, 1u << counter);
    return 0;
}

static int acknowledge(struct vcpu *v)
{
    v->pmu.page->overflow &= ~v->pmu.page->ack;
    v->pmu.unacknowledged = false;
    interrupt_if_due(&v->pmu);
    return 0;
}

static int set_ring(struct vcpu *v)
{
    struct pmu *p = &v->pmu;
    volatile struct machine_cpu *page = p->page;
    uint32_t records = page->ring_records;

    if (records &&
        (!is_pow2(records) || records > PMU_RING_RECORDS || page->ring_irq_at > records ||
         !IS_ALIGNED(page->ring_base, MACHINE_RECORD_BYTES) ||
         !dma_in_memory(page->ring_base, records * MACHINE_RECORD_BYTES)))
        return -EINVAL;
    p->ring_base = page->ring_base;
    p->ring_records = records;
    p->ring_irq_at = page->ring_irq_at;
    p->head = page->ring_head = page->ring_tail = page->ring_lost = 0;
    page->overflow &= ~MACHINE_STATUS_RING;
    p->samples = false;
    for (unsigned i = 0; i < MACHINE_SAMPLERS; i++) {
        p->sampler[i].kinds = 0;
        page->sampler[i].lost = 0;
    }
    return 0;
}

/* Takes a sampler's registers. Returns whether they make sense; kinds 0 needs nothing else. */
static bool take_sampler(const volatile struct machine_sampler *from, uint64_t ring_records,
                         struct pmu_sampler *s)
{
    *s = (struct pmu_sampler){.kinds = from->kinds,
                              .sources = from->sources,
                              .flags = from->flags,
                              .min_latency = from->min_latency,
                              .period = from->period,
                              .jitter = from->jitter};
    if (!s->kinds)
        return true;
    return !(s->kinds & ~PMU_SAMPLE_KINDS) && !(s->sources & ~PMU_SAMPLE_SOURCES) &&
           !(s->flags & ~COUNT_MODES) && (s->sources || !(s->kinds & MACHINE_KIND_ACCESS)) &&
           s->period && (!s->jitter || s->jitter < s->period) && !(s->jitter & (s->jitter + 1)) &&
           ring_records;
}

static int sample(struct vcpu *v, unsigned n)
{
    struct pmu *p = &v->pmu;
    struct pmu_sampler next;

    if (n >= MACHINE_SAMPLERS || !take_sampler(&p->page->sampler[n], p->ring_records, &next))
        return -EINVAL;
    struct pmu_sampler *s = &p->sampler[n];
    p->page->sampler[n].left = s->kinds ? (uint32_t)s->left : 0;
    *s = next;
    begin_distance(s);
    p->samples = false;
    for (unsigned i = 0; i < MACHINE_SAMPLERS; i++)
        p->samples |= p->sampler[i].kinds != 0;
    return 0;
}

static int (*const commands[MACHINE_COMMANDS])(struct vcpu *) = {
    [MACHINE_CMD_CONFIGURE] = configure,  [MACHINE_CMD_START] = start_counters,
    [MACHINE_CMD_STOP] = stop_counters,   [MACHINE_CMD_READ] = read_counters,
    [MACHINE_CMD_WRITE] = write_counters, [MACHINE_CMD_ACK] = acknowledge,
    [MACHINE_CMD_RING] = set_ring,
};

/* Those that concern a counter or a sampler, by number. */
static int (*const commands_of[MACHINE_COMMANDS])(struct vcpu *, unsigned) = {
    [MACHINE_CMD_ARM] = arm,
    [MACHINE_CMD_SAMPLE] = sample,
};

int pmu_command(struct vcpu *v, uint32_t command)
{
    unsigned which = command & 0xff, n = command >> 8;

    if (which >= MACHINE_COMMANDS)
        return -EINVAL;
    int error = commands_of[which]          ? commands_of[which](v, n)
                : commands[which] && n == 0 ? commands[which](v)
                                            : -EINVAL;
    plan(v);
    return error;
}

/* ---- User mode ------------------------------------------------------------------------------- */

static volatile struct machine_user *user_page(const struct vcpu *v)
{
    return (volatile struct machine_user *)(machine.pages + MACHINE_USER_OFFSET +
                                            v->index * PAGE_SIZE);
}

void pmu_user_latch(struct vcpu *v)
{
    volatile struct machine_user *user = user_page(v);
    bool open = v->pmu.page->user_open;

    if (open)
        catch_up_all(v);
    for (unsigned i = 0; i < MACHINE_COUNTERS; i++)
        user->value[i] = open ? v->pmu.counter[i].value : 0;
    user->time = open ? vcpu_cycles(v) : 0;
    plan(v);
}

void pmu_user_open(struct vcpu *v)
{
    if (!v->pmu.page->user_open)
        pmu_user_latch(v);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static bool can_turn(volatile struct machine_cpu *page, uint64_t selects)
{
    for (unsigned i = 0; i < MACHINE_COUNTER_INSTRUCTIONS; i++) {
        if (can_count(i, selects >> 8 * i & 0x3f, 0))
            continue;
        page->bad_counter = i;
        return false;
    }
    return true;
}

/* An overflow at this moment is forgotten like earlier ones. */
static void select_events(struct vcpu *v, uint64_t selects)
{
    struct pmu *p = &v->pmu;

    for (unsigned i = 0; i < MACHINE_COUNTERS; i++) {
        struct pmu_counter *c = &p->counter[i];
        catch_up(v, c);
        if (i < MACHINE_COUNTER_INSTRUCTIONS) {
            c->event = selects >> 8 * i & 0x3f;
            c->flags = selects >> (8 * i + 6) & COUNT_MODES;
            c->period = 0;
            c->snapshot = true_count(v, c);
        }
        c->left = c->period;
    }
    p->page->overflow &= MACHINE_STATUS_RING;
    p->unacknowledged = false;
    interrupt_if_due(p);
}

int pmu_turn(struct vcpu *v, uint64_t turn)
{
    volatile struct machine_cpu *page = v->pmu.page;

    if (turn & ~(MACHINE_TURN_SELECT | (MACHINE_TURN_SELECT - 1)) ||
        (turn & MACHINE_TURN_SELECT && !can_turn(page, turn)))
        return -EINVAL;
    if (turn & MACHINE_TURN_SELECT)
        select_events(v, turn);
    else
        catch_up_all(v);
    for (unsigned i = 0; i < MACHINE_COUNTERS / 2; i++)
        page->pair[i] = (uint32_t)v->pmu.counter[2 * i].value | v->pmu.counter[2 * i + 1].value
                                                                    << 32;
    plan(v);
    return 0;
}
