/* The first initialisation of every CPU. */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

/* Initialises this CPU's per-CPU register, vectors, and the permissions of user mode. Interrupts
 * off. */
void cpu_init(struct cpu *cpu);
/* Returns whether this CPU has statistical profiling (FEAT_SPE) that EL1 may use. After
 * cpu_init(). */
bool cpu_has_spe(void);
