/* What of the UEFI loader differs between instruction sets. */
#pragma once
#include "efi_base.h"

/* ELF machine the kernel inside must have. */
extern const unsigned short efi_arch_elf_machine;
/* While boot services work: prepares what efi_arch_enter needs, adds the memory it takes to info.  kernel_base and
 * kernel_size of info are set.  Says on the console what is wrong. */
EFI_STATUS efi_arch_prepare(struct boot_info *info);
/* After boot services: on to the kernel's entry with its address space as kernel/arch/arch.h wants it. */
NORETURN void efi_arch_enter(uint64_t entry, const struct boot_info *info);
