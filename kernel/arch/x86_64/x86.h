/*
 * Registers and instructions of x86-64, with the names of the Intel SDM (volume 3A chapter 2,
 * volume 4).
 */
#pragma once
#include "kernel/lib/base.h"

#define CR0_MP BIT(1)
#define CR0_EM BIT(2)
#define CR0_TS BIT(3)
#define CR0_NE BIT(5)
#define CR0_WP BIT(16)
#define CR0_AM BIT(18)
#define CR0_NW BIT(29)
#define CR0_CD BIT(30)

#define CR4_PAE        BIT(5)
#define CR4_MCE        BIT(6)
#define CR4_PGE        BIT(7)
#define CR4_PCE        BIT(8)
#define CR4_OSFXSR     BIT(9)
#define CR4_OSXMMEXCPT BIT(10)
#define CR4_UMIP       BIT(11)
#define CR4_FSGSBASE   BIT(16)
#define CR4_OSXSAVE    BIT(18)
#define CR4_SMEP       BIT(20)
#define CR4_SMAP       BIT(21)

#define RFLAGS_TF BIT(8)
#define RFLAGS_IF BIT(9)
#define RFLAGS_DF BIT(10)
#define RFLAGS_NT BIT(14)
#define RFLAGS_AC BIT(18)

#define MSR_APIC_BASE    0x1b
#define MSR_TSC          0x10
#define MSR_TSC_ADJUST   0x3b
#define MSR_PAT          0x277
#define MSR_TSC_DEADLINE 0x6e0
#define MSR_X2APIC_BASE  0x800
#define MSR_EFER         0xc0000080
#define MSR_STAR         0xc0000081
#define MSR_LSTAR        0xc0000082
#define MSR_SFMASK       0xc0000084
#define MSR_FS_BASE      0xc0000100
#define MSR_GS_BASE      0xc0000101
#define MSR_KERNEL_GS    0xc0000102
#define MSR_TSC_AUX      0xc0000103

/* Memory types by page attribute (SDM vol. 3A, 11.12.4): the reset value, except that entry 1 is
 * write combining. */
#define PAT_KERNEL 0x0007040600070106

#define EFER_SCE BIT(0)
#define EFER_LME BIT(8)
#define EFER_NXE BIT(11)

/* Selectors, in the order that SYSCALL and SYSRET require (SDM vol. 3A, 5.8.8). */
#define SEL_KERNEL_CODE 0x08
#define SEL_KERNEL_DATA 0x10
#define SEL_USER_BASE   0x18 /* empty: SYSRET only adds 8 and 16 to it */
#define SEL_USER_DATA   0x23
#define SEL_USER_CODE   0x2b
#define SEL_TSS         0x30

#define BIT(n) ((uint64_t)1 << (n))

/* Exceptions. */
enum {
    VEC_DE = 0,
    VEC_DB = 1,
    VEC_NMI = 2,
    VEC_BP = 3,
    VEC_OF = 4,
    VEC_UD = 6,
    VEC_DF = 8,
    VEC_GP = 13,
    VEC_PF = 14,
    VEC_MF = 16,
    VEC_AC = 17,
    VEC_MC = 18,
    VEC_XM = 19,
    VEC_EXCEPTIONS = 32,
};

/* Interrupts. The legacy controllers' vectors are moved to 0x20 and masked; spurious ones may still
 * come. */
enum {
    VEC_PIC = 0x20,
    VEC_MSI = 0x30, /* and up: messages of devices */
    VEC_TIMER = 0xf0,
    VEC_RESCHED = 0xf1,
    VEC_TLB = 0xf2,
    VEC_CALL = 0xf3,
    VEC_PMU = 0xf4,
    VEC_PATH = 0xf5,
    VEC_ERROR = 0xfe,
    VEC_SPURIOUS = 0xff,
};

/* The features of this processor; filled by cpu_features_find() on the boot CPU and the same for
 * all. */
struct x86_features {
    bool smep, smap, umip, fsgsbase, xsave, avx, pdpe1gb, rdtscp;
    bool x2apic, tsc_deadline, tsc_invariant, tsc_adjust, hypervisor;
    uint32_t max_leaf, max_extended;
};
extern struct x86_features x86_features;

struct x86_cpuid {
    uint32_t eax, ebx, ecx, edx;
};

static inline struct x86_cpuid cpuid(uint32_t leaf, uint32_t sub)
{
    struct x86_cpuid r;
    __asm__ volatile("cpuid"
                     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                     : "a"(leaf), "c"(sub));
    return r;
}

static inline uint64_t rdmsr(uint32_t msr)
{
    uint32_t lo, hi;
    __asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
    return lo | (uint64_t)hi << 32;
}

static inline void wrmsr(uint32_t msr, uint64_t v)
{
    __asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}

#define X86_CR_ACCESS(n)                                               \
    static inline uint64_t read_cr##n(void)                            \
    {                                                                  \
        uint64_t v;                                                    \
        __asm__ volatile("mov %%cr" #n ", %0" : "=r"(v) : : "memory"); \
        return v;                                                      \
    }                                                                  \
    static inline void write_cr##n(uint64_t v)                         \
    {                                                                  \
        __asm__ volatile("mov %0, %%cr" #n : : "r"(v) : "memory");     \
    }
X86_CR_ACCESS(0)
X86_CR_ACCESS(2)
X86_CR_ACCESS(3)
X86_CR_ACCESS(4)

static inline void outb(uint16_t port, uint8_t v)
{
    __asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline void outw(uint16_t port, uint16_t v)
{
    __asm__ volatile("outw %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline void outl(uint16_t port, uint32_t v)
{
    __asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline uint8_t inb(uint16_t port)
{
    uint8_t v;
    __asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
    return v;
}

static inline uint16_t inw(uint16_t port)
{
    uint16_t v;
    __asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
    return v;
}

static inline uint32_t inl(uint16_t port)
{
    uint32_t v;
    __asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port) : "memory");
    return v;
}

static inline void invlpg(vaddr_t va)
{
    __asm__ volatile("invlpg (%0)" : : "r"(va) : "memory");
}
