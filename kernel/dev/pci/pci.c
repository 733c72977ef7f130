/*
 * PCI configuration space (PCI Local Bus Specification 3.0, chapter 6; PCI Express Base
 * Specification, 7.2.2 for ECAM). Buses behind bridges are those that firmware numbered.
 */
#include "pci_bar.h"
#include "kernel/firmware/acpi.h"
#include "kernel/arch/arch.h"

enum {
    REG_ID = 0x00,
    REG_COMMAND = 0x04,
    REG_HEADER = 0x0c, /* header type in bits 16-23 */
    REG_BUSES = 0x18,  /* of a bridge: primary, secondary, subordinate */
};
#define COMMAND_MEMORY  0x2
#define COMMAND_MASTER  0x4
#define HEADER_TYPE(v)  ((v) >> 16 & 0x7f)
#define HEADER_MULTI(v) ((v) >> 23 & 1)
#define HEADER_BRIDGE   1
#define NO_DEVICE       0xffffffff
#define ECAM_SHIFT_BUS  20
#define ECAM_SHIFT_SLOT 15
#define ECAM_SHIFT_FN   12
#define SLOTS           32
#define FUNCTIONS       8
#define BUSES           256
#define CONFIG_SIZE     4096

static struct pci_host host;
static volatile uint8_t *ecam; /* of the host's first bus; NULL: the ISA's own means are used */

static int find_mcfg(struct pci_host *out)
{
    struct acpi_table mcfg;
    struct acpi_ecam found;
    int err = acpi_table_get("MCFG", &mcfg);

    if (err)
        return err;
    for (uint32_t pos = 0; acpi_mcfg_next(&mcfg, &pos, &found);) {
        if (found.segment != 0 || found.first_bus > found.last_bus)
            continue;
        *out = (struct pci_host){
            .ecam.base = found.base + ((uint64_t)found.first_bus << ECAM_SHIFT_BUS),
            .ecam.size = (uint64_t)(found.last_bus - found.first_bus + 1) << ECAM_SHIFT_BUS,
            .first_bus = found.first_bus,
            .last_bus = found.last_bus,
        };
        return 0;
    }
    return -ENOENT;
}

int pci_init(const struct boot_info *info)
{
    uint32_t id;

    if (find_mcfg(&host) && arch_pci_host(info, &host))
        host = (struct pci_host){.last_bus = BUSES - 1};
    if (host.ecam.size)
        ecam = arch_map_device(host.ecam.base, host.ecam.size);
    if (!ecam && arch_pci_read(0, 0, 0, REG_ID, &id))
        return -ENODEV;
    if (host.window_count)
        pci_bar_assign(&host);
    return 0;
}

static volatile uint32_t *ecam_at(const struct pci_device *d, unsigned reg)
{
    uint64_t at = ((uint64_t)(d->bus - host.first_bus) << ECAM_SHIFT_BUS) +
                  ((uint64_t)d->slot << ECAM_SHIFT_SLOT) +
                  ((uint64_t)d->function << ECAM_SHIFT_FN) + reg;

    if (d->bus < host.first_bus || d->bus > host.last_bus || reg >= CONFIG_SIZE ||
        at >= host.ecam.size)
        return NULL;
    return (volatile uint32_t *)(ecam + at);
}

uint32_t pci_read(const struct pci_device *d, unsigned reg)
{
    uint32_t v = NO_DEVICE;

    if (!ecam)
        return arch_pci_read(d->bus, d->slot, d->function, reg, &v) ? NO_DEVICE : v;
    volatile uint32_t *at = ecam_at(d, reg);
    return at ? arch_io_read32(at) : NO_DEVICE;
}

void pci_write(const struct pci_device *d, unsigned reg, uint32_t v)
{
    volatile uint32_t *at = ecam ? ecam_at(d, reg) : NULL;

    if (at)
        arch_io_write32(at, v);
    else if (!ecam)
        arch_pci_write(d->bus, d->slot, d->function, reg, v);
}

/* Visits one function, and notes the bus behind it if it is a bridge. Returns false to stop the
 * walk. */
static bool walk_function(struct pci_device *d, bool buses[BUSES],
                          bool (*visit)(const struct pci_device *, void *), void *arg, bool *multi)
{
    uint32_t id = pci_read(d, REG_ID);

    if (id == NO_DEVICE)
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
    /* A bus behind a bridge has a higher number, so one pass finds all. */
    bool buses[BUSES] = {false};

    buses[host.first_bus] = true;
    for (unsigned at = 0; at < BUSES * SLOTS; at++) {
        bool multi = false;
        if (!buses[at / SLOTS])
            continue;
        for (unsigned f = 0; f == 0 || (multi && f < FUNCTIONS); f++) {
            struct pci_device d = {
                .bus = (uint8_t)(at / SLOTS), .slot = at % SLOTS, .function = (uint8_t)f};
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

/* Translates a bus address to a CPU address. */
static paddr_t from_bus(uint64_t bus)
{
    for (unsigned i = 0; i < host.window_count; i++) {
        const struct pci_window *w = &host.window[i];
        if (bus - w->bus < w->size)
            return w->base + (bus - w->bus);
    }
    return bus;
}

int pci_bar(const struct pci_device *d, unsigned n, paddr_t *base, uint64_t *size)
{
    struct pci_bar bar;
    int err = pci_bar_get(d, n, &bar);

    if (err || !bar.bus)
        return -ENOENT;
    *base = from_bus(bar.bus);
    *size = bar.size;
    return 0;
}

void pci_enable(const struct pci_device *d, bool bus_master)
{
    /* Bits of the status half are cleared by writing 1. */
    uint32_t command = pci_read(d, REG_COMMAND) & 0xffff;

    pci_write(d, REG_COMMAND, command | COMMAND_MEMORY | (bus_master ? COMMAND_MASTER : 0));
}

void pci_silence(const struct pci_device *d)
{
    pci_write(d, REG_COMMAND, pci_read(d, REG_COMMAND) & 0xffff & ~(uint32_t)COMMAND_MASTER);
}
