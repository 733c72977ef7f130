/* What programs may know of processes' memory. */
#pragma once
#include "kernel/proc/internal.h"

/* Before its space goes. */
void memory_remember(struct process *p);
