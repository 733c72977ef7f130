/* The registers of Intel's performance monitoring that intel*.c use (SDM volume 3, chapter
 * "Performance Monitoring"; numbers and reserved bits: volume 4, table 2-2). */
#pragma once
#include "hpm/pmu/x86/x86_regs.h"

#define INTEL_BIT(n) ((uint64_t)1 << (n))

/* CPUID (SDM volume 2A). */
#define LEAF_FEATURES   1
#define LEAF_EXTENDED   7
#define LEAF_PMU        0xa
#define VENDOR_INTEL    0x756e6547 /* leaf 0, EBX: "Genu" */
#define LINE_BYTES(ebx) (((ebx) >> 8 & 0xff) * 8)
#define ECX_DTES64      INTEL_BIT(2)  /* leaf 1: the DS area has 64-bit fields */
#define ECX_PDCM        INTEL_BIT(15) /* leaf 1: IA32_PERF_CAPABILITIES exists */
#define ECX_HYPERVISOR  INTEL_BIT(31) /* leaf 1 */
#define EDX_DS          INTEL_BIT(21) /* leaf 1: IA32_DS_AREA and IA32_MISC_ENABLE exist */
#define EBX_RTM         INTEL_BIT(11) /* leaf 7 */
/* Leaf 7: the microcode uses counter 3 while transactions work. */
#define EDX_TSX_FORCE_ABORT INTEL_BIT(13)
/* Leaf 0AH ("Architectural Performance Monitoring"). */
#define PMU_VERSION(eax)  ((eax)&0xff)
#define PMU_COUNTERS(eax) ((eax) >> 8 & 0xff)
#define PMU_WIDTH(eax)    ((eax) >> 16 & 0xff)
/* Number of valid bits in EBX; a bit of 1 there: the event is missing. */
#define PMU_EVENTS(eax)      ((eax) >> 24)
#define PMU_FIXED(edx)       ((edx)&31)
#define PMU_FIXED_WIDTH(edx) ((edx) >> 5 & 0xff)
#define PMU_NO_ANY_THREAD    INTEL_BIT(15) /* EDX, version 5 */

enum {
    MSR_PMC0 = 0xc1, /* IA32_PMC0: bits 0 to 31 are written; bit 31 is extended above them */
    MSR_TSX_FORCE_ABORT = 0x10f,
    MSR_PERFEVTSEL0 = 0x186,
    MSR_OFFCORE_RSP_0 = 0x1a6,
    MSR_OFFCORE_RSP_1 = 0x1a7,
    MSR_MISC_ENABLE = 0x1a0,
    MSR_DEBUGCTL = 0x1d9,
    MSR_FIXED_CTR0 = 0x309,
    MSR_PERF_METRICS = 0x329,
    MSR_PERF_CAPABILITIES = 0x345,
    MSR_FIXED_CTR_CTRL = 0x38d,
    MSR_GLOBAL_STATUS = 0x38e,
    MSR_GLOBAL_CTRL = 0x38f,
    MSR_GLOBAL_CLEAR = 0x390, /* IA32_PERF_GLOBAL_OVF_CTRL, from version 4 on ..._STATUS_RESET */
    MSR_PEBS_ENABLE = 0x3f1,
    MSR_PEBS_DATA_CFG = 0x3f2,
    MSR_PEBS_LD_LAT = 0x3f6,
    MSR_PEBS_FRONTEND = 0x3f7,
    MSR_DS_AREA = 0x600,
};
#define RDPMC_FIXED   0x40000000u
#define RDPMC_METRICS 0x20000000u

/* IA32_PERFEVTSELx. Bits 0 to 15 are event and unit mask. */
#define EVTSEL_EVENT  0xffffull
#define EVTSEL_USER   INTEL_BIT(16)
#define EVTSEL_KERNEL INTEL_BIT(17)
#define EVTSEL_EDGE   INTEL_BIT(18)
#define EVTSEL_INT    INTEL_BIT(20)
#define EVTSEL_ANY    INTEL_BIT(21) /* versions 3 and 4; optional in 5 */
#define EVTSEL_EN     INTEL_BIT(22)
#define EVTSEL_INV    INTEL_BIT(23)
#define EVTSEL_CMASK  (0xffull << 24)
#define EVTSEL_TX     (3ull << 32)  /* IN_TX, IN_TXCP: with RTM */
#define EVTSEL_RECORD INTEL_BIT(34) /* Adaptive_Record: PEBS_BASELINE */

/* IA32_FIXED_CTR_CTRL: four bits for each counter. */
#define FIXED_INSTRUCTIONS 0
#define FIXED_CYCLES       1
#define FIXED_REFERENCE    2
#define FIXED_SLOTS        3
#define FIXED_FIELD(f, v)  ((uint64_t)(v) << 4 * (f))
#define FIXED_KERNEL       1u
#define FIXED_USER         2u
#define FIXED_PMI          8u

/* IA32_PERF_GLOBAL_STATUS and the register that clears it. Bit n: counter n; GLOBAL_FIXED(f): fixed
 * counter f. */
#define GLOBAL_FIXED(f) INTEL_BIT(32 + (f))
#define GLOBAL_METRICS  INTEL_BIT(48)
#define STATUS_FROZEN   (INTEL_BIT(58) | INTEL_BIT(59)) /* LBR_FRZ, CTR_FRZ: version 4 */
#define STATUS_SGX      INTEL_BIT(60)                   /* ASCI: version 4 */
#define STATUS_BUFFER   INTEL_BIT(62) /* the threshold of the DS area was reached */
#define STATUS_CHANGED  INTEL_BIT(63)

/* IA32_DEBUGCTL: what freezes at an interrupt. */
#define DEBUGCTL_FREEZE (INTEL_BIT(11) | INTEL_BIT(12))

#define MISC_EMON    INTEL_BIT(7) /* performance monitoring is available */
#define MISC_NO_PEBS INTEL_BIT(12)

/* TSX_FORCE_ABORT.RTM_FORCE_ABORT: transactions abort at once, for which programs must be prepared
 * anyway ("Performance Monitoring Impact of Intel Transactional Synchronization Extension Memory
 * Ordering Issue"). */
#define TSX_FORCE_ABORT INTEL_BIT(0)

/* IA32_PERF_CAPABILITIES. */
#define CAPS_PEBS_FORMAT(v) ((unsigned)((v) >> 8 & 15))
#define CAPS_PEBS_BASELINE  INTEL_BIT(14)
#define CAPS_PERF_METRICS   INTEL_BIT(15)

/* IA32_PEBS_ENABLE. */
#define PEBS_COUNTER(n)  INTEL_BIT(n)
#define PEBS_LATENCY(n)  INTEL_BIT(32 + (n)) /* before version 5 */
#define PEBS_DATA_MEMORY INTEL_BIT(0)        /* MSR_PEBS_DATA_CFG: address, source and latency */

/* DS buffer management area of 64-bit mode ("Debug Store (DS) Mechanism", "64 Bit Format of the DS
 * Save Area"). The processor writes to it as well. */
struct intel_ds {
    uint64_t bts[4];
    uint64_t base;      /* of the records */
    uint64_t index;     /* where the next record goes */
    uint64_t end;       /* absolute maximum: nothing is recorded from here on */
    uint64_t threshold; /* a record that ends here or beyond raises an interrupt */
    uint64_t reset[48]; /* value of counter n after a record */
} ALIGNED(64);
