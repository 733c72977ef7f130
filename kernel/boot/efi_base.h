/* gnu-efi and our own base in one; both have an ASSERT, ours is the later. */
#pragma once
#include <efi.h>
#include <efilib.h>
#undef ASSERT
#undef MIN
#undef MAX
#undef UNUSED
#include "kernel/boot/boot_info.h"
