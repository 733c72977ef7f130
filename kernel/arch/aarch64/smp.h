/*
 * Starting the other CPUs. PSCI enters secondary_entry (boot.S) at its physical address, MMU and
 * caches off, at the boot CPU's exception level, with the physical address of a struct
 * secondary_start in x0. It goes to EL1, loads these registers in the order that DDI 0487, D8.2
 * requires (MAIR, TCR, TTBRs, then SCTLR), sets the stack, and calls smp_secondary_start(cpu),
 * interrupts off.
 */
#pragma once

#define SECONDARY_TTBR0 0 /* maps the entry code at its physical address */
#define SECONDARY_TTBR1 8
#define SECONDARY_TCR   16
#define SECONDARY_MAIR  24
#define SECONDARY_SCTLR 32
#define SECONDARY_STACK 40 /* virtual address of its top */
#define SECONDARY_CPU   48 /* virtual address of struct cpu */
#define SECONDARY_MAIN  56 /* virtual address of smp_secondary_start() */

#ifndef __ASSEMBLER__
#include "kernel/lib/base.h"

struct secondary_start {
    uint64_t ttbr0, ttbr1, tcr, mair, sctlr;
    uint64_t stack, cpu, main;
};
struct cpu;
NORETURN void smp_secondary_start(struct cpu *cpu);
#endif
