/* Reads memory nodes from ACPI's SRAT; the distances of SLIT are checked, but not used. */
#pragma once
#include "kernel/firmware/acpi.h"
#include "kernel/firmware/numa.h"

/* Fills `out` in any case. Returns 0; -ENOENT: there is no SRAT; -EINVAL: it is invalid or
 * contradicts itself; -ENOSPC: it has more than struct numa holds. After an error all is one
 * node. */
int acpi_numa(acpi_get_fn *get, struct numa *out);
/* Checks a table of distances. Returns 0 or -EINVAL. */
int acpi_slit_check(const struct acpi_table *slit);
