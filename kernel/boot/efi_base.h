/* Includes gnu-efi and kernel/lib/base.h. Both define ASSERT; the kernel's is used. */
#pragma once
#include <efi.h>
#include <efilib.h>
#undef ASSERT
#undef MIN
#undef MAX
#undef UNUSED
#include "kernel/boot/boot_info.h"
