/* The registers of the activity monitors (FEAT_AMUv1; Arm ARM DDI 0487, D13 and D17.6) that amu.c
 * reads, of the CPU it runs on. amu_regs.c reads the hardware; on the host a double replaces it. */
#pragma once
#include "kernel/lib/base.h"

#define PFR0_AMU(v)  ((unsigned)((v) >> 44 & 15)) /* 0: there are none */
#define AMU_CORE     0                            /* CPU_CYCLES */
#define AMU_CONSTANT 1                            /* CNT_CYCLES */
#define AMU_BOTH     (1u << AMU_CORE | 1u << AMU_CONSTANT)

/* Returns ID_AA64PFR0_EL1. */
uint64_t amu_features(void);
/* The others exist only with PFR0_AMU. Returns AMCNTENSET0_EL0: bit n: counter n counts. */
uint64_t amu_enabled(void);
/* Reads AMEVCNTR00_EL0 and AMEVCNTR01_EL0, in this order and one after the other. */
void amu_read_both(uint64_t *core, uint64_t *constant);
