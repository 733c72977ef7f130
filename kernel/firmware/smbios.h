/*
 * Reads the names of the machine and its firmware (System Management BIOS Reference Specification
 * 3.7, DMTF DSP0134). For reports only. Pure: the parser reads memory as ACPI's does, and trusts
 * nothing in it.
 */
#pragma once
#include "kernel/firmware/acpi.h"

#define SMBIOS_TEXT_MAX 64

/* Printable ASCII; empty where unknown. */
struct smbios {
    char firmware_vendor[SMBIOS_TEXT_MAX], firmware_version[SMBIOS_TEXT_MAX],
        firmware_date[SMBIOS_TEXT_MAX];
    /* Of the machine. */
    char vendor[SMBIOS_TEXT_MAX], product[SMBIOS_TEXT_MAX], version[SMBIOS_TEXT_MAX];
    char board_vendor[SMBIOS_TEXT_MAX], board[SMBIOS_TEXT_MAX];
};

/* Reads the tables of the entry point, of either kind, at `entry`. Returns 0; -EINVAL: it is
 * invalid. An invalid table is read up to the first invalid structure. */
int smbios_read(const struct acpi_memory *memory, paddr_t entry, struct smbios *out);
