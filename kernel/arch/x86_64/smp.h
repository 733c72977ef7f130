/* Starting the other CPUs; kernel/arch/arch.h declares arch_cpus_start(). */
#pragma once
#include "kernel/boot/boot_info.h"

struct boot_info;
/* Keeps the boot information that the start needs. */
void smp_keep(const struct boot_info *info);
