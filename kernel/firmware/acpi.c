/* Parses ACPI tables (ACPI Specification 6.4, section 5.2; PCI Firmware Specification 3.2, 4.1.2
 * for MCFG). */
#include "acpi.h"

#define RSDP_V1_SIZE 20
#define RSDP_V2_SIZE 36
#define HEADER_SIZE  36
#define TABLE_MAX    (16 * MIB)

enum { MADT_ENTRIES = 44, MADT_LAPIC = 0, MADT_X2APIC = 9, MADT_GICC = 11 };
enum { MCFG_ENTRIES = 44, MCFG_ENTRY_SIZE = 16 };
enum { FADT_DSDT = 40, FADT_PM1A_CNT = 64, FADT_PM_TIMER = 76, FADT_X_DSDT = 140 };
enum { HPET_GAS = 40, GAS_MEMORY = 0, GAS_ADDRESS = 4 };

#define CPU_ENABLED 1

uint64_t acpi_number(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes--)
        v = v << 8 | p[bytes];
    return v;
}

uint64_t acpi_field(const struct acpi_table *t, uint32_t at, unsigned bytes)
{
    return (uint64_t)at + bytes <= t->size ? acpi_number(t->data + at, bytes) : 0;
}

static bool checksum_right(const uint8_t *p, uint64_t size)
{
    uint8_t sum = 0;

    for (uint64_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + p[i]);
    return !sum;
}

static int look_at(const struct acpi_memory *memory, paddr_t pa, uint64_t size, const uint8_t **out)
{
    if (pa >= memory->end || size > memory->end - pa)
        return -ERANGE;
    *out = memory->map(memory->ctx, pa, size);
    return *out ? 0 : -EINVAL;
}

static int open_table(const struct acpi_memory *memory, paddr_t pa, struct acpi_table *out)
{
    const uint8_t *p;
    int err = look_at(memory, pa, HEADER_SIZE, &p);

    if (err)
        return err;
    uint64_t size = acpi_number(p + 4, 4);
    if (size < HEADER_SIZE || size > TABLE_MAX)
        return -EINVAL;
    err = look_at(memory, pa, size, &p);
    if (err)
        return err;
    *out = (struct acpi_table){.data = p, .size = (uint32_t)size};
    return checksum_right(p, size) ? 0 : -EINVAL;
}

/* Finds the RSDT or XSDT, and the width of the addresses in it. */
static int open_root(const struct acpi_memory *memory, paddr_t rsdp, struct acpi_table *root,
                     unsigned *width)
{
    const uint8_t *p;
    int err = rsdp ? look_at(memory, rsdp, RSDP_V1_SIZE, &p) : -EINVAL;

    if (err)
        return err;
    if (memcmp(p, "RSD PTR ", 8) || !checksum_right(p, RSDP_V1_SIZE))
        return -EINVAL;
    if (p[15] >= 2) {
        err = look_at(memory, rsdp, RSDP_V2_SIZE, &p);
        if (err)
            return err;
        if (checksum_right(p, RSDP_V2_SIZE) && acpi_number(p + 24, 8)) {
            *width = 8;
            return open_table(memory, acpi_number(p + 24, 8), root);
        }
    }
    *width = 4;
    return open_table(memory, acpi_number(p + 16, 4), root);
}

static int find_dsdt(const struct acpi_memory *memory, paddr_t rsdp, struct acpi_table *out)
{
    struct acpi_table fadt;
    int err = acpi_find(memory, rsdp, "FACP", &fadt);

    if (err)
        return err;
    paddr_t pa = acpi_field(&fadt, FADT_X_DSDT, 8);
    return open_table(memory, pa ? pa : acpi_field(&fadt, FADT_DSDT, 4), out);
}

int acpi_find(const struct acpi_memory *memory, paddr_t rsdp, const char signature[4],
              struct acpi_table *out)
{
    struct acpi_table root;
    unsigned width;
    bool beyond = false;
    int err = open_root(memory, rsdp, &root, &width);

    if (err)
        return err;
    if (!memcmp(signature, "DSDT", 4))
        return find_dsdt(memory, rsdp, out);
    for (uint32_t at = HEADER_SIZE; at + width <= root.size; at += width) {
        paddr_t pa = acpi_field(&root, at, width);
        const uint8_t *p;
        err = look_at(memory, pa, HEADER_SIZE, &p);
        if (!err && !memcmp(p, signature, 4))
            return open_table(memory, pa, out);
        beyond |= err == -ERANGE;
    }
    return beyond ? -ERANGE : -ENOENT;
}

/* Finds the next of the entries that begin with their type and size. `first`: offset of the first
 * entry. */
static bool next_entry(const struct acpi_table *t, uint32_t first, uint32_t *pos,
                       struct acpi_entry *out)
{
    uint32_t at = MAX(*pos, first);

    if (at + 2 > t->size)
        return false;
    *out = (struct acpi_entry){.type = t->data[at], .size = t->data[at + 1], .data = t->data + at};
    if (out->size < 2 || at + out->size > t->size)
        return false;
    *pos = at + out->size;
    return true;
}

static void copy_name(char *to, const uint8_t *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? (char)from[i] : '?';
    for (; n && to[n - 1] == ' '; n--)
        ;
    to[n] = '\0';
}

int acpi_name(const struct acpi_memory *memory, paddr_t rsdp, unsigned n, struct acpi_name *out)
{
    enum { OEM = 10, OEM_TABLE = 16 };
    struct acpi_table root;
    unsigned width;
    int err = open_root(memory, rsdp, &root, &width);

    if (err)
        return err;
    uint64_t at = HEADER_SIZE + (uint64_t)n * width;
    if (at + width > root.size)
        return -ENOENT;
    const uint8_t *p;
    err = look_at(memory, acpi_field(&root, (uint32_t)at, width), HEADER_SIZE, &p);
    if (err)
        return err;
    copy_name(out->signature, p, 4);
    copy_name(out->oem, p + OEM, 6);
    copy_name(out->table, p + OEM_TABLE, 8);
    return 0;
}

bool acpi_madt_next(const struct acpi_table *madt, uint32_t *pos, struct acpi_entry *out)
{
    return next_entry(madt, MADT_ENTRIES, pos, out);
}

bool acpi_srat_next(const struct acpi_table *srat, uint32_t *pos, struct acpi_entry *out)
{
    return next_entry(srat, ACPI_SRAT_ENTRIES, pos, out);
}

/* The offsets of a CPU's identity in each type of entry that has one. */
static const struct cpu_entry {
    uint8_t type, size;
    uint8_t hwid, hwid_bytes, uid, uid_bytes, flags;
} cpu_entries[] = {
    {MADT_LAPIC, 8, 3, 1, 2, 1, 4},
    {MADT_X2APIC, 16, 4, 4, 12, 4, 8},
    {MADT_GICC, 76, 68, 8, 8, 4, 12},
};

static const struct cpu_entry *cpu_entry_of(const struct acpi_entry *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(cpu_entries); i++) {
        if (cpu_entries[i].type == e->type && cpu_entries[i].size <= e->size)
            return &cpu_entries[i];
    }
    return NULL;
}

bool acpi_madt_next_cpu(const struct acpi_table *madt, uint32_t *pos, struct acpi_cpu *out)
{
    struct acpi_entry e;

    while (acpi_madt_next(madt, pos, &e)) {
        const struct cpu_entry *c = cpu_entry_of(&e);
        if (!c)
            continue;
        *out = (struct acpi_cpu){
            .hwid = acpi_number(e.data + c->hwid, c->hwid_bytes),
            .uid = (uint32_t)acpi_number(e.data + c->uid, c->uid_bytes),
            .enabled = acpi_number(e.data + c->flags, 4) & CPU_ENABLED,
        };
        return true;
    }
    return false;
}

bool acpi_mcfg_next(const struct acpi_table *mcfg, uint32_t *pos, struct acpi_ecam *out)
{
    uint32_t at = MAX(*pos, (uint32_t)MCFG_ENTRIES);

    if (at + MCFG_ENTRY_SIZE > mcfg->size)
        return false;
    const uint8_t *p = mcfg->data + at;
    *out = (struct acpi_ecam){
        .base = acpi_number(p, 8),
        .segment = (uint16_t)acpi_number(p + 8, 2),
        .first_bus = p[10],
        .last_bus = p[11],
    };
    *pos = at + MCFG_ENTRY_SIZE;
    return true;
}

int acpi_hpet(const struct acpi_table *hpet, paddr_t *base)
{
    *base = acpi_field(hpet, HPET_GAS + GAS_ADDRESS, 8);
    return *base && acpi_field(hpet, HPET_GAS, 1) == GAS_MEMORY ? 0 : -ENOENT;
}

int acpi_pm_timer(const struct acpi_table *fadt, uint16_t *port)
{
    *port = (uint16_t)acpi_field(fadt, FADT_PM_TIMER, 4);
    return *port ? 0 : -ENOENT;
}

/* Decodes a small integer in AML: ZeroOp, OneOp, or BytePrefix and a byte (ACPI 20.2.3). */
static int aml_small_integer(const struct acpi_table *t, uint32_t at, uint8_t *v)
{
    enum { AML_ZERO = 0, AML_ONE = 1, AML_BYTE = 0x0a };
    uint8_t op = (uint8_t)acpi_field(t, at, 1);

    if (at >= t->size || (op != AML_ZERO && op != AML_ONE && op != AML_BYTE))
        return -ENOENT;
    *v = op == AML_BYTE ? (uint8_t)acpi_field(t, at + 1, 1) : op;
    return 0;
}

int acpi_soft_off(const struct acpi_table *fadt, const struct acpi_table *dsdt, uint16_t *port,
                  uint16_t *value)
{
    enum { AML_PACKAGE = 0x12, SLEEP_TYPE_SHIFT = 10, SLEEP_ENABLE = 1 << 13 };

    *port = (uint16_t)acpi_field(fadt, FADT_PM1A_CNT, 4);
    if (!*port)
        return -ENOENT;
    /* Finds Name(_S5_, Package...) by its bytes, without an interpreter. The package length has 1
     * to 4 bytes. */
    for (uint32_t at = HEADER_SIZE; at + 8 <= dsdt->size; at++) {
        const uint8_t *p = dsdt->data + at;
        uint8_t type;
        if (memcmp(p, "_S5_", 4) || p[4] != AML_PACKAGE)
            continue;
        uint32_t first = at + 5 + (p[5] >> 6) + 2;
        if (aml_small_integer(dsdt, first, &type))
            continue;
        *value = (uint16_t)((type & 7) << SLEEP_TYPE_SHIFT | SLEEP_ENABLE);
        return 0;
    }
    return -ENOENT;
}
