/* Functions of this folder's files for each other. Other folders know kernel/arch/arch.h alone. */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

struct cpu; /* kernel/core/cpu.h */

/* ---- start.c. Boot CPU, boot stack, interrupts off ------------------------------------------- */
NORETURN void x86_start(const struct boot_info *info); /* a loader that passes boot_info */
NORETURN void x86_start_pvh(paddr_t start_info);       /* a machine monitor that uses PVH */

/* ---- smp.c, memory.c, power.c ---------------------------------------------------------------- */
/* Keeps the boot information that starting the other CPUs needs. */
void smp_keep(const struct boot_info *info);
/* Allocates a stack of `size` bytes with an unmapped page below. At boot only. Returns its end, or
 * 0 without memory. */
vaddr_t memory_stack(uint64_t size);
/* Finds the registers that switch the machine off. After acpi_init(). */
void power_init(void);

/* ---- cpu_init.c ------------------------------------------------------------------------------ */
/* Lets user mode read this CPU's number and its node's, from cpu_segment.h's segment and with
 * RDTSCP. On that CPU, once its tables are loaded, and again when its place has changed. */
void cpu_label(struct cpu *cpu);

/* ---- console.c and clock.c, for quirks.c ----------------------------------------------------- */
bool console_found(void); /* whether there is a serial port at COM1 */
/* Returns the counter that the TSC's frequency was measured against; NULL: CPUID gives it. */
const char *clock_measured_by(void);
