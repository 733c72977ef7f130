/*
 * Kernel threads that are functions, called until they sleep; a clock that moves only when all of
 * them sleep, to the next deadline; and a heap and frames of the host.
 */
#pragma once
#include "kernel/lib/base.h"

/* Frame blocks that frame_alloc still has, up to 4. */
extern unsigned frames_left;
/* Frees every frame block that frame_alloc has returned. */
void frames_release(void);

/* Runs the threads until all sleep. Returns false if none ran. */
bool workers_run(void);
/* Moves the clock to the next deadline of a thread. */
void workers_pass_time(void);
