/* Each CPU's part of sampling; see slot.h. */
#include "hpm/chain.h"
#include "hpm/dump.h"
#include "hpm/hpm.h"
#include "hpm/internal.h"
#include "hpm/policy/period.h"
#include "hpm/watch.h"
#include "kernel/core/cpu.h"
#include "kernel/trace/telemetry.h"

struct profile_slot profile_slots[PROFILE_SLOTS];
uint32_t profile_timed, hpm_entries;

/* More interrupts for samples than this in a millisecond are a storm: they take a tenth of the time
 * or more. */
#define STORM_MAX 100

/* ---- Samples --------------------------------------------------------------------------------- */

/* xorshift32 (Marsaglia 2003). */
static uint32_t draw_random(struct profiler *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    p->random ^= p->random << 5;
    return p->random;
}

/* Returns the distance to the next sample. PROFILE_ALIKE successive samples have the same distance:
 * multiples of a prime fall on the sites of a short loop in turn, so that each gets equally many.
 * With another distance for each sample, chance would favour some of eight sites. */
static ALWAYS_INLINE uint32_t next_distance(struct profiler *p, struct profiler_slot *s)
{
    if (!s->alike--) {
        s->alike = PROFILE_ALIKE - 1;
        s->next = &s->of->distance[draw_random(p) % PROFILE_DISTANCES];
    }
    uint32_t next = __atomic_load_n(s->next, __ATOMIC_RELAXED);
    s->distance = next;
    return next;
}

static uint32_t window_of(const struct profiler_slot *s)
{
    return __atomic_load_n(&s->of->window, __ATOMIC_RELAXED);
}

static void add_total(uint64_t *total, uint64_t n)
{
    __atomic_store_n(total, *total + n, __ATOMIC_RELAXED);
}

static void trace_sample(const struct profiler_slot *s, const struct hpm_sample *at)
{
    TELEMETRY_PUT(TELEMETRY_SAMPLES, TRACE_SAMPLE, at->time, at->pc, 0, 0, at->tid, at->pid, 0,
                  at->source, at->user, 0, ctf_text(s->of->name), at->period, 0, 0, 0);
}

static uint32_t chain_of(const struct hpm_cpu *hpm, struct chain_table *chains,
                         const struct hpm_thread *t, unsigned cpu)
{
    struct chain_code code = {0};

    if (t) {
        code.symbols = __atomic_load_n(&t->symbols, __ATOMIC_RELAXED);
        code.images = t->images;
    }
    return chain_here(chains, hpm->profiler.frame, &code, cpu);
}

/* Returns the number of a dump of the thread's program; 0: it has none. */
static uint64_t dump_of(const struct hpm_cpu *hpm, struct dump_ring *dumps,
                        const struct hpm_thread *t)
{
    const struct arch_frame *frame = hpm->profiler.frame;

    if (!t || !t->pid || !frame)
        return 0;
    return dump_here(dumps, arch_frame_user(frame) ? frame : arch_user_frame());
}

/* Stores a sample with the profiler's time and pc. stands_for: its period. Stored samples are
 * counted by the consumer when it takes them out. */
static ALWAYS_INLINE void store_sample(const struct hpm_cpu *hpm, struct profiler_slot *s,
                                       uint32_t stands_for, bool telling)
{
    const struct hpm_thread *t = hpm->current;
    uint32_t pid = t ? t->pid : 0;

    if (!watch_has(s->watch, t))
        return;
    struct sample_ring *ring = s->ring;
    if (__builtin_expect(ring_full(ring), 0)) {
        add_total(&s->lost_for, stands_for);
        add_total(&s->lost, 1);
        return;
    }
    /* Field by field: the compiler copies a structure of this size by a call. */
    struct hpm_sample *at = ring_next(ring);
    at->time = hpm->profiler.time;
    at->pc = hpm->profiler.pc;
    at->data = ring->dumps ? dump_of(hpm, ring->dumps, t) : 0;
    at->data_phys = 0;
    at->tid = t ? t->tid : 0;
    at->pid = pid;
    at->period = stands_for;
    at->cpu = s->like.cpu;
    at->latency = s->like.latency;
    at->source = s->like.source;
    at->criterion = s->like.criterion;
    at->user = hpm->profiler.user;
    at->store = at->fetch = false;
    at->walk = 0;
    at->samplers = 0;
    at->atomic = at->modified = false;
    at->bytes = 0;
    at->chain = ring->chains ? chain_of(hpm, ring->chains, t, at->cpu) : 0;
    if (telling)
        trace_sample(s, at);
    ring_commit(ring, 1);
}

static void take_sample(const struct hpm_cpu *hpm, struct profiler_slot *s, uint32_t stands_for)
{
    store_sample(hpm, s, stands_for, true);
}

/* ---- Events ---------------------------------------------------------------------------------- */

void profiler_slot_begin(struct hpm_cpu *hpm, unsigned cpu, unsigned slot, bool timed,
                         struct sample_ring *ring)
{
    struct profiler *p = &hpm->profiler;
    struct profiler_slot *s = &p->of[slot];

    *s = (struct profiler_slot){.of = &profile_slots[slot],
                                .ring = ring,
                                .watch = profile_slots[slot].watch,
                                .like = {.cpu = (uint16_t)cpu,
                                         .source = SOURCE_COUNT,
                                         .criterion = profile_slots[slot].criterion}};
    if (!p->random)
        p->random = (uint32_t)arch_ticks() | 1;
    s->left = timed ? 0 : next_distance(p, s);
}

static void disarm_counter(struct hpm_cpu *hpm, const struct profiler_counter *counter,
                           uint64_t count)
{
    struct profiler_slot *s = counter->slot;

    if (counter->due > count) {
        s->left = counter->due - count;
        return;
    }
    /* It was due, and its interrupt is late. */
    take_sample(hpm, s, (uint32_t)MIN(s->distance + count - counter->due, (uint64_t)UINT32_MAX));
    s->left = next_distance(&hpm->profiler, s);
}

/* Adds what was not sampled because of storms, up to reading `now`. */
static void note_held(struct profiler *p, const struct pmu_latch *now)
{
    for (unsigned left = p->held; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        struct profiler_counter *counter = &p->counter[c];
        counter->slot->holding += now->count[c] - counter->due;
        counter->due = now->count[c];
        p->holding |= (uint16_t)(1u << (counter->slot - p->of));
    }
}

void profile_disarm(struct hpm_cpu *hpm, const struct pmu_latch *now)
{
    struct profiler *p = &hpm->profiler;

    for (unsigned left = p->armed; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        disarm_counter(hpm, &p->counter[c], now->count[c]);
    }
    p->armed = 0;
    note_held(p, now);
    p->held = 0;
}

void profile_publish_held(struct hpm_cpu *hpm)
{
    struct profiler *p = &hpm->profiler;

    note_held(p, &hpm->last);
    for (; p->holding; p->holding &= (uint16_t)(p->holding - 1)) {
        struct profiler_slot *s = &p->of[__builtin_ctz(p->holding)];
        add_total(&s->held_back, s->holding);
        s->holding = 0;
    }
}

/* Draws a new distance if periods have become much shorter than the rest of the present one. */
static void shorten_distance(struct profiler *p, struct profiler_slot *s)
{
    uint32_t passed = s->distance - (uint32_t)s->left;

    if (s->left / 2 <= __atomic_load_n(&s->of->distance[0], __ATOMIC_RELAXED))
        return;
    s->left = next_distance(p, s);
    s->distance += passed;
}

/* Leaves counter c unarmed: its counts beyond `from` are not sampled. */
static void hold_counter(struct profiler *p, unsigned c, struct profiler_slot *s, uint64_t from)
{
    p->counter[c] = (struct profiler_counter){s, from};
    p->armed &= (uint8_t) ~(1u << c);
    p->held |= (uint8_t)(1u << c);
}

void profile_arm(struct hpm_cpu *hpm, const struct pmu_latch *now, uint8_t arms,
                 const uint8_t *slot)
{
    struct profiler *p = &hpm->profiler;

    for (unsigned left = arms; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        struct profiler_slot *s = &p->of[slot[c]];
        if (s->throttled == window_of(s)) {
            hold_counter(p, c, s, now->count[c]);
            continue;
        }
        shorten_distance(p, s);
        p->counter[c] = (struct profiler_counter){s, now->count[c] + s->left};
        p->armed |= (uint8_t)(1u << c);
        hpm_state.ops->arm(c, p->counter[c].due);
    }
}

/* Returns whether STORM_MAX interrupts came within a millisecond. */
static bool is_storm(struct profiler *p)
{
    bool storm = p->time - p->storm_since < arch_ticks_hz() / 1000;

    p->storm_since = p->time;
    p->storm = 0;
    return storm;
}

/* Samples no more with this slot until the window is over and its period longer. */
static void throttle_slot(struct profiler *p, unsigned c)
{
    struct profiler_slot *s = p->counter[c].slot;

    s->throttled = window_of(s);
    s->left = next_distance(p, s);
    add_total(&s->throttles, 1);
    hold_counter(p, c, s, p->counter[c].due);
}

static ALWAYS_INLINE void arm_next(struct profiler *p, unsigned c)
{
    struct profiler_counter *counter = &p->counter[c];
    uint64_t due = counter->due + next_distance(p, counter->slot);

    counter->due = due;
    hpm_state.ops->arm(c, due);
}

/* The rare case: samples are traced, or there may be a storm. */
static __attribute__((noinline, cold)) void counter_overflowed_rarely(struct hpm_cpu *hpm,
                                                                      unsigned c)
{
    struct profiler *p = &hpm->profiler;

    take_sample(hpm, p->counter[c].slot, p->counter[c].slot->distance);
    if (p->storm > STORM_MAX && is_storm(p))
        throttle_slot(p, c);
    else
        arm_next(p, c);
}

static ALWAYS_INLINE void counter_overflowed(struct hpm_cpu *hpm, unsigned c)
{
    struct profiler *p = &hpm->profiler;

    if (!(p->armed >> c & 1))
        return;
    if (__builtin_expect(++p->storm > STORM_MAX, 0) || telemetry_wants(TELEMETRY_SAMPLES)) {
        counter_overflowed_rarely(hpm, c);
        return;
    }
    store_sample(hpm, p->counter[c].slot, p->counter[c].slot->distance, false);
    arm_next(p, c);
}

HOT_CODE void profile_overflowed(struct hpm_cpu *hpm, unsigned counters)
{
    for (unsigned left = counters; left; left &= left - 1)
        counter_overflowed(hpm, (unsigned)__builtin_ctz(left));
}

/* ---- Time and entries ------------------------------------------------------------------------ */

static bool wants_mode(const struct profiler_slot *s, bool user)
{
    return s->of->modes & (user ? EVENT_USER : EVENT_KERNEL);
}

void profile_idle(struct hpm_cpu *hpm, bool idle)
{
    uint32_t left = __atomic_load_n(&profile_timed, __ATOMIC_ACQUIRE);
    uint64_t now = left ? arch_clock_ns() : 0;

    for (; left; left &= left - 1) {
        struct profiler_slot *s = &hpm->profiler.of[__builtin_ctz(left)];
        if (!s->left && !idle)
            s->left = next_distance(&hpm->profiler, s);
        if (s->left)
            s->left = !idle ? now + s->left : s->left > now ? s->left - now : 1;
    }
}

uint64_t hpm_timer_ns(void)
{
    const struct hpm_cpu *hpm = this_cpu()->hpm;
    uint64_t at = UINT64_MAX;

    if (!hpm || !hpm->current)
        return at;
    for (uint32_t left = __atomic_load_n(&profile_timed, __ATOMIC_ACQUIRE); left; left &= left - 1)
        at = MIN(at, hpm->profiler.of[__builtin_ctz(left)].left);
    if (logs_open() && hpm->plan)
        at = MIN(at, log_due_ns(hpm->current));
    return at;
}

/* Takes the samples by time that are due, some of which may be late by more than a distance. */
static void take_timed(struct hpm_cpu *hpm, uint32_t slots, bool user)
{
    uint64_t now = arch_clock_ns();

    for (; slots; slots &= slots - 1) {
        struct profiler_slot *s = &hpm->profiler.of[__builtin_ctz(slots)];
        if (!s->left)
            s->left = now + next_distance(&hpm->profiler, s);
        if (s->left > now)
            continue;
        /* The next sample also stands for the time in which no interrupt could come. */
        uint64_t late = now - s->left, stands_for = s->distance;
        uint32_t next = next_distance(&hpm->profiler, s);
        if (late < next) {
            s->left += next;
        } else {
            stands_for += late;
            s->left = now + next;
        }
        if (wants_mode(s, user))
            take_sample(hpm, s, (uint32_t)MIN(stands_for, (uint64_t)UINT32_MAX));
    }
}

static void begin_taking(struct hpm_cpu *hpm, const struct arch_frame *frame)
{
    hpm->profiler.time = arch_ticks();
    hpm->profiler.pc = arch_frame_pc(frame);
    hpm->profiler.user = arch_frame_user(frame);
    hpm->profiler.frame = frame;
}

static void charge_taking(struct hpm_cpu *hpm)
{
    uint64_t ticks = arch_ticks() - hpm->profiler.time;

    add_total(&hpm->profiler.ticks, ticks);
    hpm->profiler.timed++;
}

uint64_t hpm_sampled_here(void)
{
    const struct hpm_cpu *hpm = this_cpu()->hpm;

    return hpm ? hpm->profiler.interrupts + hpm->profiler.timed : 0;
}

void hpm_timer(const struct arch_frame *frame)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;
    uint32_t slots = __atomic_load_n(&profile_timed, __ATOMIC_ACQUIRE);

    if (!hpm || !hpm->current)
        return;
    if (logs_open() && hpm->plan)
        log_timer(hpm);
    if (!slots)
        return;
    begin_taking(hpm, frame);
    take_timed(hpm, slots, hpm->profiler.user);
    charge_taking(hpm);
}

void hpm_entered_slots(const struct arch_frame *frame)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;
    uint32_t slots = __atomic_load_n(&hpm_entries, __ATOMIC_ACQUIRE);

    if (!hpm)
        return;
    begin_taking(hpm, frame);
    for (; slots; slots &= slots - 1) {
        struct profiler_slot *s = &hpm->profiler.of[__builtin_ctz(slots)];
        if (!wants_mode(s, hpm->profiler.user) || --s->left)
            continue;
        take_sample(hpm, s, s->distance);
        s->left = next_distance(&hpm->profiler, s);
    }
    charge_taking(hpm);
}
