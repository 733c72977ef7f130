/*
 * The kernel's page tables and all address spaces: memory.c does what is common, an ISA's memory.c
 * what its processor needs.
 */
#pragma once
#include "kernel/arch/pt.h"

extern struct pt_format pte_format; /* the ISA's, in its pte.c */

/* Returns the root of the kernel's page tables; constant from arch_init_memory() on. */
paddr_t memory_kernel_root(void);

/* ---- Supplied by the ISA --------------------------------------------------------------------- */

/* Adds the ISA's own entries to the complete kernel tables, and makes the processor use them. Boot
 * CPU, once. */
void memory_load_kernel(struct pt *kernel);
/* Copies the kernel's entries that a new space's zeroed root must have. */
void memory_root_init(uint64_t *root, const uint64_t *kernel_root);
