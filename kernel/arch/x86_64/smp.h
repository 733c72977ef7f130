/* Starting the other CPUs; arch_cpus_start itself is kernel/arch/arch.h's. */
#pragma once
#include "kernel/boot/boot_info.h"

struct boot_info;
/* Remembers what of the boot information the start needs. */
void smp_keep(const struct boot_info *info);
