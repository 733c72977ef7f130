/*
 * Arm's cores, by the numbers that the architecture gives events, because their names differ
 * between tables (DDI 0487, D13.12). A number that neither the CPU nor its table knows is skipped.
 * - Where retired branches are not counted, predicted ones are, including those on wrong paths.
 * - Of the last level, reads alone are counted where nothing else is.
 * - Other chips: their memory and, where these hold the data, their caches.
 */
#include "hpm/events/generic.h"

#define COMMON                                                                                     \
    [GENERIC_CYCLES] = "r11", /* CPU_CYCLES                                               */       \
        [GENERIC_CYCLES_REF] =                                                                     \
            "r4004", /* CNT_CYCLES                                               */                \
        [GENERIC_INSTRUCTIONS] =                                                                   \
            "r08",             /* INST_RETIRED                                             */      \
        [GENERIC_OPS] = "r3a", /* OP_RETIRED                                               */      \
        [GENERIC_BRANCH] =                                                                         \
            "r21 r12", /* BR_RETIRED, BR_PRED                                      */              \
        [GENERIC_BRANCH_MISS] =                                                                    \
            "r22 r10", /* BR_MIS_PRED_RETIRED, BR_MIS_PRED                         */              \
        [GENERIC_L1D_ACCESS] =                                                                     \
            "r04",                  /* L1D_CACHE                                                */ \
        [GENERIC_L1D_MISS] = "r03", /* L1D_CACHE_REFILL                                         */ \
        [GENERIC_L1I_ACCESS] =                                                                     \
            "r14",                  /* L1I_CACHE                                                */ \
        [GENERIC_L1I_MISS] = "r01", /* L1I_CACHE_REFILL                                         */ \
        [GENERIC_L2_ACCESS] =                                                                      \
            "r16",                 /* L2D_CACHE                                                */  \
        [GENERIC_L2_MISS] = "r17", /* L2D_CACHE_REFILL                                         */  \
        [GENERIC_LLC_ACCESS] =                                                                     \
            "r32 r36 r2b", /* LL_CACHE, LL_CACHE_RD, L3D_CACHE                        */           \
        [GENERIC_LLC_MISS] =                                                                       \
            "r33 r37 r2a",          /* LL_CACHE_MISS, LL_CACHE_MISS_RD, L3D_CACHE_REFILL        */ \
        [GENERIC_TLB_MISS] = "r34", /* DTLB_WALK                                                */ \
        [GENERIC_ITLB_MISS] =                                                                      \
            "r35", /* ITLB_WALK                                                */                  \
        [GENERIC_MEM_REMOTE] =                                                                     \
            "r31 r38", /* REMOTE_ACCESS, REMOTE_ACCESS_RD                          */              \
        [GENERIC_STALL_FRONTEND] =                                                                 \
            "r23", /* STALL_FRONTEND                                           */                  \
        [GENERIC_STALL_BACKEND] =                                                                  \
            "r24", /* STALL_BACKEND                                            */                  \
        [GENERIC_STALL_MEM] = "r4005" /* STALL_BACKEND_MEM */

/* Arm's own cores share some numbers beyond the common ones. */
event_generic_list generic_armv8 = {
    COMMON, [GENERIC_LOAD] = "r70", /* LD_SPEC */
    [GENERIC_STORE] = "r71",        /* ST_SPEC */
    [GENERIC_INTERRUPT] = "r86",    /* EXC_IRQ */
};
event_generic_list generic_pmuv3 = {
    COMMON, [GENERIC_LOAD] = "r06", /* LD_RETIRED */
    [GENERIC_STORE] = "r07",        /* ST_RETIRED */
};
