/* The boot arguments under UEFI. */
#pragma once
#include "efi_base.h"

/* Fills cmdline from the load options, or else from the file \vigil.txt on the volume the loader
 * came from, or else with nothing. Says on the console why it refuses one. */
EFI_STATUS efi_cmdline(EFI_HANDLE image, char cmdline[BOOT_CMDLINE_MAX]);
