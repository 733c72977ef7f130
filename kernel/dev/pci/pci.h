/*
 * PCI: configuration space, finding devices, their memory. Everything at boot, in thread context.
 */
#pragma once
#include "kernel/firmware/pci_host.h"
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

struct boot_info;

struct pci_device {
    uint8_t bus, slot, function;
    uint16_t vendor, device;
};

/* Finds the way to configuration space: ECAM if ACPI's MCFG or the ISA (arch_pci_host) describes
 * one, else the ISA's own; where the bridge's windows are known, gives BARs that nobody assigned a
 * place. 0 or -ENODEV. */
int pci_init(const struct boot_info *info);

uint32_t pci_read(const struct pci_device *d,
                  unsigned reg); /* reg is a multiple of 4; all ones where nothing is */
void pci_write(const struct pci_device *d, unsigned reg, uint32_t v);

/* The nth device (from 0) with these ids on any bus behind the host bridge. 0 or -ENODEV. */
int pci_find(uint16_t vendor, uint16_t device, unsigned nth, struct pci_device *out);
/* Calls visit for each function found, bus by bus, until it returns false. */
void pci_walk(bool (*visit)(const struct pci_device *d, void *arg), void *arg);

/* Where memory BAR n lies, as a CPU address, and its size. 0; -ENOENT when there is none, it is an
 * I/O BAR, or it has no place. */
int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size);
/* Lets the device answer at its memory BARs and, when bus_master, access memory and send message
 * interrupts. */
void pci_enable(const struct pci_device *d, bool bus_master);
/* It accesses memory and sends message interrupts no more; what it had begun may be done when this
 * returns, or not. */
void pci_silence(const struct pci_device *d);
