/* What every CPU sets up for itself before anything else: descriptor tables, control registers. */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

/* Stacks the processor switches to by itself, so that a broken kernel stack still gives a readable
 * panic. */
enum ist { IST_NMI = 1, IST_DOUBLE_FAULT, IST_MACHINE_CHECK, IST_DEBUG, IST_COUNT = IST_DEBUG };
#define IST_STACK_SIZE 8192

/* On the CPU concerned, interrupts off. tops[i]: end of the stack for IST i + 1. */
void cpu_load_tables(struct cpu *cpu, const vaddr_t tops[IST_COUNT]);
void cpu_load_control(void);
/* Boot CPU: fills x86_features. */
void cpu_features_find(void);
