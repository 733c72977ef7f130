/*
 * Message interrupts of PCI functions: MSI-X if the function has it, else MSI (PCI Local Bus
 * Specification 3.0, 6.8). At boot, in thread context, or with the caller's own lock.
 */
#pragma once
#include "pci.h"

struct cpu;

/* A connected interrupt; its members belong to pci_msi.c. */
struct pci_msi {
    struct pci_device device;
    unsigned message;    /* number from arch_msi_alloc() */
    unsigned capability; /* register of the capability */
    char *entry;         /* MSI-X: entry in the function's table; NULL: MSI */
};

/*
 * Connects the function's interrupt `n` (an entry of its MSI-X table; MSI has 0 only): it calls
 * handler(arg) on CPU `target`, interrupts off. The function becomes a bus master and no longer
 * uses an interrupt line. Returns 0; -ENODEV: it has no message interrupts, or no controller
 * delivers them; -EINVAL: it has no interrupt `n`; -ERANGE: it cannot reach the message's address;
 * or an error of arch_msi_alloc().
 */
int pci_msi_connect(const struct pci_device *d, unsigned n, struct cpu *target,
                    void (*handler)(void *arg), void *arg, struct pci_msi *out);
/* Moves the interrupt to another CPU. With MSI the function must be quiet meanwhile. Returns 0 or
 * an error of arch_msi_move(). */
int pci_msi_move(struct pci_msi *m, struct cpu *target);
/* Disconnects the interrupt. With MSI-X others of the function stay connected. */
void pci_msi_disconnect(struct pci_msi *m);
