/* The registers of AMD's core counters and of instruction-based sampling that the driver uses (APM
 * volume 2, 13.2 and 13.3; volume 3, appendix E; the PPRs of families 17h and 19h for what the APM
 * leaves to them). */
#pragma once
#include "kernel/lib/base.h"

#define BIT_OF(n) ((uint64_t)1 << (n))

/* ---- CPUID ----------------------------------------------------------------------------------- */
#define AMD_VENDOR 0x68747541 /* "Auth", EBX of leaf 0 */

#define LEAF_EXTENDED   0x80000000 /* EAX: the last leaf */
#define LEAF_FEATURES   0x80000001
#define ECX_IBS         (1u << 10)
#define ECX_PERF_CORE   (1u << 23) /* PerfCtrExtCore: counters at C001_0200 */
#define LEAF_L1         0x80000005
#define ECX_L1D_LINE(v) ((v)&0xff)
#define LEAF_IBS        0x8000001b /* EAX: */
#define IBS_FETCH       (1u << 1)  /* FetchSam */
#define IBS_OP          (1u << 2)  /* OpSam */
#define IBS_OP_COUNTER  (1u << 3)  /* RdWrOpCnt: the start of the interval can be written */
#define IBS_COUNT_OPS   (1u << 4)  /* OpCnt: intervals can be counted in operations */
#define IBS_LONG        (1u << 6)  /* OpCntExt: intervals have 27 bits */
#define IBS_RIP_CHECK   (1u << 7)  /* RipInvalidChk */
#define IBS_L3_FILTER   (1u << 11) /* IbsL3MissFiltering, and data sources of five bits */
#define LEAF_PERFMON    0x80000022
#define EAX_PERFMON_V2  (1u << 0)
#define EBX_COUNTERS(v) ((v)&15)

/* ---- Counters -------------------------------------------------------------------------------- */
#define AMD_COUNTERS   6 /* number, unless PerfMonV2 reports it */
#define AMD_WIDTH      48
#define AMD_COUNT(v)   ((uint64_t)(v) & (BIT_OF(AMD_WIDTH) - 1))
#define MSR_SELECT(n)  (0xc0010200 + 2 * (n)) /* PERF_CTL */
#define MSR_COUNTER(n) (0xc0010201 + 2 * (n)) /* PERF_CTR */
#define SELECT_USER    BIT_OF(16)
#define SELECT_KERNEL  BIT_OF(17)
#define SELECT_INT     BIT_OF(20)
#define SELECT_EN      BIT_OF(22)
#define EVENT_CYCLES   0x76 /* CPU clocks not halted; PPR, PMCx076 */
#define EVENT_RETIRED  0xc0 /* retired instructions; PPR, PMCx0C0 */
/* Upper half of a wide event in the even counter below; PPR, PMCxFFF. */
#define EVENT_MERGE (0xff | (uint64_t)15 << 32)

/* PerfMonV2: bit n stands for counter n. A counter runs if its own register enables it as well. */
#define MSR_GLOBAL_STATUS 0xc0000300
#define MSR_GLOBAL_CTL    0xc0000301
#define MSR_GLOBAL_CLEAR  0xc0000302
/* Freezing of branch records and of counters, which is never enabled here. */
#define GLOBAL_FROZEN (BIT_OF(58) | BIT_OF(59))

/* Value of a counter with EVENT_MERGE, which has bits 48 to 63 of the pair. */
#define MERGED_NEGATIVE 0xffff
/* Largest distance from its overflow at which a counter can be set. */
#define DISTANCE_MAX (BIT_OF(AMD_WIDTH - 1) - 1)

/* Counters start this far before they wrap, so that wrapping is exercised. */
#define AMD_FIRST_WRAP BIT_OF(25)

/* ---- Instruction-based sampling ---- */
#define MSR_IBS_FETCH_CTL 0xc0011030
#define MSR_IBS_OP_CTL    0xc0011033
#define MSR_IBS_OP_RIP    0xc0011034
#define MSR_IBS_OP_DATA   0xc0011035
#define MSR_IBS_OP_DATA2  0xc0011036
#define MSR_IBS_OP_DATA3  0xc0011037
#define MSR_IBS_DC_LINAD  0xc0011038
#define MSR_IBS_DC_PHYSAD 0xc0011039
#define MSR_IBS_CTL       0xc001103a

/* IBS_OP_CTL. An interval counter runs up to MaxCnt, in units of 16; the operation dispatched then
 * is tagged. */
#define OP_MAX(n)       (((n) >> 4 & 0xffff) | ((n)&0x7f00000))
#define OP_L3_MISS_ONLY BIT_OF(16)
#define OP_EN           BIT_OF(17)
#define OP_VAL          BIT_OF(18)
#define OP_COUNT_OPS    BIT_OF(19)
#define OP_CURRENT(n)   ((uint64_t)(n) << 32)
#define OP_MAX_LEAST    0x90 /* smaller values are undefined (PPR) */
/* After an operation that is not reported, the counter restarts below this, at random. */
#define OP_RESTART 128

#define DATA_RIP_INVALID BIT_OF(38)

#define DATA2_SOURCE_LOW(v)  ((unsigned)((v)&7))
#define DATA2_SOURCE_HIGH(v) ((unsigned)((v) >> 6 & 3))
#define DATA2_REMOTE_NODE    BIT_OF(4)

#define DATA3_LOAD         BIT_OF(0)
#define DATA3_STORE        BIT_OF(1)
#define DATA3_L2_TLB_MISS  BIT_OF(3)
#define DATA3_MISS         BIT_OF(7)
#define DATA3_UNCACHED     BIT_OF(14)
#define DATA3_LOCKED       BIT_OF(15)
#define DATA3_NO_MAB       BIT_OF(16) /* the line was already on its way */
#define DATA3_LINEAR_VALID BIT_OF(17)
#define DATA3_PHYS_VALID   BIT_OF(18)
#define DATA3_L2_MISS      BIT_OF(20)
#define DATA3_PREFETCH     BIT_OF(21)
#define DATA3_WIDTH(v)     ((unsigned)((v) >> 22 & 15)) /* 0: unknown; else 1 + log2 of bytes */
#define DATA3_LATENCY(v)   ((uint16_t)((v) >> 32))
#define DATA3_REFILL(v)    ((uint16_t)((v) >> 48)) /* of the first level of the TLB, in cycles */

#define CTL_ENTRY(v)    ((unsigned)((v)&15)) /* entry of the extended local vector table */
#define CTL_ENTRY_VALID BIT_OF(8)
