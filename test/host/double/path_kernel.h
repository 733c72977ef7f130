/* The parts of the kernel that hpm/path needs, for host tests: CPUs that execute nothing, a clock
 * that a test moves (host_ticks), memory, calls of other CPUs. */
#pragma once
#include "test/host/double/path_double.h"

/* Number of following calls of other CPUs that find another call in progress; and whether calls are
 * never answered. */
extern unsigned path_calls_busy;
extern bool path_calls_dead;
/* Number of allocations of frame_alloc, each filled with bytes other than 0, and their largest
 * number. */
extern unsigned path_frames, path_frames_max;
/* Number of allocations of kmalloc that have not been freed. */
extern unsigned path_heap;

/* Boots a machine. */
void path_kernel_boot(void);
/* Frees all that frame_alloc and kmalloc gave. */
void path_kernel_end(void);
/* Makes CPU `cpu` the one that executes. */
void path_on(unsigned cpu);
