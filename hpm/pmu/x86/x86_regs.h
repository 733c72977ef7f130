/*
 * What PMU drivers for x86 processors touch of the CPU they run on: CPUID, model-specific
 * registers, the entries of its local APIC. x86_regs.c is the real thing; on the host a double
 * takes its place.
 */
#pragma once
#include "kernel/lib/base.h"

struct x86_leaf {
    uint32_t eax, ebx, ecx, edx;
};
/* CPUID; the caller knows that there is such a leaf. */
struct x86_leaf x86_leaf(uint32_t leaf, uint32_t sub);
/* RDMSR, WRMSR. A register that is not there, or a reserved bit, is a general protection
 * exception. */
uint64_t x86_read(uint32_t msr);
void x86_write(uint32_t msr, uint64_t v);
/* RDPMC. */
uint64_t x86_read_counter(uint32_t counter);
/* Lets user mode execute RDPMC, or no more (CR4.PCE). */
void x86_open_counters(bool on);
/* A counter is not set nearer to its overflow: some processors do not like 1 (Linux,
 * arch/x86/events/core.c). */
#define X86_DISTANCE_LEAST 2
/* Makes entry n of the extended local vector table raise the PMU interrupt (AMD APM volume 2,
 * 16.4). The entry for performance counters always does. False: the local APIC has no such
 * entry. */
bool x86_route_extended(unsigned n);
/* In the counters' interrupt, before their status is looked at: the entry for performance counters
 * has masked itself when it raised it (SDM volume 3A, 10.5.1), and what overflows from now on comes
 * behind this one. */
void x86_unmask_counters(void);
