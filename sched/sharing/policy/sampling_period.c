/* See sampling_period.h. */
#include "sched/sharing/policy/sampling_period.h"

#define SAMPLE_COST_NS 700 /* assumed cost of a sample, until COST_KNOWN were taken */
#define COST_KNOWN     1000
#define BURST_MAX      4 /* the next burst may be this many times the affordable rate */
#define ADVANCE_NS     (1 * NS_PER_MS) /* part of the budget that may be spent in advance */
/* time after which it may be raised for exceeding the budget */
#define BRAKE_AFTER_NS (NS_PER_MS / 2)
#define JUDGE_AFTER_NS (2 * NS_PER_MS) /* time after which it is set by the rate of accesses */

/* Returns the time for samples in `ns` since the start, on all CPUs. */
static uint64_t allowed_ns(const struct sampling_period *p, const struct sampling_state *s,
                           uint64_t ns)
{
    uint64_t budget_ns = s->budget_permille * ns * s->cpus / 1000,
             passed_ns = MAX(s->now_ns - p->begin_ns, (uint64_t)1),
             looking_ppm = (s->looking_ns - p->begin_looking_ns) * 1000000 / passed_ns,
             looking_ns = ns * looking_ppm / 1000000;

    return MAX(budget_ns - MIN(looking_ns, budget_ns), budget_ns / 2);
}

/* Returns the number of samples in a millisecond that the budget allows. */
static uint64_t affordable_per_ms(const struct sampling_period *p, const struct sampling_state *s)
{
    uint64_t each_ns = s->taken > COST_KNOWN ? s->spent_ns / s->taken : SAMPLE_COST_NS;

    return MAX(allowed_ns(p, s, NS_PER_MS) / MAX(each_ns, (uint64_t)1), (uint64_t)1);
}

static void set_period(struct sampling_period *p, const struct sampling_state *s, uint64_t period)
{
    p->period =
        (uint32_t)MIN(MAX(period, (uint64_t)MAX(s->period_min, 1u)), (uint64_t)SAMPLING_PERIOD_MAX);
    p->since_ns = s->now_ns;
    p->taken = s->taken;
    p->accesses = s->accesses;
}

void sampling_period_begin(struct sampling_period *p, const struct sampling_state *s,
                           uint64_t accesses_per_ms)
{
    p->begin_ns = s->now_ns;
    p->begin_spent_ns = s->spent_ns;
    p->begin_looking_ns = s->looking_ns;
    set_period(p, s, accesses_per_ms / affordable_per_ms(p, s));
    p->peak_per_ms = accesses_per_ms;
}

bool sampling_period_over_budget(const struct sampling_period *p, const struct sampling_state *s)
{
    return s->spent_ns - p->begin_spent_ns > allowed_ns(p, s, s->now_ns - p->begin_ns + ADVANCE_NS);
}

bool sampling_period_adapt(struct sampling_period *p, const struct sampling_state *s, bool settling)
{
    uint64_t elapsed_ns = s->now_ns - p->since_ns, old = p->period;

    if (elapsed_ns < BRAKE_AFTER_NS)
        return false;
    uint64_t per_ms = (s->taken - p->taken) * NS_PER_MS / elapsed_ns,
             accesses_per_ms = (s->accesses - p->accesses) * NS_PER_MS / elapsed_ns,
             affordable = affordable_per_ms(p, s);
    p->peak_per_ms = MAX(p->peak_per_ms, accesses_per_ms);
    if (sampling_period_over_budget(p, s) && 2 * per_ms > affordable) {
        set_period(p, s, MAX(2 * old, accesses_per_ms / affordable));
        return p->period != old;
    }
    if (elapsed_ns < JUDGE_AFTER_NS)
        return false;
    uint64_t lowest = p->peak_per_ms / (BURST_MAX * affordable);
    uint64_t period = MAX(MAX(accesses_per_ms / affordable, lowest), (uint64_t)1);
    bool rises = 2 * period > 3 * old,
         falls = 2 * old > 3 * period && !settling && !sampling_period_over_budget(p, s);
    set_period(p, s, rises || falls ? period : old);
    return p->period != old;
}
