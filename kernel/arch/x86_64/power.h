/* Switching the machine off; kernel/arch/arch.h declares arch_poweroff(). */
#pragma once

void power_init(void); /* finds the registers; after acpi_init() */
