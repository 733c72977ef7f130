/* The vendors' selectors, and the largest number of counters: a CPU's driver removes the counters
 * that are not there. */
#pragma once

/* Intel SDM volume 3, "IA32_PERFEVTSELx": event, unit mask, edge, inversion, threshold. Without
 * IN_TX and IN_TXCP, which fault on a processor without transactions. */
#define INTEL_RAW_BITS (0xffffull | 1 << 18 | 1 << 23 | 0xffull << 24)

/* AMD's PPRs, "Core Performance Event Selects": the same, and event select 11:8 is bits 35:32. */
#define AMD_COUNTERS         0x3f
#define AMD_EVENT_BITS(code) (((code)&0xffull) | ((code) >> 8 & 0xfull) << 32)
#define AMD_RAW_BITS         (AMD_EVENT_BITS(0xfffull) | 0xff00 | 1 << 18 | 1 << 23 | 0xffull << 24)

/* DDI 0487, D13: PMCR_EL0.N is the number of counters, at most 31. Every counter counts every
 * event. */
#define ARM_COUNTERS 0x7fffffff
#define ARM_RAW_BITS 0xffff
