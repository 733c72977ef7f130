/* Power State Coordination Interface, version 0.2 and later (Arm DEN 0022). */
#pragma once
#include "kernel/firmware/platform.h"

/* Sets the instruction that calls PSCI. Before it, and with PSCI_NONE, the other functions return
 * or fail. */
void psci_init(enum psci_conduit conduit);
/* Returns the version, "1.1" as major << 16 | minor; 0: no PSCI. */
uint32_t psci_version(void);
/* Starts the CPU with this MPIDR affinity at a physical address, with `context` in x0. Returns 0 or
 * a negative PSCI code (5.2.2); psci_error() names it. */
int psci_cpu_on(uint64_t hwid, paddr_t entry, uint64_t context);
const char *psci_error(int code);
/* Switches the machine off. Returns only if there is no PSCI or it refuses. Any context. */
void psci_system_off(void);
