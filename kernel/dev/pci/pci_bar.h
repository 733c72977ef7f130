/*
 * Memory BARs (PCI Local Bus Specification 3.0, 6.2.5.1): reading and sizing them, and assigning
 * addresses to those without one, as on machines without firmware. For pci.c and pci_bar.c only.
 */
#pragma once
#include "pci.h"

struct pci_bar {
    uint64_t bus, size; /* bus address, 0: none assigned */
    bool wide;          /* takes two registers and 64-bit addresses */
};

/* Reads a BAR. The device does not respond to memory accesses meanwhile. Returns 0, or -ENOENT if
 * register `n` does not begin a memory BAR. */
int pci_bar_get(const struct pci_device *d, unsigned n, struct pci_bar *out);
/* Assigns addresses in the host's windows to BARs on the host's first bus that have none, besides
 * those that have. Prints which found no room. BARs behind bridges are left to firmware. */
void pci_bar_assign(const struct pci_host *host);
