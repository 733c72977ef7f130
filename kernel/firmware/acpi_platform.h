/* What the kernel takes out of the ACPI tables of a machine with a GIC: MADT, GTDT, SPCR, PPTT,
 * FADT, IORT. */
#pragma once
#include "kernel/firmware/acpi.h"
#include "kernel/firmware/platform.h"

/* Fills out. 0, or -ENOENT or -EINVAL: what became of the MADT, without which there is nothing; of
 * the others, what is missing or broken is zero. */
int acpi_platform(acpi_get_fn *get, struct platform *out);
/* Adds the maps of PCI segment 0's requesters from an IORT; entries that are broken are left out. */
void acpi_iort_read(const struct acpi_table *iort, struct platform *p);
