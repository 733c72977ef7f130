/*
 * Finds the registers of the simulated multiprocessor: the first ivshmem device with MACHINE_MAGIC
 * at the start of its memory. Other ivshmem devices, and a plain QEMU, are no error.
 */
#include "machine_find.h"
#include "kernel/dev/pci/pci.h"
#include "kernel/core/printf.h"
#include "kernel/arch/arch.h"
#include "kernel/core/cpu.h"

#define DEVICES_MAX 8

static volatile uint8_t *registers; /* NULL: no simulated machine */
static paddr_t registers_at;
static struct pci_device device;

volatile struct machine_id *machine_id(void)
{
    return (volatile struct machine_id *)registers;
}

bool machine_shape(struct arch_shape *out)
{
    const volatile struct machine_id *id = machine_id();

    if (!id)
        return false;
    *out = (struct arch_shape){
        .cpus = id->cpus, .chips = id->chips, .home_block_bytes = id->home_block_bytes};
    for (unsigned i = 0; i < out->cpus && i < CPU_MAX; i++)
        out->place[i] = (struct cpu_place){.chip = id->place[i].chip,
                                           .core = id->place[i].core,
                                           .thread = id->place[i].thread,
                                           .node = id->place[i].chip};
    return true;
}

volatile struct machine_cpu *machine_cpu(unsigned index)
{
    ASSERT(registers && index < MACHINE_CPUS);
    return (volatile struct machine_cpu *)(registers + MACHINE_CPU_OFFSET + index * PAGE_SIZE);
}

paddr_t machine_user_pages(void)
{
    ASSERT(registers);
    return registers_at + MACHINE_USER_OFFSET;
}

volatile struct machine_path *machine_path(unsigned index)
{
    ASSERT(registers && index < MACHINE_CPUS);
    return (volatile struct machine_path *)(registers + MACHINE_PATH_OFFSET + index * PAGE_SIZE);
}

volatile struct machine_disk *machine_disk(void)
{
    ASSERT(registers && (machine_id()->caps & MACHINE_CAP_DISK));
    return (volatile struct machine_disk *)(registers + MACHINE_DISK_OFFSET);
}

volatile struct machine_wire *machine_wire(unsigned port)
{
    ASSERT(registers && (machine_id()->caps & MACHINE_CAP_WIRE) && port < MACHINE_WIRE_PORTS);
    return (volatile struct machine_wire *)(registers + MACHINE_WIRE_OFFSET + port * PAGE_SIZE);
}

const struct pci_device *machine_pci(void)
{
    ASSERT(registers);
    return &device;
}

/* Maps page 0 alone, so that little of a device that is no simulated machine is mapped. */
static bool has_cookie(paddr_t base)
{
    const volatile struct machine_id *id = arch_map_device(base, PAGE_SIZE);

    return id && id->magic == MACHINE_MAGIC;
}

static void map_registers(paddr_t base)
{
    volatile struct machine_id *id = arch_map_device(base, MACHINE_BYTES);

    if (!id) {
        kprintf("machine: the simulated machine's registers cannot be mapped\n");
        return;
    }
    if (id->version != MACHINE_VERSION || !id->cpus || id->cpus > MACHINE_CPUS) {
        kprintf("machine: the simulated machine speaks version %u with %u CPUs; this kernel knows "
                "version %u\n",
                id->version, id->cpus, MACHINE_VERSION);
        return;
    }
    registers = (volatile uint8_t *)id;
    registers_at = base;
    kprintf("machine: simulated %.32s: %u chips x %u cores x %u threads\n", (const char *)id->name,
            id->chips, id->cores_per_chip, id->threads_per_core);
}

static void probe(void)
{
    for (unsigned n = 0;
         n < DEVICES_MAX && !pci_find(MACHINE_PCI_VENDOR, MACHINE_PCI_DEVICE, n, &device); n++) {
        paddr_t base;
        uint64_t size;
        if (pci_bar(&device, MACHINE_PCI_BAR, &base, &size) || size < MACHINE_BYTES)
            continue;
        pci_enable(&device, false);
        if (has_cookie(base))
            return map_registers(base);
    }
}

const struct driver machine_driver = {"machine", DEVICE_MACHINE, probe};
