/*
 * What the machine and its firmware are called (System Management BIOS Reference Specification 3.7,
 * DMTF DSP0134). For reports only. The parser is pure, sees memory as ACPI's does, and trusts
 * nothing in it.
 */
#pragma once
#include "kernel/firmware/acpi.h"

#define SMBIOS_TEXT_MAX 64

/* Printable ASCII; empty where nothing is said. */
struct smbios {
    char firmware_vendor[SMBIOS_TEXT_MAX], firmware_version[SMBIOS_TEXT_MAX],
        firmware_date[SMBIOS_TEXT_MAX];
    /* of the machine */
    char vendor[SMBIOS_TEXT_MAX], product[SMBIOS_TEXT_MAX], version[SMBIOS_TEXT_MAX];
    char board_vendor[SMBIOS_TEXT_MAX], board[SMBIOS_TEXT_MAX];
};

/* entry: where the entry point lies, of either kind. 0; -EINVAL when it is broken. A table that
 * is broken is read up to there. */
int smbios_read(const struct acpi_memory *memory, paddr_t entry, struct smbios *out);
