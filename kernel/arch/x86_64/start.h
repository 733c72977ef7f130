/* From the first instructions to kernel_main(); see start.c. */
#pragma once
#include "kernel/boot/boot_info.h"

/* Boot CPU, boot stack, interrupts off. */
NORETURN void x86_start(const struct boot_info *info); /* a loader that passes boot_info */
NORETURN void x86_start_pvh(paddr_t start_info);       /* a machine monitor that uses PVH */
