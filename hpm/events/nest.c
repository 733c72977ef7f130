/* See nest.h. */
#include "hpm/events/nest.h"

enum { PARTS_MAX = 7, BOTH = EVENT_USER | EVENT_KERNEL };

/* A whole stands before the rows of its parts. Those of the simulated machine are as
 * kernel/dev/model/machine.h defines its events. Of real PMUs only what all vendors' definitions
 * have in common is assumed: stalls are cycles, and stalls for data are stalls of the back end. */
static const struct nest {
    const char *table; /* NULL: of every PMU but the simulated machine's */
    const char *whole, *part[PARTS_MAX];
} nests[] = {
    {"model",
     "CYCLES",
     {"COMPLETION", "STALL:ICACHE", "STALL:BRANCH", "STALL:DCACHE", "STALL:TLB", "STALL:OTHER"}},
    {"model",
     "STALL:DCACHE",
     {"DCACHE:LOCAL_L2", "DCACHE:LOCAL_L3", "DCACHE:REMOTE_L2", "DCACHE:REMOTE_L3",
      "DCACHE:LOCAL_MEMORY", "DCACHE:REMOTE_MEMORY"}},
    {"model",
     "L1D_MISSES",
     {"SERVED:LOCAL_L2", "SERVED:LOCAL_L3", "SERVED:REMOTE_L2", "SERVED:REMOTE_L3",
      "SERVED:LOCAL_MEMORY", "SERVED:REMOTE_MEMORY"}},
    {"model", "L1D_MISSES", {"L1D_LOAD_MISSES"}},
    {"model", "L1D_LOAD_MISSES", {"LLC_LOADS"}},
    {"model", "LLC_LOADS", {"LLC_LOAD_MISSES"}},
    {"model", "TLB_MISSES", {"DTLB_LOAD_MISSES", "DTLB_STORE_MISSES", "ITLB_MISSES"}},
    {"model", "BRANCHES", {"MISPREDICTS"}},
    {NULL, "cycles", {"stall.frontend"}},
    {NULL, "cycles", {"stall.backend"}},
    {NULL, "stall.backend", {"stall.mem"}},
};

/* The events that are searched, and the sets found so far. */
struct search {
    const struct event_pmu *pmu;
    const struct event *event;
    unsigned events;
    uint32_t modes; /* bit m: there are events in modes m */
    struct fit_set *out;
    unsigned found;
};

/* Returns whether two events differ in modes at most. */
static bool same_event(const struct event *a, const struct event *b)
{
    return a->config == b->config && a->extra == b->extra && a->exclusion == b->exclusion;
}

/* Returns the events (bit e) that are `like` in exactly these modes. */
static uint64_t find_events(const struct search *s, const struct event *like, unsigned modes)
{
    uint64_t found = 0;

    for (unsigned e = 0; e < s->events; e++)
        if (same_event(&s->event[e], like) && s->event[e].modes == modes)
            found |= (uint64_t)1 << e;
    return found;
}

static void put_set(struct search *s, uint64_t whole, uint64_t parts)
{
    if (whole && parts && s->found < EVENT_NESTS_MAX)
        s->out[s->found++] = (struct fit_set){(uint8_t)__builtin_ctzll(whole), parts};
}

static bool is_known(const struct event_pmu *pmu, const char *text, struct event *out)
{
    char why[1]; /* not used: without the event there is no such set */

    return text && !event_parse(pmu, text, out, why, sizeof why);
}

/* Adds the sets of a row in `modes`. A part that is counted in both modes is counted as a whole;
 * else its counts in single modes are the parts. */
static void put_row(struct search *s, const struct nest *row, unsigned modes)
{
    struct event whole, part;
    uint64_t parts = 0, wholes;

    if (!is_known(s->pmu, row->whole, &whole))
        return;
    wholes = find_events(s, &whole, modes);
    if (!wholes)
        return;
    for (unsigned p = 0; p < PARTS_MAX; p++) {
        if (!is_known(s->pmu, row->part[p], &part))
            continue;
        uint64_t all = find_events(s, &part, modes);
        parts |= all || modes != BOTH
                     ? all
                     : find_events(s, &part, EVENT_USER) | find_events(s, &part, EVENT_KERNEL);
    }
    put_set(s, wholes, parts);
}

static void put_rows(struct search *s, unsigned modes)
{
    bool model = s->pmu->table == event_table_named("model");

    if (!(s->modes >> modes & 1))
        return;
    for (const struct nest *row = nests; row < nests + ARRAY_SIZE(nests); row++)
        if (model == (row->table != NULL))
            put_row(s, row, modes);
}

unsigned event_nests(const struct event_pmu *pmu, const struct event *event, unsigned events,
                     struct fit_set out[EVENT_NESTS_MAX])
{
    struct search s = {.pmu = pmu, .event = event, .events = events, .out = out};

    for (unsigned e = 0; e < events; e++)
        s.modes |= 1u << event[e].modes;
    put_rows(&s, BOTH);
    for (unsigned e = 0; e < events; e++)
        if (event[e].modes == BOTH)
            put_set(&s, (uint64_t)1 << e,
                    find_events(&s, &event[e], EVENT_USER) |
                        find_events(&s, &event[e], EVENT_KERNEL));
    put_rows(&s, EVENT_USER);
    put_rows(&s, EVENT_KERNEL);
    return s.found;
}
