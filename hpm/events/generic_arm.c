/*
 * Arm's cores, by the numbers that the architecture gives events, because their names differ from table to table
 * (DDI 0487, D13.12).  A number that a PMU's table does not list is not available on it.
 */
#include "hpm/events/generic.h"

#define COMMON                                                      \
    [GENERIC_CYCLES] = "r11",             /* CPU_CYCLES          */ \
        [GENERIC_CYCLES_REF] = "r4004",   /* CNT_CYCLES          */ \
        [GENERIC_INSTRUCTIONS] = "r08",   /* INST_RETIRED        */ \
        [GENERIC_OPS] = "r3a",            /* OP_RETIRED          */ \
        [GENERIC_BRANCH] = "r21",         /* BR_RETIRED          */ \
        [GENERIC_BRANCH_MISS] = "r22",    /* BR_MIS_PRED_RETIRED */ \
        [GENERIC_L1D_ACCESS] = "r04",     /* L1D_CACHE           */ \
        [GENERIC_L1D_MISS] = "r03",       /* L1D_CACHE_REFILL    */ \
        [GENERIC_L1I_ACCESS] = "r14",     /* L1I_CACHE           */ \
        [GENERIC_L1I_MISS] = "r01",       /* L1I_CACHE_REFILL    */ \
        [GENERIC_L2_ACCESS] = "r16",      /* L2D_CACHE           */ \
        [GENERIC_L2_MISS] = "r17",        /* L2D_CACHE_REFILL    */ \
        [GENERIC_LLC_ACCESS] = "r36",     /* LL_CACHE_RD         */ \
        [GENERIC_LLC_MISS] = "r37",       /* LL_CACHE_MISS_RD    */ \
        [GENERIC_TLB_MISS] = "r34",       /* DTLB_WALK           */ \
        [GENERIC_ITLB_MISS] = "r35",      /* ITLB_WALK           */ \
        [GENERIC_MEM_REMOTE] = "r31",     /* REMOTE_ACCESS       */ \
        [GENERIC_STALL_FRONTEND] = "r23", /* STALL_FRONTEND      */ \
        [GENERIC_STALL_BACKEND] = "r24",  /* STALL_BACKEND       */ \
        [GENERIC_STALL_MEM] = "r4005"     /* STALL_BACKEND_MEM   */

/* Arm's own cores share some numbers beyond the common ones. */
#define ARM_CORES                                 \
    [GENERIC_LOAD] = "r70",         /* LD_SPEC */ \
        [GENERIC_STORE] = "r71",    /* ST_SPEC */ \
        [GENERIC_INTERRUPT] = "r86" /* EXC_IRQ */

event_generic_list generic_armv8 = {COMMON, ARM_CORES};
event_generic_list generic_pmuv3 = {
    COMMON, [GENERIC_LOAD] = "r06", /* LD_RETIRED */
    [GENERIC_STORE] = "r07",        /* ST_RETIRED */
};
/* Cortex-A57 and A72 count branches when they are predicted, not when they retire. */
event_generic_list generic_cortex_a57 = {
    ARM_CORES,
    [GENERIC_CYCLES] = "r11",
    [GENERIC_INSTRUCTIONS] = "r08",
    [GENERIC_BRANCH] = "r12",      /* BR_PRED     */
    [GENERIC_BRANCH_MISS] = "r10", /* BR_MIS_PRED */
    [GENERIC_L1D_ACCESS] = "r04",
    [GENERIC_L1D_MISS] = "r03",
    [GENERIC_L1I_ACCESS] = "r14",
    [GENERIC_L1I_MISS] = "r01",
    [GENERIC_L2_ACCESS] = "r16",
    [GENERIC_L2_MISS] = "r17",
};
