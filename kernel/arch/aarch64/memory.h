/* Address spaces, for the files of this folder. */
#pragma once
#include "kernel/lib/base.h"

/* Makes this CPU, which runs at KERNEL_BASE, give up the tables it started with. Each other CPU,
 * interrupts off. Returns false if it cannot be used, because its address-space identifiers are
 * shorter than the boot CPU's. */
bool memory_init_cpu(void);
