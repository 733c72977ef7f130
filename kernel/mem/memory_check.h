/* Refuses to start with too little memory, before anything else fails because of it. */
#pragma once
#include "kernel/boot/boot_info.h"

/* Ends the run and prints how much memory is needed, unless the usable memory below `limit` is
 * enough for one CPU. Boot CPU, before frame_init(). */
void memory_check_start(const struct boot_info *info, paddr_t limit);
/* Does the same for `cpus` CPUs and the frames that are free. Boot CPU, after frame_init(), before
 * other CPUs get any memory. */
void memory_check_cpus(const struct boot_info *info, unsigned cpus);
