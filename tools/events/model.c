/* The simulated multiprocessor's own events (kernel/dev/model/machine.h), with the machine's own
 * masks of counters. */
#include "test/machine/pmu_masks.h"
#include "tools/events/source.h"
#include <string.h>

struct model_event {
    const char *name, *part;
    enum machine_event number;
};

/* The parts of one event are adjacent. */
static const struct model_event events[] = {
    {"CYCLES", NULL, MACHINE_EVENT_CYCLES},
    {"INSTRUCTIONS", NULL, MACHINE_EVENT_INSTRUCTIONS},
    {"LOADS", NULL, MACHINE_EVENT_LOADS},
    {"STORES", NULL, MACHINE_EVENT_STORES},
    {"L1D_MISSES", NULL, MACHINE_EVENT_L1D_MISSES},
    {"L1I_MISSES", NULL, MACHINE_EVENT_L1I_MISSES},
    {"MISPREDICTS", NULL, MACHINE_EVENT_MISPREDICTS},
    {"TLB_MISSES", NULL, MACHINE_EVENT_TLB_MISSES},
    {"SERVED", "LOCAL_L2", MACHINE_EVENT_SERVED_LOCAL_L2},
    {"SERVED", "LOCAL_L3", MACHINE_EVENT_SERVED_LOCAL_L3},
    {"SERVED", "REMOTE_L2", MACHINE_EVENT_SERVED_REMOTE_L2},
    {"SERVED", "REMOTE_L3", MACHINE_EVENT_SERVED_REMOTE_L3},
    {"SERVED", "LOCAL_MEMORY", MACHINE_EVENT_SERVED_LOCAL_MEMORY},
    {"SERVED", "REMOTE_MEMORY", MACHINE_EVENT_SERVED_REMOTE_MEMORY},
    {"COMPLETION", NULL, MACHINE_EVENT_COMPLETION},
    {"STALL", "ICACHE", MACHINE_EVENT_STALL_ICACHE},
    {"STALL", "BRANCH", MACHINE_EVENT_STALL_BRANCH},
    {"STALL", "DCACHE", MACHINE_EVENT_STALL_DCACHE},
    {"STALL", "TLB", MACHINE_EVENT_STALL_TLB},
    {"STALL", "OTHER", MACHINE_EVENT_STALL_OTHER},
    {"DCACHE", "LOCAL_L2", MACHINE_EVENT_DCACHE_LOCAL_L2},
    {"DCACHE", "LOCAL_L3", MACHINE_EVENT_DCACHE_LOCAL_L3},
    {"DCACHE", "REMOTE_L2", MACHINE_EVENT_DCACHE_REMOTE_L2},
    {"DCACHE", "REMOTE_L3", MACHINE_EVENT_DCACHE_REMOTE_L3},
    {"DCACHE", "LOCAL_MEMORY", MACHINE_EVENT_DCACHE_LOCAL_MEMORY},
    {"DCACHE", "REMOTE_MEMORY", MACHINE_EVENT_DCACHE_REMOTE_MEMORY},
    {"IDLE", NULL, MACHINE_EVENT_IDLE},
    {"EXCEPTIONS", NULL, MACHINE_EVENT_EXCEPTIONS},
    {"BRANCHES", NULL, MACHINE_EVENT_BRANCHES},
    {"L1D_LOAD_MISSES", NULL, MACHINE_EVENT_L1D_LOAD_MISSES},
    {"DTLB_LOAD_MISSES", NULL, MACHINE_EVENT_DTLB_LOAD_MISSES},
    {"DTLB_STORE_MISSES", NULL, MACHINE_EVENT_DTLB_STORE_MISSES},
    {"ITLB_MISSES", NULL, MACHINE_EVENT_ITLB_MISSES},
    {"LLC_LOADS", NULL, MACHINE_EVENT_LLC_LOADS},
    {"LLC_LOAD_MISSES", NULL, MACHINE_EVENT_LLC_LOAD_MISSES},
};
_Static_assert(ARRAY_SIZE(events) == MACHINE_EVENTS - 1, "every event but NONE");

#define PROGRAMMABLE 4

static struct event_limit limit_of(const struct model_event *e)
{
    unsigned mask = pmu_counter_mask[e->number], fixed = mask >> PROGRAMMABLE;

    return (struct event_limit){
        .counters = mask & ((1u << PROGRAMMABLE) - 1),
        .fixed = fixed ? (uint8_t)(PROGRAMMABLE + __builtin_ctz(fixed)) : EVENT_NO_FIXED,
    };
}

void model_family(void)
{
    struct source_family out = {.pmus = {{"model", 0}},
                                .raw_counters = (1u << PROGRAMMABLE) - 1,
                                .raw_bits = 0x3f,
                                .select_bits = 0x3f};

    out.events = source_alloc(ARRAY_SIZE(events), sizeof *out.events);
    for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
        struct source_event *event = &out.events[out.count++];
        *event = (struct source_event){
            .name = events[i].name, .limit = limit_of(&events[i]), .variants = 1};
        if (!events[i].part) {
            event->config = events[i].number;
            continue;
        }
        struct source_unit *units = source_alloc(ARRAY_SIZE(events), sizeof *units);
        event->units = units;
        event->groups = 1;
        for (; i < ARRAY_SIZE(events) && !strcmp(events[i].name, event->name); i++)
            units[event->unit_count++] = (struct source_unit){
                .name = events[i].part,
                .config = events[i].number,
                .has_limit = true,
                .limit = limit_of(&events[i]),
                .flags = UNIT_ALONE,
                .variants = 1,
            };
        i--;
    }
    family_add(&out);
}
