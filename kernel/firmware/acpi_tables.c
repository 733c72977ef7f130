/* The ACPI tables of this machine: gives the parser access to memory. */
#include "acpi.h"
#include "kernel/arch/arch.h"
#include "kernel/boot/boot_info.h"
#include "kernel/core/printf.h"

static const struct boot_info *boot;

/* Firmware puts tables into all types of memory; the direct map contains all but reserved
 * memory. */
static const void *map(UNUSED void *ctx, paddr_t pa, uint64_t size)
{
    bool direct = true;

    if (pa + size < pa)
        return NULL;
    for (paddr_t page = ALIGN_DOWN(pa, PAGE_SIZE); page < pa + size && direct; page += PAGE_SIZE)
        direct = boot_mem_type_of(boot, page) != BOOT_MEM_RESERVED;
    return direct ? phys_to_virt(pa) : arch_map_device(pa, size);
}

struct acpi_memory acpi_memory = {.map = map};

void acpi_init(const struct boot_info *info)
{
    boot = info;
    acpi_memory.end = (paddr_t)1 << arch_physical_bits();
}

int acpi_table_get(const char signature[4], struct acpi_table *out)
{
    int err = boot ? acpi_find(&acpi_memory, boot->acpi_rsdp, signature, out) : -ENOENT;

    if (err == -ERANGE)
        kprintf("acpi: %.4s: a table beyond this CPU's %u-bit physical addresses is refused\n",
                signature, arch_physical_bits());
    return err;
}
