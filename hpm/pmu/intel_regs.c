/* The registers themselves; see intel_regs.h. */
#include "hpm/pmu/intel_regs.h"
#include "x86.h"

struct intel_cpuid intel_cpuid(uint32_t leaf, uint32_t sub)
{
    struct x86_cpuid r = cpuid(leaf, sub);

    return (struct intel_cpuid){r.eax, r.ebx, r.ecx, r.edx};
}

uint64_t intel_rdmsr(uint32_t msr)
{
    return rdmsr(msr);
}

void intel_wrmsr(uint32_t msr, uint64_t v)
{
    wrmsr(msr, v);
}

uint64_t intel_rdpmc(uint32_t counter)
{
    uint32_t lo, hi;

    __asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(counter) : "memory");
    return lo | (uint64_t)hi << 32;
}
