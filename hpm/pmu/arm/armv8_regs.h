/* The registers of Arm's PMUv3 (Arm ARM DDI 0487, D13 and D19.5) that armv8.c uses, of the CPU it
 * runs on. armv8_regs.c accesses the hardware; on the host a double replaces it. */
#pragma once
#include "kernel/lib/base.h"

enum armv8_reg {
    ARMV8_MIDR,  /* MIDR_EL1 */
    ARMV8_DFR0,  /* ID_AA64DFR0_EL1 */
    ARMV8_CTR,   /* CTR_EL0 */
    ARMV8_CR,    /* PMCR_EL0 */
    ARMV8_CEID0, /* PMCEID0_EL0 */
    ARMV8_CEID1, /* PMCEID1_EL0 */
    /* PMCNTENSET_EL0. This and the next four have bit n for event counter n, bit 31 for the cycle
     * counter. */
    ARMV8_CNTENSET,
    ARMV8_CNTENCLR, /* PMCNTENCLR_EL0 */
    ARMV8_INTENSET, /* PMINTENSET_EL1 */
    ARMV8_INTENCLR, /* PMINTENCLR_EL1 */
    ARMV8_OVSCLR,   /* PMOVSCLR_EL0 */
    ARMV8_CCNTR,    /* PMCCNTR_EL0 */
    ARMV8_CCFILTR,  /* PMCCFILTR_EL0 */
    ARMV8_USERENR,  /* PMUSERENR_EL0 */
};

/* Event counters that this driver uses: 0 to ARMV8_EVENT_COUNTERS - 1. */
#define ARMV8_EVENT_COUNTERS 9

uint64_t armv8_read(enum armv8_reg reg);
void armv8_write(enum armv8_reg reg, uint64_t v);
/* PMEVCNTR<n>_EL0 and PMEVTYPER<n>_EL0, n below the number of counters. */
uint64_t armv8_read_counter(unsigned n);
void armv8_write_counter(unsigned n, uint64_t v);
void armv8_write_type(unsigned n, uint64_t v);
/* Executes ISB: instructions before it are counted, and earlier writes are in effect. */
void armv8_sync(void);

/* ID_AA64DFR0_EL1.PMUVer. */
#define DFR0_PMUVER(v) ((unsigned)((v) >> 8 & 15))
#define PMUVER_NONE    0
#define PMUVER_V3P5    6
#define PMUVER_OTHER   15 /* not PMUv3 */

/* CTR_EL0.DminLine: the smallest data cache line, in bytes. */
#define CTR_LINE(v) (4u << ((v) >> 16 & 15))

/* PMCR_EL0. */
#define CR_E    ((uint64_t)1 << 0) /* counters count */
#define CR_P    ((uint64_t)1 << 1) /* event counters to 0 */
#define CR_C    ((uint64_t)1 << 2) /* cycle counter to 0 */
#define CR_LC   ((uint64_t)1 << 6) /* cycle counter overflows after 64 bits */
#define CR_LP   ((uint64_t)1 << 7) /* event counters too: PMUv3p5 */
#define CR_N(v) ((unsigned)((v) >> 11 & 31))

/* The cycle counter's bit in the sets, and the bits of all counters. */
#define SET_CYCLES ((uint64_t)1 << 31)
#define SET_ALL    ((uint64_t)UINT32_MAX)

/* PMEVTYPER<n>_EL0 and PMCCFILTR_EL0. The other filters stay 0: in either security state EL1 and
 * EL0 follow these two, and EL2 does not count. */
#define TYPE_NOT_EL1  ((uint64_t)1 << 31) /* P */
#define TYPE_NOT_EL0  ((uint64_t)1 << 30) /* U */
#define TYPE_EVENT(v) ((uint64_t)(v)&0xffff)

/* PMUSERENR_EL0: what user mode may read. */
#define USERENR_CR ((uint64_t)1 << 2) /* PMCCNTR_EL0 */
#define USERENR_ER ((uint64_t)1 << 3) /* PMEVCNTR<n>_EL0 */
/* Index of PMCCNTR_EL0 in struct hpm_user_register: bit 31 of the sets, + 1. */
#define USER_CYCLES 32

/* Counters start this far before they wrap, so that wrapping is exercised. */
#define ARMV8_FIRST_WRAP ((uint64_t)1 << 25)
