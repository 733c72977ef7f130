/*
 * `selftest=on`: what of the machine can be checked from inside, checked, and a report that names
 * the machine, says what is peculiar about it and gives each figure with its band. Part of every
 * kernel image; meant for machines nobody has seen.
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

struct boot_info;

extern uint64_t selftest_wanted; /* boot argument */

/* Thread context, all CPUs running, before applications. Returns how many checks failed. */
unsigned selftest_run(const struct boot_info *info);
/* The same, behind applications: what their run has shown. */
void selftest_end(void);
