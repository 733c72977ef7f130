/* The machine as firmware describes it, found once. */
#pragma once
#include "kernel/dev/platform.h"

struct boot_info;
/*
 * Reads the device tree or the ACPI tables, whichever boot_info has, on the first call; later ones return the same.
 * Boot CPU, MMU on, the blob in the direct map.  Never NULL: what nobody describes is zero, and a line says what is
 * broken.  Also tells psci.h how to call the firmware.
 */
const struct platform *platform_find(const struct boot_info *info);
/* The serial port to print on; kind UART_NONE: firmware names none we know. */
const struct platform_uart *uart_find(const struct boot_info *info);
