/* What the architecture reports, and which subsystem hears of it: interrupts, faults, system calls,
 * the way back to user mode. */
#pragma once
#include "kernel/arch/arch.h"

extern const struct arch_handlers kernel_handlers;
