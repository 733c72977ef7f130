/*
 * Arm's PMUs. Every counter counts every event. Cycles have a counter of their own, PMCCNTR_EL0.
 * CHAIN is not an event but a counter's way to continue the one below it (DDI 0487, D13.12.3):
 * alone it would count that counter's event.
 */
#include "found.h"
#include "pfmlib_priv.h"
#include "pfmlib_arm_priv.h"
#include "events/arm_cortex_a57_events.h"
#include "events/arm_neoverse_n1_events.h"
#include "events/arm_neoverse_n2_events.h"
#include "events/arm_neoverse_v1_events.h"
#include "events/arm_neoverse_v2_events.h"
#ifdef HAVE_arm_n3_pe
#include "events/arm_neoverse_n3_events.h"
#endif
#ifdef HAVE_arm_neoverse_v3_pe
#include "events/arm_neoverse_v3_events.h"
#endif
#include "tools/events/selectors.h"
#include "tools/events/source.h"

#define CPU_CYCLES 0x11
#define CHAIN      0x1e

static struct event_limit limit_of(unsigned code)
{
    return (struct event_limit){
        .counters = ARM_COUNTERS,
        .fixed = code == CPU_CYCLES ? 0 : EVENT_NO_FIXED,
    };
}

static void add_family(const struct source_pmu *pmus, unsigned pmu_count, const arm_entry_t *events,
                       size_t count)
{
    struct source_family out = {
        .raw_counters = ARM_COUNTERS, .raw_bits = ARM_RAW_BITS, .select_bits = ARM_RAW_BITS};

    memcpy(out.pmus, pmus, pmu_count * sizeof *pmus);
    out.events = source_alloc(count, sizeof *out.events);
    for (size_t i = 0; i < count; i++) {
        if (events[i].code == CHAIN)
            continue;
        out.events[out.count++] = (struct source_event){
            .name = events[i].name,
            .config = events[i].code,
            .limit = limit_of(events[i].code),
            .variants = (1u << pmu_count) - 1,
        };
    }
    family_add(&out);
}

#define ADD(events, ...)                                 \
    add_family((const struct source_pmu[]){__VA_ARGS__}, \
               ARRAY_SIZE(((struct source_pmu[]){__VA_ARGS__})), events, ARRAY_SIZE(events))

void arm_families(void)
{
    /* Cortex-A72 counts the same events as Cortex-A57 (PMU chapters of their reference manuals). */
    ADD(arm_cortex_a57_pe, {"cortex-a57", 0}, {"cortex-a72", 0});
    ADD(arm_n1_pe, {"neoverse-n1", 0});
    /* Up to r0p2, the slots that N2 counts as stalled at the front end, or in all, are too many by
     * the cycles. */
    ADD(arm_n2_pe, {"neoverse-n2", 5}, {"neoverse-n2-r0p2", 5});
    ADD(arm_v1_pe, {"neoverse-v1", 8});
    ADD(arm_v2_pe, {"neoverse-v2", 8});
#ifdef HAVE_arm_n3_pe
    ADD(arm_n3_pe, {"neoverse-n3", 5});
#endif
#ifdef HAVE_arm_neoverse_v3_pe
    ADD(arm_neoverse_v3_pe, {"neoverse-v3", 10});
#endif
}
