/* What programs can read about the machine and about processes' memory. */
#pragma once
#include "kernel/proc/abi.h"
#include "kernel/proc/internal.h"
#include "hpm/policy/breakdown.h"

/* sysinfo.c: converts a breakdown to the form of abi.h. */
void sysinfo_breakdown(const struct hpm_breakdown *from, struct sys_breakdown *to);

/* Saves the figures of a process before its space is freed, for later readers. Thread context, no
 * lock held. */
void process_remember(struct process *p);
/* Read memory figures, and the curve of misses, of the process `pid`: a running one that `reader`
 * may see, or its child that has ended; or SYS_MEMORY_FILES. Thread context, no lock held. Return
 * 0; -ESRCH: no such process; -ENOENT: there is no curve, or no file in memory. */
int process_memory_for(struct process *reader, uint32_t pid, struct sys_memory *out);
int process_curve_for(struct process *reader, uint32_t pid, struct sys_curve *out);
/* Reads the region at `from`, or the next one above. The caller gets them one by one, since a
 * process may not be looked at while user memory is written. Thread context, no lock held. Returns
 * false if there is none, or no such process. */
bool process_next_region(uint32_t pid, vaddr_t from, struct sys_memory_region *out);
