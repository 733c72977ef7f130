/* Parses SRAT and SLIT (ACPI Specification 6.4, 5.2.16 and 5.2.17). */
#include "kernel/firmware/acpi_numa.h"
#include "kernel/firmware/platform.h"

enum {
    REVISION = 8,
    REVISION_WIDE = 2
}; /* before it, domains had 8 bits, and the bits above were reserved */
enum { IN_USE = 1 };

struct reader {
    struct numa *numa;
    const struct acpi_table *madt; /* NULL: none */
    uint32_t domain_mask;
};

static bool in_use(const uint8_t *flags)
{
    return acpi_number(flags, 4) & IN_USE;
}

static int read_apic(const struct reader *r, const uint8_t *e)
{
    uint32_t domain = e[2] | (uint32_t)acpi_number(e + 9, 3) << 8;

    return in_use(e + 4) ? numa_add_cpu(r->numa, e[3], domain & r->domain_mask) : 0;
}

static int read_memory(const struct reader *r, const uint8_t *e)
{
    uint32_t domain = (uint32_t)acpi_number(e + 2, 4) & r->domain_mask;

    return in_use(e + 28)
               ? numa_add_memory(r->numa, acpi_number(e + 8, 8), acpi_number(e + 16, 8), domain)
               : 0;
}

static int read_x2apic(const struct reader *r, const uint8_t *e)
{
    uint32_t id = (uint32_t)acpi_number(e + 8, 4);

    return in_use(e + 12) ? numa_add_cpu(r->numa, id, (uint32_t)acpi_number(e + 4, 4)) : 0;
}

/* Reads a CPU that is named by its ACPI id; the MADT has its MPIDR. A CPU that the MADT does not
 * list is ignored. */
static int read_gicc(const struct reader *r, const uint8_t *e)
{
    uint32_t uid = (uint32_t)acpi_number(e + 6, 4);
    struct acpi_cpu cpu;

    if (!in_use(e + 10) || !r->madt)
        return 0;
    for (uint32_t pos = 0; acpi_madt_next_cpu(r->madt, &pos, &cpu);) {
        if (cpu.uid == uid)
            return numa_add_cpu(r->numa, cpu.hwid & MPIDR_FIELDS, (uint32_t)acpi_number(e + 2, 4));
    }
    return 0;
}

static const struct {
    uint8_t type, size; /* size: the minimum */
    int (*take_structure)(const struct reader *r, const uint8_t *entry);
} kinds[] = {{0, 16, read_apic}, {1, 40, read_memory}, {2, 24, read_x2apic}, {3, 18, read_gicc}};

static int read_entry(const struct reader *r, const struct acpi_entry *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (kinds[i].type == e->type)
            return e->size >= kinds[i].size ? kinds[i].take_structure(r, e->data) : -EINVAL;
    }
    return 0; /* an entry that describes neither CPUs nor memory */
}

static int read_srat(const struct acpi_table *srat, const struct reader *r)
{
    struct acpi_entry e;
    uint32_t pos = ACPI_SRAT_ENTRIES;
    int err = 0;

    while (!err && acpi_srat_next(srat, &pos, &e))
        err = read_entry(r, &e);
    return err ? err : pos >= srat->size ? 0 : -EINVAL;
}

int acpi_slit_check(const struct acpi_table *slit)
{
    enum { LOCALITIES = 36, MATRIX = 44, SELF = 10, LOCALITIES_MAX = 4096 };
    uint64_t n = acpi_field(slit, LOCALITIES, 8);

    if (!n || n > LOCALITIES_MAX || MATRIX + n * n > slit->size)
        return -EINVAL;
    for (uint64_t i = 0; i < n * n; i++) {
        uint8_t distance = slit->data[MATRIX + i];
        bool self = i / n == i % n;
        if (self ? distance != SELF : distance <= SELF)
            return -EINVAL;
    }
    return 0;
}

int acpi_numa(acpi_get_fn *get, struct numa *out)
{
    struct acpi_table srat, madt, slit;

    numa_begin(out, "ACPI");
    int err = get("SLIT", &slit);
    out->distances = err ? err : acpi_slit_check(&slit);
    err = get("SRAT", &srat);
    if (!err) {
        bool narrow = acpi_field(&srat, REVISION, 1) < REVISION_WIDE;
        const struct reader r = {.numa = out,
                                 .madt = get("APIC", &madt) ? NULL : &madt,
                                 .domain_mask = narrow ? UINT8_MAX : UINT32_MAX};
        err = read_srat(&srat, &r);
    }
    return numa_end(out, err);
}
