/* The machine as firmware describes it, found once. */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/platform.h"

struct boot_info;
/*
 * Reads the device tree or the ACPI tables, whichever boot_info has, until it has succeeded once:
 * tables that are not memory can be read only after arch_init_memory. Boot CPU, MMU on. Never
 * NULL: what nobody describes is zero. Also tells psci.h how to call the firmware.
 */
const struct platform *platform_find(const struct boot_info *info);
/* The serial port to print on; kind UART_NONE: firmware names none we know. */
const struct platform_uart *uart_find(const struct boot_info *info);
