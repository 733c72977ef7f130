/*
 * PCI: configuration space, finding devices, their memory.  Everything at boot, in thread context.
 */
#pragma once
#include "kernel/base.h"

struct pci_device {
    uint8_t bus, slot, function;
    uint16_t vendor, device;
};

/* Finds the way to configuration space: ECAM if ACPI's MCFG describes one, else the ISA's own.  0 or -ENODEV.
 */
int pci_init(void);

uint32_t pci_read(const struct pci_device *d,
                  unsigned reg); /* reg is a multiple of 4; all ones where nothing is */
void pci_write(const struct pci_device *d, unsigned reg, uint32_t v);

/* The nth device (from 0) with these ids on any bus behind the host bridge.  0 or -ENODEV. */
int pci_find(uint16_t vendor, uint16_t device, unsigned nth, struct pci_device *out);
/* Calls visit for each function found, bus by bus, until it returns false. */
void pci_walk(bool (*visit)(const struct pci_device *d, void *arg), void *arg);

/* Where memory BAR n lies and its size.  0; -ENOENT when there is none, it is an I/O BAR, or nobody assigned
 * it. */
int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size);
/* Lets the device answer at its memory BARs and, when bus_master, access memory and send message interrupts.
 */
void pci_enable(const struct pci_device *d, bool bus_master);
