/* See acpi_tables.h. */
#include <string.h>
#include "test/host/double/acpi_tables.h"

uint8_t table_bytes[TABLES][16384];
uint32_t table_sizes[TABLES];
static const char signatures[TABLES][5] = {"APIC", "GTDT", "SPCR", "FACP",
                                           "PPTT", "IORT", "SRAT", "SLIT"};

int table_get(const char signature[4], struct acpi_table *out)
{
    for (unsigned i = 0; i < TABLES; i++) {
        if (memcmp(signature, signatures[i], 4) || !table_sizes[i])
            continue;
        *out = (struct acpi_table){table_bytes[i], table_sizes[i]};
        return 0;
    }
    return -ENOENT;
}

void table_put(unsigned table, uint32_t at, uint64_t v, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        table_bytes[table][at + i] = (uint8_t)(v >> 8 * i);
    table_sizes[table] = MAX(table_sizes[table], at + size);
}

uint32_t table_entry(unsigned table, uint8_t type, uint8_t size)
{
    uint32_t at = table_sizes[table];

    table_put(table, at + size - 1, 0, 1);
    table_put(table, at, type, 1);
    table_put(table, at + 1, size, 1);
    return at;
}
