/* ACPI tables as a test writes them, a field and an entry at a time. */
#pragma once
#include "kernel/firmware/acpi.h"

enum { MADT, GTDT, SPCR, FADT, PPTT, IORT, SRAT, SLIT, TABLES };
extern uint8_t table_bytes[TABLES][16384];
extern uint32_t table_sizes[TABLES]; /* 0: there is no such table */

/* For the parsers: 0 or -ENOENT. */
int table_get(const char signature[4], struct acpi_table *out);
/* Writes `v` as a field of `size` bytes at offset `at`. A shorter table is extended to its end. */
void table_put(unsigned table, uint32_t at, uint64_t v, unsigned size);
/* Begins an entry at the table's end, all of it there and nothing but its type and size set; where
 * it is. */
uint32_t table_entry(unsigned table, uint8_t type, uint8_t size);
