/* The initrd under UEFI. */
#pragma once
#include "efi_base.h"

/* Reads the file \vigil.tar on the loader's volume into memory, and notes it in `info`, whose
 * table gets that memory; without such a file does nothing. Prints the reason of a failure. */
EFI_STATUS efi_initrd(EFI_HANDLE image, struct boot_info *info);
