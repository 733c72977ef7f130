/* AArch64: the test guest's inline functions. See guest.h. */
#pragma once
#include "kernel/lib/base.h"

#define ARENA       ((uint64_t)0x44000000) /* RAM begins at 1 GB */
#define RETURN_CODE 0xd65f03c0u

/* Returns the virtual counter. The ISB keeps it from being read early (DDI 0487, D12.2.1). */
static inline uint64_t ticks(void)
{
    uint64_t value;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value)::"memory");
    return value;
}

static inline void cpu_pause(void)
{
    __asm__ volatile("yield" ::: "memory");
}

static inline void spin(uint64_t n)
{
    __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n)::"cc");
}

/* Without the barriers that a program needs, which would be counted with the code after it. */
static inline void invalidate_page(uint64_t va)
{
    __asm__ volatile("tlbi vae1, %0" ::"r"(va << 8 >> 20) : "memory");
}

static inline void system_call(void)
{
    __asm__ volatile("svc #0" ::: "memory");
}

static inline void halt(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

/* An interrupt ends WFI even while it is masked. */
static inline void halt_unless(const volatile void *word)
{
    uint64_t value;
    __asm__ volatile("msr daifset, #2\n ldr %0, [%1]\n cbnz %0, 1f\n wfi\n1: msr daifclr, #2"
                     : "=&r"(value)
                     : "r"(word)
                     : "memory");
}
