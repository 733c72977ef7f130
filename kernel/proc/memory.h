/* What programs may know of processes' memory. */
#pragma once
#include "kernel/proc/internal.h"

/* Before its space goes. */
void memory_remember(struct process *p);
/* Of a process that runs, or that reader has spawned.  0 or -ESRCH. */
int memory_read(struct process *reader, uint32_t pid, struct sys_memory *out);
/* Its regions, by address, into user memory: how many there are; -ESRCH, -EFAULT.  None: it has ended. */
int64_t memory_regions(struct process *reader, uint32_t pid, vaddr_t at, size_t room);
