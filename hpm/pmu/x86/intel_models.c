/*
 * See intel_models.h. Records: SDM volume 3, "PEBS Record Format" of each microarchitecture,
 * "Adaptive PEBS". Data sources: ibid., "Data Source Encoding for Load Latency Record"; for the
 * differences from Skylake on, and for models, Linux, arch/x86/events/intel/ds.c and core.c.
 * Events: Intel's event lists, as libpfm4 has them.
 *
 * No Intel record tells the cache level on another chip. A modified line counts as remote L2, for
 * its owner has it there; a line forwarded unmodified counts as remote L3, and so does one that may
 * be either.
 */
#include "hpm/pmu/x86/intel_models.h"
#include "hpm/policy/breakdown.h"

#define NO INTEL_NO_SOURCE
/* An access to a line that another access has requested counts as served by the L1. Lines of other
 * cores of the chip come through the L3. */
#define WITHIN_CHIP                                                                               \
    NO, SOURCE_L1, SOURCE_L1, SOURCE_LOCAL_L2, SOURCE_LOCAL_L3, SOURCE_LOCAL_L3, SOURCE_LOCAL_L3, \
        SOURCE_LOCAL_L3

static const uint8_t client[INTEL_SOURCES] = {
    WITHIN_CHIP, NO, NO, SOURCE_LOCAL_MEMORY, NO, SOURCE_LOCAL_MEMORY, NO, NO, NO,
};
static const uint8_t server[INTEL_SOURCES] = {
    WITHIN_CHIP,
    SOURCE_REMOTE_L3,
    SOURCE_REMOTE_L2,
    SOURCE_LOCAL_MEMORY,
    SOURCE_REMOTE_MEMORY,
    SOURCE_LOCAL_MEMORY,
    SOURCE_REMOTE_MEMORY,
    NO,
    NO,
};
/* 8 is memory in the package. */
static const uint8_t skylake[INTEL_SOURCES] = {
    WITHIN_CHIP, SOURCE_LOCAL_MEMORY, NO, SOURCE_LOCAL_MEMORY, NO, NO, NO, NO, NO,
};
/* 8 and 9 are persistent memory. */
static const uint8_t skylake_sp[INTEL_SOURCES] = {
    WITHIN_CHIP,
    SOURCE_LOCAL_MEMORY,
    SOURCE_REMOTE_MEMORY,
    SOURCE_LOCAL_MEMORY,
    SOURCE_REMOTE_MEMORY,
    SOURCE_REMOTE_L3,
    SOURCE_REMOTE_L2,
    NO,
    NO,
};

#define ONLY(source) 1u << (source)

/* MEM_LOAD_UOPS_L3_MISS_RETIRED: REMOTE_HITM, REMOTE_FWD. */
static const struct intel_precise broadwell_events[] = {
    {ONLY(SOURCE_REMOTE_L2), 0x10d3, SOURCE_REMOTE_L2},
    {ONLY(SOURCE_REMOTE_L3), 0x20d3, SOURCE_REMOTE_L3},
    {SOURCES_REMOTE_CACHE, 0x30d3, SOURCE_REMOTE_L3},
    {0, 0, NO},
};
/* MEM_LOAD_RETIRED: L1_HIT, L2_HIT, L3_HIT, L3_MISS. */
#define WITHIN_CHIP_EVENTS                                                                  \
    {ONLY(SOURCE_L1), 0x01d1, SOURCE_L1}, {ONLY(SOURCE_LOCAL_L2), 0x02d1, SOURCE_LOCAL_L2}, \
    {                                                                                       \
        ONLY(SOURCE_LOCAL_L3), 0x04d1, SOURCE_LOCAL_L3                                      \
    }
/* MEM_LOAD_L3_MISS_RETIRED: REMOTE_HITM, REMOTE_FWD. */
#define REMOTE_CACHE_EVENTS                                 \
    {ONLY(SOURCE_REMOTE_L2), 0x04d3, SOURCE_REMOTE_L2},     \
        {ONLY(SOURCE_REMOTE_L3), 0x08d3, SOURCE_REMOTE_L3}, \
    {                                                       \
        SOURCES_REMOTE_CACHE, 0x0cd3, SOURCE_REMOTE_L3      \
    }
static const struct intel_precise skylake_events[] = {
    WITHIN_CHIP_EVENTS,
    {ONLY(SOURCE_LOCAL_MEMORY), 0x20d1, SOURCE_LOCAL_MEMORY},
    {0, 0, NO},
};
/* LOCAL_DRAM, REMOTE_DRAM too. */
static const struct intel_precise skylake_sp_events[] = {
    WITHIN_CHIP_EVENTS,
    REMOTE_CACHE_EVENTS,
    {ONLY(SOURCE_LOCAL_MEMORY), 0x01d3, SOURCE_LOCAL_MEMORY},
    {ONLY(SOURCE_REMOTE_MEMORY), 0x02d3, SOURCE_REMOTE_MEMORY},
    {0, 0, NO},
};
static const struct intel_precise remote_cache_events[] = {REMOTE_CACHE_EVENTS, {0, 0, NO}};
static const struct intel_precise no_events[] = {{0, 0, NO}};

/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD, MEM_TRANS_RETIRED.LOAD_LATENCY. */
#define LATENCY_NEHALEM 0x100b
#define LATENCY         0x01cd

/* Up to Haswell the precise events may count another thread's accesses while both threads of a core
 * run (Linux, intel_ht_bug), so they are not used. From Sapphire Rapids on the latency event needs
 * a second counter to know the source: only remote caches can be sampled. */
static const struct intel_model nehalem = {LATENCY_NEHALEM, client, no_events},
                                nehalem_ep = {LATENCY_NEHALEM, server, no_events},
                                ivy_bridge = {LATENCY, client, no_events},
                                ivy_bridge_ep = {LATENCY, server, no_events},
                                broadwell_ep = {LATENCY, server, broadwell_events},
                                since_skylake = {LATENCY, skylake, skylake_events},
                                since_skylake_sp = {LATENCY, skylake_sp, skylake_sp_events},
                                since_sapphire_rapids = {0, skylake_sp, remote_cache_events};

/* Sandy Bridge is missing: before some microcode its records may belong to another counter. */
static const struct {
    uint8_t first, last; /* model numbers of family 6 */
    const struct intel_model *records;
} models[] = {
    {0x1a, 0x1a, &nehalem_ep},
    {0x1e, 0x1f, &nehalem},
    {0x25, 0x25, &nehalem}, /* Westmere */
    {0x2c, 0x2c, &nehalem_ep},
    {0x2e, 0x2f, &nehalem_ep},
    {0x3a, 0x3a, &ivy_bridge},
    {0x3e, 0x3e, &ivy_bridge_ep},
    {0x3c, 0x3c, &ivy_bridge}, /* Haswell */
    {0x45, 0x46, &ivy_bridge},
    {0x3f, 0x3f, &ivy_bridge_ep},
    {0x3d, 0x3d, &ivy_bridge}, /* Broadwell */
    {0x47, 0x47, &ivy_bridge},
    {0x4f, 0x4f, &broadwell_ep},
    {0x56, 0x56, &broadwell_ep},
    {0x4e, 0x4e, &since_skylake},
    {0x5e, 0x5e, &since_skylake},
    {0x8e, 0x8e, &since_skylake}, /* Kaby, Coffee, Whiskey Lake */
    {0x9e, 0x9e, &since_skylake},
    {0xa5, 0xa6, &since_skylake}, /* Comet Lake */
    {0x55, 0x55, &since_skylake_sp},
    {0x7d, 0x7e, &since_skylake}, /* Ice Lake */
    {0x8c, 0x8d, &since_skylake}, /* Tiger Lake */
    {0x9d, 0x9d, &since_skylake},
    {0xa7, 0xa7, &since_skylake}, /* Rocket Lake */
    {0x6a, 0x6a, &since_skylake_sp},
    {0x6c, 0x6c, &since_skylake_sp},
    {0x8f, 0x8f, &since_sapphire_rapids},
    {0xcf, 0xcf, &since_sapphire_rapids}, /* Emerald Rapids */
    {0xad, 0xae, &since_sapphire_rapids}, /* Granite Rapids */
};

const struct intel_model *intel_model(const struct event_identity *id)
{
    for (size_t i = 0; i < ARRAY_SIZE(models) && id->family == 6; i++)
        if (id->model >= models[i].first && id->model <= models[i].last)
            return models[i].records;
    return NULL;
}

/* In format 1 the program counter is that of the next instruction. */
static const struct intel_record formats[] = {
    [1] = {.size = 0xb0,
           .pc = 0x08,
           .counters = 0x90,
           .address = 0x98,
           .source = 0xa0,
           .latency = 0xa8},
    [2] = {.size = 0xc0,
           .pc = 0xb0,
           .counters = 0x90,
           .address = 0x98,
           .source = 0xa0,
           .latency = 0xa8},
    [3] = {.size = 0xc8,
           .pc = 0xb0,
           .counters = 0x90,
           .address = 0x98,
           .source = 0xa0,
           .latency = 0xa8,
           .time = 0xc0},
};
/* Basic and memory groups. */
static const struct intel_record adaptive = {.size = 0x40,
                                             .pc = 0x08,
                                             .counters = 0x10,
                                             .address = 0x20,
                                             .source = 0x28,
                                             .latency = 0x30,
                                             .time = 0x18};

#define FORMAT_ADAPTIVE 4
#define FORMAT_LAST     6

const struct intel_record *intel_record(unsigned format, bool baseline)
{
    if (format >= FORMAT_ADAPTIVE)
        return baseline && format <= FORMAT_LAST ? &adaptive : NULL;
    return format < ARRAY_SIZE(formats) && formats[format].size ? &formats[format] : NULL;
}
