/* A PCI host bridge, as firmware describes it. */
#pragma once
#include "kernel/lib/base.h"

/* A window in which the host bridge passes accesses on to the bus: CPU address `base` is bus
 * address `bus`. */
struct pci_window {
    paddr_t base;
    uint64_t bus, size;
};

#define PCI_WINDOWS_MAX 4
/* A host bridge that firmware describes by other means than ACPI's MCFG (arch_pci_host). */
struct pci_host {
    struct {
        paddr_t base; /* of first_bus */
        uint64_t size;
    } ecam;
    unsigned first_bus, last_bus;
    /* 0: addresses are the same on both sides, and firmware has assigned them. */
    unsigned window_count;
    struct pci_window window[PCI_WINDOWS_MAX];
};
