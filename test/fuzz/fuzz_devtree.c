/* Any bytes as a device tree: what devtree_check lets through is read without leaving the blob or
 * going round for ever. */
#include <stdlib.h>
#include "kernel/firmware/devtree.h"

void panic(const char *fmt, ...)
{
    (void)fmt;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct platform platform;
    static struct boot_info info;
    static struct numa numa;

    if (devtree_check(data, size))
        return 0;
    memset(&info, 0, sizeof(info));
    if (!devtree_boot_info(data, 0x40000000, &info) && info.cmdline[BOOT_CMDLINE_MAX - 1])
        abort();
    if (devtree_initrd(data, &info) == 0 && info.initrd.base + info.initrd.bytes < info.initrd.base)
        abort();
    if (devtree_platform(data, &platform))
        abort();
    if (platform.cpu_count > PLATFORM_CPUS_MAX ||
        platform.gic.redist_count > PLATFORM_REDISTS_MAX ||
        platform.gic.frame_count > PLATFORM_MSI_MAX || platform.gic.its_count > PLATFORM_MSI_MAX)
        abort();
    devtree_numa(data, &numa);
    if (!numa.node_count || numa.node_count > NUMA_NODES_MAX || numa.cpu_count > NUMA_CPUS_MAX ||
        numa.range_count > NUMA_RANGES_MAX)
        abort();
    return 0;
}
