/* The machine as firmware describes it, read once. */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/platform.h"

struct boot_info;
/*
 * Reads the device tree or the ACPI tables, whichever boot_info has, until that has succeeded once:
 * tables outside of memory can be read only after arch_init_memory(). Also tells psci.h how to call
 * the firmware. Boot CPU, MMU on. Never returns NULL; values that neither describes are zero.
 */
const struct platform *platform_find(const struct boot_info *info);
/* Returns the serial port of the console; kind UART_NONE: firmware names no known one. */
const struct platform_uart *uart_find(const struct boot_info *info);
