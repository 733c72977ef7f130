/* Files on the volume that the UEFI loader was started from. */
#pragma once
#include "efi_base.h"

/* Opens \NAME for reading, and finds its size in bytes. Returns EFI_NOT_FOUND if the file, or any
 * file system, is missing, as it is when the loader came from the network. */
EFI_STATUS efi_file_open(EFI_LOADED_IMAGE *loaded, CHAR16 *name, EFI_FILE **out, UINT64 *size);
/* Reads the whole file from its beginning; `size` bytes must be there. */
EFI_STATUS efi_file_read(EFI_FILE *file, void *to, UINT64 size);
