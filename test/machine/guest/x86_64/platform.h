/* x86-64: the test guest's inline functions. See guest.h. */
#pragma once
#include "kernel/lib/base.h"

#define ARENA       ((uint64_t)64 << 20)
#define RETURN_CODE 0xc3u

static inline uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline void cpu_pause(void)
{
    __asm__ volatile("pause" ::: "memory");
}

static inline void spin(uint64_t n)
{
    __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n));
}

static inline void invalidate_page(uint64_t va)
{
    __asm__ volatile("invlpg (%0)" ::"r"(va) : "memory");
}

static inline void system_call(void)
{
    __asm__ volatile("int $0x80" ::: "memory");
}

static inline void halt(void)
{
    __asm__ volatile("hlt" ::: "memory");
}

static inline void halt_unless(const volatile void *word)
{
    __asm__ volatile("cli; cmpq $0, (%0); jne 1f; sti; hlt; 1: sti" ::"r"(word) : "memory");
}
