/* Interrupts of one CPU. */
#pragma once

/* Each CPU, interrupts off: its part of the interrupt controller, its timer. */
void irq_init_cpu(void);
