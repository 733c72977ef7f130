/* Adaptation of periods, and the limit of their cost; see period.h. */
#include "hpm/policy/period.h"
#include "kernel/lib/fixed.h"

/* Largest number of events of a window: twice the sum of all windows fits. */
#define EVENTS_MAX (UINT64_MAX / (2 * PERIOD_WINDOWS))
#define FORGET     32 /* half of the longest period is forgotten in 22 windows */

_Static_assert(PERIOD_SAMPLES_MAX *PERIOD_WINDOW_MAX <= UINT64_MAX / PERIOD_WINDOWS,
               "products fit");

/* ---- Adaptation ------------------------------------------------------------------------------ */

static uint64_t in_range(const struct period_config *c, uint64_t period)
{
    return MIN(MAX(period, c->min), c->max);
}

void period_init(struct period *p, const struct period_config *config, uint64_t first)
{
    *p = (struct period){.period = in_range(config, first), .config = *config};
}

static void remember_window(struct period *p, const struct period_window *w)
{
    p->window[p->next] = (struct period_window){
        .samples = MIN(w->samples, EVENTS_MAX),
        .events = MIN(w->events, EVENTS_MAX),
        .length = MIN(w->length, PERIOD_WINDOW_MAX),
    };
    p->next = (p->next + 1) % PERIOD_WINDOWS;
}

static struct period_window sum_of(const struct period *p)
{
    struct period_window sum = {0};

    for (unsigned i = 0; i < PERIOD_WINDOWS; i++) {
        sum.samples += p->window[i].samples;
        sum.events += p->window[i].events;
        sum.length += p->window[i].length;
    }
    return sum;
}

/* Returns the period that would bring the samples wanted at this rate, to the nearest. */
static uint64_t right_at(const struct period_config *c, const struct period_window *sum)
{
    return fixed_add(fixed_muldiv(2 * sum->events, c->window, c->samples * sum->length), 1) / 2;
}

uint64_t period_update(struct period *p, const struct period_window *w)
{
    const struct period_config *c = &p->config;

    if (!w->length)
        return p->period;
    remember_window(p, w);
    struct period_window sum = sum_of(p);
    uint64_t right = MIN(right_at(c, &sum), c->max);
    p->longest = MAX(right, p->longest - p->longest / FORGET);
    right = MAX(right, p->longest / PERIOD_BURST);
    if (sum.samples < PERIOD_KNOWN)
        right = MAX(right, p->period / PERIOD_SHRINK_MAX);
    p->period = in_range(c, right);
    return p->period;
}

const char *period_check(const struct period *p)
{
    const struct period_config *c = &p->config;

    if (!c->samples || c->samples > PERIOD_SAMPLES_MAX || !c->window ||
        c->window > PERIOD_WINDOW_MAX)
        return "samples or window out of range";
    if (!c->min || c->min > c->max || c->max > PERIOD_MAX)
        return "no range of periods";
    if (p->period < c->min || p->period > c->max)
        return "period out of its range";
    if (p->next >= PERIOD_WINDOWS)
        return "the next window is beyond the ring";
    for (unsigned i = 0; i < PERIOD_WINDOWS; i++)
        if (p->window[i].length > PERIOD_WINDOW_MAX || p->window[i].events > EVENTS_MAX ||
            (!p->window[i].length && p->window[i].samples))
            return "a window that cannot have been";
    return NULL;
}

/* ---- Cost ------------------------------------------------------------------------------------ */

#define ENOUGH (GOVERNOR_ONE * 3 / 4) /* part of the limit that, once used, is left as it is */

void governor_init(struct governor *g)
{
    *g = (struct governor){.stretch = GOVERNOR_ONE};
}

/* Returns the stretch that uses seven eighths of the limit, so that not every second window exceeds
 * it. */
static uint64_t aim_for(const struct governor *g, uint64_t used)
{
    return fixed_muldiv(fixed_muldiv(g->stretch, used, GOVERNOR_ONE), 8, 7);
}

static void stretch_to(struct governor *g, uint64_t stretch, enum governor_reason reason)
{
    g->stretch = MIN(MAX(stretch, GOVERNOR_ONE), GOVERNOR_MAX);
    g->reason = g->stretch > GOVERNOR_ONE ? reason : GOVERNOR_IDLE;
}

enum governor_reason governor_update(struct governor *g, uint64_t spent, uint64_t all,
                                     unsigned permille)
{
    if (!all)
        return g->reason;
    uint64_t used = fixed_muldiv(spent, 1000 * GOVERNOR_ONE, permille * all);
    uint64_t aim = aim_for(g, used);
    if (used > GOVERNOR_ONE)
        stretch_to(g, aim, GOVERNOR_OVERHEAD);
    else if (used < ENOUGH || aim <= GOVERNOR_ONE)
        stretch_to(g, MAX(aim, g->stretch - g->stretch / 8), g->reason);
    return g->reason;
}

void governor_storm(struct governor *g, uint64_t factor)
{
    if (factor > 1)
        stretch_to(g, fixed_muldiv(g->stretch, factor, 1), GOVERNOR_STORM);
}

uint64_t governor_stretched(const struct governor *g, uint64_t period)
{
    return MIN(fixed_muldiv(period, g->stretch, GOVERNOR_ONE), MAX(period, PERIOD_MAX));
}

const char *governor_check(const struct governor *g)
{
    if (g->stretch < GOVERNOR_ONE || g->stretch > GOVERNOR_MAX)
        return "stretch out of range";
    if ((g->stretch == GOVERNOR_ONE) != (g->reason == GOVERNOR_IDLE))
        return "the reason is not that of the stretch";
    return NULL;
}
