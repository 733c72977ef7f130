/* Guards changes of the kernel's own page tables from VMAP_BASE on: stacks (kstack.c), arrays
 * (area.c). */
#pragma once
#include "kernel/core/lock.h"

extern struct spinlock vmap_lock;
