/* Refuses to start where memory is too little, before anything fails for want of it. */
#pragma once
#include "kernel/boot/boot_info.h"

/* Boot CPU, before frame_init: ends the run, and says how much is needed, unless usable memory below limit is enough for one CPU. */
void memory_check_start(const struct boot_info *info, paddr_t limit);
/* Boot CPU, after frame_init, before other CPUs get any memory: the same for so many CPUs and the frames that are free. */
void memory_check_cpus(const struct boot_info *info, unsigned cpus);
