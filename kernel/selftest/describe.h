/* What the machine is, for a report. */
#pragma once
#include "kernel/boot/boot_info.h"

struct boot_info;

/* Names of machine and firmware, processors, shape, memory, quirks. Thread context. */
void describe_machine(const struct boot_info *info);
