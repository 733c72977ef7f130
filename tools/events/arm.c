/*
 * Arm's PMUs.  Every counter counts every event.  Cycles have a counter of their own, PMCCNTR_EL0.  CHAIN is not an event but a
 * counter's way to continue the one below it (DDI 0487, D13.12.3): on its own it would count whatever that one does.
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
#include "tools/events/source.h"

#define COUNTERS   0x7fffffff /* PMCR_EL0.N says how many there are, at most 31 */
#define CPU_CYCLES 0x11
#define CHAIN      0x1e

/* The common events of PMUv3, for a core that has no table (DDI 0487, D13.12.2 and D13.12.4).  Which of them a core has, its
 * PMCEID0_EL0 and PMCEID1_EL0 say. */
#define E(number, text)              \
    {                                \
        .name = text, .code = number \
    }
static const arm_entry_t pmuv3[] = {
    E(0x00, "SW_INCR"),
    E(0x01, "L1I_CACHE_REFILL"),
    E(0x02, "L1I_TLB_REFILL"),
    E(0x03, "L1D_CACHE_REFILL"),
    E(0x04, "L1D_CACHE"),
    E(0x05, "L1D_TLB_REFILL"),
    E(0x06, "LD_RETIRED"),
    E(0x07, "ST_RETIRED"),
    E(0x08, "INST_RETIRED"),
    E(0x09, "EXC_TAKEN"),
    E(0x0a, "EXC_RETURN"),
    E(0x0b, "CID_WRITE_RETIRED"),
    E(0x0c, "PC_WRITE_RETIRED"),
    E(0x0d, "BR_IMMED_RETIRED"),
    E(0x0e, "BR_RETURN_RETIRED"),
    E(0x0f, "UNALIGNED_LDST_RETIRED"),
    E(0x10, "BR_MIS_PRED"),
    E(0x11, "CPU_CYCLES"),
    E(0x12, "BR_PRED"),
    E(0x13, "MEM_ACCESS"),
    E(0x14, "L1I_CACHE"),
    E(0x15, "L1D_CACHE_WB"),
    E(0x16, "L2D_CACHE"),
    E(0x17, "L2D_CACHE_REFILL"),
    E(0x18, "L2D_CACHE_WB"),
    E(0x19, "BUS_ACCESS"),
    E(0x1a, "MEMORY_ERROR"),
    E(0x1b, "INST_SPEC"),
    E(0x1c, "TTBR_WRITE_RETIRED"),
    E(0x1d, "BUS_CYCLES"),
    E(0x1f, "L1D_CACHE_ALLOCATE"),
    E(0x20, "L2D_CACHE_ALLOCATE"),
    E(0x21, "BR_RETIRED"),
    E(0x22, "BR_MIS_PRED_RETIRED"),
    E(0x23, "STALL_FRONTEND"),
    E(0x24, "STALL_BACKEND"),
    E(0x25, "L1D_TLB"),
    E(0x26, "L1I_TLB"),
    E(0x27, "L2I_CACHE"),
    E(0x28, "L2I_CACHE_REFILL"),
    E(0x29, "L3D_CACHE_ALLOCATE"),
    E(0x2a, "L3D_CACHE_REFILL"),
    E(0x2b, "L3D_CACHE"),
    E(0x2c, "L3D_CACHE_WB"),
    E(0x2d, "L2D_TLB_REFILL"),
    E(0x2e, "L2I_TLB_REFILL"),
    E(0x2f, "L2D_TLB"),
    E(0x30, "L2I_TLB"),
    E(0x31, "REMOTE_ACCESS"),
    E(0x32, "LL_CACHE"),
    E(0x33, "LL_CACHE_MISS"),
    E(0x34, "DTLB_WALK"),
    E(0x35, "ITLB_WALK"),
    E(0x36, "LL_CACHE_RD"),
    E(0x37, "LL_CACHE_MISS_RD"),
    E(0x38, "REMOTE_ACCESS_RD"),
    E(0x39, "L1D_CACHE_LMISS_RD"),
    E(0x3a, "OP_RETIRED"),
    E(0x3b, "OP_SPEC"),
    E(0x3c, "STALL"),
    E(0x3d, "STALL_SLOT_BACKEND"),
    E(0x3e, "STALL_SLOT_FRONTEND"),
    E(0x3f, "STALL_SLOT"),
    E(0x4000, "SAMPLE_POP"),
    E(0x4001, "SAMPLE_FEED"),
    E(0x4002, "SAMPLE_FILTRATE"),
    E(0x4003, "SAMPLE_COLLISION"),
    E(0x4004, "CNT_CYCLES"),
    E(0x4005, "STALL_BACKEND_MEM"),
    E(0x4006, "L1I_CACHE_LMISS"),
    E(0x4009, "L2D_CACHE_LMISS_RD"),
    E(0x400a, "L2I_CACHE_LMISS"),
    E(0x400b, "L3D_CACHE_LMISS_RD"),
};
#undef E

static struct event_limit limit_of(unsigned code)
{
    return (struct event_limit){
        .counters = COUNTERS,
        .fixed = code == CPU_CYCLES ? 0 : EVENT_NO_FIXED,
    };
}

static void add(const struct source_pmu *pmus, unsigned pmu_count, const arm_entry_t *events, size_t count)
{
    struct source_family out = {.raw_counters = COUNTERS, .raw_bits = 0xffff, .select_bits = 0xffff};

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

#define ADD(events, ...)                                                                                    \
    add((const struct source_pmu[]){__VA_ARGS__}, ARRAY_SIZE(((struct source_pmu[]){__VA_ARGS__})), events, \
        ARRAY_SIZE(events))

void arm_families(void)
{
    /* Cortex-A72 counts what Cortex-A57 counts (their reference manuals' PMU chapters list the same events). */
    ADD(arm_cortex_a57_pe, {"cortex-a57", 0}, {"cortex-a72", 0});
    ADD(arm_n1_pe, {"neoverse-n1", 0});
    /* Until r0p3 the slots that N2 counts as stalled at the front end, or at all, are too many by the cycles. */
    ADD(arm_n2_pe, {"neoverse-n2", 5}, {"neoverse-n2-r0p2", 5});
    ADD(arm_v1_pe, {"neoverse-v1", 8});
    ADD(arm_v2_pe, {"neoverse-v2", 8});
#ifdef HAVE_arm_n3_pe
    ADD(arm_n3_pe, {"neoverse-n3", 5});
#endif
#ifdef HAVE_arm_neoverse_v3_pe
    ADD(arm_neoverse_v3_pe, {"neoverse-v3", 10});
#endif
    ADD(pmuv3, {"pmuv3", 0});
}
