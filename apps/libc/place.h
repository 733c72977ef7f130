/* What lies at an address: memory by region, code by function, file and line.  Vigil's own. */
#pragma once
#include <stdint.h>
#include "kernel/proc/abi.h"

/* Of the process with this number, 0: the caller's own; or of the kernel.  0; ESRCH: no such process; EFAULT. */
int place_of(int pid, uint64_t address, struct sys_place *place);
