/* See pci_msi.h. */
#include "pci_msi.h"
#include "kernel/arch/arch.h"

enum { REG_COMMAND = 0x04, REG_CAPABILITIES = 0x34 };
#define COMMAND_NO_INTX     0x400u
#define COMMAND_BITS        0xffffu /* bits of the status half are cleared by writing 1 */
#define STATUS_CAPABILITIES (1u << 20)
#define CAPABILITIES_MAX    48
#define CAPABILITIES_FIRST  0x40

enum { CAPABILITY_MSI = 0x05, CAPABILITY_MSIX = 0x11 };

/* MSI: offsets of registers behind the first, of which the upper half is the message control. */
enum {
    MSI_ADDRESS = 4,
    MSI_DATA_32 = 8,
    MSI_ADDRESS_HIGH = 8,
    MSI_DATA_64 = 12,
    MSI_MASKS_AFTER_DATA = 4
};
#define MSI_ENABLE   (1u << 16)
#define MSI_MULTIPLE (7u << 20)
#define MSI_64       (1u << 23)
#define MSI_MASKABLE (1u << 24)

/* MSI-X: offsets of registers, and of the fields of a table entry. */
enum { MSIX_TABLE = 4, ENTRY_BYTES = 16 };
enum { ENTRY_ADDRESS = 0, ENTRY_ADDRESS_HIGH = 4, ENTRY_DATA = 8, ENTRY_CONTROL = 12 };
#define MSIX_LAST(v)  ((v) >> 16 & 0x7ff)
#define MSIX_ENABLE   (1u << 31)
#define MSIX_MASK_ALL (1u << 30)
#define TABLE_BAR(v)  ((v)&7)
#define TABLE_AT(v)   ((v) & ~7u)
#define ENTRY_MASKED  1

static int find_capability(const struct pci_device *d, uint8_t id, unsigned *reg)
{
    if (!(pci_read(d, REG_COMMAND) & STATUS_CAPABILITIES))
        return -ENODEV;
    *reg = pci_read(d, REG_CAPABILITIES) & 0xfc;
    for (unsigned i = 0; *reg >= CAPABILITIES_FIRST && i < CAPABILITIES_MAX; i++) {
        uint32_t head = pci_read(d, *reg);
        if ((head & 0xff) == id)
            return 0;
        *reg = head >> 8 & 0xfc;
    }
    return -ENODEV;
}

static int map_table(struct pci_msi *m, unsigned n)
{
    uint32_t table = pci_read(&m->device, m->capability + MSIX_TABLE);
    unsigned last = MSIX_LAST(pci_read(&m->device, m->capability));
    uint64_t at = TABLE_AT(table), bytes = (last + 1) * (uint64_t)ENTRY_BYTES, size;
    paddr_t base;

    if (n > last)
        return -EINVAL;
    if (pci_bar(&m->device, TABLE_BAR(table), &base, &size) || at + bytes > size)
        return -ENODEV;
    char *entries = arch_map_device(base + at, bytes);
    if (!entries)
        return -ENOMEM;
    m->entry = entries + n * ENTRY_BYTES;
    return 0;
}

static int find_place(struct pci_msi *m, unsigned n)
{
    if (!find_capability(&m->device, CAPABILITY_MSIX, &m->capability))
        return map_table(m, n);
    if (!find_capability(&m->device, CAPABILITY_MSI, &m->capability))
        return n ? -EINVAL : 0;
    return -ENODEV;
}

static void change(const struct pci_device *d, unsigned reg, uint32_t clear, uint32_t set)
{
    pci_write(d, reg, (pci_read(d, reg) & ~clear) | set);
}

/* Masks all entries before the function's first is used, so that no unprogrammed one is sent, and
 * switches MSI off (PCI 3.0, 6.8.2). */
static void begin_entries(const struct pci_msi *m, unsigned n)
{
    uint32_t control = pci_read(&m->device, m->capability);
    unsigned msi;

    if (control & MSIX_ENABLE)
        return;
    for (unsigned i = 0; i <= MSIX_LAST(control); i++)
        arch_io_write32(m->entry - n * ENTRY_BYTES + i * ENTRY_BYTES + ENTRY_CONTROL, ENTRY_MASKED);
    if (!find_capability(&m->device, CAPABILITY_MSI, &msi))
        change(&m->device, msi, MSI_ENABLE, 0);
}

/* Programs an entry. A message that is due while it is masked is sent later. */
static void program_entry(const struct pci_msi *m, const struct arch_msi *message)
{
    arch_io_write32(m->entry + ENTRY_CONTROL, ENTRY_MASKED);
    arch_io_write32(m->entry + ENTRY_ADDRESS, (uint32_t)message->address);
    arch_io_write32(m->entry + ENTRY_ADDRESS_HIGH, (uint32_t)(message->address >> 32));
    arch_io_write32(m->entry + ENTRY_DATA, message->data);
    arch_io_write32(m->entry + ENTRY_CONTROL, 0);
    change(&m->device, m->capability, MSIX_MASK_ALL, MSIX_ENABLE);
}

static int program_msi(const struct pci_msi *m, const struct arch_msi *message)
{
    const struct pci_device *d = &m->device;
    uint32_t control = pci_read(d, m->capability);
    bool wide = control & MSI_64;
    unsigned data = m->capability + (wide ? MSI_DATA_64 : MSI_DATA_32);

    if ((message->address >> 32 && !wide) || message->data > 0xffff)
        return -ERANGE;
    change(d, m->capability, MSI_ENABLE | MSI_MULTIPLE, 0);
    pci_write(d, m->capability + MSI_ADDRESS, (uint32_t)message->address);
    if (wide)
        pci_write(d, m->capability + MSI_ADDRESS_HIGH, (uint32_t)(message->address >> 32));
    pci_write(d, data, message->data);
    if (control & MSI_MASKABLE)
        change(d, data + MSI_MASKS_AFTER_DATA, 1, 0);
    change(d, m->capability, 0, MSI_ENABLE);
    return 0;
}

static int program(const struct pci_msi *m)
{
    struct arch_msi message;

    arch_msi_message(m->message, &message);
    if (!m->entry)
        return program_msi(m, &message);
    program_entry(m, &message);
    return 0;
}

int pci_msi_connect(const struct pci_device *d, unsigned n, struct cpu *target,
                    void (*handler)(void *arg), void *arg, struct pci_msi *out)
{
    *out = (struct pci_msi){.device = *d};
    int err = find_place(out, n);
    if (!err)
        err = arch_msi_alloc(pci_requester(d), target, handler, arg, &out->message);
    if (err)
        return err;
    pci_enable(d, true);
    change(d, REG_COMMAND, ~COMMAND_BITS, COMMAND_NO_INTX);
    if (out->entry)
        begin_entries(out, n);
    err = program(out);
    if (err)
        arch_msi_free(out->message);
    return err;
}

int pci_msi_move(struct pci_msi *m, struct cpu *target)
{
    int err = arch_msi_move(m->message, target);

    return err ? err : program(m);
}

void pci_msi_disconnect(struct pci_msi *m)
{
    if (m->entry) {
        arch_io_write32(m->entry + ENTRY_CONTROL, ENTRY_MASKED);
        arch_io_read32(m->entry + ENTRY_CONTROL); /* waits for the write */
    } else {
        change(&m->device, m->capability, MSI_ENABLE, 0);
    }
    arch_msi_free(m->message);
}
