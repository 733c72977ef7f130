/* What memstat shows, to people and to tools/plot_mrc.sh. */
#pragma once
#include "apps/libc/memory.h"

/* Of a process, and of the machine: pool, faults, prefetching, replacement, tracker. */
void show_memory(const char *program, double ms, const struct sys_memory *m);
/* The pools of all processes, and what each would gain. */
void show_pools(void);
/* Regions, of `count` the first `room`. */
void show_regions(const struct sys_memory_region *region, int count, int room);
/* The miss-rate curve, as a table with bars; m: of the same process. */
void show_curve(const struct sys_curve *c, const struct sys_memory *m);
/* A line each for plotting: faults so far, and the curve where there is one. */
void show_series(const char *program, int pid, double ms, const struct sys_memory *m,
                 const struct sys_curve *c);
