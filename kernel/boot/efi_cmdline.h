/* The boot arguments under UEFI. */
#pragma once
#include "efi_base.h"

/* Fills `cmdline` from the load options, else from the file \vigil.txt on the loader's volume, else
 * with nothing. Prints the reason of a refusal. */
EFI_STATUS efi_cmdline(EFI_HANDLE image, char cmdline[BOOT_CMDLINE_MAX]);
