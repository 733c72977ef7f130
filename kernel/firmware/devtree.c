/* Reads memory, reservations and boot arguments of a device tree (Devicetree Specification 0.4, 3.4
 * to 3.6, 5.3). */
#include "kernel/firmware/devtree.h"
#include "kernel/firmware/devtree_read.h"
#include <libfdt.h>

#define DEPTH_MAX         32
#define RESERVATION_ALIGN 8
#define STRUCT_ALIGN      4

uint64_t devtree_size(const void *header)
{
    uint64_t size = fdt_magic(header) == FDT_MAGIC ? fdt_totalsize(header) : 0;

    return size >= sizeof(struct fdt_header) && size <= DEVTREE_MAX ? size : 0;
}

int devtree_check(const void *dtb, uint64_t size)
{
    int depth = 0, next = 0;
    bool root = false;

    if (size < sizeof(struct fdt_header) || !devtree_size(dtb) || devtree_size(dtb) > size ||
        fdt_check_header(dtb))
        return -EINVAL;
    /* libfdt relies on the alignments that the specification requires (5.6). */
    if (!IS_ALIGNED((uintptr_t)dtb, RESERVATION_ALIGN) ||
        !IS_ALIGNED(fdt_off_mem_rsvmap(dtb), RESERVATION_ALIGN) ||
        !IS_ALIGNED(fdt_off_dt_struct(dtb), STRUCT_ALIGN))
        return -EINVAL;
    for (int i = 0; i < fdt_num_mem_rsv(dtb); i++) {
        uint64_t base, length;
        if (fdt_get_mem_rsv(dtb, i, &base, &length))
            return -EINVAL;
    }
    if (fdt_num_mem_rsv(dtb) < 0)
        return -EINVAL;
    for (;;) {
        const char *name;
        int at = next, length;
        uint32_t tag = fdt_next_tag(dtb, at, &next);
        if (next <= at) /* an error, or a length that wraps around */
            return -EINVAL;
        switch (tag) {
        case FDT_BEGIN_NODE:
            if ((!depth && root) || ++depth > DEPTH_MAX || !fdt_get_name(dtb, at, &length))
                return -EINVAL;
            root = true;
            break;
        case FDT_END_NODE:
            if (!depth--)
                return -EINVAL;
            break;
        case FDT_PROP:
            if (!depth || !fdt_getprop_by_offset(dtb, at, &name, &length) || !name)
                return -EINVAL;
            break;
        case FDT_END:
            return root && !depth ? 0 : -EINVAL;
        }
    }
}

static int add_range(struct boot_info *info, const struct platform_region *r,
                     enum boot_mem_type type)
{
    return boot_mem_add(info, r->base, r->size, type);
}

/* Adds every pair of the node's "reg", and counts them in *found. */
static int add_all(const void *dtb, int node, struct boot_info *info, enum boot_mem_type type,
                   unsigned *found)
{
    struct platform_region r;
    int err = 0;

    for (unsigned n = 0; !err; n++) {
        int got = devtree_reg(dtb, node, n, &r);
        if (got == -ENOENT)
            break;
        if (got)
            continue; /* a bank of size 0 is an empty slot */
        err = add_range(info, &r, type);
        ++*found;
    }
    return err;
}

static int add_memory(const void *dtb, struct boot_info *info)
{
    unsigned found = 0;
    int node, err = 0;

    fdt_for_each_subnode(node, dtb, 0)
    {
        const char *type = devtree_string(dtb, node, "device_type");
        if (!err && type && !strcmp(type, "memory") && devtree_in_use(dtb, node))
            err = add_all(dtb, node, info, BOOT_MEM_USABLE, &found);
    }
    return err ? err : found ? 0 : -ENOENT;
}

static int add_reservations(const void *dtb, paddr_t pa, struct boot_info *info)
{
    struct platform_region self = {pa, fdt_totalsize(dtb)};
    int node, err = add_range(info, &self, BOOT_MEM_RESERVED);

    for (int i = 0; !err && i < fdt_num_mem_rsv(dtb); i++) {
        struct platform_region r;
        if (fdt_get_mem_rsv(dtb, i, &r.base, &r.size) || r.base + r.size < r.base)
            return -EINVAL;
        err = add_range(info, &r, BOOT_MEM_RESERVED);
    }
    int reserved = fdt_path_offset(dtb, "/reserved-memory");
    if (reserved < 0)
        return err;
    fdt_for_each_subnode(node, dtb, reserved)
    {
        unsigned found = 0;
        if (!err && devtree_in_use(dtb, node))
            err = add_all(dtb, node, info, BOOT_MEM_RESERVED, &found);
    }
    return err;
}

static int read_bootargs(const void *dtb, struct boot_info *info)
{
    int chosen = fdt_path_offset(dtb, "/chosen");
    const char *args = chosen < 0 ? NULL : devtree_string(dtb, chosen, "bootargs");
    size_t size = args ? strlen(args) + 1 : 1;

    if (size > sizeof(info->cmdline))
        return -E2BIG;
    memcpy(info->cmdline, args ? args : "", size);
    return 0;
}

int devtree_initrd(const void *dtb, struct boot_info *info)
{
    int chosen = fdt_path_offset(dtb, "/chosen");
    uint64_t base = chosen < 0 ? 0 : devtree_u64(dtb, chosen, "linux,initrd-start", 0);
    uint64_t end = chosen < 0 ? 0 : devtree_u64(dtb, chosen, "linux,initrd-end", base);

    return end < base ? -EINVAL : boot_initrd_set(info, base, end - base);
}

int devtree_boot_info(const void *dtb, paddr_t pa, struct boot_info *info)
{
    if (devtree_check(dtb, devtree_size(dtb)))
        return -EINVAL;
    int err = add_memory(dtb, info);
    if (!err)
        err = add_reservations(dtb, pa, info);
    if (!err)
        err = read_bootargs(dtb, info);
    if (!err)
        info->dtb = pa;
    return err;
}
