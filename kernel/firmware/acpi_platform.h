/* Reads the ACPI tables of a machine with a GIC: MADT, GTDT, SPCR, PPTT, FADT, IORT. */
#pragma once
#include "kernel/firmware/acpi.h"
#include "kernel/firmware/platform.h"

/* Fills `out`. Returns 0, or -ENOENT or -EINVAL for the MADT, without which there is nothing. Of
 * other tables, missing and invalid parts are zero. */
int acpi_platform(acpi_get_fn *get, struct platform *out);
/* Adds the mappings of the requesters of PCI segment 0 from an IORT, without invalid ones. */
void acpi_iort_read(const struct acpi_table *iort, struct platform *p);
