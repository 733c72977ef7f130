/* Interrupts of one CPU. */
#pragma once

/* Initialises this CPU's part of the interrupt controller, and its timer. Each CPU, interrupts
 * off. */
void irq_init_cpu(void);
