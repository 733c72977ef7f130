/*
 * Parses the few ACPI tables that the kernel reads. Pure: the parser reads memory through a
 * function and trusts nothing in it; lengths and checksums are checked before anything else.
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

/* Gives the parser access to memory: map() returns `size` bytes at `pa`, or NULL if there is no
 * such memory. */
struct acpi_memory {
    const void *(*map)(void *ctx, paddr_t pa, uint64_t size);
    void *ctx;
    paddr_t end; /* the first address that the CPU cannot access */
};

struct acpi_table {
    const uint8_t *data; /* with its header */
    uint32_t size;       /* at least that of the header; the checksum is correct */
};

/* Reads a little-endian number of `bytes` bytes. */
uint64_t acpi_number(const uint8_t *p, unsigned bytes);
/* Reads a field of a table; 0 if the table is too short. */
uint64_t acpi_field(const struct acpi_table *t, uint32_t at, unsigned bytes);

/* Finds a table. Returns 0; -ENOENT: there is none; -EINVAL: what leads to it is invalid; -ERANGE:
 * it, or a table that may be it, lies where the CPU cannot access memory. */
int acpi_find(const struct acpi_memory *memory, paddr_t rsdp, const char signature[4],
              struct acpi_table *out);

/* Finds a table for code that reads several; acpi_table_get() is one. A table stays valid while
 * others are looked up. */
typedef int acpi_get_fn(const char signature[4], struct acpi_table *out);

/* Names table n, in the order of the root table: its signature, the 8 characters of its OEM table
 * id, and the 6 of its OEM id, with unprintable ones replaced. Returns 0; -ENOENT: there are no
 * more; -EINVAL, -ERANGE: as above, or that table cannot be read. */
struct acpi_name {
    char signature[5], oem[7], table[9];
};
int acpi_name(const struct acpi_memory *memory, paddr_t rsdp, unsigned n, struct acpi_name *out);

/* ---- MADT: interrupt controllers, hence CPUs ------------------------------------------------- */
struct acpi_cpu {
    uint64_t hwid; /* APIC id; MPIDR on AArch64 */
    uint32_t uid;
    bool enabled;
};
/* Reads the next CPU; *pos is 0 at first. Returns false at the end, or at a malformed entry. */
bool acpi_madt_next_cpu(const struct acpi_table *madt, uint32_t *pos, struct acpi_cpu *out);
/* An entry of any type; `size` is its length, header included. */
struct acpi_entry {
    uint8_t type, size;
    const uint8_t *data;
};
bool acpi_madt_next(const struct acpi_table *madt, uint32_t *pos, struct acpi_entry *out);

/* ---- SRAT: nodes of CPUs and memory; entries as in the MADT ---------------------------------- */
enum { ACPI_SRAT_ENTRIES = 48 }; /* offset of the first entry */
bool acpi_srat_next(const struct acpi_table *srat, uint32_t *pos, struct acpi_entry *out);

/* ---- MCFG: PCI configuration space in memory ------------------------------------------------- */
struct acpi_ecam {
    paddr_t base; /* of bus 0, even if that is not in the range */
    uint16_t segment;
    uint8_t first_bus, last_bus;
};
bool acpi_mcfg_next(const struct acpi_table *mcfg, uint32_t *pos, struct acpi_ecam *out);

/* ---- Timers, power; 0 or -ENOENT ------------------------------------------------------------- */
int acpi_hpet(const struct acpi_table *hpet, paddr_t *base);
int acpi_pm_timer(const struct acpi_table *fadt, uint16_t *port);
/* Finds how to switch the machine off, from FADT and DSDT: the PM1a control port, and the value to
 * write there. */
int acpi_soft_off(const struct acpi_table *fadt, const struct acpi_table *dsdt, uint16_t *port,
                  uint16_t *value);

/* ---- This machine's tables (acpi_tables.c) --------------------------------------------------- */
struct boot_info;
void acpi_init(const struct boot_info *info); /* after arch_init_memory() */
/* For reading other firmware structures in memory. After acpi_init(). */
extern struct acpi_memory acpi_memory;
int acpi_table_get(const char signature[4], struct acpi_table *out);
