/* What PMU drivers for x86 processors access on the CPU they run on: CPUID, model-specific
 * registers, entries of its local APIC. x86_regs.c accesses the hardware; on the host a double
 * replaces it. */
#pragma once
#include "kernel/lib/base.h"

struct x86_leaf {
    uint32_t eax, ebx, ecx, edx;
};
/* Executes CPUID. The leaf must exist. */
struct x86_leaf x86_leaf(uint32_t leaf, uint32_t sub);
/* Execute RDMSR and WRMSR. A missing register or a reserved bit raises a general protection
 * exception. */
uint64_t x86_read(uint32_t msr);
void x86_write(uint32_t msr, uint64_t v);
/* Executes RDPMC. */
uint64_t x86_read_counter(uint32_t counter);
/* Allows user mode to execute RDPMC, or forbids it (CR4.PCE). */
void x86_open_counters(bool on);
/* Least distance from its overflow at which a counter is set: some processors fail with 1 (Linux,
 * arch/x86/events/core.c). */
#define X86_DISTANCE_LEAST 2
/* Makes entry n of the extended local vector table raise the PMU interrupt (AMD APM volume 2,
 * 16.4). The entry for performance counters always does. Returns false if the local APIC has no
 * such entry. */
bool x86_route_extended(unsigned n);
/* Unmasks the entry for performance counters, which masked itself when it raised the interrupt (SDM
 * volume 3A, 10.5.1). Called in the interrupt before the counters' status is read, so that later
 * overflows interrupt again. */
void x86_unmask_counters(void);
