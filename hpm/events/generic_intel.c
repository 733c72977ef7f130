/* Intel's cores, by the names of libpfm4 (after Intel's event lists). */
#include "hpm/events/generic.h"

/* From Skylake on. */
#define SINCE_SKYLAKE                                                                              \
    [GENERIC_CYCLES] = "UNHALTED_CORE_CYCLES", [GENERIC_CYCLES_REF] = "UNHALTED_REFERENCE_CYCLES", \
    [GENERIC_INSTRUCTIONS] = "INSTRUCTION_RETIRED",                                                \
    [GENERIC_BRANCH] = "BR_INST_RETIRED:ALL_BRANCHES",                                             \
    [GENERIC_BRANCH_MISS] = "BR_MISP_RETIRED:ALL_BRANCHES",                                        \
    [GENERIC_LOAD] = "MEM_INST_RETIRED:ALL_LOADS",                                                 \
    [GENERIC_STORE] = "MEM_INST_RETIRED:ALL_STORES",                                               \
    [GENERIC_L1D_ACCESS] = "MEM_INST_RETIRED:ANY", [GENERIC_L1D_MISS] = "L1D:REPLACEMENT",         \
    [GENERIC_LLC_MISS] = "LONGEST_LAT_CACHE:MISS",                                                 \
    [GENERIC_TLB_MISS] = "DTLB_LOAD_MISSES:WALK_COMPLETED",                                        \
    [GENERIC_ITLB_MISS] = "ITLB_MISSES:WALK_COMPLETED",                                            \
    [GENERIC_MEM_LOCAL_CACHE] = "MEM_LOAD_RETIRED:L3_HIT",                                         \
    [GENERIC_STALL_FRONTEND] = "IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE",                  \
    [GENERIC_STALL_BACKEND] = "CYCLE_ACTIVITY:STALLS_TOTAL"
#define SKYLAKE                                                                                    \
    SINCE_SKYLAKE,                                                                                 \
        [GENERIC_OPS] = "UOPS_RETIRED:RETIRE_SLOTS", [GENERIC_L1I_MISS] = "ICACHE_64B:IFTAG_MISS", \
        [GENERIC_L2_ACCESS] = "L2_RQSTS:REFERENCES", [GENERIC_L2_MISS] = "L2_RQSTS:MISS",          \
        [GENERIC_LLC_ACCESS] = "LONGEST_LAT_CACHE:REFERENCE",                                      \
        [GENERIC_STALL_MEM] = "CYCLE_ACTIVITY:STALLS_MEM_ANY",                                     \
        [GENERIC_INTERRUPT] = "HW_INTERRUPTS:RECEIVED"
#define ICELAKE                                                            \
    SINCE_SKYLAKE, [GENERIC_OPS] = "UOPS_RETIRED:SLOTS",                   \
                   [GENERIC_L1I_MISS] = "ICACHE_64B:IFTAG_MISS",           \
                   [GENERIC_L2_ACCESS] = "L2_RQSTS:ALL_DEMAND_REFERENCES", \
                   [GENERIC_L2_MISS] = "L2_RQSTS:ALL_DEMAND_MISS",         \
                   [GENERIC_LLC_ACCESS] = "LONGEST_LAT_CACHE:REFERENCES",  \
                   [GENERIC_STALL_MEM] = "CYCLE_ACTIVITY:STALLS_MEM_ANY"
/* With several sockets. Data from another socket's caches is REMOTE_HITM and REMOTE_FWD of event
 * 0xd3: 0x04 and 0x08. */
#define SOCKETS                                                    \
    [GENERIC_MEM_LOCAL] = "MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM",   \
    [GENERIC_MEM_REMOTE] = "MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", \
    [GENERIC_MEM_REMOTE_CACHE] = "r0cd3"
/* With one socket: all memory is local. */
#define ONE_SOCKET [GENERIC_MEM_LOCAL] = "MEM_LOAD_RETIRED:L3_MISS"

event_generic_list generic_skylake = {SKYLAKE, ONE_SOCKET};
event_generic_list generic_skylake_sp = {SKYLAKE, SOCKETS};
event_generic_list generic_icelake = {ICELAKE, ONE_SOCKET};
event_generic_list generic_icelake_sp = {ICELAKE, SOCKETS};
event_generic_list generic_sapphirerapids = {
    SINCE_SKYLAKE,
    SOCKETS,
    [GENERIC_OPS] = "UOPS_RETIRED:SLOTS",
    [GENERIC_L1I_MISS] = "L2_RQSTS:ALL_CODE_RD",
    [GENERIC_L2_ACCESS] = "L2_RQSTS:ALL_DEMAND_REFERENCES",
    [GENERIC_L2_MISS] = "L2_RQSTS:ALL_DEMAND_MISS",
    [GENERIC_LLC_ACCESS] = "LONGEST_LAT_CACHE:REFERENCE",
    [GENERIC_STALL_MEM] = "EXE_ACTIVITY:BOUND_ON_LOADS",
};

/* Architectural events (SDM volume 3, "Pre-defined Architectural Performance Events"). */
event_generic_list generic_intel = {
    [GENERIC_CYCLES] = "UNHALTED_CORE_CYCLES",
    [GENERIC_CYCLES_REF] = "UNHALTED_REFERENCE_CYCLES",
    [GENERIC_INSTRUCTIONS] = "INSTRUCTION_RETIRED",
    [GENERIC_BRANCH] = "BRANCH_INSTRUCTIONS_RETIRED",
    [GENERIC_BRANCH_MISS] = "MISPREDICTED_BRANCH_RETIRED",
    [GENERIC_LLC_ACCESS] = "LLC_REFERENCES",
    [GENERIC_LLC_MISS] = "LLC_MISSES",
};
