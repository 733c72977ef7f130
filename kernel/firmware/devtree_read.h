/*
 * Reads single properties of a device tree that devtree_check() has accepted: numbers, CPU
 * addresses, interrupts as INTIDs. A node is its offset in the blob.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/firmware/platform.h"

/* Calls `visit` for every node that is in use (status) and compatible with one of the names, in the
 * tree's order. */
void devtree_each(const void *dtb, const char *const *compatible,
                  void (*visit)(const void *dtb, int node, void *arg), void *arg);
/* Returns whether a node has no status, or "okay" (Devicetree Specification 2.3.4). */
bool devtree_in_use(const void *dtb, int node);
bool devtree_compatible(const void *dtb, int node, const char *const *compatible);
/* Returns a property of one cell, or `otherwise`. */
uint32_t devtree_u32(const void *dtb, int node, const char *name, uint32_t otherwise);
/* Returns a property of one or two cells, or `otherwise`. */
uint64_t devtree_u64(const void *dtb, int node, const char *name, uint64_t otherwise);
/* Returns a property that is a NUL-terminated string, or NULL. */
const char *devtree_string(const void *dtb, int node, const char *name);
/* Reads the nth pair of "reg" as a CPU address, translated by all buses above. Returns 0; -ENOENT:
 * there is no such pair, or a bus does not translate it; -EINVAL: it wraps around. */
int devtree_reg(const void *dtb, int node, unsigned n, struct platform_region *out);
/* Reads the first "reg" of a node that has no memory addresses (a CPU's). Returns 0 or -ENOENT. */
int devtree_reg_id(const void *dtb, int node, uint64_t *out);
/* Returns the INTID of the nth interrupt; the interrupt controller must have GIC bindings; 0: there
 * is none. */
uint32_t devtree_gic_irq(const void *dtb, int node, unsigned n);
/* An entry of "ranges" of a PCI host bridge (IEEE Std 1275, PCI bus binding, 2.2.1.1). */
struct devtree_range {
    /* False: I/O or configuration space, or no CPU address leads to it. */
    bool memory;
    uint64_t bus;
    struct platform_region cpu;
};
/* Reads the nth entry. Returns 0; -ENOENT: there are no more. */
int devtree_pci_range(const void *dtb, int node, unsigned n, struct devtree_range *out);
