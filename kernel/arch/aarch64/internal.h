/* Functions of this folder's files for each other. Other folders know kernel/arch/arch.h alone. */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

struct pt;

/* ---- start.c: from the first instructions to kernel_main() ----------------------------------- */
const struct boot_info *start_info(void);
/* Returns the page tables in use until arch_init_memory() has made the kernel's. */
struct pt *start_tables(void);
/* Returns the physical address of a symbol in the image. */
paddr_t start_image_pa(const void *symbol);
/* Returns the root of the tables that map the first instructions at their physical address, for
 * starting CPUs. */
paddr_t start_identity_root(void);
/* Maps the console's registers in these page tables, if there are any registers (console.c). */
void console_map(struct pt *tables);

/* ---- cpuinfo.c ------------------------------------------------------------------------------- */
struct arch_frame;
/* Does what a program's instruction that raised an exception would do, if it reads an ID register
 * that programs may see, and goes behind it. Returns false if it is another one. Thread context,
 * interrupts on; no locks. */
bool cpuinfo_emulate(struct arch_frame *frame);

/* ---- Each other CPU, when it starts, interrupts off ------------------------------------------ */
/* Makes this CPU, which runs at KERNEL_BASE, give up the tables it started with (memory.c). Returns
 * false if it cannot be used, because its address-space identifiers are shorter than the boot
 * CPU's. */
bool memory_init_cpu(void);

/* ---- Each CPU, when it starts, interrupts off ------------------------------------------------ */
/* Initialises this CPU's part of the interrupt controller, and its timer (irq.c). */
void irq_init_cpu(void);
/* Records the registers of this CPU that should be the same on all (quirks.c). */
void quirks_note_cpu(void);
