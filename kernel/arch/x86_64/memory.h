/* What the rest of this folder needs of memory.c. */
#pragma once
#include "kernel/lib/base.h"

/* A stack of size bytes with an unmapped page below; its end, or 0 when out of memory. At boot
 * only. */
vaddr_t memory_stack(uint64_t size);
