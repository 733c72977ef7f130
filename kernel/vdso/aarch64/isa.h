/* The clock and a system call, for AArch64's vDSO. */
#pragma once
#include <asm/unistd.h>
#include <stdint.h>

/* ISB: the counter could otherwise be read early (Arm ARM DDI 0487, D12.2.2). */
static inline uint64_t vdso_ticks(void)
{
    uint64_t v;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v) : : "memory");
    return v;
}

static inline long vdso_call(long number, long a, long b)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
    return x0;
}
