/* Windows of a profile: what a window brought decides on the periods of the next
 * (hpm/policy/period.h). Events of the whole machine are known from their counts, sampled or not;
 * all else is known from the samples. */
#include "hpm/chain.h"
#include "hpm/count.h"
#include "hpm/hpm.h"
#include "hpm/profile.h"
#include "kernel/lib/fixed.h"
#include "kernel/core/printf.h"
#include "hpm/sampling.h"

#define IDLE_PART     20 /* less than this part of one CPU's time is an idle machine */
#define RECORDS_DRAWN 32 /* records of each CPU with the same distance */

uint64_t hpm_primes = 1;

/* ---- Sums over CPUs -------------------------------------------------------------------------- */

/* Returns the events that storms kept from being sampled. */
static uint64_t held_back(unsigned slot)
{
    uint64_t sum = 0;

    cpu_for_each (cpu)
        if (cpu->hpm)
            sum += __atomic_load_n(&cpu->hpm->profiler.of[slot].held_back, __ATOMIC_RELAXED);
    return sum;
}

static void sum_slot(unsigned slot, struct hpm_profile_account *sum)
{
    cpu_for_each (cpu) {
        if (!cpu->hpm)
            continue;
        const struct profiler_slot *s = &cpu->hpm->profiler.of[slot];
        sum->lost += __atomic_load_n(&s->lost, __ATOMIC_RELAXED);
        sum->throttled += __atomic_load_n(&s->throttles, __ATOMIC_RELAXED);
        sum->stood_for += __atomic_load_n(&s->lost_for, __ATOMIC_RELAXED);
    }
}

/* Returns the cycles that passed on all CPUs, and in *idle_cycles the idle part. Measured by the
 * clock, for cycles may not be counted, or not in all modes. */
static uint64_t passed_cycles(uint64_t *idle_cycles)
{
    uint64_t passed = 0, idle = 0;

    cpu_for_each (cpu) {
        if (!cpu->hpm)
            continue;
        uint64_t now = arch_ticks();
        passed += now - cpu->hpm->began;
        idle += hpm_idle_ticks(cpu->hpm, now);
    }
    *idle_cycles = hpm_cycles_of(idle);
    return hpm_cycles_of(passed);
}

static uint64_t busy_cycles(void)
{
    uint64_t idle, passed = passed_cycles(&idle);

    return passed - MIN(idle, passed);
}

static uint64_t sampling_cycles(void)
{
    uint64_t sum = hpm_cycles_of(__atomic_load_n(&profile_taking_ticks, __ATOMIC_RELAXED));

    cpu_for_each (cpu)
        if (cpu->hpm)
            sum += hpm_cycles_of(__atomic_load_n(&cpu->hpm->profiler.ticks, __ATOMIC_RELAXED)) +
                   cpu->hpm->profiler.interrupts * hpm_state.pmu.interrupt_cycles +
                   __atomic_load_n(&cpu->hpm->sampler.for_profiles, __ATOMIC_RELAXED);
    return sum;
}

/* Returns what the whole machine counted while the event had a counter, which is all that can be
 * sampled. */
static struct mux_sum sum_event(struct hpm_profile *p, unsigned i)
{
    uint64_t count = session_count(p->events, p->of[i].event);

    hpm_sums_clear(&p->sums);
    hpm_sum_machine(count, &p->sums);
    return hpm_sums_count(&p->sums, (unsigned)__builtin_ctzll(count));
}

/* Sets the part of the time in which the event could be sampled: while it had a counter, less the
 * part that storms took, by the events in them. */
static void account_seen(struct hpm_profile *p, unsigned i, struct hpm_profile_account *out)
{
    out->seen_permille = 1000;
    out->estimate = out->stood_for;
    if (p->criteria.criterion[i].kind != CRITERION_EVENT)
        return;
    uint64_t held = held_back(p->of[i].slot);
    struct mux_sum sum = sum_event(p, i);
    uint64_t seen = MIN(sum.seen, sum.length);
    if (sum.counted)
        seen = fixed_muldiv(seen, sum.counted - MIN(held, sum.counted), sum.counted);
    out->seen_permille = sum.length ? (uint32_t)fixed_muldiv(seen, 1000, sum.length) : 0;
    if (seen)
        out->estimate = fixed_muldiv(out->stood_for, sum.length, seen);
}

/* Returns the period as asked for, or as adapted. */
static uint64_t unstretched(const struct hpm_profile *p, unsigned i)
{
    uint64_t wanted = p->criteria.criterion[i].period;

    return wanted ? wanted : p->of[i].period.period;
}

/* Returns why the period is stretched. It is not if it had its maximum before. */
static enum hpm_stretched why_stretched(const struct hpm_profile *p, unsigned i)
{
    _Static_assert((int)HPM_STRETCHED_FOR_COST == (int)GOVERNOR_OVERHEAD &&
                       (int)HPM_STRETCHED_FOR_STORMS == (int)GOVERNOR_STORM,
                   "as in period.h");
    return p->of[i].mean > unstretched(p, i) ? (enum hpm_stretched)p->governor.reason
                                             : HPM_NOT_STRETCHED;
}

void hpm_profile_account(struct hpm_profile *p, unsigned i, struct hpm_profile_account *out)
{
    const struct profile_criterion *c = &p->of[i];

    uint64_t idle, passed = passed_cycles(&idle);

    *out = (struct hpm_profile_account){.delivered = c->delivered,
                                        .stood_for = c->stood_for,
                                        .period = c->mean,
                                        .asked = p->criteria.criterion[i].period,
                                        .cycles = sampling_cycles(),
                                        .passed = passed,
                                        .idle = MIN(idle, passed),
                                        .stretched = why_stretched(p, i)};
    if (profile_is_access(p, i)) {
        struct hpm_sample_account a;
        hpm_access_account(c->access, &a);
        out->lost = a.lost_hardware + a.lost_buffer;
        out->stood_for += c->lost_for;
    } else {
        sum_slot(c->slot, out);
    }
    out->taken = out->delivered + out->lost;
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        chains_account(p->ring[cpu].chains, &out->chains_cut, &out->chains_full);
    account_seen(p, i, out);
}

/* ---- Periods --------------------------------------------------------------------------------- */

static uint32_t draw_distance(struct hpm_profile *p, const struct profile_criterion *c)
{
    uint64_t period = hpm_primes ? period_draw(c->mean, &p->random) : c->mean;

    return (uint32_t)MIN(period, (uint64_t)UINT32_MAX);
}

static bool has_moved(const struct profile_criterion *c)
{
    uint64_t change = c->mean > c->drawn_for ? c->mean - c->drawn_for : c->drawn_for - c->mean;

    return change > c->drawn_for / 8;
}

void profile_draw(struct hpm_profile *p, unsigned i)
{
    struct profile_criterion *c = &p->of[i];
    uint32_t *distance = profile_slot(p, i)->distance;
    bool all = has_moved(c);

    for (unsigned n = all ? PROFILE_DISTANCES : 1; n; n--)
        __atomic_store_n(&distance[p->drawing++ % PROFILE_DISTANCES], draw_distance(p, c),
                         __ATOMIC_RELAXED);
    if (all)
        c->drawn_for = c->mean;
}

uint32_t profile_draw_access(struct hpm_profile *p, unsigned i)
{
    uint32_t period = MAX(draw_distance(p, &p->of[i]), hpm_caps()->sample_period_min);

    p->of[i].drawn_for = p->of[i].mean;
    return MIN(period, (uint32_t)HPM_SAMPLING_PERIOD_MAX);
}

/* Draws a new distance of records, but only after many records: with each the hardware begins a new
 * distance, and half a distance is lost on average. */
static void draw_records(struct hpm_profile *p, unsigned i, uint64_t taken)
{
    struct profile_criterion *c = &p->of[i];

    if (!has_moved(c) && taken - c->drawn_at < (uint64_t)RECORDS_DRAWN * cpu_count())
        return;
    c->drawn_at = taken;
    hpm_access_adjust(c->access, profile_draw_access(p, i), 0);
}

void profile_set_mean(struct hpm_profile *p, unsigned i)
{
    struct profile_criterion *c = &p->of[i];

    c->mean = governor_stretched(&p->governor, unstretched(p, i));
    if (profile_is_access(p, i))
        c->mean = MIN(c->mean, (uint64_t)HPM_SAMPLING_PERIOD_MAX);
}

/* Takes the window's events from the count, which needs no sample. For a profile of one process,
 * the machine's count is used only if there are too few samples of the process. */
static void count_events(struct hpm_profile *p, unsigned i, struct period_window *w)
{
    struct profile_criterion *c = &p->of[i];
    uint64_t counted = sum_event(p, i).counted, events = counted - c->window_counted;

    c->window_counted = counted;
    if (events < PERIOD_KNOWN || (p->watch->pid && w->samples >= PERIOD_KNOWN))
        return;
    w->events = events;
    w->samples = MAX(w->samples, (uint64_t)PERIOD_KNOWN);
}

/* Estimates what lost records stood for, which is not recorded. */
static void count_lost(struct profile_criterion *c, struct hpm_profile_account *a)
{
    uint64_t events = (a->lost - c->window_lost) * c->mean;

    c->window_lost = a->lost;
    c->lost_for += events;
    a->stood_for += events;
}

/* Adapts the period to what the window brought. */
static void adapt_period(struct hpm_profile *p, unsigned i, uint64_t length)
{
    struct profile_criterion *c = &p->of[i];
    struct hpm_profile_account a;

    hpm_profile_account(p, i, &a);
    if (profile_is_access(p, i))
        count_lost(c, &a);
    struct period_window w = {.samples = a.taken - c->window_taken,
                              .events = a.stood_for - c->window_stood_for,
                              .length = length};
    c->window_taken = a.taken;
    c->window_stood_for = a.stood_for;
    if (p->criteria.criterion[i].kind == CRITERION_EVENT)
        count_events(p, i, &w);
    if (!p->criteria.criterion[i].period)
        period_update(&c->period, &w);
    profile_set_mean(p, i);
    if (profile_is_access(p, i)) {
        draw_records(p, i, a.taken);
        return;
    }
    profile_draw(p, i);
    __atomic_store_n(&profile_slot(p, i)->window, profile_slot(p, i)->window + 1, __ATOMIC_RELAXED);
}

/* Returns whether there were storms since the last window. A criterion's first storms are
 * reported. */
static bool had_storms(struct hpm_profile *p, unsigned i)
{
    struct profile_criterion *c = &p->of[i];
    struct hpm_profile_account a = {0};

    sum_slot(c->slot, &a);
    if (a.throttled == c->throttles)
        return false;
    if (!c->throttles)
        kprintf("hpm: event=storm criterion=%s: interrupts are held back, and periods lengthened\n",
                p->criteria.criterion[i].name);
    c->throttles = a.throttled;
    return true;
}

static void calm_storms(struct hpm_profile *p)
{
    bool stormy = false;

    for (unsigned i = 0; i < p->criteria.count; i++)
        stormy |= !profile_is_access(p, i) && had_storms(p, i);
    if (stormy)
        governor_storm(&p->governor, 4);
}

void hpm_profile_window(struct hpm_profile *p)
{
    uint64_t now = arch_clock_ns(), busy = busy_cycles(), cycles = sampling_cycles();

    /* If hardly anything runs, the cost of sampling does not matter. */
    if ((busy - p->began_busy) / 1000 >
        (now - p->began_ns) / IDLE_PART * hpm_cycles_of(arch_ticks_hz()) / NS_PER_S / 1000)
        governor_update(&p->governor, cycles - p->began_cycles, busy - p->began_busy, p->permille);
    calm_storms(p);
    for (unsigned i = 0; i < p->criteria.count; i++)
        adapt_period(p, i, now - p->began_ns);
    p->began_ns = now;
    p->began_busy = busy;
    p->began_cycles = cycles;
}

void profile_windows_begin(struct hpm_profile *p)
{
    governor_init(&p->governor);
    p->began_ns = arch_clock_ns();
    p->began_busy = busy_cycles();
    p->began_cycles = sampling_cycles();
}
