/* The table that connects the architecture's events to subsystems: interrupts, faults, system
 * calls, the return to user mode. */
#pragma once
#include "kernel/arch/arch.h"

extern const struct arch_handlers kernel_handlers;
