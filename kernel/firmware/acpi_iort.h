/* ACPI's IORT, for acpi_platform.c. */
#pragma once
#include "kernel/firmware/acpi.h"
#include "kernel/firmware/platform.h"

/* Adds the maps of PCI segment 0's requesters; what is broken is left out. */
void acpi_iort_read(const struct acpi_table *iort, struct platform *p);
