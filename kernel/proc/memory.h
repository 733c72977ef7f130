/* What programs may know of processes' memory. */
#pragma once
#include "kernel/proc/internal.h"

/* Before its space goes. */
void memory_remember(struct process *p);
/* The system calls, as abi.h has them. */
int64_t sys_madvise(struct process *p, const uint64_t a[6]);
int64_t sys_memory(struct process *p, const uint64_t a[6]);
int64_t sys_regions(struct process *p, const uint64_t a[6]);
int64_t sys_curve(struct process *p, const uint64_t a[6]);
