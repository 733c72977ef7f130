/* The thread that prints the machine's stall breakdown every hpm.print_ms milliseconds. */
#pragma once

/* Starts it if the boot arguments ask for it. Thread context, once all CPUs run. */
void monitor_start(void);
