/*
 * The few ACPI tables the kernel reads. The parser is pure: it sees memory through a function and
 * trusts nothing in it; lengths and checksums are checked before anything else.
 */
#pragma once
#include "kernel/boot/boot_info.h"
#include "kernel/lib/base.h"

/* How the parser reaches memory: size bytes at pa, or NULL when there is no such memory. */
struct acpi_memory {
    const void *(*map)(void *ctx, paddr_t pa, uint64_t size);
    void *ctx;
    paddr_t end; /* the first address the CPU cannot reach */
};

struct acpi_table {
    const uint8_t *data; /* with its header */
    uint32_t size;       /* at least that of the header; checksum right */
};

/* A little-endian number. */
uint64_t acpi_number(const uint8_t *p, unsigned bytes);
/* A field of a table; 0 where the table is too short to have it. */
uint64_t acpi_field(const struct acpi_table *t, uint32_t at, unsigned bytes);

/* 0, -ENOENT when there is no such table, -EINVAL when what leads to it is broken, -ERANGE when it,
 * or what may be it, lies where the CPU cannot reach. */
int acpi_find(const struct acpi_memory *memory, paddr_t rsdp, const char signature[4],
              struct acpi_table *out);

/* How those who read several tables find them: as acpi_table_get. A table stays valid while others
 * are looked for. */
typedef int acpi_get_fn(const char signature[4], struct acpi_table *out);

/* Signature of table n, in the order of the root, and of its maker: what it calls its table, 8
 * characters, and 6 of itself. As they stand there, but printable. 0; -ENOENT: there are no more;
 * -EINVAL, -ERANGE as above, or that table cannot be read. */
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
/* The next CPU; *pos starts at 0. False at the end, also where an entry is malformed. */
bool acpi_madt_next_cpu(const struct acpi_table *madt, uint32_t *pos, struct acpi_cpu *out);
/* Any entry: its type, body and length, header included. */
struct acpi_entry {
    uint8_t type, size;
    const uint8_t *data;
};
bool acpi_madt_next(const struct acpi_table *madt, uint32_t *pos, struct acpi_entry *out);

/* ---- SRAT: which CPUs and memory are near one another; entries as the MADT has them ---------- */
enum { ACPI_SRAT_ENTRIES = 48 }; /* where they begin */
bool acpi_srat_next(const struct acpi_table *srat, uint32_t *pos, struct acpi_entry *out);

/* ---- MCFG: where PCI configuration space is mapped ------------------------------------------- */
struct acpi_ecam {
    paddr_t base; /* of bus 0, whether or not it is in the range */
    uint16_t segment;
    uint8_t first_bus, last_bus;
};
bool acpi_mcfg_next(const struct acpi_table *mcfg, uint32_t *pos, struct acpi_ecam *out);

/* ---- Timers, power; 0 or -ENOENT ---- */
int acpi_hpet(const struct acpi_table *hpet, paddr_t *base);
int acpi_pm_timer(const struct acpi_table *fadt, uint16_t *port);
/* What to write where to switch the machine off: PM1a control port and its value, out of FADT and
 * DSDT. */
int acpi_soft_off(const struct acpi_table *fadt, const struct acpi_table *dsdt, uint16_t *port,
                  uint16_t *value);

/* ---- The machine's own tables (acpi_tables.c) ------------------------------------------------ */
struct boot_info;
void acpi_init(const struct boot_info *info); /* after arch_init_memory */
/* after acpi_init; for what else firmware leaves in memory */
extern struct acpi_memory acpi_memory;
int acpi_table_get(const char signature[4], struct acpi_table *out);
