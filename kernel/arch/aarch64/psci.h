/* Power State Coordination Interface, version 0.2 and later (Arm DEN 0022). */
#pragma once
#include "kernel/firmware/platform.h"

/* Before the others; until then, and with PSCI_NONE, they return or fail. */
void psci_init(enum psci_conduit conduit);
/* "1.1" as major << 16 | minor; 0: there is no PSCI. */
uint32_t psci_version(void);
/* Starts the CPU with this MPIDR affinity at a physical address, context in x0. 0 or a negative
 * PSCI code (5.2.2); psci_error names it. */
int psci_cpu_on(uint64_t hwid, paddr_t entry, uint64_t context);
const char *psci_error(int code);
/* Any context. Returns only where there is no PSCI or it refuses. */
void psci_system_off(void);
