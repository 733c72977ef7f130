/* Reads memory nodes of a device tree: "numa-node-id" of CPUs and memory (Linux bindings,
 * numa.txt). */
#include "kernel/firmware/devtree.h"
#include "kernel/firmware/devtree_read.h"
#include <libfdt.h>

#define NOT_GIVEN UINT32_MAX

static bool is_kind(const void *dtb, int node, const char *kind)
{
    const char *type = devtree_string(dtb, node, "device_type");

    return type && !strcmp(type, kind) && devtree_in_use(dtb, node);
}

static int add_memory(const void *dtb, int node, uint32_t domain, struct numa *n)
{
    struct platform_region r;
    int err = 0, got;

    for (unsigned i = 0; !err && (got = devtree_reg(dtb, node, i, &r)) != -ENOENT; i++)
        /* a bank of size 0 is an empty slot */
        err = got ? 0 : numa_add_memory(n, r.base, r.size, domain);
    return err;
}

static int add_cpu(const void *dtb, int node, uint32_t domain, struct numa *n)
{
    uint64_t hwid;

    return devtree_reg_id(dtb, node, &hwid) ? 0 : numa_add_cpu(n, hwid & MPIDR_FIELDS, domain);
}

static int add_all(const void *dtb, int parent, const char *kind,
                   int (*add)(const void *dtb, int node, uint32_t domain, struct numa *n),
                   struct numa *n)
{
    int node, err = 0;

    fdt_for_each_subnode(node, dtb, parent)
    {
        uint32_t domain = devtree_u32(dtb, node, "numa-node-id", NOT_GIVEN);
        if (!err && domain != NOT_GIVEN && is_kind(dtb, node, kind))
            err = add(dtb, node, domain, n);
    }
    return err;
}

int devtree_numa(const void *dtb, struct numa *out)
{
    numa_begin(out, "device-tree");
    if (devtree_check(dtb, devtree_size(dtb)))
        return numa_end(out, -EINVAL);
    int cpus = fdt_path_offset(dtb, "/cpus");
    int err = cpus < 0 ? 0 : add_all(dtb, cpus, "cpu", add_cpu, out);
    if (!err)
        err = add_all(dtb, 0, "memory", add_memory, out);
    if (!err && !out->cpu_count && !out->range_count)
        err = -ENOENT;
    return numa_end(out, err);
}
