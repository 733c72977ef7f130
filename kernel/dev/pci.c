/*
 * PCI configuration space (PCI Local Bus Specification 3.0, chapter 6; PCI Express Base Specification, 7.2.2
 * for ECAM). Buses behind bridges are those the firmware numbered.
 */
#include "pci.h"
#include "acpi.h"
#include "kernel/printf.h"
#include "kernel/arch/arch.h"

enum {
    REG_ID = 0x00,
    REG_COMMAND = 0x04,
    REG_HEADER = 0x0c, /* header type in bits 16-23 */
    REG_BAR0 = 0x10,
    REG_BUSES = 0x18, /* of a bridge: primary, secondary, subordinate */
};
#define COMMAND_MEMORY  0x2
#define COMMAND_MASTER  0x4
#define HEADER_TYPE(v)  ((v) >> 16 & 0x7f)
#define HEADER_MULTI(v) ((v) >> 23 & 1)
#define HEADER_BRIDGE   1
#define BAR_IO          0x1
#define BAR_TYPE(v)     ((v) >> 1 & 3)
#define BAR_64BIT       2
#define BAR_FLAGS       0xfu
#define BARS            6
#define BRIDGE_BARS     2
#define NOBODY          0xffffffff
#define ECAM_SHIFT_BUS  20
#define ECAM_SHIFT_SLOT 15
#define ECAM_SHIFT_FN   12
#define SLOTS           32
#define FUNCTIONS       8
#define BUSES           256
#define CONFIG_SIZE     4096

static volatile uint8_t *ecam; /* of ecam_first; NULL: the ISA's own means */
static unsigned ecam_first, ecam_last;

static int find_ecam(struct acpi_ecam *out)
{
    struct acpi_table mcfg;
    int err = acpi_table_get("MCFG", &mcfg);

    if (err)
        return err;
    for (uint32_t pos = 0; acpi_mcfg_next(&mcfg, &pos, out);) {
        if (out->segment == 0 && out->first_bus <= out->last_bus)
            return 0;
    }
    return -ENOENT;
}

int pci_init(void)
{
    struct acpi_ecam found;
    uint32_t id;

    if (!find_ecam(&found)) {
        uint64_t size = (uint64_t)(found.last_bus - found.first_bus + 1) << ECAM_SHIFT_BUS;
        ecam = arch_map_device(found.base + ((uint64_t)found.first_bus << ECAM_SHIFT_BUS), size);
        ecam_first = found.first_bus;
        ecam_last = found.last_bus;
    }
    return ecam || !arch_pci_read(0, 0, 0, REG_ID, &id) ? 0 : -ENODEV;
}

static volatile uint32_t *ecam_at(const struct pci_device *d, unsigned reg)
{
    if (d->bus < ecam_first || d->bus > ecam_last || reg >= CONFIG_SIZE)
        return NULL;
    return (volatile uint32_t *)(ecam + ((uint64_t)(d->bus - ecam_first) << ECAM_SHIFT_BUS) +
                                 ((uint64_t)d->slot << ECAM_SHIFT_SLOT) +
                                 ((uint64_t)d->function << ECAM_SHIFT_FN) + reg);
}

uint32_t pci_read(const struct pci_device *d, unsigned reg)
{
    uint32_t v = NOBODY;

    if (!ecam)
        return arch_pci_read(d->bus, d->slot, d->function, reg, &v) ? NOBODY : v;
    volatile uint32_t *at = ecam_at(d, reg);
    return at ? arch_io_read32(at) : NOBODY;
}

void pci_write(const struct pci_device *d, unsigned reg, uint32_t v)
{
    volatile uint32_t *at = ecam ? ecam_at(d, reg) : NULL;

    if (at)
        arch_io_write32(at, v);
    else if (!ecam)
        arch_pci_write(d->bus, d->slot, d->function, reg, v);
}

/* One function; notes the bus behind it when it is a bridge.  False: stop. */
static bool walk_function(struct pci_device *d, bool buses[BUSES],
                          bool (*visit)(const struct pci_device *, void *), void *arg, bool *multi)
{
    uint32_t id = pci_read(d, REG_ID);

    if (id == NOBODY)
        return true;
    uint32_t header = pci_read(d, REG_HEADER);
    *multi |= d->function == 0 && HEADER_MULTI(header);
    d->vendor = (uint16_t)id;
    d->device = (uint16_t)(id >> 16);
    unsigned behind = HEADER_TYPE(header) == HEADER_BRIDGE ? pci_read(d, REG_BUSES) >> 8 & 0xff : 0;
    if (behind > d->bus)
        buses[behind] = true;
    return visit(d, arg);
}

void pci_walk(bool (*visit)(const struct pci_device *d, void *arg), void *arg)
{
    bool buses[BUSES] = {[0] = true}; /* a bus behind a bridge has a higher number, so one pass sees all */

    for (unsigned at = 0; at < BUSES * SLOTS; at++) {
        bool multi = false;
        if (!buses[at / SLOTS])
            continue;
        for (unsigned f = 0; f == 0 || (multi && f < FUNCTIONS); f++) {
            struct pci_device d = {.bus = (uint8_t)(at / SLOTS), .slot = at % SLOTS, .function = (uint8_t)f};
            if (!walk_function(&d, buses, visit, arg, &multi))
                return;
        }
    }
}

struct wanted {
    uint16_t vendor, device;
    unsigned nth;
    struct pci_device *out;
    bool found;
};

static bool is_wanted(const struct pci_device *d, void *arg)
{
    struct wanted *w = arg;

    if (d->vendor != w->vendor || d->device != w->device || w->nth-- > 0)
        return true;
    *w->out = *d;
    w->found = true;
    return false;
}

int pci_find(uint16_t vendor, uint16_t device, unsigned nth, struct pci_device *out)
{
    struct wanted w = {.vendor = vendor, .device = device, .nth = nth, .out = out};

    pci_walk(is_wanted, &w);
    return w.found ? 0 : -ENODEV;
}

/* What remains of all ones tells the size; the device must not answer at the wrong place meanwhile. */
static uint32_t probe(const struct pci_device *d, unsigned reg)
{
    uint32_t old = pci_read(d, reg);

    pci_write(d, reg, NOBODY);
    uint32_t mask = pci_read(d, reg);
    pci_write(d, reg, old);
    return mask;
}

int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size)
{
    unsigned reg = REG_BAR0 + 4 * n;
    unsigned bars = HEADER_TYPE(pci_read(d, REG_HEADER)) == HEADER_BRIDGE ? BRIDGE_BARS : BARS;
    uint32_t low = n < bars ? pci_read(d, reg) : BAR_IO;
    bool wide = BAR_TYPE(low) == BAR_64BIT;

    if ((low & BAR_IO) || low == NOBODY || (wide && n + 1 == bars))
        return -ENOENT;
    uint32_t command = pci_read(d, REG_COMMAND);
    pci_write(d, REG_COMMAND, command & 0xffff & ~COMMAND_MEMORY);
    uint64_t mask =
        (probe(d, reg) & ~BAR_FLAGS) | (wide ? (uint64_t)probe(d, reg + 4) << 32 : ~(uint64_t)0 << 32);
    pci_write(d, REG_COMMAND, command & 0xffff);
    *base = (low & ~BAR_FLAGS) | (wide ? (uint64_t)pci_read(d, reg + 4) << 32 : 0);
    *size = ~mask + 1;
    return *base && *size ? 0 : -ENOENT;
}

void pci_enable(const struct pci_device *d, bool bus_master)
{
    uint32_t command = pci_read(d, REG_COMMAND) & 0xffff; /* the status half clears what is written as 1 */

    pci_write(d, REG_COMMAND, command | COMMAND_MEMORY | (bus_master ? COMMAND_MASTER : 0));
}
