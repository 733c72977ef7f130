/*
 * Reading single properties of a device tree that devtree_check has found sound: numbers, addresses
 * as the CPU sees them, interrupts as the interrupt controller numbers them. A node is its offset
 * in the blob.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/firmware/platform.h"

/* Calls visit for every node that is in use (status) and compatible with one of the names, in the
 * tree's order. */
void devtree_each(const void *dtb, const char *const *compatible,
                  void (*visit)(const void *dtb, int node, void *arg), void *arg);
/* No status, or "okay" (Devicetree Specification 2.3.4). */
bool devtree_in_use(const void *dtb, int node);
bool devtree_compatible(const void *dtb, int node, const char *const *compatible);
/* A property that is one cell, or otherwise. */
uint32_t devtree_u32(const void *dtb, int node, const char *name, uint32_t otherwise);
/* A property that is a string with its end in it, or NULL. */
const char *devtree_string(const void *dtb, int node, const char *name);
/* The nth pair of "reg" as a CPU address, translated by every bus on the way up. 0; -ENOENT: there
 * is no such pair or nobody translates it; -EINVAL: it wraps around. */
int devtree_reg(const void *dtb, int node, unsigned n, struct platform_region *out);
/* "reg" of a node whose addresses are no memory (a CPU's): the first one. 0 or -ENOENT. */
int devtree_reg_id(const void *dtb, int node, uint64_t *out);
/* The nth interrupt as GIC INTID, whose interrupt controller must have GIC bindings; 0: there is
 * none. */
uint32_t devtree_gic_irq(const void *dtb, int node, unsigned n);
/* An entry of a PCI host bridge's "ranges" (IEEE Std 1275, PCI bus binding, 2.2.1.1). */
struct devtree_range {
    /* else I/O or configuration space; false as well for what no CPU address leads to */
    bool memory;
    uint64_t bus;
    struct platform_region cpu;
};
/* The nth of them: 0; -ENOENT: there are no more. */
int devtree_pci_range(const void *dtb, int node, unsigned n, struct devtree_range *out);
