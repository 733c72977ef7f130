/* There is no way to PCI configuration space but the memory-mapped one (ECAM). */
#include "kernel/arch/arch.h"

int arch_pci_read(UNUSED unsigned bus, UNUSED unsigned slot, UNUSED unsigned function, UNUSED unsigned reg,
                  UNUSED uint32_t *v)
{
    return -ENODEV;
}

int arch_pci_write(UNUSED unsigned bus, UNUSED unsigned slot, UNUSED unsigned function, UNUSED unsigned reg,
                   UNUSED uint32_t v)
{
    return -ENODEV;
}
