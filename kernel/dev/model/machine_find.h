/*
 * Finding the simulated multiprocessor of machine.h. machine_driver is probed once, after pci_init
 * and before arch_cpus_find, which is given the machine's shape.
 */
#pragma once
#include "kernel/dev/driver.h"
#include "kernel/dev/model/machine.h"

struct arch_shape;
struct pci_device;

/* Finds the machine's registers and maps them. Prints what was found, or why it cannot be used. */
extern const struct driver machine_driver;
/* Page 0, NULL where there is no simulated machine (at any time, also before the probe).
 * mark_label and mark may be written. */
volatile struct machine_id *machine_id(void);
/* What the machine says of its chips and CPUs. False: there is no simulated machine. After
 * the probe. */
bool machine_shape(struct arch_shape *out);
/* Registers of the CPU with this index in cpus[]; only where machine_id() is not NULL. */
volatile struct machine_cpu *machine_cpu(unsigned index);
volatile struct machine_path *machine_path(unsigned index);
/* Only where machine_id()->caps has MACHINE_CAP_DISK. */
volatile struct machine_disk *machine_disk(void);
/* The PCI function that the registers belong to; only where machine_id() is not NULL. */
const struct pci_device *machine_pci(void);
