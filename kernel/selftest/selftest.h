/*
 * `selftest=on`: checks of the machine that can be made from inside, and a report that names the
 * machine, its quirks, and each measured value with its range. Part of every kernel image. Meant
 * for machines that the kernel has not run on before.
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

struct boot_info;

extern uint64_t selftest_wanted; /* boot argument */

/* Runs before applications, with all CPUs running. Thread context. Returns the number of checks
 * that failed. */
unsigned selftest_run(const struct boot_info *info);
/* Runs the checks that need applications to have run. */
void selftest_end(void);
