/* Memory nodes out of ACPI's SRAT; SLIT's distances are checked, and that is all. */
#pragma once
#include "kernel/firmware/acpi.h"
#include "kernel/firmware/numa.h"

/* Fills out in any case. 0; -ENOENT: there is no SRAT; -EINVAL: it is broken or contradicts
 * itself; -ENOSPC: more in it than struct numa holds. After any error all is one node. */
int acpi_numa(acpi_get_fn *get, struct numa *out);
/* Is it a sound table of distances? 0 or -EINVAL. */
int acpi_slit_check(const struct acpi_table *slit);
