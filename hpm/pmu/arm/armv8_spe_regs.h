/* The registers of Arm's Statistical Profiling Extension (Arm ARM DDI 0487, D17 and D19.7) that
 * armv8_spe.c uses, of the CPU it runs on. armv8_spe_regs.c accesses the hardware; on the host a
 * double replaces it. */
#pragma once
#include "kernel/lib/base.h"

enum spe_reg {
    SPE_CR,     /* PMSCR_EL1: which exception levels are sampled, and what is recorded */
    SPE_ICR,    /* PMSICR_EL1: rest of the interval */
    SPE_IRR,    /* PMSIRR_EL1: intervals */
    SPE_FCR,    /* PMSFCR_EL1: which filters are on */
    SPE_EVFR,   /* PMSEVFR_EL1: events that a record must have */
    SPE_LATFR,  /* PMSLATFR_EL1: latency that a record must have */
    SPE_IDR,    /* PMSIDR_EL1 */
    SPE_LIMITR, /* PMBLIMITR_EL1: end of the buffer */
    SPE_PTR,    /* PMBPTR_EL1: where the next record goes */
    SPE_SR,     /* PMBSR_EL1: why sampling has stopped */
    SPE_BIDR    /* PMBIDR_EL1 */
};

uint64_t spe_read(enum spe_reg reg);
void spe_write(enum spe_reg reg, uint64_t v);
/* Executes ISB: earlier writes are in effect, and reads see the hardware's changes. */
void spe_sync(void);
/* Waits until everything sampled before is in memory, for this CPU (PSB CSYNC; DSB NSH). */
void spe_drain_sync(void);

/* ID_AA64DFR0_EL1.PMSVer; each version includes those before it. */
#define DFR0_PMSVER(v) ((unsigned)((v) >> 32 & 15))

/* PMSCR_EL1. */
#define CR_E0SPE ((uint64_t)1 << 0) /* EL0 is sampled */
#define CR_E1SPE ((uint64_t)1 << 1) /* EL1 is sampled */
#define CR_PA    ((uint64_t)1 << 4) /* physical addresses */
/* Timestamps. As PCT is 0, they are of the virtual counter, as arch_ticks. */
#define CR_TS ((uint64_t)1 << 5)

/* PMSIRR_EL1. */
#define IRR_RND      ((uint64_t)1 << 0)
#define IRR_UNIT     256u /* operations; intervals are multiples of it */
#define IRR_INTERVAL ((uint64_t)0xffffff00)

/* PMSFCR_EL1. */
#define FCR_FE ((uint64_t)1 << 0)  /* filter by events */
#define FCR_FT ((uint64_t)1 << 1)  /* filter by type */
#define FCR_LD ((uint64_t)1 << 17) /* loads */
#define FCR_ST ((uint64_t)1 << 18) /* stores */

/* PMSIDR_EL1. */
#define IDR_FE          ((uint64_t)1 << 0)
#define IDR_FT          ((uint64_t)1 << 1)
#define IDR_LDS         ((uint64_t)1 << 4) /* records of loads have the source of the data */
#define IDR_ERND        ((uint64_t)1 << 5) /* random delays do not change the interval */
#define IDR_INTERVAL(v) ((unsigned)((v) >> 8 & 15))
#define IDR_MAXSIZE(v)  ((unsigned)((v) >> 12 & 15))
#define IDR_FORMAT(v)   ((unsigned)((v) >> 20 & 15))
#define MAXSIZE_LEAST   4  /* 16 bytes */
#define MAXSIZE_MOST    11 /* 2 KB */

/* PMBLIMITR_EL1. Fill mode 0: sampling stops when the buffer is full. */
#define LIMITR_E    ((uint64_t)1 << 0)
#define LIMITR_UNIT 4096

/* PMBSR_EL1. */
/* samples were due while another one was being taken, and were dropped */
#define SR_COLL   ((uint64_t)1 << 16)
#define SR_S      ((uint64_t)1 << 17) /* sampling has stopped, and interrupts */
#define SR_EA     ((uint64_t)1 << 18) /* external abort */
#define SR_DL     ((uint64_t)1 << 19) /* part of a record was lost */
#define SR_EC(v)  ((unsigned)((v) >> 26 & 63))
#define SR_MSS(v) ((unsigned)((v)&0xffff))
#define EC_BUFFER 0
#define MSS_FULL  1

/* PMBIDR_EL1. */
#define BIDR_ALIGN(v) ((unsigned)((v)&15))
/* The buffer belongs to a higher exception level or the other security state. */
#define BIDR_P     ((uint64_t)1 << 4)
#define ALIGN_MOST 11
