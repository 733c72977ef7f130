/* From the first instructions to kernel_main(); see start.c. */
#pragma once
#include "kernel/boot/boot_info.h"

struct pt;

const struct boot_info *start_info(void);
/* Returns the page tables in use until arch_init_memory() has made the kernel's. */
struct pt *start_tables(void);
/* Returns the physical address of a symbol in the image. */
paddr_t start_image_pa(const void *symbol);
/* Returns the root of the tables that map the first instructions at their physical address, for
 * starting CPUs. */
paddr_t start_identity_root(void);
