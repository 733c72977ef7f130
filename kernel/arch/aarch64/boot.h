/* Shared by boot.S and start.c. */
#pragma once

/* Page tables of the start. They are aligned to their size, so one large page holds them. */
#define BOOT_TABLES      32
#define BOOT_TABLES_SIZE (BOOT_TABLES * 4096)

#ifndef __ASSEMBLER__
#include "kernel/lib/base.h"

/* The upper half's root, the lower half's root, and others; unused from free_tables on. */
extern uint64_t boot_tables[];

/* See boot.S. */
void replace_ttbr1(paddr_t root, paddr_t empty);

/*
 * Entered by boot.S on the boot CPU, MMU on, boot stack, interrupts off. Mapped are the image at
 * KERNEL_BASE, its first 2 MB at their physical address, and the tables in the direct map. `at`:
 * address of the device tree or struct boot_info; `image`: physical address of the image.
 */
NORETURN void aarch64_start(paddr_t at, bool is_info, paddr_t image, paddr_t free_tables);
#endif
