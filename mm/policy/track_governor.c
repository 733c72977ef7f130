/* See track_governor.h. */
#include "mm/policy/track_governor.h"

#define FADE       8            /* a window replaces 1 / FADE of a sum */
#define WINDOW_MAX (1ull << 36) /* so that sums can be multiplied by thousands */
#define WHOLE      256          /* parts of a window */
/* a trial that lasts this times the wait for it has succeeded */
#define LONG     8
#define WELL_NUM 4 /* well within the limit: less than 4/5 of it */
#define WELL_DEN 5

void track_governor_init(struct track_governor *g, unsigned permille, unsigned shift,
                         unsigned shift_max, uint64_t window)
{
    ASSERT(permille >= 1 && permille <= 1000 && shift <= shift_max &&
           shift_max <= GOVERN_SHIFT_MAX);
    ASSERT(window >= 1 && window <= WINDOW_MAX);
    *g = (struct track_governor){.permille = permille,
                                 .shift = shift,
                                 .shift_max = shift_max,
                                 .calm_wanted = GOVERN_CALM_FIRST,
                                 .window = window};
}

/* Returns whether cost / ran is more than num / den of the limit. */
static bool exceeds(const struct track_governor *g, uint64_t cost, unsigned num, unsigned den)
{
    return cost * 1000 * den > g->ran * g->permille * num;
}

static void raise(struct track_governor *g)
{
    for (; g->shift < g->shift_max && exceeds(g, g->cost, 1, 1); g->cost /= 2)
        g->shift++;
    g->calm_wanted = MIN(2 * g->calm_wanted, (unsigned)GOVERN_CALM_MAX);
    g->calm = g->lasted = 0;
    g->on_trial = false;
}

static void lower(struct track_governor *g)
{
    g->shift--;
    g->cost *= 2;
    g->calm = g->lasted = 0;
    g->on_trial = true;
}

/* Halves the wait between trials when a shift has lasted long. */
static void forgive(struct track_governor *g)
{
    g->calm_wanted = MAX(g->calm_wanted / 2, (unsigned)GOVERN_CALM_FIRST);
    g->calm = MIN(g->calm, g->calm_wanted - 1);
    g->lasted = 0;
}

/* Ends the window: adds it to the sums, which fade by its length. Returns whether it was a whole
 * one. */
static bool end_window(struct track_governor *g)
{
    bool whole = g->now.ran >= g->window;
    unsigned length = whole ? WHOLE : MAX((unsigned)(g->now.ran * WHOLE / g->window), 1u);

    g->cost += g->now.cost - g->cost / FADE * length / WHOLE;
    g->ran += g->now.ran - g->ran / FADE * length / WHOLE;
    g->now.cost = g->now.ran = 0;
    return whole;
}

unsigned track_governor_tell(struct track_governor *g, uint64_t cost, uint64_t ran)
{
    if (g->permille == 1000)
        return g->shift = 0;
    g->now.cost = MIN(g->now.cost + MIN(cost, WINDOW_MAX), WINDOW_MAX);
    g->now.ran = MIN(g->now.ran + MIN(ran, WINDOW_MAX), WINDOW_MAX);
    if (!g->now.ran) /* no process runs that tracking would slow down */
        g->now.cost = 0;
    if (g->now.ran < g->window && g->now.cost * 1000 < g->window * g->permille)
        return g->shift;
    bool whole = end_window(g);
    if (exceeds(g, g->cost, 1, 1)) {
        raise(g);
        return g->shift;
    }
    g->calm = g->shift && !exceeds(g, 2 * g->cost, WELL_NUM, WELL_DEN) ? g->calm + whole : 0;
    if (g->calm >= g->calm_wanted)
        lower(g);
    else if (g->on_trial && (g->lasted += whole) >= LONG * g->calm_wanted)
        forgive(g);
    return g->shift;
}

const char *track_governor_check(const struct track_governor *g)
{
    if (g->permille < 1 || g->permille > 1000)
        return "what is allowed is no part of the time";
    if (g->shift > g->shift_max || g->shift_max > GOVERN_SHIFT_MAX)
        return "the shift is more than the tracker can do";
    if (g->calm_wanted < GOVERN_CALM_FIRST || g->calm_wanted > GOVERN_CALM_MAX)
        return "trials are too seldom, or too often";
    if (g->calm >= g->calm_wanted || g->lasted >= LONG * g->calm_wanted)
        return "a trial is overdue";
    if (g->cost > (uint64_t)4 * FADE * WHOLE * WINDOW_MAX ||
        g->ran > (uint64_t)2 * FADE * WINDOW_MAX)
        return "a sum does not fade";
    return NULL;
}
