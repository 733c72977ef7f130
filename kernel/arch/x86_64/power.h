/* Switching the machine off; arch_poweroff itself is kernel/arch/arch.h's. */
#pragma once

void power_init(void); /* after acpi_init: finds out how */
