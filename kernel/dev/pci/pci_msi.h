/*
 * Message interrupts of PCI functions: MSI-X where the function has it, else MSI (PCI Local Bus
 * Specification 3.0, 6.8). Everything at boot, in thread context, or with the caller's own lock.
 */
#pragma once
#include "pci.h"

struct cpu;

/* One that is connected; its members are this file's. */
struct pci_msi {
    struct pci_device device;
    unsigned message;    /* arch_msi_alloc's */
    unsigned capability; /* its register */
    char *entry;         /* MSI-X: in the function's table; NULL: MSI */
};

/*
 * The function's interrupt n (an entry of its MSI-X table; MSI has 0 only) calls handler(arg) on
 * the CPU, interrupts off. It becomes a bus master and uses no interrupt line any more. 0;
 * -ENODEV: it has no message interrupts, or nothing here delivers them; -EINVAL: it has no nth;
 * -ERANGE: the message is out of its reach; or as arch_msi_alloc.
 */
int pci_msi_connect(const struct pci_device *d, unsigned n, struct cpu *target,
                    void (*handler)(void *arg), void *arg, struct pci_msi *out);
/* To another CPU from now on. With MSI the function must be quiet meanwhile. 0 or as
 * arch_msi_move. */
int pci_msi_move(struct pci_msi *m, struct cpu *target);
/* With MSI-X others of the function stay connected. */
void pci_msi_disconnect(struct pci_msi *m);
