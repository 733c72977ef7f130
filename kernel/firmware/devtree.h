/*
 * What the kernel takes out of a flattened device tree (Devicetree Specification 0.4). Pure: reads
 * the blob it is handed, which must be readable throughout, trusts nothing in it, writes only its
 * results.
 */
#pragma once
#include "kernel/lib/base.h"
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/numa.h"
#include "kernel/firmware/platform.h"

#define DEVTREE_MAX (2 * MIB) /* larger ones are refused: the arm64 boot protocol's limit */

/* Size in bytes by the header alone, 8 bytes of which must be readable; 0 when it is none or larger
 * than DEVTREE_MAX. */
uint64_t devtree_size(const void *header);
/* Is the blob sound in its size bytes: every offset inside, nodes and properties well nested? 0 or
 * -EINVAL. */
int devtree_check(const void *dtb, uint64_t size);
/* Memory, reservations (the blob itself, lying at pa, included) and bootargs into info, which keeps
 * what else it has. 0; -EINVAL: broken; -ENOENT: no memory in it; -ENOSPC: more ranges than the
 * table holds; -E2BIG: bootargs too long. */
int devtree_boot_info(const void *dtb, paddr_t pa, struct boot_info *info);
/* Everything else into out. 0, or -EINVAL when the blob is broken; what is missing is zero. */
int devtree_platform(const void *dtb, struct platform *out);
/* The nodes of CPUs and memory into out, in any case. 0; -ENOENT: the tree speaks of none;
 * -EINVAL: it is broken or contradicts itself; -ENOSPC: more than struct numa holds. After any
 * error all is one node. */
int devtree_numa(const void *dtb, struct numa *out);
