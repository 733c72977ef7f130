/* System registers and their fields that the kernel uses (Arm ARM DDI 0487, D17), for C and
 * assembly. */
#pragma once

/* MAIR_EL1: the meaning of attribute indexes in page-table entries (D17.2.97). */
#define ATTR_NORMAL 0 /* write-back, read and write allocate */
#define ATTR_DEVICE 1 /* nGnRE */
#define ATTR_GATHER 2 /* normal memory, uncached */
#define MAIR_KERNEL 0x4404ff

/* TCR_EL1 (D17.2.131): both halves have 48 bits, 4 KB granule; walks are cacheable and inner
 * shareable; IPS is added. */
#define TCR_KERNEL    0xb5103510
#define TCR_IPS_SHIFT 32
#define TCR_AS        (UINT64_C(1) << 36) /* address-space identifiers have 16 bits */
#define TCR_IPS_MAX   5 /* 48 bits: the limit of the 4 KB granule without FEAT_LPA2 */

/* SCTLR_EL1 (D17.2.118). Bits that are 1 without their feature: EOS, TSCXT, EIS, nTLSMD, LSMAOE. */
#define SCTLR_RES1 0x30500800
#define SCTLR_M    0x00000001 /* MMU */
#define SCTLR_C    0x00000004 /* data cache */
#define SCTLR_SA   0x00000018 /* SA, SA0: checks alignment of the stack pointer */
#define SCTLR_I    0x00001000 /* instruction cache */
#define SCTLR_USER 0x0405c000 /* UCI, nTWE, nTWI, UCT, DZE: user mode may use these */
#define SCTLR_SPAN 0x00800000 /* exceptions leave PAN unchanged */
#define SCTLR_MMU  (SCTLR_RES1 | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I | SCTLR_USER)

#define CPACR_FPEN 0x300000 /* FP and SIMD do not trap */
#define MDSCR_TDCC 0x1000   /* MDSCR_EL1: EL0 cannot use the debug channel */

/* Statistical profiling (FEAT_SPE, D19.7), by encoding, which older assemblers accept. */
#define PMSCR_EL1     S3_0_C9_C9_0
#define PMSICR_EL1    S3_0_C9_C9_2
#define PMSIRR_EL1    S3_0_C9_C9_3
#define PMSFCR_EL1    S3_0_C9_C9_4
#define PMSEVFR_EL1   S3_0_C9_C9_5
#define PMSLATFR_EL1  S3_0_C9_C9_6
#define PMSIDR_EL1    S3_0_C9_C9_7
#define PMBLIMITR_EL1 S3_0_C9_C10_0
#define PMBPTR_EL1    S3_0_C9_C10_1
#define PMBSR_EL1     S3_0_C9_C10_3
#define PMBIDR_EL1    S3_0_C9_C10_7
/* The buffer belongs to a higher exception level or the other security state. */
#define PMBIDR_P  0x10
#define PMSCR_EL2 S3_4_C9_C9_0

/* SPSR_EL1 (C5.2.18). */
#define SPSR_MODE        0xf
#define SPSR_EL0T        0x0
#define SPSR_I           0x80
#define SPSR_EL1H_MASKED 0x3c5 /* EL1, own stack pointer, all interrupts masked */

#ifndef __ASSEMBLER__
#include "kernel/lib/base.h"

/* Takes a name, or a macro that is an encoding. */
#define sysreg_read(name) sysreg_read_(name)
#define sysreg_read_(name)                                    \
    ({                                                        \
        uint64_t sysreg_v_;                                   \
        __asm__ volatile("mrs %0, " #name : "=r"(sysreg_v_)); \
        sysreg_v_;                                            \
    })
/* Takes effect for later instructions only after isb(). */
#define sysreg_write(name, v) sysreg_write_(name, v)
#define sysreg_write_(name, v) \
    __asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(v)) : "memory")

static inline void isb(void)
{
    __asm__ volatile("isb" : : : "memory");
}

/* Returns a 4-bit field of an identification register. */
static inline unsigned id_field(uint64_t reg, unsigned shift)
{
    return reg >> shift & 15;
}
#endif
