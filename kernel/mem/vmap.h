/* The kernel's own page tables behind VMAP_BASE are changed under this lock: stacks (kstack.c),
 * arrays (area.c). */
#pragma once
#include "kernel/core/lock.h"

extern struct spinlock vmap_lock;
