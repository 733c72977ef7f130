/* The first initialisation of every CPU: descriptor tables, control registers. */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

/* Stacks that the processor switches to by itself, so that a broken kernel stack still gives a
 * readable panic. */
enum ist { IST_NMI = 1, IST_DOUBLE_FAULT, IST_MACHINE_CHECK, IST_DEBUG, IST_COUNT = IST_DEBUG };
#define IST_STACK_SIZE 8192

/* Loads the tables of this CPU; tops[i]: end of the stack for IST i + 1. Interrupts off. */
void cpu_load_tables(struct cpu *cpu, const vaddr_t tops[IST_COUNT]);
void cpu_load_control(void);
/* Fills x86_features. Boot CPU. */
void cpu_features_find(void);
