/*
 * Ends the run. QEMU's isa-debug-exit device at port 0xf4 ends QEMU with status value * 2 + 1. A
 * code becomes the value (code + 0x10) mod 128, so that success ends with 33, and 1, QEMU's own
 * status for failure, never occurs:
 *
 * code = ((status >> 1) - 0x10) & 0x7f
 *
 * A machine without the device is switched off by ACPI (ACPI 4.8.3.2.1, 7.4.2: S5); if that fails,
 * it stops.
 */
#include "kernel/arch/arch.h"
#include "kernel/firmware/acpi.h"
#include "internal.h"
#include "x86.h"

#define DEBUG_EXIT_PORT  0xf4
#define DEBUG_EXIT_FIRST 0x10
#define CODE_MAX         127u

/* Found at the start, because a panic must not read tables. */
static uint16_t off_port, off_value;

void power_init(void)
{
    struct acpi_table fadt, dsdt;
    uint16_t port, value;

    if (acpi_table_get("FACP", &fadt) || acpi_table_get("DSDT", &dsdt) ||
        acpi_soft_off(&fadt, &dsdt, &port, &value))
        return;
    off_value = value;
    off_port = port;
}

void arch_poweroff(unsigned code)
{
    arch_irq_save();
    outl(DEBUG_EXIT_PORT, (MIN(code, CODE_MAX) + DEBUG_EXIT_FIRST) & CODE_MAX);
    if (off_port)
        outw(off_port, off_value);
    arch_stop();
}

void arch_stop(void)
{
    for (;;)
        __asm__ volatile("cli; hlt");
}
