/*
 * Memory BARs (PCI Local Bus Specification 3.0, 6.2.5.1): reading and sizing one, and giving places
 * to those that firmware left without, as where there is no firmware. Between pci.c and pci_bar.c
 * only.
 */
#pragma once
#include "pci.h"

struct pci_bar {
    uint64_t bus, size; /* bus address, 0: none assigned */
    bool wide;          /* takes two registers and 64-bit addresses */
};

/* 0, or -ENOENT when register n begins no memory BAR. The device does not answer at its memory
 * meanwhile. */
int pci_bar_get(const struct pci_device *d, unsigned n, struct pci_bar *out);
/* Gives each BAR on the host's first bus that has no address one in the host's windows, beside
 * those that have; says which found no room. Behind bridges it is for firmware to do. */
void pci_bar_assign(const struct pci_host *host);
