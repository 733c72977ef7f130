/* The PCI host bridge, described by device tree or ACPI; its configuration space is in memory only
 * (ECAM). */
#include "platform_find.h"
#include "kernel/arch/arch.h"

int arch_pci_host(const struct boot_info *info, struct pci_host *out)
{
    const struct platform *p = platform_find(info);

    if (!p->pci.ecam.size)
        return -ENODEV;
    *out = p->pci;
    return 0;
}

int arch_pci_read(UNUSED unsigned bus, UNUSED unsigned slot, UNUSED unsigned function,
                  UNUSED unsigned reg, UNUSED uint32_t *v)
{
    return -ENODEV;
}

int arch_pci_write(UNUSED unsigned bus, UNUSED unsigned slot, UNUSED unsigned function,
                   UNUSED unsigned reg, UNUSED uint32_t v)
{
    return -ENODEV;
}
