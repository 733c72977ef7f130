/* The functions of memory.c for the rest of this folder. */
#pragma once
#include "kernel/lib/base.h"

/* Allocates a stack of `size` bytes with an unmapped page below. At boot only. Returns its end, or
 * 0 without memory. */
vaddr_t memory_stack(uint64_t size);
