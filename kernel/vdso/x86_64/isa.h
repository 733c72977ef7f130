/* The clock and a system call, for x86-64's vDSO. */
#pragma once
#include <asm/unistd.h>
#include <stdint.h>

/* RDTSC is not ordered by itself, hence LFENCE (SDM vol. 2B). */
static inline uint64_t vdso_ticks(void)
{
    uint32_t lo, hi;

    __asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return lo | (uint64_t)hi << 32;
}

static inline long vdso_call(long number, long a, long b)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
}
