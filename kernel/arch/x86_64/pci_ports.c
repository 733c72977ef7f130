/* PCI configuration mechanism #1 (PCI Local Bus Specification 3.0, 3.2.2.3.2): an address port and
 * a data port. */
#include "kernel/arch/arch.h"
#include "x86.h"

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA    0xcfc
#define REG_MAX        256

static int select(unsigned bus, unsigned slot, unsigned function, unsigned reg)
{
    if (reg >= REG_MAX)
        return -ENODEV;
    outl(CONFIG_ADDRESS, 0x80000000 | bus << 16 | slot << 11 | function << 8 | reg);
    return 0;
}

int arch_pci_host(UNUSED const struct boot_info *info, UNUSED struct pci_host *out)
{
    return -ENODEV;
}

int arch_pci_read(unsigned bus, unsigned slot, unsigned function, unsigned reg, uint32_t *v)
{
    bool irq = arch_irq_save();
    int err = select(bus, slot, function, reg);

    if (!err)
        *v = inl(CONFIG_DATA);
    arch_irq_restore(irq);
    return err;
}

int arch_pci_write(unsigned bus, unsigned slot, unsigned function, unsigned reg, uint32_t v)
{
    bool irq = arch_irq_save();
    int err = select(bus, slot, function, reg);

    if (!err)
        outl(CONFIG_DATA, v);
    arch_irq_restore(irq);
    return err;
}
