/* What boot.S and start.c know of each other. */
#pragma once

/* page tables of the start; their size is their alignment, so one large page holds them */
#define BOOT_TABLES      32
#define BOOT_TABLES_SIZE (BOOT_TABLES * 4096)

#ifndef __ASSEMBLER__
#include "kernel/lib/base.h"

/* first the upper half's root, then the lower's; from free_tables on unused */
extern uint64_t boot_tables[];

/* See boot.S. */
void replace_ttbr1(paddr_t root, paddr_t empty);

/*
 * Boot CPU, MMU on, boot stack, interrupts off; mapped are the image at KERNEL_BASE, its first 2 MB
 * at their physical address, and the tables in the direct map. at: the device tree or struct
 * boot_info; image: where the image lies.
 */
NORETURN void aarch64_start(paddr_t at, bool is_info, paddr_t image, paddr_t free_tables);
#endif
