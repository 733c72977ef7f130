/* Address spaces, for the files of this folder. */
#pragma once
#include "kernel/lib/base.h"

/* Each other CPU, once it runs at KERNEL_BASE, interrupts off: gives up the tables it started with.
 * False: it cannot run here, for its address-space identifiers are shorter than the boot CPU's. */
bool memory_init_cpu(void);
