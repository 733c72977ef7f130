/* What programs may know of the machine, and of processes' memory. */
#pragma once
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "hpm/policy/breakdown.h"

/* sysinfo.c: fills in what the machine is. */
void sysinfo_read(struct sys_info *out);
/* sysinfo.c: converts a breakdown to the form that programs know. */
void sysinfo_breakdown(const struct hpm_breakdown *from, struct sys_breakdown *to);

/* Keeps the figures of a process whose space is about to go, for those that may still ask. Thread
 * context, no lock held. */
void process_remember(struct process *p);
/* Memory, and curve of misses, of the process pid: it runs, or is a child of reader's that ended.
 * 0, or -ESRCH: reader sees no such process; a curve: -ENOENT: none was made. Thread context, no
 * lock held. */
int process_memory_for(struct process *reader, uint32_t pid, struct sys_memory *out);
int process_curve_for(struct process *reader, uint32_t pid, struct sys_curve *out);
/* The region at `from` or the next one above it. One by one, for the process may not be held while
 * user memory is written to. False: there is none, or no such process. Thread context, no lock
 * held. */
bool process_next_region(uint32_t pid, vaddr_t from, struct sys_memory_region *out);
