/*
 * The interrupt controller, GICv2 (IHI 0048) or GICv3 (IHI 0069), and what its interrupts mean here.
 */
#pragma once
#include "kernel/base.h"

struct arch_frame;
struct cpu;

/* The entry code's: an IRQ was taken.  Interrupts off, on the interrupted thread's stack.  Serves all that are pending. */
void gic_interrupt(struct arch_frame *frame);

int gic_init(
    void); /* boot CPU, after arch_init_memory: finds and maps it; 0, or -ENODEV with a line that says why */
void gic_init_cpu(void); /* each CPU, interrupts off */
