/*
 * The kernel's page tables and everybody's address spaces: memory.c does what is the same
 * everywhere, an ISA's memory file what its processor wants.
 */
#pragma once
#include "kernel/arch/pt.h"

extern struct pt_format pte_format; /* the ISA's, in its pte.c */

/* root of the kernel's page tables; constant from arch_init_memory on */
paddr_t memory_kernel_root(void);

/* ---- What the ISA supplies ------------------------------------------------------------------- */

/* The kernel's tables are complete: adds what is the ISA's own, and makes the processor use them.
 * Boot CPU, once. */
void memory_load_kernel(struct pt *kernel);
/* A new space's root, all zero, gets what it must have of the kernel's. */
void memory_root_init(uint64_t *root, const uint64_t *kernel_root);
