/*
 * Errors of libpfm4 4.13 in Intel's events, corrected by Intel's event lists (the JSON files of
 * each processor) and SDM volume 3, "Fixed-Function Performance Counters", "Performance Metrics",
 * "Off-core Response".
 */
#include "tools/events/intel_correct.h"
#include <string.h>

#define FIXED_SLOTS   3
#define FIXED_METRICS 16 /* fields of PERF_METRICS, numbered as in event.h */
#define L3_MISS_ALL   (0xfull << 26)

/* The events of fixed counters. Without a selector of its own, no programmable counter counts the
 * same. */
static const struct {
    uint64_t config;
    uint8_t fixed;
    bool programmable;
} fixed_events[] = {
    {0x00c0, 0, true},            /* INST_RETIRED.ANY_P */
    {0x01c0, 0, false},           /* INST_RETIRED.ANY */
    {0x0100, 0, false},           /* INST_RETIRED.PREC_DIST */
    {0x003c, 1, true},            /* CPU_CLK_UNHALTED.THREAD_P */
    {0x0200, 1, false},           /* CPU_CLK_UNHALTED.THREAD */
    {0x0300, 2, false},           /* CPU_CLK_UNHALTED.REF_TSC */
    {0x0400, FIXED_SLOTS, false}, /* TOPDOWN.SLOTS */
};

static struct event_limit limit_by_config(uint64_t config, uint32_t counters)
{
    for (size_t i = 0; i < ARRAY_SIZE(fixed_events); i++)
        if (fixed_events[i].config == config)
            return (struct event_limit){fixed_events[i].programmable ? counters : 0,
                                        fixed_events[i].fixed, EVENT_SHARES_NOTHING};
    return (struct event_limit){counters, EVENT_NO_FIXED, EVENT_SHARES_NOTHING};
}

const char *intel_trouble(uint64_t config, const struct event_limit *l)
{
    if (!(config & 0xff) && l->counters)
        return "no select, but programmable counters";
    if (l->fixed >= FIXED_METRICS || limit_by_config(config, 0).fixed == l->fixed)
        return NULL;
    return l->fixed == EVENT_NO_FIXED ? NULL : "a fixed counter that counts something else";
}

/* ---- Selects --------------------------------------------------------------------------------- */

static const struct {
    const char *pmu, *event;
    uint64_t wrong, right;
} selects[] = {
    {"icelake", "MEM_LOAD_MISC_RETIRED", 0xc4, 0xd4},
    {"sapphirerapids", "MEM_TRANS_RETIRED", 0x1cd, 0xcd}, /* contains a part's bits */
};

void intel_correct_event(const char *pmu, struct source_event *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(selects); i++)
        if (!strcmp(selects[i].pmu, pmu) && !strcmp(selects[i].event, e->name) &&
            selects[i].wrong == e->config) {
            e->config = selects[i].right;
            if (!(e->config & 0xff))
                e->limit = limit_by_config(e->config, 0);
        }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Parts with masks that are the values of MSR_PEBS_FRONTEND, and one without its counter. */
static const struct {
    const char *pmu, *event, *part;
    uint64_t config, extra;
    struct event_limit limit;
} parts[] = {
    {"sapphirerapids", "UOPS_RETIRED", "MS", 0x0400, 0x8, {0xff, EVENT_NO_FIXED, EVENT_FRONTEND}},
    {"sapphirerapids",
     "INT_MISC",
     "UNKNOWN_BRANCH_CYCLES",
     0x4000,
     0x7,
     {0xff, EVENT_NO_FIXED, EVENT_FRONTEND}},
    {"sapphirerapids",
     "MEM_TRANS_RETIRED",
     "STORE_SAMPLE",
     0x0200,
     0,
     {0x01, EVENT_NO_FIXED, EVENT_SHARES_NOTHING}},
};

static void correct_part(const char *pmu, const struct source_event *e, struct source_unit *u)
{
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (strcmp(parts[i].pmu, pmu) || strcmp(parts[i].event, e->name) ||
            strcmp(parts[i].part, u->name))
            continue;
        u->config = parts[i].config;
        u->extra = parts[i].extra;
        u->has_extra = parts[i].extra;
        u->limit = parts[i].limit;
        u->has_limit = true;
    }
}

/*
 * Since Ice Lake. TOPDOWN counts slots on fixed counter 3, and parts of them as event 0xa4 on the
 * others, as its SLOTS_P does. libpfm4 gives all of them the fixed counter, and the parts event 0.
 */
static void correct_topdown(const char *pmu, struct source_unit *u, uint32_t counters)
{
    u->has_limit = true;
    if (!strcmp(u->name, "SLOTS")) {
        u->limit = (struct event_limit){0, FIXED_SLOTS, EVENT_TOPDOWN};
        return;
    }
    u->config = (u->config & ~(uint64_t)0xff) | 0xa4;
    u->flags |= UNIT_OVERRIDES;
    u->limit = limit_by_config(u->config, counters);
    if (!strcmp(u->name, "BAD_SPEC_SLOTS") ||
        (!strcmp(u->name, "BR_MISPREDICT_SLOTS") && strcmp(pmu, "icelake")))
        u->limit.counters = 1;
}

/* Since Ice Lake. libpfm4 gives all parts of these events one counter: a fixed one on Ice Lake,
 * number 0 on Sapphire Rapids. */
static void correct_fixed(const struct source_event *e, struct source_unit *u, uint32_t counters)
{
    if (strcmp(e->name, "CPU_CLK_UNHALTED") && strcmp(e->name, "INST_RETIRED"))
        return;
    u->has_limit = true;
    u->limit =
        limit_by_config(u->flags & UNIT_OVERRIDES ? u->config : u->config | e->config, counters);
}

/* L3_MISS of a machine with sockets is local memory and memory of one to three hops; libpfm4 has
 * the local bit alone. */
static void correct_l3_miss(const char *pmu, const struct source_event *e, struct source_unit *u)
{
    if (!strcmp(pmu, "skylake") && strstr(e->name, "OFFCORE_RESPONSE") && u->variants != 1 &&
        !strcmp(u->name, "L3_MISS"))
        u->extra = L3_MISS_ALL;
}

void intel_correct_part(const char *pmu, bool perf_metrics, const struct source_event *e,
                        struct source_unit *u, uint32_t counters)
{
    correct_l3_miss(pmu, e, u);
    if (!perf_metrics)
        return;
    if (!strcmp(e->name, "TOPDOWN"))
        correct_topdown(pmu, u, counters);
    correct_fixed(e, u, counters);
    correct_part(pmu, e, u);
}

/* ---- What is missing ------------------------------------------------------------------------- */

/* PERF_METRICS: eighths of a register, each a part of fixed counter 3's slots. Configured as Linux
 * numbers them, event 0 with masks from 0x80. */
struct source_event intel_perf_metrics(bool halves, unsigned variants)
{
    static const char *const fields[] = {"RETIRING",      "BAD_SPECULATION", "FRONTEND_BOUND",
                                         "BACKEND_BOUND", "HEAVY_OPS",       "BR_MISPREDICT",
                                         "FETCH_LATENCY", "MEMORY_BOUND"};
    unsigned count = halves ? 4 : 8;
    struct source_unit *units = source_alloc(count, sizeof *units);

    for (unsigned i = 0; i < count; i++)
        units[i] = (struct source_unit){
            .name = fields[i],
            .config = (uint64_t)(0x80 + i) << 8,
            .flags = UNIT_ALONE,
            .variants = variants,
            .has_limit = true,
            .limit = {0, (uint8_t)(FIXED_METRICS + i), EVENT_TOPDOWN},
        };
    return (struct source_event){
        .name = "PERF_METRICS",
        .groups = 1,
        .variants = variants,
        .limit = {0, FIXED_SLOTS, EVENT_TOPDOWN},
        .units = units,
        .unit_count = count,
    };
}
