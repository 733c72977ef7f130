/*
 * Finds the simulated multiprocessor of machine.h. machine_driver is probed once, after pci_init()
 * and before arch_cpus_find(), which takes the machine's shape.
 */
#pragma once
#include "kernel/dev/driver.h"
#include "kernel/dev/model/machine.h"

struct arch_shape;
struct pci_device;

/* Finds the machine's registers and maps them. Prints the machine found, or why it cannot be
 * used. */
extern const struct driver machine_driver;
/* Returns page 0, or NULL if there is no simulated machine, also before the probe. mark_label and
 * mark may be written. */
volatile struct machine_id *machine_id(void);
/* Returns the machine's chips and CPUs in `out`; false if there is no simulated machine. After the
 * probe. */
bool machine_shape(struct arch_shape *out);
/* Return the registers of the CPU with this index in cpus[]. Only if machine_id() is not NULL. */
volatile struct machine_cpu *machine_cpu(unsigned index);
/* Returns the physical address of the first CPU's struct machine_user. Only if machine_id() is not
 * NULL. */
paddr_t machine_user_pages(void);
volatile struct machine_path *machine_path(unsigned index);
/* Only if machine_id()->caps has MACHINE_CAP_DISK. */
volatile struct machine_disk *machine_disk(void);
/* Returns a port's registers. Only if machine_id()->caps has MACHINE_CAP_WIRE. */
volatile struct machine_wire *machine_wire(unsigned port);
/* Returns the PCI function of the registers. Only if machine_id() is not NULL. */
const struct pci_device *machine_pci(void);
