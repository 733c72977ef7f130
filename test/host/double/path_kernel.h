/*
 * What hpm/path stands on, for host tests: CPUs that execute nothing, a clock that a test moves
 * (host_ticks), memory, calls of other CPUs.
 */
#pragma once
#include "test/host/double/path_double.h"

/* So many calls of other CPUs find one waiting there, or nobody answers. */
extern unsigned path_calls_busy;
extern bool path_calls_dead;
/* frame_alloc has given so many, each filled with what is no zero, and gives no more than this. */
extern unsigned path_frames, path_frames_max;
/* kmalloc has given so many that are still out. */
extern unsigned path_heap;

/* A machine at its start. */
void path_kernel_boot(void);
/* Frees what frame_alloc and kmalloc gave. */
void path_kernel_end(void);
/* This CPU executes from now on. */
void path_on(unsigned cpu);
