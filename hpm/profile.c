/* See profile.h. */
#include "hpm/internal.h"
#include "hpm/period.h"
#include "kernel/cpu.h"
#include "kernel/telemetry/telemetry.h"

struct profile_slot profile_slots[PROFILE_SLOTS];
uint32_t profile_timed, hpm_entries;

/* More interrupts for samples than this in a millisecond are a storm: a tenth of the time or more. */
#define STORM_MAX 100

/* ---- Samples ---- */

/* xorshift32 (Marsaglia 2003). */
static uint32_t draw(struct profiler *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    p->random ^= p->random << 5;
    return p->random;
}

static uint32_t next_distance(struct profiler *p, unsigned slot)
{
    const uint32_t *distance = profile_slots[slot].distance;
    uint32_t next = __atomic_load_n(&distance[draw(p) % PROFILE_DISTANCES], __ATOMIC_RELAXED);

    p->of[slot].distance = next;
    return next;
}

static void add(uint64_t *total, uint64_t n)
{
    __atomic_store_n(total, *total + n, __ATOMIC_RELAXED);
}

/* Field by field: this is done for every sample, and the slot is all but in the cache. */
static void fill(const struct hpm_cpu *hpm, const struct profile_slot *slot, uint32_t stands_for,
                 struct hpm_sample *out)
{
    const struct hpm_thread *t = hpm->current;

    out->time = hpm->profiler.time;
    out->pc = hpm->profiler.pc;
    out->data = out->data_phys = 0;
    out->tid = t ? t->tid : 0;
    out->pid = t ? t->pid : 0;
    out->period = stands_for;
    out->cpu = (uint16_t)this_cpu()->index;
    out->latency = 0;
    out->source = SOURCE_COUNT;
    out->criterion = slot->criterion;
    out->user = hpm->profiler.user;
    out->store = false;
}

/* One of so many, at the profiler's place.  Those that are kept are counted by who takes them out. */
static void take(struct hpm_cpu *hpm, unsigned slot, uint32_t stands_for)
{
    struct profiler_slot *own = &hpm->profiler.of[slot];
    const struct profile_slot *of = &profile_slots[slot];

    if (of->pid && (!hpm->current || hpm->current->pid != of->pid))
        return;
    struct hpm_sample *at = ring_room(own->ring);
    if (!at) {
        add(&own->lost_for, stands_for);
        add(&own->lost, 1);
        return;
    }
    fill(hpm, of, stands_for, at);
    TELEMETRY_PUT(TELEMETRY_SAMPLES, TRACE_SAMPLE, at->time, at->pc, 0, 0, at->tid, at->pid, 0, at->source,
                  at->user, 0);
    ring_commit(own->ring);
}

/* ---- Events ---- */

static struct profiler_slot *slot_on(struct profiler *p, unsigned counter)
{
    return &p->of[p->slot[counter]];
}

void profiler_slot_begin(struct hpm_cpu *hpm, unsigned slot, struct sample_ring *ring)
{
    struct profiler *p = &hpm->profiler;

    p->of[slot] = (struct profiler_slot){.ring = ring};
    if (!p->random)
        p->random = (uint32_t)arch_ticks() | 1;
    p->of[slot].left = next_distance(p, slot);
}

static void disarm(struct hpm_cpu *hpm, unsigned c, uint64_t count)
{
    struct profiler *p = &hpm->profiler;
    struct profiler_slot *s = slot_on(p, c);

    if (p->due[c] > count) {
        s->left = p->due[c] - count;
        return;
    }
    /* It was due, and its interrupt is late. */
    uint64_t over = count - p->due[c];
    take(hpm, p->slot[c], (uint32_t)MIN(s->distance + over, (uint64_t)UINT32_MAX));
    s->left = next_distance(p, p->slot[c]);
}

void profile_disarm(struct hpm_cpu *hpm, const struct pmu_latch *now)
{
    struct profiler *p = &hpm->profiler;

    for (unsigned left = p->armed; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        disarm(hpm, c, now->count[c]);
    }
    p->armed = 0;
}

/* Periods have become so much shorter that what is left of a distance would be many of them: not so long, then. */
static void shorten(struct profiler *p, unsigned slot)
{
    struct profiler_slot *s = &p->of[slot];
    uint32_t passed = s->distance - (uint32_t)s->left;

    if (s->left / 2 <= __atomic_load_n(&profile_slots[slot].distance[0], __ATOMIC_RELAXED))
        return;
    s->left = next_distance(p, slot);
    s->distance += passed;
}

void profile_arm(struct hpm_cpu *hpm, const struct pmu_latch *now, uint8_t arms, const uint8_t *slot)
{
    struct profiler *p = &hpm->profiler;

    for (unsigned left = arms; left; left &= left - 1) {
        unsigned c = (unsigned)__builtin_ctz(left);
        struct profiler_slot *s = &p->of[slot[c]];
        uint32_t window = __atomic_load_n(&profile_slots[slot[c]].window, __ATOMIC_RELAXED);
        if (s->throttled == window)
            continue;
        shorten(p, slot[c]);
        p->slot[c] = slot[c];
        p->due[c] = now->count[c] + s->left;
        p->armed |= (uint8_t)(1u << c);
        hpm_state.ops->arm(c, p->due[c]);
    }
}

/* Is this one interrupt too many? */
static bool is_storm(struct profiler *p)
{
    if (__builtin_expect(++p->storm <= STORM_MAX, 1))
        return false;
    bool storm = p->time - p->storm_since < arch_ticks_hz() / 1000;
    p->storm_since = p->time;
    p->storm = 0;
    return storm;
}

/* No more of these until the window is over: by then its period is longer. */
static void throttle(struct profiler *p, unsigned c)
{
    struct profiler_slot *s = slot_on(p, c);

    s->throttled = __atomic_load_n(&profile_slots[p->slot[c]].window, __ATOMIC_RELAXED);
    s->left = next_distance(p, p->slot[c]);
    add(&s->throttles, 1);
    p->armed &= (uint8_t) ~(1u << c);
}

static void overflowed(struct hpm_cpu *hpm, unsigned c)
{
    struct profiler *p = &hpm->profiler;
    unsigned slot = p->slot[c];

    take(hpm, slot, p->of[slot].distance);
    if (is_storm(p)) {
        throttle(p, c);
        return;
    }
    uint64_t due = p->due[c] + next_distance(p, slot);
    p->due[c] = due;
    hpm_state.ops->arm(c, due);
}

void profile_overflowed(struct hpm_cpu *hpm, unsigned counters)
{
    counters &= hpm->profiler.armed;
    while (counters) {
        overflowed(hpm, (unsigned)__builtin_ctz(counters));
        counters &= counters - 1;
    }
}

/* ---- Time and entries ---- */

static bool wants_mode(unsigned slot, bool user)
{
    return profile_slots[slot].modes & (user ? EVENT_USER : EVENT_KERNEL);
}

void profile_idle(struct hpm_cpu *hpm, bool idle)
{
    uint32_t left = __atomic_load_n(&profile_timed, __ATOMIC_ACQUIRE);
    uint64_t now = left ? arch_clock_ns() : 0;

    for (; left; left &= left - 1) {
        struct profiler_slot *s = &hpm->profiler.of[__builtin_ctz(left)];
        s->left = !idle ? now + s->left : s->left > now ? s->left - now : 0;
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
    return at;
}

/* What is due of those slots, some of which may be late by more than a distance. */
static void take_timed(struct hpm_cpu *hpm, uint32_t slots, bool user)
{
    uint64_t now = arch_clock_ns();

    for (; slots; slots &= slots - 1) {
        unsigned slot = (unsigned)__builtin_ctz(slots);
        struct profiler_slot *s = &hpm->profiler.of[slot];
        if (s->left > now)
            continue;
        if (wants_mode(slot, user))
            take(hpm, slot, s->distance);
        uint64_t next = s->left + next_distance(&hpm->profiler, slot);
        s->left = next > now ? next : now + s->distance;
    }
}

static void begin(struct hpm_cpu *hpm, const struct arch_frame *frame)
{
    hpm->profiler.time = arch_ticks();
    hpm->profiler.pc = arch_frame_pc(frame);
    hpm->profiler.user = arch_frame_user(frame);
}

static void charge(struct hpm_cpu *hpm)
{
    uint64_t ticks = arch_ticks() - hpm->profiler.time;

    add(&hpm->profiler.ticks, ticks);
    add(&hpm->own_ticks, ticks);
}

void hpm_timer(const struct arch_frame *frame)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;
    uint32_t slots = __atomic_load_n(&profile_timed, __ATOMIC_ACQUIRE);

    if (!slots || !hpm || !hpm->current)
        return;
    begin(hpm, frame);
    take_timed(hpm, slots, hpm->profiler.user);
    charge(hpm);
}

void hpm_entered_slots(const struct arch_frame *frame)
{
    struct hpm_cpu *hpm = this_cpu()->hpm;
    uint32_t slots = __atomic_load_n(&hpm_entries, __ATOMIC_ACQUIRE);

    if (!hpm)
        return;
    begin(hpm, frame);
    for (; slots; slots &= slots - 1) {
        unsigned slot = (unsigned)__builtin_ctz(slots);
        struct profiler_slot *s = &hpm->profiler.of[slot];
        if (!wants_mode(slot, hpm->profiler.user) || --s->left)
            continue;
        take(hpm, slot, s->distance);
        s->left = next_distance(&hpm->profiler, slot);
    }
    charge(hpm);
}
