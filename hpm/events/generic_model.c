/* The simulated multiprocessor: its second level is the chip's shared cache. */
#include "hpm/events/generic.h"

event_generic_list generic_model = {
    [GENERIC_CYCLES] = "CYCLES",
    [GENERIC_INSTRUCTIONS] = "INSTRUCTIONS",
    [GENERIC_BRANCH_MISS] = "MISPREDICTS",
    [GENERIC_LOAD] = "LOADS",
    [GENERIC_STORE] = "STORES",
    [GENERIC_L1D_MISS] = "L1D_MISSES",
    [GENERIC_L1I_MISS] = "L1I_MISSES",
    [GENERIC_TLB_MISS] = "TLB_MISSES",
    [GENERIC_MEM_LOCAL_CACHE] = "SERVED:LOCAL_L2",
    [GENERIC_MEM_REMOTE_CACHE] = "SERVED:REMOTE_L2",
    [GENERIC_MEM_LOCAL] = "SERVED:LOCAL_MEMORY",
    [GENERIC_MEM_REMOTE] = "SERVED:REMOTE_MEMORY",
    [GENERIC_STALL_FRONTEND] = "STALL:ICACHE",
    [GENERIC_STALL_MEM] = "STALL:DCACHE",
};
