/* The PCI host bridge, out of the device tree. */
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
