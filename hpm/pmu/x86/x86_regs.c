/* Access to the registers; see x86_regs.h. */
#include "hpm/pmu/x86/x86_regs.h"
#include "hpm/pmu/pmu.h"
#include "lapic.h"
#include "x86.h"

struct x86_leaf x86_leaf(uint32_t leaf, uint32_t sub)
{
    struct x86_cpuid r = cpuid(leaf, sub);

    return (struct x86_leaf){r.eax, r.ebx, r.ecx, r.edx};
}

struct event_identity pmu_identity(void)
{
    return event_identity_x86(x86_leaf(0, 0).ebx, x86_leaf(1, 0).eax);
}

uint64_t x86_read(uint32_t msr)
{
    return rdmsr(msr);
}

void x86_write(uint32_t msr, uint64_t v)
{
    wrmsr(msr, v);
}

uint64_t x86_read_counter(uint32_t counter)
{
    uint32_t lo, hi;

    __asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(counter) : "memory");
    return lo | (uint64_t)hi << 32;
}

void x86_open_counters(bool on)
{
    write_cr4(on ? read_cr4() | CR4_PCE : read_cr4() & ~(uint64_t)CR4_PCE);
}

void x86_unmask_counters(void)
{
    lapic_pmu_unmask();
}

bool x86_route_extended(unsigned n)
{
    return lapic_route_extended(n);
}
