/* What every CPU sets up for itself before anything else. */
#pragma once
#include "kernel/lib/base.h"

struct cpu;

/* On the CPU concerned, interrupts off: its per-CPU register, vectors, and what user mode may
 * do. */
void cpu_init(struct cpu *cpu);
/* Does the CPU it is called on have statistical profiling (FEAT_SPE), and is it ours? After
 * cpu_init. */
bool cpu_has_spe(void);
/* Boot CPU, once nothing is both writable and executable any more: forbids it for good. The others
 * start with it. */
void cpu_protect(void);
