/* Finds the description of the machine. See platform_find.h. */
#include "platform_find.h"
#include "psci.h"
#include "kernel/arch/arch.h"
#include "kernel/boot/boot_info.h"
#include "kernel/firmware/acpi_platform.h"
#include "kernel/firmware/devtree.h"

static struct platform platform;
static bool found;

static int read_description(const struct boot_info *info)
{
    if (info->dtb)
        return devtree_platform(phys_to_virt(info->dtb), &platform);
    acpi_init(info);
    return acpi_platform(acpi_table_get, &platform);
}

const struct platform *platform_find(const struct boot_info *info)
{
    if (!found && !read_description(info)) {
        found = true;
        psci_init(platform.psci);
    }
    return &platform;
}

const struct platform_uart *uart_find(const struct boot_info *info)
{
    return &platform_find(info)->uart;
}
