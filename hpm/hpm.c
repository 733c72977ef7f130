/*
 * Who ran which counts up.  At every context switch one reading of the hardware ends the stretch of the thread that leaves
 * and begins that of the one that comes, so nothing is counted twice or not at all: the threads' and the idle time's
 * counts add up to the machine's.
 *
 * Invariants: hpm_cpu and the running thread's context are written by their CPU only, interrupts off; a context that
 * another CPU reads is copied under its sequence number.  Counter groups change at slice interrupts and ticks, never
 * at a switch, so that the groups' turns have nothing to do with what the threads do.
 */
#include "hpm/figures.h"
#include "hpm/internal.h"
#include "kernel/cpu.h"
#include "kernel/cmdline.h"
#include "kernel/lock.h"
#include "kernel/printf.h"
#include "mm/mm.h"

struct hpm_state hpm_state;
uint64_t hpm_print_ms;
static struct hpm_caps caps;
static struct spinlock mark_lock = SPINLOCK(LOCK_HPM, "hpm mark");

static uint64_t pmu_wanted = 1, slice_cycles = 1000000, modes;

static const char *const pmu_choices[] = {"none", "auto", NULL};
enum { MODES_BOTH, MODES_USER, MODES_KERNEL };
static const char *const mode_choices[] = {"both", "user", "kernel", NULL};
static const uint8_t modes_of[] = {EVENT_USER | EVENT_KERNEL, EVENT_USER, EVENT_KERNEL};
const struct arg hpm_args[] = {
    {.name = "hpm.pmu",
     .type = ARG_CHOICE,
     .value = &pmu_wanted,
     .choices = pmu_choices,
     .help = "performance counters: use what is found, or none"},
    {.name = "hpm.modes",
     .type = ARG_CHOICE,
     .value = &modes,
     .choices = mode_choices,
     .help = "count in user mode, in kernel mode, or in both"},
    {.name = "hpm.slice_cycles",
     .type = ARG_U64,
     .value = &slice_cycles,
     .min = 20000,
     .max = 1000000000,
     .help = "cycles each group of events is counted at a time"},
    {.name = "hpm.print_ms",
     .type = ARG_U64,
     .value = &hpm_print_ms,
     .max = 3600000,
     .help = "print the machine's stall breakdown every so many milliseconds; 0: never"},
    {.name = "hpm.records",
     .type = ARG_U64,
     .value = &hpm_records,
     .min = 16,
     .max = 65536,
     .help = "sampled accesses the hardware can record on each CPU before they are taken over"},
    {.name = "hpm.samples",
     .type = ARG_U64,
     .value = &hpm_samples,
     .min = 16,
     .max = 65536,
     .help = "sampled accesses each CPU can keep for who asked for them"},
    {.name = NULL},
};

/* ---- Set-up ---- */

/* Remote-cache stalls are what the scheduler acts on: never estimated where that is possible. */
static const unsigned pinned_events[] = {EVENT_DCACHE(SOURCE_REMOTE_L2), EVENT_DCACHE(SOURCE_REMOTE_L3)};

/* Of a PMU that counts cycles and instructions and nothing else. */
static int one_empty_group(struct group_plan *groups)
{
    memset(groups, GROUP_NIL, sizeof *groups);
    groups->groups = 1;
    return 0;
}

/* What of the breakdown this PMU can count, in the modes asked for. */
static void find_events(void)
{
    for (unsigned e = 0; e < HPM_EVENTS; e++) {
        struct event *event = &hpm_state.event[e];
        if (hpm_state.pmu.events.counters && figure_event(&hpm_state.pmu.events, e, event))
            event->modes = modes_of[modes];
        else
            event->counters = 0;
    }
}

/* Those as a request; number says which each one is. */
static unsigned list_events(unsigned pinned, struct group_event *event, uint8_t *number,
                            uint64_t *pinned_mask)
{
    unsigned n = 0;

    *pinned_mask = 0;
    for (unsigned e = 0; e < HPM_EVENTS; e++) {
        const struct event *known = &hpm_state.event[e];
        if (!known->counters)
            continue;
        for (unsigned i = 0; i < pinned; i++)
            *pinned_mask |= (uint64_t)(pinned_events[i] == e) << n;
        event[n] = (struct group_event){.mask = known->counters,
                                        .fixed = GROUP_NIL,
                                        .exclusion = known->exclusion,
                                        .extra = known->extra};
        number[n++] = (uint8_t)e;
    }
    return n;
}

/* Packs the events this PMU knows, the first pinned ones in every group. */
static int pack_events(unsigned pinned, struct context_plan *plan)
{
    static struct group_plan groups;
    static struct group_work work;
    struct group_event event[HPM_EVENTS];
    uint8_t number[HPM_EVENTS];
    struct group_request request = {
        .counters = hpm_state.pmu.counters, .groups_max = HPM_GROUPS_MAX, .event = event};

    request.events = list_events(pinned, event, number, &request.pinned);
    int err = request.events ? group_pack(&request, &groups, &work, NULL) : one_empty_group(&groups);
    if (err)
        return err;
    *plan = (struct context_plan){.groups = groups.groups, .counters = request.counters};
    plan->round_cycles = slice_cycles * groups.groups;
    memset(plan->event, CONTEXT_NO_EVENT, sizeof plan->event);
    memset(hpm_state.programme, 0, sizeof hpm_state.programme);
    for (unsigned g = 0; g < groups.groups; g++)
        for (unsigned c = 0; c < request.counters; c++) {
            if (groups.event[g][c] == GROUP_NIL)
                continue;
            unsigned e = number[groups.event[g][c]];
            plan->event[g][c] = (uint8_t)e;
            hpm_state.programme[g][c] = &hpm_state.event[e];
            plan->groups_with[e] |= (uint16_t)(1u << g);
        }
    return 0;
}

static int plan_events(void)
{
    find_events();
    int err = pack_events(ARRAY_SIZE(pinned_events), &hpm_state.plan);

    if (err == -ENOSPC) {
        kprintf(
            "hpm: too few counters to have remote-cache stalls counted all the time: they are estimated\n");
        err = pack_events(0, &hpm_state.plan);
    }
    if (err)
        return err;
    struct mux_config config = {.round = hpm_state.plan.round_cycles, .published = true};
    return mux_rounds_init(&hpm_state.rounds, &config, hpm_state.plan.groups);
}

/* Bit i: the plan counts the event first + i. */
static uint32_t counted(unsigned first, unsigned count)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < count; i++)
        mask |= (uint32_t)(hpm_state.plan.groups_with[first + i] != 0) << i;
    return mask;
}

static void publish_caps(const struct pmu_ops *ops)
{
    const struct pmu_caps *pmu = &hpm_state.pmu;

    caps = (struct hpm_caps){
        .present = true,
        .can_sample = pmu->sample_sources != 0,
        .sampled = pmu->sample_sources,
        .instructions = pmu->instructions,
        .user = modes != MODES_KERNEL,
        .kernel = modes != MODES_USER,
        .name = ops->name,
        .counters = pmu->counters,
        .sample_period_min = MAX(pmu->sample_period_min, 1u),
        .line_bytes = pmu->line_bytes,
    };
    memcpy(caps.latency, pmu->latency, sizeof caps.latency);
    caps.stall = counted(EVENT_STALL(0), STALL_COUNT);
    caps.dcache = counted(EVENT_DCACHE(0), SOURCE_COUNT);
    caps.served = counted(EVENT_SERVED(0), SOURCE_COUNT) | counted(EVENT_LOADS, 1) << SOURCE_L1;
    caps.missed = counted(EVENT_MISS(0), MISS_COUNT);
}

static void print_found(void)
{
    const char *about[] = {"", " in user mode only", " in kernel mode only"};
    char missing[160];

    kprintf("hpm: %s: %s%u counters and %s, %u group%s of %llu cycles%s, %s\n", caps.name,
            hpm_state.pmu.about, caps.counters,
            caps.instructions ? "two for cycles and instructions" : "one for cycles", hpm_state.plan.groups,
            hpm_state.plan.groups == 1 ? "" : "s", (unsigned long long)slice_cycles, about[modes],
            caps.can_sample ? "records of accesses by source" : "no records of accesses");
    report_missing(missing, sizeof missing);
    if (missing[0])
        kprintf("hpm: %s: does not count %s\n", caps.name, missing);
}

void hpm_init(void)
{
    const struct pmu_ops *ops = NULL;

    caps = (struct hpm_caps){.name = "none"};
    for (unsigned i = 0; pmu_wanted && pmu_backends[i] && !ops; i++)
        if (pmu_backends[i]->probe(&hpm_state.pmu) == 0)
            ops = pmu_backends[i];
    if (!ops) {
        kprintf("hpm: %s: no stall breakdown and no samples, all else works\n",
                pmu_wanted ? "this machine has no performance counters that are known"
                           : "switched off by hpm.pmu=none");
        return;
    }
    int err = plan_events();
    if (err) {
        kprintf("hpm: %s: its events cannot be arranged on %u counters (error %d): not used\n", ops->name,
                hpm_state.pmu.counters, -err);
        return;
    }
    hpm_state.ops = ops;
    publish_caps(ops);
    print_found();
}

void hpm_cpu_init(struct cpu *cpu)
{
    struct pmu_setup setup = {.slice_cycles = slice_cycles,
                              .modes = modes_of[modes],
                              .events = hpm_state.event,
                              .event_count = HPM_EVENTS};
    unsigned order = 0;
    paddr_t pa;

    if (!hpm_state.ops)
        return;
    while (PAGE_SIZE << order < sizeof(struct hpm_cpu))
        order++;
    if (frame_alloc(order, &pa))
        panic("hpm: no memory for CPU %u", cpu->index);
    struct hpm_cpu *hpm = phys_to_virt(pa);
    memset(hpm, 0, sizeof *hpm);
    if (sampler_init(hpm, &setup))
        panic("hpm: no memory for the samples of CPU %u: lower hpm.records or hpm.samples", cpu->index);
    int err = hpm_state.ops->cpu_init(cpu, &setup);
    if (err == -ENODEV) {
        kprintf("hpm: the counters of CPU %u lack what the first CPU's have: it is not counted\n",
                cpu->index);
        frame_free(pa, order);
        return;
    }
    if (err)
        panic("hpm: the counters of CPU %u do not work: error %d", cpu->index, -err);
    mux_turns_init(&hpm->turns, &hpm_state.rounds, cpu->index + 1);
    hpm_state.ops->latch(&hpm->last, hpm_state.programme[mux_turns_group(&hpm->turns)]);
    hpm->turn_began = hpm->last.cycles;
    hpm->idle_since = arch_ticks();
    cpu->hpm = hpm;
}

const struct hpm_caps *hpm_caps(void)
{
    return &caps;
}

void hpm_thread_init(struct hpm_thread *t, uint32_t tid, uint32_t pid)
{
    *t = (struct hpm_thread){.tid = tid, .pid = pid};
}

/* ---- Counting; all with interrupts off ---- */

/* Ticks of the clock in cycles of a CPU that runs. */
static uint64_t cycles_of(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * hpm_state.pmu.cycles_per_tick / PMU_RATE_ONE);
}

static void set_idle(struct hpm_cpu *hpm, uint64_t ticks, uint64_t since)
{
    __atomic_store_n(&hpm->idle_sequence, hpm->idle_sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    hpm->idle_ticks = ticks;
    hpm->idle_since = since;
    __atomic_store_n(&hpm->idle_sequence, hpm->idle_sequence + 1, __ATOMIC_RELEASE);
}

/* A reading ends the present stretch and begins the next. */
static void end_stretch(struct hpm_cpu *hpm, unsigned group, const struct pmu_latch *now)
{
    const struct context_plan *plan = &hpm_state.plan;
    struct context_delta d;

    d.cycles = now->cycles - hpm->last.cycles;
    d.instructions = now->instructions - hpm->last.instructions;
    for (unsigned c = 0; c < plan->counters; c++)
        d.count[c] = now->count[c] - hpm->last.count[c];
    if (hpm->current) {
        context_add(&hpm->current->counts, plan, group, &d);
        context_add(&hpm->busy, plan, group, &d);
    } else {
        set_idle(hpm, hpm->idle_ticks + (now->time - hpm->last.time), arch_ticks());
    }
    hpm->last = *now;
}

/* rotate: the next stretch is one of the next group's events. */
static void account(struct hpm_cpu *hpm, bool rotate)
{
    unsigned group = mux_turns_group(&hpm->turns);
    struct pmu_latch now;

    if (rotate)
        mux_turns_next(&hpm->turns, &hpm_state.rounds);
    hpm_state.ops->latch(&now, rotate ? hpm_state.programme[mux_turns_group(&hpm->turns)] : NULL);
    end_stretch(hpm, group, &now);
    if (rotate)
        hpm->turn_began = now.cycles;
}

void hpm_switch(struct hpm_thread *out, struct hpm_thread *in)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;
    struct pmu_latch now;

    if (!hpm)
        return;
    ASSERT(hpm->current == out);
    uint64_t began = arch_ticks();
    sampler_poll(hpm);
    unsigned group = mux_turns_group(&hpm->turns);
    /* Nothing in between, so that the truth changes hands where the counts do. */
    hpm_state.ops->tag(in ? in->tid : 0);
    hpm_state.ops->latch(&now, NULL);
    end_stretch(hpm, group, &now);
    hpm->current = in;
    if (!out != !in)
        set_idle(hpm, hpm->idle_ticks, in ? 0 : arch_ticks());
    hpm->own_cycles += cycles_of(arch_ticks() - began);
}

void hpm_tick(void)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;

    if (!hpm)
        return;
    uint64_t began = arch_ticks();
    sampler_poll(hpm);
    account(hpm, hpm->last.cycles - hpm->turn_began >= slice_cycles);
    hpm->own_cycles += cycles_of(arch_ticks() - began);
}

void hpm_interrupt(struct arch_frame *frame)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;

    (void)frame;
    if (!hpm)
        return;
    uint64_t began = arch_ticks();
    unsigned why = hpm_state.ops->interrupted();
    hpm->interrupts++;
    sampler_poll(hpm);
    if (why & PMU_SLICE)
        account(hpm, true);
    uint64_t cost = cycles_of(arch_ticks() - began) + hpm_state.pmu.interrupt_cycles;
    hpm->own_cycles += cost;
    if (why & PMU_RECORDS)
        hpm->sampler.cycles += hpm_state.pmu.interrupt_cycles;
}

/* ---- Reading ---- */

/* Brings the caller's CPU up to date, so that what it reads about itself includes the present stretch. */
static void account_here(void)
{
    bool irq = arch_irq_save();

    if (this_cpu()->hpm)
        account(this_cpu()->hpm, false);
    arch_irq_restore(irq);
}

static uint64_t idle_cycles_until_now(const struct hpm_cpu *hpm)
{
    uint64_t ticks, since, now;
    uint32_t before;

    do {
        before = __atomic_load_n(&hpm->idle_sequence, __ATOMIC_ACQUIRE);
        ticks = hpm->idle_ticks;
        since = hpm->idle_since;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while ((before & 1) || before != __atomic_load_n(&hpm->idle_sequence, __ATOMIC_RELAXED));
    now = arch_ticks();
    return cycles_of(ticks + (since && now > since ? now - since : 0));
}

void hpm_read_machine(struct hpm_breakdown *out)
{
    struct hpm_breakdown part;

    memset(out, 0, sizeof *out);
    account_here();
    cpu_for_each (cpu) {
        if (!cpu->hpm)
            continue;
        context_read(&cpu->hpm->busy, &hpm_state.plan, &part);
        part.idle_cycles = idle_cycles_until_now(cpu->hpm);
        hpm_breakdown_add(out, &part);
    }
}

void hpm_read_thread(const struct hpm_thread *t, struct hpm_breakdown *out)
{
    account_here();
    context_read(&t->counts, &hpm_state.plan, out);
}

void hpm_read_remote(const struct hpm_thread *t, struct hpm_remote *out)
{
    context_read_remote(&t->counts, &hpm_state.plan, out);
}

uint64_t hpm_own_cycles(void)
{
    uint64_t sum = 0;

    cpu_for_each (cpu)
        if (cpu->hpm)
            sum += __atomic_load_n(&cpu->hpm->own_cycles, __ATOMIC_RELAXED);
    return sum;
}

void hpm_mark(const char *label)
{
    if (!hpm_state.ops)
        return;
    bool irq = spin_lock(&mark_lock);
    hpm_state.ops->mark(label);
    spin_unlock(&mark_lock, irq);
}
