/*
 * Reads a flattened device tree (Devicetree Specification 0.4). Pure: the blob must be readable,
 * nothing in it is trusted, and only results are written.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/numa.h"
#include "kernel/firmware/platform.h"

#define DEVTREE_MAX (2 * MIB) /* larger ones are refused: the limit of the arm64 boot protocol */

/* Returns the size in bytes by the header, of which 8 bytes must be readable; 0 if it is no device
 * tree or larger than DEVTREE_MAX. */
uint64_t devtree_size(const void *header);
/* Checks that all offsets are within `size` bytes, and that nodes and properties are well nested.
 * Returns 0 or -EINVAL. */
int devtree_check(const void *dtb, uint64_t size);
/* Adds memory, reservations (the blob at `pa` included) and boot arguments to `info`. Returns 0;
 * -EINVAL: the blob is invalid; -ENOENT: it has no memory; -ENOSPC: more ranges than the table
 * holds; -E2BIG: the boot arguments are too long. */
int devtree_boot_info(const void *dtb, paddr_t pa, struct boot_info *info);
/* Adds the initrd that /chosen names to `info`, which devtree_boot_info() has filled and which has
 * the kernel's image. Returns 0, also if there is none, or the error of boot_initrd_set(). */
int devtree_initrd(const void *dtb, struct boot_info *info);
/* Reads everything else into `out`; what is missing is zero. Returns 0, or -EINVAL if the blob is
 * invalid. */
int devtree_platform(const void *dtb, struct platform *out);
/* Fills `out` with the nodes of CPUs and memory, in any case. Returns 0; -ENOENT: the tree has no
 * nodes; -EINVAL: it is invalid or contradicts itself; -ENOSPC: more than struct numa holds. After
 * an error all is one node. */
int devtree_numa(const void *dtb, struct numa *out);
