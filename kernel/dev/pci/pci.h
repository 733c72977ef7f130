/*
 * PCI: configuration space, finding devices, their memory. At boot, in thread context.
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

/* Finds the access to configuration space: ECAM if ACPI's MCFG or the ISA (arch_pci_host) describes
 * it, else the ISA's own means. If the bridge's windows are known, assigns addresses to BARs
 * without one. Returns 0 or -ENODEV. */
int pci_init(const struct boot_info *info);

/* Read and write a register; `reg` is a multiple of 4. Without a device all bits read as ones. */
uint32_t pci_read(const struct pci_device *d, unsigned reg);
void pci_write(const struct pci_device *d, unsigned reg, uint32_t v);

/* Finds the nth device (from 0) with these ids on any bus behind the host bridge. Returns 0 or
 * -ENODEV. */
int pci_find(uint16_t vendor, uint16_t device, unsigned nth, struct pci_device *out);
/* Calls `visit` for each function, bus by bus, until it returns false. */
void pci_walk(bool (*visit)(const struct pci_device *d, void *arg), void *arg);

/* Returns the CPU address and size of memory BAR `n`. Returns 0, or -ENOENT: there is none, it is
 * an I/O BAR, or it has no address. */
int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size);
/* Returns the number by which the device sends messages, for arch_msi_alloc(). Pure. */
static inline uint32_t pci_requester(const struct pci_device *d)
{
    return (uint32_t)d->bus << 8 | (uint32_t)d->slot << 3 | d->function;
}
/* Enables the device's memory BARs and, if `bus_master`, its memory accesses and message
 * interrupts. */
void pci_enable(const struct pci_device *d, bool bus_master);
/* Disables the device's memory accesses and message interrupts; accesses that it has begun may
 * still complete. */
void pci_silence(const struct pci_device *d);
