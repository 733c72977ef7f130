/* What lies at an address: memory by region, code by function, file and line. Vigil's own. */
#pragma once
#include <stdint.h>
#include "apps/libc/names.h"
#include "kernel/proc/abi.h"

/* Of the process with this number, 0: the caller's own; or of the kernel. Of a child that has
 * ended only its code is known, without the region. 0; ESRCH: no such process; EFAULT. */
int symbol_of(int pid, uint64_t address, struct sys_symbol *place) VIGIL(symbol_of);
