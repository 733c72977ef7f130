/*
 * Events that need no vendor's table: those with names and numbers given by an architecture, and
 * those of all AMD cores. The CPU itself tells which of them it counts.
 */
#include "tools/events/selectors.h"
#include "tools/events/source.h"

struct common_event {
    const char *name;
    unsigned config;
    bool programmable; /* all programmable counters count it */
    uint8_t fixed;
};

#define EVENT(config, name)                \
    {                                      \
        name, config, true, EVENT_NO_FIXED \
    }
#define FIXED(config, name, number) \
    {                               \
        name, config, true, number  \
    }
#define ONLY_FIXED(config, name, number) \
    {                                    \
        name, config, false, number      \
    }

/*
 * The events that CPUID leaf 0AH reports, on every core since Core 2 (SDM volume 3, "Pre-defined
 * Architectural Performance Events"). Fixed counter 2 runs at the time-stamp counter's rate, event
 * 0x13c at a rate of each processor's own, so the name means the former.
 */
#define INTEL_COUNTERS 0xf
static const struct common_event intel[] = {
    FIXED(0x003c, "UNHALTED_CORE_CYCLES", 1),
    FIXED(0x00c0, "INSTRUCTION_RETIRED", 0),
    ONLY_FIXED(0x0300, "UNHALTED_REFERENCE_CYCLES", 2),
    EVENT(0x4f2e, "LLC_REFERENCES"),
    EVENT(0x412e, "LLC_MISSES"),
    EVENT(0x00c4, "BRANCH_INSTRUCTIONS_RETIRED"),
    EVENT(0x00c5, "MISPREDICTED_BRANCH_RETIRED"),
};

/* In the PPR of every family since 17h, and counted by the kernel's driver on later ones. */
static const struct common_event amd[] = {
    EVENT(0x76, "CYCLES_NOT_IN_HALT"),
    EVENT(0xc0, "RETIRED_INSTRUCTIONS"),
};

/* PMUv3's common events (DDI 0487, D13.12.2 and D13.12.4), except CHAIN, which is not an event. A
 * core's PMCEID0_EL0 and PMCEID1_EL0 tell which of them it has. */
static const struct common_event pmuv3[] = {
    EVENT(0x00, "SW_INCR"),
    EVENT(0x01, "L1I_CACHE_REFILL"),
    EVENT(0x02, "L1I_TLB_REFILL"),
    EVENT(0x03, "L1D_CACHE_REFILL"),
    EVENT(0x04, "L1D_CACHE"),
    EVENT(0x05, "L1D_TLB_REFILL"),
    EVENT(0x06, "LD_RETIRED"),
    EVENT(0x07, "ST_RETIRED"),
    EVENT(0x08, "INST_RETIRED"),
    EVENT(0x09, "EXC_TAKEN"),
    EVENT(0x0a, "EXC_RETURN"),
    EVENT(0x0b, "CID_WRITE_RETIRED"),
    EVENT(0x0c, "PC_WRITE_RETIRED"),
    EVENT(0x0d, "BR_IMMED_RETIRED"),
    EVENT(0x0e, "BR_RETURN_RETIRED"),
    EVENT(0x0f, "UNALIGNED_LDST_RETIRED"),
    EVENT(0x10, "BR_MIS_PRED"),
    FIXED(0x11, "CPU_CYCLES", 0),
    EVENT(0x12, "BR_PRED"),
    EVENT(0x13, "MEM_ACCESS"),
    EVENT(0x14, "L1I_CACHE"),
    EVENT(0x15, "L1D_CACHE_WB"),
    EVENT(0x16, "L2D_CACHE"),
    EVENT(0x17, "L2D_CACHE_REFILL"),
    EVENT(0x18, "L2D_CACHE_WB"),
    EVENT(0x19, "BUS_ACCESS"),
    EVENT(0x1a, "MEMORY_ERROR"),
    EVENT(0x1b, "INST_SPEC"),
    EVENT(0x1c, "TTBR_WRITE_RETIRED"),
    EVENT(0x1d, "BUS_CYCLES"),
    EVENT(0x1f, "L1D_CACHE_ALLOCATE"),
    EVENT(0x20, "L2D_CACHE_ALLOCATE"),
    EVENT(0x21, "BR_RETIRED"),
    EVENT(0x22, "BR_MIS_PRED_RETIRED"),
    EVENT(0x23, "STALL_FRONTEND"),
    EVENT(0x24, "STALL_BACKEND"),
    EVENT(0x25, "L1D_TLB"),
    EVENT(0x26, "L1I_TLB"),
    EVENT(0x27, "L2I_CACHE"),
    EVENT(0x28, "L2I_CACHE_REFILL"),
    EVENT(0x29, "L3D_CACHE_ALLOCATE"),
    EVENT(0x2a, "L3D_CACHE_REFILL"),
    EVENT(0x2b, "L3D_CACHE"),
    EVENT(0x2c, "L3D_CACHE_WB"),
    EVENT(0x2d, "L2D_TLB_REFILL"),
    EVENT(0x2e, "L2I_TLB_REFILL"),
    EVENT(0x2f, "L2D_TLB"),
    EVENT(0x30, "L2I_TLB"),
    EVENT(0x31, "REMOTE_ACCESS"),
    EVENT(0x32, "LL_CACHE"),
    EVENT(0x33, "LL_CACHE_MISS"),
    EVENT(0x34, "DTLB_WALK"),
    EVENT(0x35, "ITLB_WALK"),
    EVENT(0x36, "LL_CACHE_RD"),
    EVENT(0x37, "LL_CACHE_MISS_RD"),
    EVENT(0x38, "REMOTE_ACCESS_RD"),
    EVENT(0x39, "L1D_CACHE_LMISS_RD"),
    EVENT(0x3a, "OP_RETIRED"),
    EVENT(0x3b, "OP_SPEC"),
    EVENT(0x3c, "STALL"),
    EVENT(0x3d, "STALL_SLOT_BACKEND"),
    EVENT(0x3e, "STALL_SLOT_FRONTEND"),
    EVENT(0x3f, "STALL_SLOT"),
    EVENT(0x4000, "SAMPLE_POP"),
    EVENT(0x4001, "SAMPLE_FEED"),
    EVENT(0x4002, "SAMPLE_FILTRATE"),
    EVENT(0x4003, "SAMPLE_COLLISION"),
    EVENT(0x4004, "CNT_CYCLES"),
    EVENT(0x4005, "STALL_BACKEND_MEM"),
    EVENT(0x4006, "L1I_CACHE_LMISS"),
    EVENT(0x4009, "L2D_CACHE_LMISS_RD"),
    EVENT(0x400a, "L2I_CACHE_LMISS"),
    EVENT(0x400b, "L3D_CACHE_LMISS_RD"),
};

static void add_family(struct source_family family, const struct common_event *events,
                       unsigned count)
{
    family.events = source_alloc(count, sizeof *family.events);
    for (unsigned i = 0; i < count; i++)
        family.events[family.count++] = (struct source_event){
            .name = events[i].name,
            .config = events[i].config,
            .limit = {events[i].programmable ? family.raw_counters : 0, events[i].fixed,
                      EVENT_SHARES_NOTHING},
            .variants = 1,
        };
    family_add(&family);
}

void architectural_x86(void)
{
    add_family((struct source_family){.pmus = {{"intel-architectural", 0}},
                                      .raw_counters = INTEL_COUNTERS,
                                      .raw_bits = INTEL_RAW_BITS,
                                      .select_bits = 0xff},
               intel, ARRAY_SIZE(intel));
    add_family((struct source_family){.pmus = {{"amd-common", 0}},
                                      .raw_counters = AMD_COUNTERS,
                                      .raw_bits = AMD_RAW_BITS,
                                      .select_bits = AMD_EVENT_BITS(0xfffull)},
               amd, ARRAY_SIZE(amd));
}

void architectural_arm(void)
{
    add_family((struct source_family){.pmus = {{"pmuv3", 0}},
                                      .raw_counters = ARM_COUNTERS,
                                      .raw_bits = ARM_RAW_BITS,
                                      .select_bits = ARM_RAW_BITS},
               pmuv3, ARRAY_SIZE(pmuv3));
}
