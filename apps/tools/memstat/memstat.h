/* What memstat prints, as text and for tools/plot_mrc.sh. */
#pragma once
#include "apps/libc/memory.h"

/* Prints a process's memory and the machine's: pool, faults, prefetching, replacement, tracker. */
void show_memory(const char *program, double ms, const struct sys_memory *m);
/* Prints the pool of files, if their memory is limited. */
void show_files(void);
/* Prints the pools of all processes, and what each would gain. */
void show_pools(void);
/* Prints the first `room` of `count` regions. */
void show_regions(const struct sys_memory_region *region, int count, int room);
/* Prints the curve of misses as a table with bars. `m` is of the same process. */
void show_curve(const struct sys_curve *c, const struct sys_memory *m);
/* Prints lines for plotting: faults so far, and the curve if there is one. */
void show_series(const char *program, int pid, double ms, const struct sys_memory *m,
                 const struct sys_curve *c);
