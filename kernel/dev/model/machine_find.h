/*
 * Finding the simulated multiprocessor of machine.h. machine_init is called once, after pci_init
 * and before arch_cpus_find, which is given the machine's shape.
 */
#pragma once
#include "kernel/dev/model/machine.h"

struct arch_shape;
struct pci_device;

/* Looks for the machine's registers and maps them; says what it found or why it cannot use it. 0,
 * or -ENODEV. */
int machine_init(void);
/* Page 0, NULL where there is no simulated machine (any time, also before machine_init).
 * mark_label and mark may be written. */
volatile struct machine_id *machine_id(void);
/* What the machine says of its chips and CPUs. False: there is no simulated machine. After
 * machine_init. */
bool machine_shape(struct arch_shape *out);
/* Registers of the CPU with this index in cpus[]; only where machine_id() is not NULL. */
volatile struct machine_cpu *machine_cpu(unsigned index);
volatile struct machine_path *machine_path(unsigned index);
/* Only where machine_id()->caps has MACHINE_CAP_DISK. */
volatile struct machine_disk *machine_disk(void);
/* The PCI function that the registers belong to; only where machine_id() is not NULL. */
const struct pci_device *machine_pci(void);
