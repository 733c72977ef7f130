/* What the rest of this folder needs to know about the kernel's own mapping. */
#pragma once
#include "kernel/base.h"

paddr_t memory_kernel_root(void); /* root of the kernel's page tables, below 4 GB */
/* A stack of size bytes with an unmapped page below; its end, or 0 when out of memory.  At boot only. */
vaddr_t memory_stack(uint64_t size);
